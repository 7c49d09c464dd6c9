package plugin

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// These are the names in the folder of sockets.
const (
	// runPrefix begins the names of the folders that hold one plugin process's socket.
	runPrefix = "hostler-run-"
	// runLock is the file in such a folder that its owner has locked: the
	// kernel gives the lock up with the owner's death.
	runLock = "owner"
)

// runDir is the folder with the socket of one process, accessible only to this
// user.
type runDir struct {
	path string
	lock *os.File
}

// newRunDir makes the folder for the socket of one process and locks it. The
// lock tells a folder in use from one that a killed service left.
func newRunDir(parent string) (*runDir, error) {
	path, err := os.MkdirTemp(parent, runPrefix)
	if err != nil {
		return nil, fmt.Errorf("creating the plugin's socket folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, runLock), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		if err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return &runDir{path: path, lock: lock}, nil
		}
		err = errors.Join(err, lock.Close())
	}
	return nil, fmt.Errorf("creating the plugin's socket folder: %w", errors.Join(err, os.RemoveAll(path)))
}

// remove deletes the folder of a process that is gone.
func (d *runDir) remove() {
	_ = os.RemoveAll(d.path)
	_ = d.lock.Close()
}

// sweepRunDirs deletes the folders that killed services have left.
func sweepRunDirs(parent string) {
	if parent == "" {
		parent = os.TempDir()
	}
	dirs, _ := filepath.Glob(filepath.Join(parent, runPrefix+"*"))
	for _, dir := range dirs {
		if abandoned(dir) {
			_ = os.RemoveAll(dir)
		}
	}
}

// abandoned reports whether nobody uses a folder any more. A folder without the
// lock file is of an earlier release, or is being created: it counts as used
// while it is young or its socket answers.
func abandoned(dir string) bool {
	lock, err := os.OpenFile(filepath.Join(dir, runLock), os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err == nil {
		defer func() { _ = lock.Close() }()
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			return false
		}
		// An owner locks its file immediately after creating it, so that an
		// unlocked file may be only moments old.
		info, err := lock.Stat()
		return err == nil && time.Since(info.ModTime()) > time.Second
	}
	info, err := os.Stat(dir)
	if err != nil || time.Since(info.ModTime()) <= time.Minute {
		return false
	}
	sockets, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return false
	}
	for _, socket := range sockets {
		if conn, err := net.DialTimeout("unix", socket, time.Second); err == nil {
			_ = conn.Close()
			return false
		}
	}
	return true
}
