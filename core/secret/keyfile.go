package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// largestFile limits what is read as a key file, in bytes.
const largestFile = 1 << 20

// stamp distinguishes the states of a file without reading it.
type stamp struct {
	device, inode uint64
	size          int64
	changed       syscall.Timespec
}

// stampOf gives what tells a changed file from the same one. The time of change
// of the inode is part of it, because the time of modification can be set.
func stampOf(info fs.FileInfo) stamp {
	s := info.Sys().(*syscall.Stat_t)
	return stamp{device: s.Dev, inode: s.Ino, size: s.Size, changed: s.Ctim}
}

// readFile reads the key file. It refuses a file that others can read or
// replace. A missing file is fs.ErrNotExist.
func readFile(path string) (*keyring, stamp, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		if errors.Is(err, syscall.ELOOP) {
			return nil, stamp{}, fmt.Errorf("%w: %s is a symbolic link: use the path of the file itself", ErrKeyAccess, path)
		}
		if errors.Is(err, fs.ErrPermission) {
			return nil, stamp{}, fmt.Errorf("%w: the service cannot read %s: chown it to the service's user", ErrKeyAccess, path)
		}
		return nil, stamp{}, fmt.Errorf("opening the key file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, stamp{}, fmt.Errorf("checking the key file: %w", err)
	}
	if err := checkFile(path, f, info); err != nil {
		return nil, stamp{}, err
	}
	text, err := io.ReadAll(io.LimitReader(f, largestFile))
	if err != nil {
		return nil, stamp{}, fmt.Errorf("reading the key file: %w", err)
	}
	r, err := decode(text)
	if err != nil {
		return nil, stamp{}, fmt.Errorf("reading the key file %s: %w; restore it from a backup", path, err)
	}
	return r, stampOf(info), nil
}

// checkFile applies the rules of ssh for private keys: the file belongs to this
// user or to root, nobody else can read or write it, and nobody else can put
// another file in its place.
func checkFile(path string, f *os.File, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is not a regular file", ErrKeyAccess, path)
	}
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	if owner != os.Geteuid() && owner != 0 {
		return fmt.Errorf("%w: %s belongs to user ID %d: chown it to the service's user", ErrKeyAccess, path, owner)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && !(owner == 0 && mode == sharedMode && sharedBy(f, os.Geteuid())) {
		return fmt.Errorf("%w: %s has mode %#o, so other users can access it: chmod 600, and rotate the key if others may have read it",
			ErrKeyAccess,
			path, mode)
	}
	return checkFolder(path)
}

// checkFolder checks that only this user and root can put another file in the
// key file's place.
func checkFolder(path string) error {
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("checking the folder of the key file: %w", err)
	}
	if uid := int(folder.Sys().(*syscall.Stat_t).Uid); uid != os.Geteuid() && uid != 0 {
		return fmt.Errorf("%w: the folder of %s belongs to user ID %d: chown it to the service's user, and run this as that user",
			ErrKeyAccess, path, uid)
	}
	if mode := folder.Mode(); mode.Perm()&0o022 != 0 && mode&fs.ModeSticky == 0 {
		return fmt.Errorf("%w: other users can replace %s, because its folder has mode %#o: chmod go-w", ErrKeyAccess, path, mode.Perm())
	}
	return nil
}

// createFile writes a new key file. The file appears completely or not at all.
// If another process made one in the meantime, that one stays and the error is
// fs.ErrExist.
func createFile(path string, r *keyring) error {
	if err := createFolder(filepath.Dir(path)); err != nil {
		return fmt.Errorf("creating the folder of the key file: %w", unwritable(path, err))
	}
	// The check comes before the write: a file of root in the folder of the
	// service's user would help neither.
	if err := checkFolder(path); err != nil {
		return err
	}
	draft, err := writeDraft(path, r)
	if err != nil {
		return err
	}
	err = os.Link(draft, path) // unlike a rename it fails when the name is taken
	if err := errors.Join(err, os.Remove(draft)); err != nil {
		return fmt.Errorf("creating the key file: %w", err)
	}
	return syncFolder(path)
}

// createFolder makes the folder of the key file, accessible only to this user.
// Others can pass through the folders above it, because the user of the private
// cluster has to reach the state folder.
func createFolder(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o711); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// unwritable returns ErrKeyReadOnly for the error of a write on a read-only
// file system.
func unwritable(path string, err error) error {
	if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: %s: %w", ErrKeyReadOnly, path, err)
	}
	return err
}

// replaceFile replaces the content of the key file. A crash leaves the old or
// the new one. Owner and group stay, because the command may run as root and
// the service as another user.
func replaceFile(path string, r *keyring) error {
	old, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("checking the key file: %w", err)
	}
	draft, err := writeDraft(path, r)
	if err != nil {
		return err
	}
	s := old.Sys().(*syscall.Stat_t)
	err = os.Lchown(draft, int(s.Uid), int(s.Gid))
	if err == nil {
		err = os.Rename(draft, path)
	}
	if err != nil {
		return fmt.Errorf("replacing the key file: %w", errors.Join(err, os.Remove(draft)))
	}
	return syncFolder(path)
}

// changeFile applies a change to the present content of the key file, one
// process at a time: a rotation that lost its lock on the database must not
// overwrite what the next one wrote.
func changeFile(path string, change func(*keyring) (*keyring, error)) error {
	lock, err := os.Open(filepath.Dir(path)) // the folder: the file itself is replaced, and a lock file would need an owner
	if err != nil {
		return fmt.Errorf("locking the key file: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("locking the key file: %w", err)
	}
	r, _, err := readFile(path)
	if err != nil {
		return err
	}
	if r, err = change(r); err != nil {
		return err
	}
	return replaceFile(path, r)
}

// writeDraft writes the keyring to a file beside path, and syncs it.
func writeDraft(path string, r *keyring) (string, error) {
	text, err := r.encode()
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600, exclusive
	if err != nil {
		return "", fmt.Errorf("writing the key file: %w", unwritable(path, err))
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", fmt.Errorf("writing the key file: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return f.Name(), nil
}

// syncFolder makes a rename durable: without it a crash may bring the old name
// back (fsync(2), "NOTES").
func syncFolder(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("syncing the folder of the key file: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("syncing the folder of the key file: %w", err)
	}
	return nil
}
