package updater

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// programTime limits programs that should answer at once.
const programTime = 30 * time.Second

// contextWithin is a context that ends after a time, with a cause that people
// understand.
func contextWithin(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("it took longer than %s", d))
}

// firstWord gives the first word of a text, bounded, for a message.
func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	if len(word) > 64 {
		word = word[:64]
	}
	return word
}

// trial restores the backup into a separate database and lets the new release
// migrate that. A backup that cannot be restored, and a migration that fails or
// takes too long, end the update here, while the old version still serves.
func (r *run) trial(ctx context.Context) error {
	d := r.cfg.Database
	name := r.trialDatabase()
	if err := d.drop(ctx, name); err != nil {
		return fmt.Errorf("making room for the trial: %w", err)
	}
	if err := d.create(ctx, name); err != nil {
		return fmt.Errorf("creating the trial database: %w", err)
	}
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if err := d.drop(clean, name); err != nil {
			r.log.Warn("cannot drop the trial database; the next run retries", "error", err)
		}
	}()
	if err := r.restore(ctx, filepath.Join(r.cfg.Layout.backup(r.id), dumpName), name); err != nil {
		return err
	}
	if err := r.migrateDatabase(ctx, name); err != nil {
		return fmt.Errorf("running the migrations on a copy: %w", err)
	}
	return nil
}

// restore fills a database from a dump. Everything in it belongs to the owner.
func (r *run) restore(ctx context.Context, dump, name string) error {
	ctx, cancel := contextWithin(ctx, r.cfg.MigrateTime)
	defer cancel()
	in, err := os.Open(dump)
	if err != nil {
		return fmt.Errorf("opening the backup: %w", err)
	}
	defer func() { _ = in.Close() }()
	c := r.cfg.Database.owner(name, "pg_restore", "--no-owner", "--no-privileges", "--exit-on-error", "--no-password", "--dbname="+name)
	c.in, c.terse = in, true // why is told to everybody, and rows are not
	if err := c.run(ctx); err != nil {
		return fmt.Errorf("restoring the backup into a copy: %w", err)
	}
	return nil
}

// migrateDatabase runs the migrations of the new release on a database, as its
// owner.
func (r *run) migrateDatabase(ctx context.Context, name string) error {
	return r.migrateBy(ctx, r.plan.To, name, "--pin-plugins")
}

// migrateBy runs a release's migrations on a database, as its owner.
func (r *run) migrateBy(ctx context.Context, version, name string, options ...string) error {
	ctx, cancel := contextWithin(ctx, r.cfg.MigrateTime)
	defer cancel()
	state, err := os.MkdirTemp("", "hostler-migrate-")
	if err != nil {
		return fmt.Errorf("creating a folder for the migrations: %w", err)
	}
	defer func() { _ = os.RemoveAll(state) }()
	if err := os.Chmod(state, 0o711); err != nil {
		return fmt.Errorf("opening the folder for the migrations: %w", err)
	}
	return command{
		as: r.cfg.Database.OwnerUser, name: r.cfg.Layout.program(version), args: append([]string{"migrate"}, options...),
		env: []string{"HOSTLER_DATABASE_URL=" + r.cfg.Database.url(name), "HOSTLER_STATE_DIR=" + state},
	}.run(ctx)
}

// stop stops the service: from here on nobody writes to the database, and the
// time without service begins.
func (r *run) stop(ctx context.Context) error {
	ctx, cancel := contextWithin(ctx, r.cfg.StopTime)
	defer cancel()
	if err := r.cfg.Service.Stop(ctx); err != nil {
		return fmt.Errorf("stopping the service: %w", err)
	}
	return nil
}

// snapshot renames the live database, so that only the updater finds it, and
// copies it inside the server. The copy replaces it in a rollback.
func (r *run) snapshot(ctx context.Context) error {
	ctx, cancel := contextWithin(ctx, r.cfg.MigrateTime)
	defer cancel()
	d := r.cfg.Database
	if err := d.drop(ctx, r.beforeDatabase()); err != nil {
		return fmt.Errorf("making room for the copy: %w", err)
	}
	if err := d.rename(ctx, d.Name, r.failedDatabase()); err != nil {
		return fmt.Errorf("renaming the live database: %w", err)
	}
	r.hook("put aside")
	if err := d.copy(ctx, r.failedDatabase(), r.beforeDatabase()); err != nil {
		return fmt.Errorf("copying the live database: %w", err)
	}
	return nil
}

// migrate runs the migrations on the live database.
func (r *run) migrate(ctx context.Context) error {
	// Without the copy there would be no way back.
	names, err := r.cfg.Database.names(ctx)
	if err == nil && !slices.Contains(names, r.beforeDatabase()) {
		err = fmt.Errorf("the copy of the live database does not exist: %w", os.ErrNotExist)
	}
	if err != nil {
		return err
	}
	if err := r.migrateDatabase(ctx, r.failedDatabase()); err != nil {
		return fmt.Errorf("migrating the live database: %w", err)
	}
	return nil
}

// change switches the link, gives the migrated database its name back, and
// starts the new version.
func (r *run) change(ctx context.Context) error {
	if err := r.cfg.Layout.point(r.plan.To); err != nil {
		return err
	}
	r.hook("link switched")
	if err := r.cfg.Database.rename(ctx, r.failedDatabase(), r.cfg.Database.Name); err != nil {
		return fmt.Errorf("renaming the migrated database to the live name: %w", err)
	}
	r.hook("switched")
	return r.start(ctx)
}

// start resets earlier failed starts, so that systemd does not refuse this one,
// and starts the service.
func (r *run) start(ctx context.Context) error {
	ctx, cancel := contextWithin(ctx, r.cfg.ReadyTime)
	defer cancel()
	if err := r.cfg.Service.Start(ctx); err != nil {
		return fmt.Errorf("starting the service: %w", err)
	}
	return nil
}
