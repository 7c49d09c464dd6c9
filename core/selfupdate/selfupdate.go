// Package selfupdate is the service's side of its own updates: it looks for releases, asks the updater for one, and tells
// how the updates went.
//
// Three parties meet here. The *service* has no right to change what is installed: it verifies manifests by the public
// keys of the installation, to tell people what there is, and leaves a request file. The *updater* is started by systemd
// when that file appears; it runs as root, believes the request in nothing but a version, looks for itself, and keeps a
// journal that everybody may read. The *files* of the updater say how an update stands: nothing of it is remembered by the
// service, so that the answer is the truth after a restart, a roll-back, or a kill in the middle.
//
// The database holds what was found when somebody looked last, who asked for which update, and which ends of updates the
// audit trail tells of already.
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

// DefaultConfigFile is where the package puts the updater's configuration.
const DefaultConfigFile = installation.DefaultConfig

// Config is what a Store works with.
type Config struct {
	DB    *db.DB
	Queue *job.Queue
	// ConfigFile is the updater's configuration. One that is not there means that there are no updates.
	ConfigFile string
	// Shape is how the service is installed; empty for what Machine says.
	Shape   Shape
	Machine Machine
	// Version is that of the running service.
	Version string
	// Architecture such as linux/amd64.
	Architecture string
	// Source is for servers of releases.
	Source release.SourceOptions
	// CheckTimeout bounds one look at the source; 15 s when zero.
	CheckTimeout time.Duration
	// WatchEvery is how long Run sleeps between looks at the updater's files; 5 s when zero.
	WatchEvery time.Duration
	// Heartbeat hears of every turn of Run; nil hears nothing.
	Heartbeat *heartbeat.Monitor
	// Logger gets what users do not see. Nil logs nothing.
	Logger hclog.Logger
}

// Store looks for releases, asks for updates and tells of them. It is safe for use by many goroutines, and by many
// instances on one database.
type Store struct {
	cfg     Config
	db      *db.DB
	log     hclog.Logger
	shape   Shape
	version string
	// machine is the name under which requests of this machine are kept.
	machine string
}

// New makes a store; Register it before the queue starts.
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

// configuration reads the updater's configuration anew: it may have been written since the service started. Nil without an
// error when there is none.
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

// Run keeps the schedule of looking for releases in step with the configuration, once, and tells the audit trail of every
// run that ends, until the context ends. Every instance runs it.
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

// changed reports whether the updater has written since the mark, and the mark of now.
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
