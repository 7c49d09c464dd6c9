package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// Latest fetches the manifest of a source and its signature, and verifies them.
// raw are the manifest's bytes.
func Latest(ctx context.Context, source Source, trusted []Key) (m *Manifest, raw []byte, key Key, err error) {
	if raw, err = small(ctx, source, ManifestName); err != nil {
		return nil, nil, Key{}, err
	}
	signatures, err := small(ctx, source, SignatureName)
	if err != nil {
		return nil, nil, Key{}, err
	}
	m, key, err = Verify(raw, signatures, trusted)
	return m, raw, key, err
}

// small reads a small file whole. It reads one byte more than allowed, to tell
// a file of exactly that size from a larger one.
func small(ctx context.Context, source Source, name string) ([]byte, error) {
	body, err := source.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	text, err := io.ReadAll(io.LimitReader(body, MaxManifest+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(text) > MaxManifest {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, MaxManifest)
	}
	return text, nil
}

// Errors of a tarball that is not what the manifest says.
var (
	ErrSize     = errors.New("the size of the file does not match the manifest")
	ErrChecksum = errors.New("the SHA-256 of the file does not match the manifest")
)

// Download fetches a tarball into a new file, and removes the file again unless
// it is exactly what the manifest says. It never writes more than the
// manifest's size. progress, when not nil, is told the bytes that are there so
// far.
func Download(ctx context.Context, source Source, want File, path string, progress func(int64)) (err error) {
	body, err := source.Open(ctx, want.Name)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("creating the download file: %w", err)
	}
	defer func() {
		err = errors.Join(err, out.Close())
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	sum := sha256.New()
	// One byte more than there may be: a longer body must not pass for the right one.
	n, err := io.Copy(io.MultiWriter(out, sum, counter{progress, new(int64)}), io.LimitReader(body, want.Size+1))
	switch {
	case err != nil:
		return fmt.Errorf("downloading %s: %w", want.Name, err)
	case n != want.Size:
		return fmt.Errorf("downloading %s: %w", want.Name, ErrSize)
	case hex.EncodeToString(sum.Sum(nil)) != want.SHA256:
		return fmt.Errorf("downloading %s: %w", want.Name, ErrChecksum)
	}
	if err := out.Sync(); err != nil {
		return fmt.Errorf("writing %s to the disk: %w", want.Name, err)
	}
	return nil
}

// counter counts the bytes of a download and tells them.
type counter struct {
	tell func(int64)
	n    *int64
}

// Write counts. It never fails.
func (c counter) Write(p []byte) (int, error) {
	*c.n += int64(len(p))
	if c.tell != nil {
		c.tell(*c.n)
	}
	return len(p), nil
}
