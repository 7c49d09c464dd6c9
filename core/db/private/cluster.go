package private

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Cluster is a running private cluster. It is safe for concurrent use.
type Cluster struct {
	config   Config
	logger   hclog.Logger
	account  Account
	binaries Binaries
	folder   *folder
	data     *os.Root
	marker   marker
	alias    alias
	log      *logFile

	stopOnce sync.Once
	stop     chan struct{} // closed: shut down
	hurry    chan struct{} // closed: shut down at once
	done     chan struct{} // closed: nothing runs any more
	err      error         // set before done is closed
}

// Start creates the cluster if it does not exist, takes over one that a killed
// service left running, or starts it. It returns when the cluster answers.
// Recovery after a crash may take minutes; ctx limits only this wait.
// Afterwards a supervisor restarts a PostgreSQL that dies, with growing delays,
// until Stop. The caller must call Stop.
//
// Errors wrap ErrNoBinaries, ErrInUse, ErrForeign, ErrAccess or ErrNoSpace if
// one of these is the cause.
func Start(ctx context.Context, config Config) (*Cluster, error) {
	if err := config.normalise(); err != nil {
		return nil, err
	}
	account, err := FindAccount(config.User)
	if err != nil {
		return nil, err
	}
	f, err := openFolder(ctx, config.Dir, account)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		config: config, logger: config.Logger, account: account, folder: f,
		log:  &logFile{path: f.path(logName), logger: config.Logger},
		stop: make(chan struct{}), hurry: make(chan struct{}), done: make(chan struct{}),
	}
	pm, err := c.bring(ctx)
	if err != nil {
		c.release()
		return nil, err
	}
	go c.supervise(pm)
	return c, nil
}

// bring runs the part of the start that needs the lock.
func (c *Cluster) bring(ctx context.Context) (*postmaster, error) {
	installed, err := FindBinaries(ctx, c.config.Binaries)
	if err != nil {
		return nil, err
	}
	if err := c.folder.clean(ctx); err != nil {
		return nil, err
	}
	made, err := c.folder.exists()
	if err != nil {
		return nil, err
	}
	if !made {
		began := time.Now()
		if err := create(ctx, c.folder, installed[0]); err != nil {
			return nil, err
		}
		c.logger.Info("created a private PostgreSQL cluster", "dir", c.config.Dir, "version", installed[0].Version, "took",
			time.Since(began).Round(time.Millisecond))
	}
	if c.data, err = c.folder.open(); err != nil {
		return nil, err
	}
	if c.marker, err = readMarker(c.data); err != nil {
		return nil, err
	}
	if c.binaries, err = pick(installed, c.marker.Major); err != nil {
		return nil, err
	}
	if err := c.folder.ownFolder(runName); err != nil {
		return nil, err
	}
	if c.alias, err = shorten(c.folder.path(runName)); err != nil {
		return nil, err
	}
	return c.start(ctx)
}

// URL returns the pgx connection string of the service's database. It uses the
// Unix socket and contains no secret. It stays the same when PostgreSQL
// restarts. Only processes of the service's system user can use it.
func (c *Cluster) URL() string { return c.connection(Role, Database) }

// Version returns the version of PostgreSQL, such as "15.18".
func (c *Cluster) Version() string { return c.binaries.Version }

// Done returns a channel that is closed when the cluster was stopped or cannot
// be kept running.
func (c *Cluster) Done() <-chan struct{} { return c.done }

// Err returns why the cluster ended. It is nil before Done is closed, and after
// a regular Stop.
func (c *Cluster) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// Stop shuts PostgreSQL down: it rolls open transactions back, closes
// connections and writes the data. If ctx ends first, it shuts down at once
// (SIGQUIT), which loses no committed data but makes the next start recover.
// Stop returns when no process is left. A second call waits for the first.
func (c *Cluster) Stop(ctx context.Context) error {
	c.stopOnce.Do(func() {
		close(c.stop)
		select {
		case <-c.done:
		case <-ctx.Done():
			close(c.hurry)
		}
	})
	<-c.done // bounded: the supervisor gives up by itself
	return c.err
}

// supervise keeps PostgreSQL running until Stop.
func (c *Cluster) supervise(pm *postmaster) {
	defer close(c.done)
	defer c.release()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // a start in progress ends with Stop
		select {
		case <-c.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	began := time.Now()
	pause := firstPause
	for {
		select {
		case <-tick.C:
			c.log.forward()
			continue
		case <-c.stop:
			c.err = c.shutdown(pm)
			pm.process.close()
			return
		case <-pm.gone:
		}
		pm.process.close()
		c.log.forward()
		if time.Since(began) > time.Minute {
			pause = firstPause
		}
		c.logger.Error("PostgreSQL ended unexpectedly; starting it again", "state", pm.state, "pause", pause)
		if pm, pause = c.revive(ctx, pause); pm == nil {
			return
		}
		began = time.Now()
	}
}

const (
	firstPause = 100 * time.Millisecond
	lastPause  = 30 * time.Second
)

// revive starts PostgreSQL until it runs. It returns nil if Stop was called, or
// if the data is no longer a cluster of this service.
func (c *Cluster) revive(ctx context.Context, pause time.Duration) (*postmaster, time.Duration) {
	for {
		select {
		case <-ctx.Done():
			return nil, 0
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
		pm, err := c.restart(ctx)
		switch {
		case err == nil:
			c.logger.Info("PostgreSQL is running again")
			return pm, pause
		case ctx.Err() != nil:
			return nil, 0
		case errors.Is(err, ErrForeign):
			c.logger.Error("PostgreSQL cannot be restarted", "error", err)
			c.err = fmt.Errorf("restarting PostgreSQL: %w", err)
			return nil, 0
		}
		c.logger.Error("PostgreSQL did not start", "error", err, "pause", pause)
	}
}

// restart checks the marker of the data directory again before it starts
// PostgreSQL on it.
func (c *Cluster) restart(ctx context.Context) (*postmaster, error) {
	if _, err := readMarker(c.data); err != nil {
		return nil, err
	}
	return c.start(ctx)
}

// shutdown stops the postmaster within the time that Stop allows.
func (c *Cluster) shutdown(pm *postmaster) error {
	if err := pm.process.signal(syscall.SIGINT); err != nil {
		return fmt.Errorf("stopping PostgreSQL: %w", err)
	}
	select {
	case <-pm.gone:
		return nil
	case <-c.hurry:
	}
	return pm.end(syscall.SIGQUIT, 5*time.Second)
}

// release frees everything that Start acquired.
func (c *Cluster) release() {
	c.log.forward()
	c.log.close()
	c.alias.remove()
	if c.data != nil {
		c.data.Close()
	}
	c.folder.release()
}
