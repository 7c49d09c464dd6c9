// Package selfupdate is the service's side of its own updates. It checks for
// releases, requests an update from the updater, and reports how updates went.
//
// Three parties work together:
//
//   - The service cannot change what is installed. It verifies manifests with
//     the public keys of the installation in order to show what is available,
//     and writes a request file.
//   - systemd starts the updater when that file appears. The updater runs as
//     root, uses nothing but the version from the request, verifies the
//     release again itself, and keeps a journal that everybody can read.
//   - The files of the updater hold the state of an update. The service
//     remembers none of it, so that Status is correct after a restart, a
//     rollback, or a kill in the middle.
//
// The database holds the result of the last check, who requested which update,
// and which finished runs are in the audit log already.
//
// Only an installation of the shape package can update itself; see Shape.
package selfupdate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/updater/installation"
	"github.com/hostler/hostler/updater/release"
)

// DefaultConfigFile is the path of the updater's configuration in a package
// installation.
const DefaultConfigFile = installation.DefaultConfig

// Config has the dependencies of a Store. DB and Queue are required.
type Config struct {
	DB    *db.DB
	Queue *job.Queue
	// ConfigFile is the updater's configuration. If the file does not exist,
	// there are no updates.
	ConfigFile string
	// Shape is how the service was installed; empty to detect it with Machine.
	Shape   Shape
	Machine Machine
	// Version is the version of the running service.
	Version string
	// Architecture is the platform of releases to use, such as linux/amd64;
	// empty for that of the process.
	Architecture string
	// Source has the options for fetching from the server of releases.
	Source release.SourceOptions
	// CheckTimeout bounds one check of the source; 0 means 15 s.
	CheckTimeout time.Duration
	// WatchEvery is how often Run checks the updater's files for changes; 0
	// means 5 s.
	WatchEvery time.Duration
	// Heartbeat gets a beat at every turn of Run; nil is allowed.
	Heartbeat *heartbeat.Monitor
	// Logger gets failures that no request reports; nil logs nothing.
	Logger hclog.Logger
}

// Store checks for releases, requests updates and reports their results. It is
// safe for concurrent use, and several instances may share one database.
type Store struct {
	cfg     Config
	db      *db.DB
	log     hclog.Logger
	shape   Shape
	version string
	// machine is the host name. Requests are stored with it, because instances
	// on other machines share the database but not the files.
	machine string
}

// New returns a store. Call Register before the queue starts.
func New(cfg Config) *Store {
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	cfg.CheckTimeout = cmp.Or(cfg.CheckTimeout, 15*time.Second)
	cfg.WatchEvery = cmp.Or(cfg.WatchEvery, 5*time.Second)
	cfg.Source.Retries = cmp.Or(cfg.Source.Retries, 1)
	if cfg.Machine.Getenv == nil {
		cfg.Machine.Getenv = func(string) string { return "" }
	}
	s := &Store{cfg: cfg, db: cfg.DB, log: cfg.Logger, version: strings.TrimPrefix(cfg.Version, "v")}
	if s.shape = cfg.Shape; s.shape == "" {
		s.shape = cfg.Machine.Shape(cfg.ConfigFile)
	}
	if version := cfg.Machine.Release(cfg.ConfigFile); s.shape == ShapePackage && version != "" {
		s.version = version // what the updater goes by
	}
	s.machine, _ = os.Hostname() // an empty name is one too
	return s
}

// configuration reads the updater's configuration at each call, because it may
// change while the service runs. It returns nil without an error if the file
// does not exist.
func (s *Store) configuration() (*installation.Config, error) {
	c, err := installation.ReadConfig(s.cfg.ConfigFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// Run synchronizes the schedule of checks with the configuration, once, and
// writes every finished run of the updater to the audit log, until the context
// ends. Every instance runs it.
func (s *Store) Run(ctx context.Context) {
	s.cfg.Heartbeat.Beat(0)
	followed := false
	told := ""
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if !followed {
			err := s.SyncSchedule(ctx)
			if followed = err == nil; err != nil && ctx.Err() == nil {
				s.log.Warn("could not update the schedule for release checks; trying again", "error", err)
			}
		}
		if mark, changed := s.changed(told); changed {
			err := s.RecordRuns(ctx)
			if err != nil && ctx.Err() == nil {
				s.log.Warn("could not write the results of updates to the audit log", "error", err)
			}
			if err == nil || errors.Is(err, errUnreadable) {
				told = mark // files that cannot be read are looked at again when they change
			}
		}
		s.cfg.Heartbeat.Beat(s.cfg.WatchEvery)
		timer.Reset(s.cfg.WatchEvery)
	}
}

// changed reports whether the updater's files changed since the mark, and
// returns the current mark, made of sizes and times of modification.
func (s *Store) changed(since string) (mark string, changed bool) {
	c, err := s.configuration()
	if err != nil || c == nil || s.shape != ShapePackage {
		return since, false
	}
	mark = c.StateDir
	for _, path := range installation.WatchedFiles(c.StateDir) {
		if info, err := os.Stat(path); err == nil {
			mark += fmt.Sprintf(" %d@%d", info.Size(), info.ModTime().UnixNano())
		}
	}
	return mark, mark != since
}
