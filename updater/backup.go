package updater

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// dumpName is the file of a backup that holds the database, in pg_dump's custom format.
const dumpName = "database.dump"

// backup dumps the database and copies the service's secrets, before anything is fetched. Backups are root's.
func (r *run) backup(ctx context.Context) error {
	if err := r.sweep(ctx); err != nil {
		return err
	}
	dir := r.cfg.Layout.backup(r.id)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of the backup: %w", err)
	}
	if err := r.dump(ctx, filepath.Join(dir, dumpName)); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	for _, path := range r.cfg.Layout.Secrets {
		if err := copyFile(path, filepath.Join(dir, filepath.Base(path))); err != nil {
			return errors.Join(err, os.RemoveAll(dir))
		}
	}
	return syncDir(dir)
}

// dump writes the dump by way of our own file, so that the user who dumps needs no right on the folder.
func (r *run) dump(ctx context.Context, path string) (err error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("making the file of the dump: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	c := r.cfg.Database.owner(r.cfg.Database.Name, "pg_dump", "--format=custom", "--no-password")
	c.out = out
	if err := c.run(ctx); err != nil {
		return fmt.Errorf("dumping the database: %w", err)
	}
	if err := out.Sync(); err != nil {
		return fmt.Errorf("writing the dump to the disk: %w", err)
	}
	return nil
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("opening a file for the backup: %w", err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copying a file for the backup: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("copying %s for the backup: %w", from, err)
	}
	if err := out.Sync(); err != nil {
		return fmt.Errorf("writing the copy of %s to the disk: %w", from, err)
	}
	return nil
}

// sweep removes what earlier runs could not, and old backups. Earlier runs are at their end: their databases are of no
// use to anyone.
func (r *run) sweep(ctx context.Context) error {
	left, err := r.cfg.Database.leftovers(ctx)
	if err != nil {
		return fmt.Errorf("looking for what earlier runs left: %w", err)
	}
	for _, name := range left {
		if err := r.cfg.Database.drop(ctx, name); err != nil {
			return fmt.Errorf("dropping what an earlier run left: %w", err)
		}
	}
	if err := os.RemoveAll(filepath.Dir(r.cfg.Layout.quarantine(r.id))); err != nil {
		return fmt.Errorf("emptying the quarantine: %w", err)
	}
	return r.keepNewest(r.cfg.Layout.backups(), r.cfg.KeepBackups-1)
}

// keepNewest removes all but the newest folders; their names begin with their time.
func (r *run) keepNewest(dir string, keep int) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("looking for old backups: %w", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	for _, name := range names[:max(0, len(names)-keep)] {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("removing an old backup: %w", err)
		}
	}
	return nil
}
