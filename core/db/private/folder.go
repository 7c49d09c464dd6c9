package private

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	lockName = "hostler.lock"
	logName  = "postgresql.log"
	dataName = "data"
	runName  = "run"
	initName = "init-" // and a random number: a data directory in the making
)

// folder is the locked folder of the cluster.
type folder struct {
	dir     string
	account Account
	lock    *os.File
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

// openFolder creates or checks the folder and locks it. It changes nothing in a
// folder that does not belong to this service.
func openFolder(ctx context.Context, dir string, a Account) (*folder, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o711); err != nil {
		return nil, explain("creating the state folder "+filepath.Dir(dir), "", err)
	}
	mode := fs.FileMode(0o700)
	if a.drop {
		mode = 0o711 // PostgreSQL's user passes through to data and run; it cannot list or write
	}
	if err := os.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, explain("creating the folder "+dir, "", err)
	}
	if err := checkOwn(dir, os.Geteuid(), 0o022); err != nil {
		return nil, err
	}
	if err := checkUse(dir); err != nil {
		return nil, err
	}
	lock, err := takeLock(ctx, filepath.Join(dir, lockName))
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, mode); err != nil {
		lock.Close()
		return nil, explain("setting the mode of "+dir, "", err)
	}
	return &folder{dir: dir, account: a, lock: lock}, nil
}

// checkOwn refuses a path that is not a folder, has another owner, or has one
// of the mode bits in forbidden.
func checkOwn(path string, uid int, forbidden fs.FileMode) error {
	info, err := os.Lstat(path)
	if err != nil {
		return explain("checking "+path, "", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%w: %s is not a folder", ErrAccess, path)
	}
	if owner := int(info.Sys().(*syscall.Stat_t).Uid); owner != uid {
		return fmt.Errorf("%w: %s belongs to user ID %d but must belong to %d: start the service as the user that created it, or chown it",
			ErrAccess, path, owner, uid)
	}
	if info.Mode().Perm()&forbidden != 0 {
		return fmt.Errorf("%w: %s has mode %#o, which gives other users access: chmod %#o", ErrAccess, path, info.Mode().Perm(),
			info.Mode().Perm()&^forbidden)
	}
	return nil
}

// checkUse refuses a folder that contains files but was never used by this
// service. The lock file is the proof of use.
func checkUse(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return explain("reading the folder "+dir, "", err)
	}
	ours, foreign := false, ""
	for _, e := range entries {
		switch e.Name() {
		case lockName:
			ours = true
		case "lost+found":
		default:
			foreign = e.Name()
		}
	}
	if foreign != "" && !ours {
		return fmt.Errorf("%w: %s contains %q and was not created by this service; nothing was changed. Choose an empty folder",
			ErrForeign, dir,
			foreign)
	}
	return nil
}

// takeLock locks the lock file until it is closed or the process dies. The file
// is never removed: removing it would race with another service that opens it.
func takeLock(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, explain("opening the lock file "+path, "", err)
	}
	// A child that a killed service had just forked holds the lock until it executes its program, some milliseconds later.
	waiting, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	err = until(waiting, func() (bool, error) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 32)) // only for the message
		f.Close()
		if waiting.Err() != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("%w: %s is locked by process %s: stop that service first, or use another state folder for this one",
				ErrInUse, path,
				strings.TrimSpace(string(holder)))
		}
		return nil, explain("locking "+path, "", err)
	}
	// The holder's process id is for people only; that it cannot be written (full disk) is no reason to stop.
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	}
	return f, nil
}

// ownFolder creates or checks a folder of PostgreSQL's user.
func (f *folder) ownFolder(name string) error {
	path := f.path(name)
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return checkOwn(path, f.account.UID, 0o077)
	}
	if err != nil {
		return explain("making "+path, "", err)
	}
	if f.account.drop {
		if err := os.Lchown(path, f.account.UID, f.account.GID); err != nil {
			return explain("giving "+path+" to "+f.account.User, "", err)
		}
	}
	return nil
}

// clean removes data directories that killed starts left under temporary names.
// A child of a killed initdb may still write for a moment, so it tries again
// for up to 5 s.
func (f *folder) clean(ctx context.Context) error {
	left, err := filepath.Glob(f.path(initName) + "*")
	if err != nil {
		return fmt.Errorf("finding leftovers of an earlier start: %w", err)
	}
	for _, path := range left {
		err := os.RemoveAll(path)
		for rounds := 0; errors.Is(err, syscall.ENOTEMPTY) && rounds < 50; rounds++ {
			select {
			case <-ctx.Done():
				return fmt.Errorf("removing the leftover %s: %w", path, ctx.Err())
			case <-time.After(100 * time.Millisecond):
			}
			err = os.RemoveAll(path)
		}
		if err != nil {
			return explain("removing the leftover "+path, "", err)
		}
	}
	return nil
}

// exists reports whether the data directory exists, as anything.
func (f *folder) exists() (bool, error) {
	_, err := os.Lstat(f.path(dataName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, explain("checking the data directory", "", err)
	}
	return true, nil
}

// open checks the owner of the data directory and opens it. All access goes
// through the returned root: the files belong to PostgreSQL's user, and a
// symbolic link there must not lead a service that runs as root elsewhere.
func (f *folder) open() (*os.Root, error) {
	if err := checkOwn(f.path(dataName), f.account.UID, 0o077); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(f.path(dataName))
	if err != nil {
		return nil, explain("opening the data directory", "", err)
	}
	return root, nil
}

// release frees the lock.
func (f *folder) release() { f.lock.Close() }

// write replaces a file in root atomically: a process that is killed leaves
// either the old or the new one.
func write(root *os.Root, a Account, name string, text []byte) error {
	temporary := name + ".new"
	if err := root.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain("removing "+temporary, "", err)
	}
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return explain("writing "+name, "", err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, a.own(f), f.Sync(), f.Close())
	if err == nil {
		err = root.Rename(temporary, name)
	}
	if err == nil {
		err = syncFolder(root)
	}
	if err != nil {
		return explain("writing "+name, "", err)
	}
	return nil
}

func syncFolder(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// needed is the free space in bytes that a new cluster requires. Its files take
// about 40 MB, and its write-ahead log grows up to 256 MB.
const needed = 128 << 20

// checkSpace refuses the first start on a disk that would soon be full.
func checkSpace(dir string) error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return explain("reading the free space of "+dir, "", err)
	}
	if free := s.Bavail * uint64(s.Bsize); free < needed {
		return fmt.Errorf("%w: %s has %d MiB free, but a new database needs %d: free some space or move the state folder", ErrNoSpace, dir,
			free>>20, needed>>20)
	}
	return nil
}
