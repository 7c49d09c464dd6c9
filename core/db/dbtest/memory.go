package dbtest

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	// shm is a file system in memory on every Linux. A database is made there in a tenth of the time that a busy disk takes.
	shm = "/dev/shm"
	// noExec is the flag of a file system from which no program starts, as statfs(2) gives it.
	noExec = 8
	// heldPrefix begins the names of the folders of test processes; it is short because the paths of sockets must be.
	heldPrefix = "ht-"
	// heldLock is the file in such a folder that its process and their children hold.
	heldLock = ".held"
	// young is for how long a folder may be one that is just being made.
	young = time.Minute
)

// Memory is a folder of this process in memory for what a test writes much to, with a short path and open to every user; "" when
// fewer bytes than room are free there, no program may be started from it, or TMPDIR says where such things shall be. The next test
// process removes it when neither this one nor a child of it lives any more.
func Memory(room uint64) string {
	if given := os.Getenv("TMPDIR"); given != "" && given != shm && given != used {
		return ""
	}
	var found syscall.Statfs_t
	if err := syscall.Statfs(shm, &found); err != nil || found.Flags&noExec != 0 || found.Bavail*uint64(found.Bsize) < room {
		return ""
	}
	return own().dir
}

// used is what UseMemory has made of TMPDIR.
var used string

// UseMemory makes Memory the place of all temporary files of this process and its children, where there is room. A TestMain
// calls it.
func UseMemory(room uint64) error {
	if dir := Memory(room); dir != "" {
		used = dir
		return os.Setenv("TMPDIR", dir)
	}
	return nil
}

// held is a folder with its lock, which is kept for the life of the process: a collected file would be a closed one.
type held struct {
	dir  string
	lock *os.File
}

// own is the folder of this process; without a name when there can be none.
var own = sync.OnceValue(func() held {
	removeUnheld(shm)
	dir, lock, err := hold(shm)
	if err != nil {
		return held{}
	}
	return held{dir, lock}
})

// hold makes a folder for whom the lock is open, which are all children that are started from now on, too.
func hold(parent string) (dir string, lock *os.File, err error) {
	if dir, err = os.MkdirTemp(parent, heldPrefix); err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	if err := os.Chmod(dir, os.ModeSticky|0o777); err != nil {
		return "", nil, err
	}
	if lock, err = os.OpenFile(filepath.Join(dir, heldLock), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return "", nil, err
	}
	if err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		_, _, failed := syscall.Syscall(syscall.SYS_FCNTL, lock.Fd(), syscall.F_SETFD, 0) // children inherit it
		if failed == 0 {
			return dir, lock, nil
		}
		err = failed
	}
	_ = lock.Close()
	return "", nil, fmt.Errorf("locking %s: %w", dir, err)
}

// removeUnheld removes the folders that nobody holds. What cannot be removed stays.
func removeUnheld(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, heldPrefix+"*"))
	for _, dir := range dirs {
		if unheld(dir) {
			_ = os.RemoveAll(dir)
		}
	}
}

func unheld(dir string) bool {
	lock, err := os.OpenFile(filepath.Join(dir, heldLock), os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		info, err := os.Stat(dir)
		return err == nil && time.Since(info.ModTime()) > young
	}
	defer func() { _ = lock.Close() }()
	info, err := lock.Stat()
	return err == nil && time.Since(info.ModTime()) > young && syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
