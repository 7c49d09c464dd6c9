package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// setupFile is the file in the state directory that holds the one-time token.
const setupFile = "setup-token"

// readSetupToken returns the token in the file; empty if there is no file that
// can be trusted: a regular one that nobody else can read or write.
func readSetupToken(path string) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("checking the setup token's file: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 || info.Size() > 1024 {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the setup token's file: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// writeSetupToken writes the token into the file with mode 0600, in place of
// anything that was there. A reader sees the old or the new token, never a part
// of one.
func writeSetupToken(path, token string) error {
	draft, err := os.CreateTemp(filepath.Dir(path), "."+setupFile+"-*") // made with mode 0600
	if err != nil {
		return fmt.Errorf("creating the setup token's file: %w", err)
	}
	defer func() { _ = os.Remove(draft.Name()) }() // gone already when it was renamed
	_, err = draft.WriteString(token + "\n")
	err = errors.Join(err, draft.Sync(), draft.Close())
	if err != nil {
		return fmt.Errorf("writing the setup token's file: %w", err)
	}
	if err := os.Rename(draft.Name(), path); err != nil {
		return fmt.Errorf("moving the setup token's file into place: %w", err)
	}
	return nil
}
