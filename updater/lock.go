package updater

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// takeLock makes this process the only updater until the returned function runs or the process dies.
func takeLock(path string) (func(), error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the updater's lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrBusy
		}
		return nil, fmt.Errorf("taking the updater's lock: %w", err)
	}
	return func() { _ = f.Close() }, nil // closing frees the lock
}
