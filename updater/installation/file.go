package installation

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// WriteFile replaces a file in one step and brings it to the disk. Nothing is left beside it when it fails.
func WriteFile(path string, text []byte, mode fs.FileMode) (err error) {
	fresh := path + ".new"
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		_ = os.Remove(fresh)
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		_ = os.Remove(fresh)
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes a rename in the folder outlive a power cut.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
