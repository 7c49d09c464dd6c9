package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// digest returns the SHA-256 of a file in lower-case hexadecimal.
func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("opening the plugin: %w", err)
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("reading the plugin: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Verdict is the result of Verify for one pin.
type Verdict struct {
	Pin Pin
	// SHA256 is the file's present digest; empty when it could not be read.
	SHA256 string
	// Err is nil when the file is the pinned one and all rules of the folder hold.
	Err error
}

// Verify checks every pinned file again. It starts nothing.
func (m *Manager) Verify(ctx context.Context) ([]Verdict, error) {
	pins, err := m.cfg.Pins.List(ctx)
	if err != nil {
		return nil, err
	}
	verdicts := make([]Verdict, 0, len(pins))
	for _, pin := range pins {
		v := Verdict{Pin: pin}
		v.SHA256, v.Err = m.check(pin)
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

// check compares a pin with its file.
func (m *Manager) check(pin Pin) (sum string, err error) {
	path, err := m.resolve(pin.File)
	if err != nil {
		return "", err
	}
	if sum, err = digest(path); err != nil {
		return "", err
	}
	if sum != pin.SHA256 {
		return sum, fmt.Errorf("%w: %s has SHA-256 %s, but was pinned with %s", ErrDigest, pin.File, sum, pin.SHA256)
	}
	return sum, nil
}
