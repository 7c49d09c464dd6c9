package dbtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hostler/hostler/core/db/private"
)

// templateForm is a part of the cache key. Change it together with the
// arguments of initdb.
const templateForm = "2"

// fill creates the data directory. It copies the one in the user's cache, which
// the first test process for a PostgreSQL version and a schema creates, with
// the template database in it. Without a cache folder it runs initdb.
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

// template returns the cached data directory and creates it if it does not
// exist. A lock makes test processes that start together create only one. Using
// it updates its time of modification, by which removeOld decides.
func (t *throwaway) template(ctx context.Context, cache string) (string, error) {
	lock, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", fmt.Errorf("opening the lock of the template data directory: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("locking the template data directory: %w", err)
	}
	schema, err := digest()
	if err != nil {
		return "", err
	}
	template := filepath.Join(cache, "data-"+t.binaries.Version+"-"+templateForm+"-"+schema)
	if _, err := os.Stat(template); err == nil {
		now := time.Now()
		return template, os.Chtimes(template, now, now)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("looking for the template data directory: %w", err)
	}
	// PostgreSQL's user cannot enter the cache, so the files are made beside the final place and copied.
	making := filepath.Join(t.dir, "making")
	if err := t.make(ctx, making); err != nil {
		return "", err
	}
	removeOld(cache)
	half := template + ".new"
	if err := os.RemoveAll(half); err != nil {
		return "", fmt.Errorf("removing a half-made template: %w", err)
	}
	if err := os.CopyFS(half, os.DirFS(filepath.Join(making, "data"))); err != nil {
		return "", fmt.Errorf("copying the template: %w", err)
	}
	if err := os.Rename(half, template); err != nil {
		return "", fmt.Errorf("naming the template: %w", err)
	}
	return template, os.RemoveAll(making)
}

// make creates a data directory with the template database, in the folder data
// of dir.
func (t *throwaway) make(ctx context.Context, dir string) error {
	s := &OwnServer{at: throwaway{binaries: t.binaries, account: t.account, dir: dir}, args: settings}
	for _, path := range []string{dir, filepath.Join(dir, "run"), filepath.Join(dir, "data")} {
		if err := t.folder(path); err != nil {
			return err
		}
	}
	if err := s.at.initialise(ctx, filepath.Join(dir, "data")); err != nil {
		return err
	}
	if err := s.start(ctx); err != nil {
		return err
	}
	_, err := makeTemplate(ctx, s.address("postgres"))
	return errors.Join(err, s.stop())
}

// unused is how long a cached data directory is kept after its last use.
const unused = 14 * 24 * time.Hour

// removeOld removes the cached data directories of schemas and PostgreSQL
// versions that are no longer tested. It ignores those that it cannot remove.
func removeOld(cache string) {
	old, _ := filepath.Glob(filepath.Join(cache, "data-*"))
	for _, path := range old {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > unused {
			_ = os.RemoveAll(path)
		}
	}
}

// initialise runs initdb. The authentication trust is safe here, because only
// the user of PostgreSQL and root can enter the folder of the socket. Small
// write-ahead log segments make the copy small.
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

// copy copies the template to the data directory and gives every file to the
// user of PostgreSQL.
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
