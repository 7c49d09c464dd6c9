// Package updater replaces one release of the service by a newer one, and puts
// the old one back when anything fails.
//
// It is a program of its own that runs outside the service's process group, and
// it imports nothing of the service: what it does must work while the service
// is broken. The steps, as users see them, are
//
//	backup → download → verify → migrate → switch → health-check → done
//
// Until migrate touches the live database, nothing that runs has changed: a
// fault ends the run and the old version has never stopped serving. migrate
// first restores the backup into a database of its own and lets the new release
// migrate that; only then it stops the service, puts the live database aside
// under another name, copies it inside the server, and migrates it. switch
// moves the link and gives the database its name back. From the stop on a fault
// rolls back: the copy takes the live database's place by renaming, so nothing
// that was written before the stop is lost, the link goes back, and the old
// version is started.
//
// While link and database do not belong together there is no database of the
// live one's name. A service that the machine starts after a power cut, before
// anybody could resume, finds none: it can neither migrate a database that is
// about to be replaced nor take writes that would be lost with it.
//
// A journal records every step before and after it. Whoever finds a journal
// that is not at an end, at the next start or after a power cut, abandons the
// run where nothing has changed yet, goes on where only the health check is
// left, and rolls back everywhere else. All actions are such that doing them
// twice does no harm.
package updater

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/hostler/hostler/updater/release"
)

// Config says how an installation is laid out. The zero values of times take the defaults.
type Config struct {
	Layout Layout
	// Source is the place of the releases, see release.NewSource, and Channel
	// the stream that is followed. Only Run needs them.
	Source        string
	SourceOptions release.SourceOptions
	Channel       string
	// Architecture such as linux/amd64.
	Architecture string
	Database     Database
	Service      Service `json:"-"`
	// Ready is the address of the service's /readyz.
	Ready string
	// HTTP asks Ready; nil for one that trusts whatever certificate it meets there.
	HTTP *http.Client `json:"-"`
	// StopTime, ReadyTime and MigrateTime bound how long the service may take
	// to stop (1 min) and to become ready (1 min), and the migrations (30 min,
	// on the copy and on the live database each, and as long for the dump and
	// its restoring).
	StopTime, ReadyTime, MigrateTime time.Duration
	// Settled is how long the new version must stay ready, in one process,
	// until the update counts as done; 10 s.
	Settled time.Duration
	// DatabaseWait is how long to wait for a database that is away when
	// something must be put back; 5 min.
	DatabaseWait time.Duration
	// Now is the clock; time.Now when nil. It may be wrong and jump: it only
	// dates things, and time-outs do not follow it.
	Now func() time.Time `json:"-"`
	// KeepReleases and KeepBackups are how many old ones stay beside the
	// present; 2 and 5. Of runs that have changed nothing for good one more
	// backup may stay.
	KeepReleases, KeepBackups int
	Log                       *slog.Logger `json:"-"`
}

// Updater does one run at a time. Make it with New.
type Updater struct {
	cfg     Config
	log     *slog.Logger
	journal *journal
	// hook is called at named points of a run; only tests set it.
	hook func(point string)
}

// Errors that callers tell apart.
var (
	// ErrUnfinished: an earlier run is not at its end; resume comes first.
	ErrUnfinished = errors.New("an earlier update is unfinished: finish it with hostler-updater resume")
	// ErrUpToDate: there is no release that could be installed.
	ErrUpToDate = errors.New("no newer release")
)

// New makes an updater. It changes nothing.
func New(cfg Config) (*Updater, error) {
	if err := cfg.Layout.check(); err != nil {
		return nil, err
	}
	if cfg.Service == nil || cfg.Ready == "" || cfg.Architecture == "" {
		return nil, errors.New("the updater needs a service, its address and an architecture")
	}
	if err := cfg.Database.check(); err != nil {
		return nil, err
	}
	orTime(&cfg.StopTime, time.Minute)
	orTime(&cfg.ReadyTime, time.Minute)
	orTime(&cfg.MigrateTime, 30*time.Minute)
	orTime(&cfg.Settled, 10*time.Second)
	orTime(&cfg.DatabaseWait, 5*time.Minute)
	orInt(&cfg.KeepReleases, 2)
	orInt(&cfg.KeepBackups, 5)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.HTTP == nil {
		cfg.HTTP = local()
	}
	return &Updater{cfg: cfg, log: cfg.Log, hook: func(string) {}}, nil
}

// orTime sets a time that was left out.
func orTime(d *time.Duration, fallback time.Duration) {
	if *d <= 0 {
		*d = fallback
	}
}

// orInt sets a number that was left out.
func orInt(n *int, fallback int) {
	if *n <= 0 {
		*n = fallback
	}
}

// source opens the place of the releases.
func (u *Updater) source() (release.Source, error) {
	if u.cfg.Source == "" || u.cfg.Channel == "" {
		return nil, errors.New("the configuration has no source of releases, or no channel")
	}
	source, err := release.NewSource(u.cfg.Source, u.cfg.SourceOptions)
	if err != nil {
		return nil, fmt.Errorf("opening the source of releases: %w", err)
	}
	return source, nil
}
