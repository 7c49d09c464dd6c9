package updater

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hostler/hostler/updater/installation"
)

// dumpName is the file of a backup with the database, in the custom format of
// pg_dump.
const dumpName = "database.dump"

// backup dumps the database and copies the service's secrets, before anything
// is downloaded. Backups belong to root.
func (r *run) backup(ctx context.Context) error {
	// This comes first: unknown databases may be the reason why the service
	// does not run.
	if _, err := r.leftovers(ctx); err != nil {
		return err
	}
	if err := r.reachable(ctx); err != nil {
		return err
	}
	if err := r.sweep(ctx); err != nil {
		return err
	}
	dir := r.cfg.Layout.backup(r.id)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("creating the folder of the backup: %w", err)
	}
	if err := r.dump(ctx, filepath.Join(dir, dumpName)); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	for _, path := range r.cfg.Layout.Secrets {
		if err := copyFile(path, filepath.Join(dir, filepath.Base(path)), maxSecret); err != nil {
			return errors.Join(err, os.RemoveAll(dir))
		}
	}
	return installation.SyncDir(dir)
}

// dump writes the dump to a file of root. The program, which runs as another
// user, gets a pipe: with the file that user could destroy the backup later. It
// could also wait for ever for a table that somebody keeps locked.
func (r *run) dump(ctx context.Context, path string) (err error) {
	ctx, cancel := contextWithin(ctx, r.cfg.MigrateTime)
	defer cancel()
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("creating the dump file: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	c := r.cfg.Database.owner(r.cfg.Database.Name, "pg_dump", "--format=custom", "--no-password")
	c.out = struct{ io.Writer }{out}
	if err := c.run(ctx); err != nil {
		return fmt.Errorf("dumping the database: %w", err)
	}
	if err := out.Sync(); err != nil {
		return fmt.Errorf("writing the dump to the disk: %w", err)
	}
	return nil
}

// maxSecret limits a file of secrets, in bytes.
const maxSecret = 1 << 20

// copyFile copies a regular file up to a size. It may be in a folder of another
// user: links are not followed, and a pipe is not waited for.
func copyFile(from, to string, most int64) (err error) {
	in, err := os.OpenFile(from, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("opening a file to copy: %w", err)
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return fmt.Errorf("checking a file to copy: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return fmt.Errorf("%s is not a regular file of at most %d bytes", from, most)
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("creating the copy of a file: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, io.LimitReader(in, most)); err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	if err := out.Sync(); err != nil {
		return fmt.Errorf("writing the copy of %s to the disk: %w", from, err)
	}
	return nil
}

// ErrUnknownDatabase: there are databases of an update that the journal does not know, as when it was lost. They may be
// all that is left of the data.
var ErrUnknownDatabase = errors.New("databases of an update exist that the journal does not know: if the service has all its data, drop " +
	"them; otherwise rename the one with _before_ in its name to the name of the live database")

// sweep removes what earlier runs could not remove, and old backups. Earlier
// runs have ended, so that nobody needs their databases.
func (r *run) sweep(ctx context.Context) error {
	useless, err := r.leftovers(ctx)
	if err != nil {
		return err
	}
	for _, name := range useless {
		if err := r.cfg.Database.drop(ctx, name); err != nil {
			return fmt.Errorf("dropping the databases of an earlier run: %w", err)
		}
	}
	if err := os.RemoveAll(filepath.Dir(r.cfg.Layout.quarantine(r.id))); err != nil {
		return fmt.Errorf("emptying the quarantine: %w", err)
	}
	return r.keepNewest()
}

// leftovers lists the databases of runs that have ended.
func (u *Updater) leftovers(ctx context.Context) ([]string, error) {
	names, err := u.cfg.Database.names(ctx)
	if err != nil {
		return nil, err
	}
	lines, err := installation.ReadJournal(installation.Journal(u.cfg.Layout.StateDir))
	if err != nil {
		return nil, err
	}
	var useless, unknown []string
	for _, name := range names {
		kind, run := u.cfg.Database.left(name)
		ended := slices.ContainsFunc(lines, func(l installation.Line) bool { return l.Step.Final() && strings.ToLower(l.Run) == run })
		switch {
		case kind == "":
		case kind == "trial" || ended && slices.Contains(names, u.cfg.Database.Name):
			useless = append(useless, name)
		default:
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrUnknownDatabase, strings.Join(unknown, ", "))
	}
	return useless, nil
}

// backupNames lists the backups, the newest last; newID ensures that order.
func (u *Updater) backupNames() ([]string, error) {
	entries, err := os.ReadDir(u.cfg.Layout.backups())
	if err != nil {
		return nil, fmt.Errorf("listing old backups: %w", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// keepNewest removes all backups except the newest, and that of the update
// which could be reverted. Of runs without a lasting change only the last one's
// backup stays, and none of the others replaces it: somebody who can request
// failing runs must not be able to use up the backups.
func (r *run) keepNewest() error {
	names, err := r.backupNames()
	if err != nil {
		return err
	}
	lines, err := installation.ReadJournal(installation.Journal(r.cfg.Layout.StateDir))
	if err != nil {
		return err
	}
	done, err := r.lastDone()
	if err != nil {
		return err
	}
	vain := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !slices.ContainsFunc(lines, func(l installation.Line) bool {
			return l.Run == name && (l.Step == installation.StepFailed || l.Step == installation.StepRolledBack)
		})
	})
	others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(vain, name) })
	useless := append(vain[:max(0, len(vain)-1)], others[:max(0, len(others)-r.cfg.KeepBackups)]...)
	for _, name := range useless {
		if done != nil && done.Run == name {
			continue
		}
		if err := os.RemoveAll(r.cfg.Layout.backup(name)); err != nil {
			return fmt.Errorf("removing an old backup: %w", err)
		}
	}
	return nil
}
