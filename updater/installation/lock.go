package installation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrBusy: another updater is at work.
var ErrBusy = errors.New("another update is running")

// lockPath is the lock, which nobody but root can open: whoever may read a file may also hold a read lock on it, and so keep
// every updater from its work.
func lockPath(stateDir string) string { return filepath.Join(stateDir, "lock") }

// signPath is the file by which everybody can see that an updater is at work. Each updater makes it anew, locked before others
// can open it.
func signPath(stateDir string) string { return filepath.Join(stateDir, "at-work") }

// whole is a lock on all of a file that belongs to the open file, so that it goes with the process whatever ends it. Such
// a lock can be looked at by those who may only read, without taking it: a look must not keep an updater from its work.
func whole() *unix.Flock_t { return &unix.Flock_t{Type: unix.F_WRLCK} }

// Lock makes this process the only updater until the returned function runs or the process dies. Otherwise it is ErrBusy.
func Lock(stateDir string) (func(), error) {
	f, err := lockFile(lockPath(stateDir))
	if err != nil {
		if errors.Is(err, unix.EAGAIN) {
			return nil, ErrBusy
		}
		return nil, fmt.Errorf("taking the updater's lock: %w", err)
	}
	sign := showWork(signPath(stateDir))
	return func() {
		if sign != nil {
			unlock(sign)
		}
		unlock(f)
	}, nil
}

// unlock frees the lock and closes the file. Closing alone would leave it to a child that is just being started: it has its
// parent's files open until it executes its program.
func unlock(f *os.File) {
	_ = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK})
	_ = f.Close()
}

// lockFile opens a file for nobody but us and takes its lock.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	err = f.Chmod(0o600) // one that was made otherwise
	if err == nil {
		err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, whole())
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// showWork takes the lock that others see. On a full disk it is that of the last updater's file, which somebody may keep
// from being taken; an updater does its work unseen then.
func showWork(path string) *os.File {
	fresh := path + ".new"
	f, err := lockFile(fresh)
	if err == nil {
		if err = errors.Join(f.Chmod(0o644), os.Rename(fresh, path)); err == nil {
			return f
		}
		_ = f.Close()
	}
	if f, err = os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0); err != nil {
		return nil
	}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, whole()); err != nil {
		_ = f.Close()
		return nil
	}
	return f
}

// Locked reports whether an updater is at work.
func Locked(stateDir string) (bool, error) {
	f, err := os.Open(signPath(stateDir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("checking for a running updater: %w", err)
	}
	defer func() { _ = f.Close() }()
	// A question about a read lock needs no right to write, and meets every write lock.
	ask := &unix.Flock_t{Type: unix.F_RDLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, ask); err != nil {
		return false, fmt.Errorf("checking for a running updater: %w", err)
	}
	return ask.Type != unix.F_UNLCK, nil
}
