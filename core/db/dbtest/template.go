package dbtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hostler/hostler/core/db/private"
)

// templateForm changes when the arguments of initdb do.
const templateForm = "1"

// fill puts a data directory into the folder: a copy of the one in the user's cache, which the first test process of a
// PostgreSQL version makes. Without a cache folder it is made in place.
func (t *throwaway) fill(ctx context.Context) error {
	data := filepath.Join(t.dir, "data")
	if err := t.folder(data); err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return t.initialise(ctx, data)
	}
	cache = filepath.Join(cache, "hostler-test")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return t.initialise(ctx, data)
	}
	template, err := t.template(ctx, cache)
	if err != nil {
		return err
	}
	return t.copy(template, data)
}

// template is the cached data directory, made under a lock so that test processes which start together make one.
func (t *throwaway) template(ctx context.Context, cache string) (string, error) {
	lock, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", fmt.Errorf("opening the lock of the template data directory: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("locking the template data directory: %w", err)
	}
	template := filepath.Join(cache, "data-"+t.binaries.Version+"-"+templateForm)
	if _, err := os.Stat(template); err == nil {
		return template, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("looking for the template data directory: %w", err)
	}
	// PostgreSQL's user cannot enter the cache, so the files are made beside the final place and copied.
	fresh := filepath.Join(t.dir, "template")
	if err := t.folder(fresh); err != nil {
		return "", err
	}
	if err := t.initialise(ctx, fresh); err != nil {
		return "", err
	}
	half := template + ".new"
	if err := os.RemoveAll(half); err != nil {
		return "", fmt.Errorf("removing a half-made template: %w", err)
	}
	if err := os.CopyFS(half, os.DirFS(fresh)); err != nil {
		return "", fmt.Errorf("copying the template: %w", err)
	}
	if err := os.Rename(half, template); err != nil {
		return "", fmt.Errorf("naming the template: %w", err)
	}
	return template, os.RemoveAll(fresh)
}

// initialise runs initdb. Trust is safe here: only PostgreSQL's user and root can enter the folder of the socket. Small
// write-ahead segments make the copy small.
func (t *throwaway) initialise(ctx context.Context, dir string) error {
	return private.InitDB(ctx, t.binaries, t.account, dir, "--auth=trust", "--no-sync", "--wal-segsize=1")
}

func (t *throwaway) folder(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	if err := os.Chown(path, t.account.UID, t.account.GID); err != nil {
		return fmt.Errorf("giving the data directory to %s: %w", t.account.User, err)
	}
	return nil
}

// copy fills the data directory from the template and gives every file to PostgreSQL's user.
func (t *throwaway) copy(template, data string) error {
	if err := os.CopyFS(data, os.DirFS(template)); err != nil {
		return fmt.Errorf("copying the template data directory: %w", err)
	}
	if os.Geteuid() != 0 {
		return nil
	}
	return filepath.WalkDir(data, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, t.account.UID, t.account.GID)
	})
}
