package poll

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Settings of the poller.
const (
	// DefaultInterval is the time between two polls of a cluster.
	DefaultInterval = 30 * time.Second
	defaultTimeout  = 25 * time.Second
	defaultTick     = time.Second
	// detailEvery is the time between two inventories with what costs the
	// hypervisor another request.
	detailEvery = 5 * time.Minute
	// maxBackOff bounds the pause before a failed host is tried again.
	maxBackOff = 5 * time.Minute
	// maxCycles bounds the cycles under way; they mostly wait. maxWrites bounds
	// those that write at the same time.
	maxCycles = 256
	maxWrites = 2
	// writeTimeout bounds a write, its wait for others included.
	writeTimeout = time.Minute
)

// Hosts opens hosts.
type Hosts interface {
	// Open gives the host with the credential of one capability; the caller closes it.
	Open(ctx context.Context, hostID int64, capability endpoint.Capability) (hypervisor.Host, error)
}

// Config is what a Poller needs. Zero values stand for the defaults.
type Config struct {
	DB    *db.DB
	Hosts Hosts
	// Interval is asked before each cycle; nil or an answer of zero or less means DefaultInterval.
	Interval func(context.Context) time.Duration
	// HostsUnavailable reports whether this instance can open no host for now: polls are
	// left to other instances while it does. It must not block; nil stands for
	// never.
	HostsUnavailable func() bool
	// Timeout is how long one host may take in all; zero means 25 s.
	Timeout time.Duration
	// Tick is how often the loop looks for what is due; zero means 1 s.
	Tick time.Duration
	// Now is the clock by which what is known grows old; nil means time.Now.
	Now    func() time.Time
	Logger hclog.Logger
	// Heartbeat hears of every turn of the loop; nil hears nothing.
	Heartbeat *heartbeat.Monitor
}

// Poller keeps the inventory up to date. It is safe for concurrent use.
type Poller struct {
	db        *db.DB
	hosts     Hosts
	interval  func(context.Context) time.Duration
	unable    func() bool
	timeout   time.Duration
	tick      time.Duration
	now       func() time.Time
	log       hclog.Logger
	heartbeat *heartbeat.Monitor

	locks  *locks
	wake   chan struct{}
	writes chan struct{}
	spare  sync.Pool
	count  counters

	mu     sync.Mutex
	day    time.Time
	active map[unit]bool
	// memberships is by cluster.
	memberships map[int64]lastMembership
}

// New returns a Poller; Run starts its loop. The caller calls Close when
// neither Run nor Sync is running any more.
func New(config Config) *Poller {
	p := &Poller{
		db: config.DB, hosts: config.Hosts, interval: config.Interval, unable: config.HostsUnavailable,
		timeout: config.Timeout, tick: config.Tick, now: config.Now, log: config.Logger, heartbeat: config.Heartbeat,
		locks: newLocks(config.DB), wake: make(chan struct{}, 1), writes: make(chan struct{}, maxWrites), active: map[unit]bool{},
		memberships: map[int64]lastMembership{},
	}
	p.spare.New = func() any { return newInventory() }
	if p.timeout == 0 {
		p.timeout = defaultTimeout
	}
	if p.tick == 0 {
		p.tick = defaultTick
	}
	if p.now == nil {
		p.now = time.Now
	}
	if p.log == nil {
		p.log = hclog.NewNullLogger()
	}
	if p.unable == nil {
		p.unable = func() bool { return false }
	}
	return p
}

// Close releases the connection that holds the locks.
func (p *Poller) Close() { p.locks.close() }

// Wake makes the loop look for due cycles now, for example after a host was
// added.
func (p *Poller) Wake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Run polls until the context ends, and returns when the last cycle has ended.
func (p *Poller) Run(ctx context.Context) {
	var cycles sync.WaitGroup
	defer cycles.Wait()
	slots := make(chan struct{}, maxCycles)
	p.heartbeat.Beat(0)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-p.wake:
		}
		if err := p.hasten(ctx); err != nil && ctx.Err() == nil {
			p.log.Warn("a shorter poll interval does not apply yet", "error", err)
		}
		var due []unit
		var err error
		if !p.unable() {
			due, err = p.due(ctx)
		}
		if err != nil && ctx.Err() == nil {
			p.log.Warn("finding due polls failed", "error", err)
		}
		for _, u := range due {
			p.start(ctx, u, slots, &cycles)
		}
		p.heartbeat.Beat(p.tick)
		timer.Reset(p.tick)
	}
}

// start runs the cycle of a unit, unless it is running or there is no slot; the
// next tick tries again.
func (p *Poller) start(ctx context.Context, u unit, slots chan struct{}, cycles *sync.WaitGroup) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.active[u] {
		return
	}
	select {
	case slots <- struct{}{}:
	default:
		return
	}
	p.active[u] = true
	cycles.Go(func() {
		defer func() {
			p.mu.Lock()
			delete(p.active, u)
			p.mu.Unlock()
			<-slots
		}()
		if err := p.cycle(ctx, u); err != nil && ctx.Err() == nil {
			p.log.Warn("a poll could not be recorded", "cluster", u.cluster, "host", u.host, "error", err)
			// Without this pause a database that refuses the cycle would be
			// asked again at every tick.
			pause(ctx, p.tick*5)
		}
	})
}

// every returns the present interval, which can change while the service runs.
func (p *Poller) every(ctx context.Context) time.Duration {
	if p.interval != nil {
		if d := p.interval(ctx); d > 0 {
			return d
		}
	}
	return DefaultInterval
}

// pause waits for a duration, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// spread returns a factor near 1, so that hosts that were added together are
// not polled together for ever.
func spread() float64 { return 0.95 + rand.Float64()/10 }

// jitter spreads a duration, so that clusters which started together do not
// stay together.
func jitter(d time.Duration) time.Duration { return time.Duration(float64(d) * spread()) }
