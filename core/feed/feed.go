// Package feed reports changes of guests, hosts, nodes, jobs, alerts and tasks
// as they happen: the live feed of the page.
//
// # How it works
//
// Triggers write into a short history which object changed and in which
// columns, never the values. Each instance with readers follows that history.
// Woken by LISTEN, at most about nine times a second, it reads the new rows,
// reads the objects again by a few statements, whatever the number of readers,
// and publishes one batch to all of them. So a reader gets the present state,
// in the form of the API's lists, and of several changes the last one wins.
//
// # Nothing is skipped
//
// A transaction that writes early may commit late. So a position in the history
// is not a number but a snapshot of PostgreSQL: the set of transactions that it
// has seen. New rows are exactly those of transactions that are not visible in
// the snapshot. Two changes of one object are ordered by the lock on its row: a
// snapshot that contains the second contains the first. Positions mean the same
// on every instance and survive restarts. In a restored copy of the database
// they mean nothing; the origin of the history shows that.
//
// # Main types
//
// Feed serves the readers of one instance, Reader is one of them, Filter is what
// it may see and wants, and Message is what it gets.
package feed

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/cluster"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
)

// Kind is the kind of an object.
type Kind string

// The kinds. Figures are those of all guests and nodes of a cluster, together.
const (
	Guest   Kind = "guest"
	Host    Kind = "host"
	Node    Kind = "node"
	Job     Kind = "job"
	Alert   Kind = "alert"
	Task    Kind = "task"
	Figures Kind = "figures"
	// scope is a host that went to another team.
	scope Kind = "scope"
)

// Kinds are those that a reader may choose from.
var Kinds = []Kind{Guest, Host, Node, Job, Alert, Task}

// These pace the feed. They bound the load of the database, whatever the number
// of readers and of changes.
const (
	channel = "feed"
	// pace is the least time between two batches, and gap that between two
	// messages to one reader: at most ten a second.
	pace = 110 * time.Millisecond
	gap  = 100 * time.Millisecond
	// lookAnyway is how often to look without having been woken, and refresh
	// how often readers hear of their position at least.
	lookAnyway = 5 * time.Second
	refresh    = time.Minute
	// retryFirst is the first wait after an error of the database; it doubles up to retryMost.
	retryFirst = 100 * time.Millisecond
	retryMost  = 2 * time.Second
	// stepLimit bounds one turn.
	stepLimit = 30 * time.Second
	// watching is for how long tasks are asked for once somebody looks; see core/task.
	watching = 3 * time.Minute
	// mostRows is how many rows of the history are told one by one. Beyond,
	// loading anew is cheaper for all.
	mostRows = 50_000
)

// Config is what a Feed needs.
type Config struct {
	DB       *db.DB
	Guests   *guest.Store
	Hosts    *host.Store
	Clusters *cluster.Store
	Jobs     *job.Queue
	// Version is the service's own, for readers to see.
	Version string
	// Logger gets what users do not see; nil logs nothing.
	Logger hclog.Logger
	// Heartbeat hears of every turn of Run; nil hears nothing.
	Heartbeat *heartbeat.Monitor
}

// Filter is what a reader may see and wants to see.
type Filter struct {
	Visible identity.VisibleTeams
	// Kinds narrow; empty is all.
	Kinds []Kind
	// Figures asks for the figures of guests and nodes too, once for each poll of a cluster.
	Figures bool
}

// Feed serves the readers of one instance. It is made by New, and is safe for
// concurrent use. It works while there are readers, also without Run.
type Feed struct {
	Config
	sources map[Kind]*source

	running context.Context
	end     context.CancelFunc
	pumps   sync.WaitGroup
	// wake holds one wake-up of the pump.
	wake chan struct{}

	mu      sync.Mutex
	pumping bool
	// readers are those that were joined and are not closed, figures and tasks
	// how many of them want such.
	readers, figures, tasks int
	joining                 []*joining
	// tail is the link that the next batch fills.
	tail *link
}

// link is one place in the chain of batches. next and batch are set when ready
// is closed. A slow reader holds an old link and with it all later batches; the
// garbage collector frees the chain before it.
type link struct {
	ready chan struct{}
	batch *batch
	next  *link
}

// New returns a feed. It makes no query before somebody joins.
func New(c Config) *Feed {
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	f := &Feed{Config: c, wake: make(chan struct{}, 1), tail: &link{ready: make(chan struct{})}}
	f.sources = f.allSources()
	f.running, f.end = context.WithCancel(context.Background())
	return f
}

// Close ends the work for readers. Remaining readers get nothing more.
func (f *Feed) Close() {
	f.mu.Lock()
	f.end()
	f.mu.Unlock()
	f.pumps.Wait()
}

// Readers returns how many readers follow the feed of this instance.
func (f *Feed) Readers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.readers
}

// rouse wakes the pump.
func (f *Feed) rouse() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}
