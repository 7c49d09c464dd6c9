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

// database is the open database and, when it is ours, the cluster that it lives in.
type database struct {
	*db.DB
	// cluster is the private one of a service; nil for a server that was given, and for commands.
	cluster *private.Cluster
	// leave ends what was started for the database.
	leave func(context.Context) error
}

// stopCluster is what PostgreSQL gets to write out its data before it is told to hurry.
const stopCluster = 3 * time.Second

// openDatabase opens the given server, or starts the private cluster for a service.
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

// joinDatabase is openDatabase for a command, which may run beside the service. It brings the schema to this release.
func joinDatabase(ctx context.Context, cfg Config, log hclog.Logger) (*database, error) {
	if cfg.DatabaseURL == "" {
		return joinPrivate(ctx, cfg, log)
	}
	return migrated(ctx, cfg.DatabaseURL, log, &database{})
}

// joinPrivate uses the cluster of the running service, and starts it for the time of the command when none runs.
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

func privateConfig(cfg Config, log hclog.Logger) private.Config {
	return private.Config{Dir: filepath.Join(cfg.StateDir, "postgresql"), Logger: log.Named("postgresql")}
}

func connect(ctx context.Context, url string, log hclog.Logger, d *database) (*database, error) {
	opened, err := db.Open(ctx, db.Config{URL: url, MaxConns: maxConns, Logger: log.Named("db")})
	if err != nil {
		d.end()
		return nil, err
	}
	d.DB = opened
	return d, nil
}

// maxConns of the pool: requests, polls, 4 jobs and what the queue keeps for itself. PostgreSQL's own limit is 100.
const maxConns = 20

// close gives the connections back and ends what was started.
func (d *database) close() {
	d.Close()
	d.end()
}

func (d *database) end() {
	if d.leave == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopCluster)
	defer cancel()
	_ = d.leave(ctx) // it logs what went wrong
}

// migrate brings the schema to this release, or refuses one that is newer: an old program must not write into it.
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
