package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/private"
)

// database is the connection pool and what this process started for it. close
// must be called once.
type database struct {
	*db.DB
	// cluster is the private PostgreSQL if this process started it. It is nil
	// for an external server, and for a command that joined the running
	// service's PostgreSQL.
	cluster *private.Cluster
	// leave stops the private PostgreSQL if this process started it; otherwise
	// it is nil.
	leave func(context.Context) error
}

// stopCluster is how long PostgreSQL may take for a smooth shutdown before it
// is stopped faster.
const stopCluster = 3 * time.Second

// openDatabase connects to the configured server, or starts the private
// PostgreSQL and connects to it. It does not migrate the schema. Only the
// service uses it: it fails with private.ErrInUse if another process runs the
// private PostgreSQL.
func openDatabase(ctx context.Context, cfg Config, log hclog.Logger) (*database, error) {
	if cfg.DatabaseURL != "" {
		return connect(ctx, cfg.DatabaseURL, log, &database{})
	}
	cluster, err := private.Start(ctx, privateConfig(cfg, log))
	if err != nil {
		return nil, fmt.Errorf("starting the private database: %w", err)
	}
	return connect(ctx, cluster.URL(), log, &database{cluster: cluster, leave: cluster.Stop})
}

// joinDatabase opens the database for a command, which may run beside the
// service, and migrates the schema to this release. A newer schema is an error.
func joinDatabase(ctx context.Context, cfg Config, log hclog.Logger) (*database, error) {
	if cfg.DatabaseURL == "" {
		return joinPrivate(ctx, cfg, log)
	}
	return migrated(ctx, cfg.DatabaseURL, log, &database{})
}

// joinPrivate connects to the private PostgreSQL of the running service. If no
// service runs, it starts PostgreSQL for the duration of the command.
func joinPrivate(ctx context.Context, cfg Config, log hclog.Logger) (*database, error) {
	config := privateConfig(cfg, log)
	cluster, err := private.Start(ctx, config)
	if err == nil {
		return migrated(ctx, cluster.URL(), log, &database{cluster: cluster, leave: cluster.Stop})
	}
	if !errors.Is(err, private.ErrInUse) {
		return nil, fmt.Errorf("starting the private database: %w", err)
	}
	url, err := private.Attach(config.Dir)
	if err != nil {
		return nil, fmt.Errorf("connecting to the running service's database: %w", err)
	}
	return migrated(ctx, url, log, &database{})
}

// migrated connects to a server and migrates the schema. On an error it closes
// everything that d contains.
func migrated(ctx context.Context, url string, log hclog.Logger, d *database) (*database, error) {
	d, err := connect(ctx, url, log, d)
	if err != nil {
		return nil, err
	}
	if err := d.migrate(ctx); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// privateConfig returns the configuration of the private PostgreSQL, in the
// folder postgresql of the state folder.
func privateConfig(cfg Config, log hclog.Logger) private.Config {
	return private.Config{Dir: filepath.Join(cfg.StateDir, "postgresql"), Logger: log.Named("postgresql")}
}

// connect opens the pool. On an error it stops what was started for d, so that
// no PostgreSQL stays behind.
func connect(ctx context.Context, url string, log hclog.Logger, d *database) (*database, error) {
	opened, err := db.Open(ctx, db.Config{URL: url, MaxConns: maxConns, Logger: log.Named("db")})
	if err != nil {
		d.end()
		return nil, err
	}
	d.DB = opened
	return d, nil
}

// maxConns is the maximum number of connections: for requests, polls, 4 jobs
// and the job queue itself. PostgreSQL allows 100 by default, so several
// instances and psql still fit.
const maxConns = 20

// close closes the pool and stops the private PostgreSQL if this process
// started it.
func (d *database) close() {
	d.Close()
	d.end()
}

// end stops the private PostgreSQL, within stopCluster. It uses its own
// context, because it runs after the service's context ended.
func (d *database) end() {
	if d.leave == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopCluster)
	defer cancel()
	_ = d.leave(ctx) // it logs what went wrong
}

// migrate migrates the schema to this release. It refuses a database of a newer
// release: an old program would write rows that the new one does not expect.
func (d *database) migrate(ctx context.Context) error {
	have, want, err := d.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	if have > want {
		return fmt.Errorf("the database has version %d, but this release supports only %d: start the release that migrated it, or "+
			"restore a backup",
			have, want)
	}
	return d.Migrate(ctx)
}
