package db

import (
	"context"
	"fmt"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/hostler/hostler/migrations"
)

// Migrate brings the schema to this release's version: River's tables first,
// then ours. It is safe to run from several processes at once (they wait for
// each other) and again (it does nothing).
func (d *DB) Migrate(ctx context.Context) error {
	provider, err := d.provider()
	if err != nil {
		return err
	}
	river, err := rivermigrate.New(riverpgxv5.New(d.Pool), nil)
	if err != nil {
		return fmt.Errorf("reading the queue's migrations: %w", err)
	}
	// The queue's migrator takes no lock of its own.
	conn, err := d.Pool.Acquire(ctx)
	if err != nil {
		return Problem(fmt.Errorf("taking a connection: %w", err))
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", LockMigrate); err != nil {
		return Problem(fmt.Errorf("waiting for another migration: %w", err))
	}
	defer func() {
		_, _ = conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", LockMigrate)
	}()
	if _, err := river.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrating the queue's tables: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrating the database: %w", err)
	}
	return nil
}

// SchemaVersion reports the schema's version and the version that this release wants.
func (d *DB) SchemaVersion(ctx context.Context) (have, want int64, err error) {
	provider, err := d.provider()
	if err != nil {
		return 0, 0, err
	}
	have, want, err = provider.GetVersions(ctx)
	if err != nil {
		return 0, 0, Problem(fmt.Errorf("reading the schema's version: %w", err))
	}
	return have, want, nil
}

// provider returns the migrations with a lock, so that two instances which
// start together do not both migrate.
func (d *DB) provider() (*goose.Provider, error) {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, fmt.Errorf("creating the migration lock: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, d.SQL, migrations.FS,
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, fmt.Errorf("reading the migrations: %w", err)
	}
	return provider, nil
}
