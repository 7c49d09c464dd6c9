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
	// shm is a file system in memory on every Linux. Creating a database there
	// takes a tenth of the time that it takes on a busy disk.
	shm = "/dev/shm"
	// noExec is the flag ST_NOEXEC of statfs(2): programs cannot be started
	// from the file system.
	noExec = 8
	// heldPrefix begins the names of the folders of test processes. It is
	// short, because the paths of sockets must be short.
	heldPrefix = "ht-"
	// heldLock is the file in such a folder that its process and the children
	// of it keep locked.
	heldLock = ".held"
	// young is the age below which a folder may still be in creation.
	young = time.Minute
)

// Memory returns a folder of this process in memory, for tests that write a
// lot. Its path is short and every user can enter it. It returns "" if fewer
// than room bytes are free there, programs cannot be started from it, or TMPDIR
// asks for another place. The next test process removes the folder once neither
// this process nor a child of it is alive.
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

// used is the TMPDIR that UseMemory has set.
var used string

// UseMemory sets TMPDIR to Memory for this process and its children, if there
// is room. Call it in TestMain.
func UseMemory(room uint64) error {
	if dir := Memory(room); dir != "" {
		used = dir
		return os.Setenv("TMPDIR", dir)
	}
	return nil
}

// held is a folder with its locked file. The file stays open for the life of
// the process; the garbage collector would close an unreferenced one and
// release the lock.
type held struct {
	dir  string
	lock *os.File
}

// own is the folder of this process; its path is empty if it could not be
// created.
var own = sync.OnceValue(func() held {
	removeUnheld(shm)
	dir, lock, err := hold(shm)
	if err != nil {
		return held{}
	}
	return held{dir, lock}
})

// hold creates a folder and locks it. Children inherit the lock, so a folder
// stays as long as any process that may use it.
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

// removeUnheld removes the folders that no process holds. It ignores those that
// it cannot remove.
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
