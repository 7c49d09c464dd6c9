package private

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// create creates the data directory under a temporary name. It renames the
// directory when it is complete, including the marker, so a killed start never
// leaves a half-made one under the final name.
func create(ctx context.Context, f *folder, b Binaries) (err error) {
	if err := checkSpace(f.dir); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(f.dir, initName)
	if err != nil {
		return explain("creating the data directory", "", err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(temporary)
		}
	}()
	if f.account.drop {
		if err := os.Lchown(temporary, f.account.UID, f.account.GID); err != nil {
			return explain("changing the owner of the data directory to "+f.account.User, "", err)
		}
	}
	if err := InitDB(ctx, b, f.account, temporary); err != nil {
		return err
	}
	root, err := os.OpenRoot(temporary)
	if err != nil {
		return explain("opening the new data directory", "", err)
	}
	defer root.Close()
	if err := mark(root, f.account); err != nil {
		return err
	}
	if err := os.Rename(temporary, f.path(dataName)); err != nil {
		return explain("moving the data directory into place", "", err)
	}
	parent, err := os.Open(f.dir)
	if err != nil {
		return explain("syncing "+filepath.Base(f.dir), "", err)
	}
	defer parent.Close()
	return parent.Sync()
}

// mark writes the marker of a new data directory.
func mark(root *os.Root, a Account) error {
	system, err := readSystemIdentifier(root)
	if err != nil {
		return err
	}
	major, err := readMajor(root)
	if err != nil {
		return err
	}
	var id [8]byte
	rand.Read(id[:]) // never fails (crypto/rand)
	m := marker{Program: markerProgram, ID: hex.EncodeToString(id[:]), SystemIdentifier: system, Major: major,
		Created: time.Now().UTC().Truncate(time.Second)}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the marker: %w", err)
	}
	return write(root, a, markerName, append(text, '\n'))
}
