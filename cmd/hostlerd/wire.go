package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"
	_ "time/tzdata" // schedules are read in time zones, on machines without that database too

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apps"
	auditapi "github.com/hostler/hostler/core/api/audit"
	"github.com/hostler/hostler/core/api/auth"
	"github.com/hostler/hostler/core/api/cluster"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/jobs"
	keysapi "github.com/hostler/hostler/core/api/keys"
	"github.com/hostler/hostler/core/api/meta"
	"github.com/hostler/hostler/core/api/op"
	pluginapi "github.com/hostler/hostler/core/api/plugins"
	"github.com/hostler/hostler/core/api/schedules"
	"github.com/hostler/hostler/core/api/settings"
	"github.com/hostler/hostler/core/api/setup"
	"github.com/hostler/hostler/core/api/teams"
	userapi "github.com/hostler/hostler/core/api/users"
	"github.com/hostler/hostler/core/api/vms"
	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/maintenance"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/selfupdate"
	"github.com/hostler/hostler/core/setting"
	"github.com/hostler/hostler/core/vm"
)

// server is the service with all its parts joined: the only place where all meets.
type server struct {
	log      hclog.Logger
	database *database
	// copied is held while the key file is a copy; nil otherwise.
	copied   *secret.Copy
	box      *secret.Box
	watch    secret.Watch
	setup    *identity.Setup
	plugins  *plugin.Manager
	queue    *job.Queue
	poller   *poll.Poller
	sealer   *audit.Sealer
	schedule *schedule.Store
	updates  *selfupdate.Store
	handler  http.Handler
	// heartbeats are the loops' signs of life, by name.
	heartbeats map[string]*heartbeat.Monitor

	// running is the context of the loops and of every request; end ends it, and loops waits for the loops.
	running context.Context
	end     context.CancelFunc
	loops   sync.WaitGroup
}

// wire opens the database, brings it up to date and joins the parts. Nothing runs yet but the database.
func wire(ctx context.Context, cfg Config, log hclog.Logger) (h *server, err error) {
	d, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	var copied *secret.Copy
	defer func() {
		if err != nil {
			copied.Close()
			d.close()
		}
	}()
	if err := d.migrate(ctx); err != nil {
		return nil, err
	}
	if cfg.keyIsCredential() {
		if copied, err = secret.HoldCopy(ctx, d.DB, log.Named("keys")); err != nil {
			return nil, err
		}
	}
	box, err := loadKeys(ctx, cfg, d.DB)
	if err != nil {
		return nil, err
	}
	plugins, err := newPlugins(cfg, d.DB, log)
	if err != nil {
		return nil, err
	}
	if err := trustInstalled(ctx, d.DB, plugins, log); err != nil {
		return nil, err
	}
	heartbeats := map[string]*heartbeat.Monitor{"job": {}, "poll": {}, "schedule": {}, "audit": {}, "metric": {}, "update": {}}
	// Without the present key no token can be opened: jobs and polls are the other instances' then.
	outdated := func() bool { return box.Outdated() != nil }
	watch := secret.Watch{DB: d.DB, Tables: sealed, Logger: log.Named("keys")}
	queue, err := job.New(job.Config{DB: d.DB, Logger: log.Named("job"), Heartbeat: heartbeats["job"], Unable: func(err error) bool {
		if !errors.Is(err, secret.ErrKeyWrong) && !errors.Is(err, secret.ErrOutdated) {
			return false
		}
		return errors.Is(box.Look(context.WithoutCancel(ctx), watch), secret.ErrOutdated)
	}})
	if err != nil {
		return nil, err
	}
	watch.Changed = func(outdated error) {
		if outdated != nil {
			queue.Suspend()
		} else {
			queue.Unsuspend()
		}
	}

	self := guest.DetectSelf(d.DB)
	store := host.New(host.Config{DB: d.DB, Keys: box, Drivers: plugins, Own: self, AllowLocal: cfg.AllowLoopbackHosts, Logger: log.Named("host")})
	poller := poll.New(poll.Config{DB: d.DB, Hosts: store, Logger: log.Named("poll"), Heartbeat: heartbeats["poll"], Unable: outdated, Interval: func(ctx context.Context) time.Duration {
		seconds, err := setting.Get(ctx, d.DB, setting.PollInterval)
		if err != nil {
			return 0 // the default, while the database is away
		}
		return time.Duration(seconds) * time.Second
	}})
	guests := &guest.Store{DB: d.DB, Self: self}
	actor := &guest.Actor{DB: d.DB, Queue: queue, Hosts: store}
	(&guest.Lifecycle{DB: d.DB, Hosts: store, Self: self.Is}).Register(queue)
	users := identity.New(d.DB, identity.Config{Keys: box, Logger: log, Assets: store})
	first := identity.NewSetup(users, cfg.StateDir)
	chain := audit.NewChain(d.DB, box)
	replays := &idempotency.Store{DB: d.DB, Keys: box}
	housekeeping := maintenance.New(maintenance.Config{DB: d.DB, Queue: queue, Sessions: users, Replays: replays, Trail: chain})
	housekeeping.Register()
	updates := selfupdate.New(selfupdate.Config{DB: d.DB, Queue: queue, ConfigFile: cfg.UpdateConfig, Shape: selfupdate.Shape(cfg.Shape),
		Machine: selfupdate.ThisMachine(), Version: version, Logger: log.Named("update"), Heartbeat: heartbeats["update"]})
	updates.Register()

	machines, containers := &vm.Store{Guests: guests, Actor: actor}, &app.Store{Guests: guests, Actor: actor}
	timetable := schedule.New(schedule.Config{DB: d.DB, Users: users, Logger: log.Named("schedule"), Heartbeat: heartbeats["schedule"], Kinds: slices.Concat(machines.Kinds(), containers.Kinds(), housekeeping.Kinds(), updates.Kinds())})

	h = &server{log: log, database: d, copied: copied, box: box, watch: watch, setup: first, plugins: plugins,
		queue: queue, poller: poller, schedule: timetable, updates: updates, heartbeats: heartbeats,
		sealer: audit.NewSealer(audit.SealerConfig{Chain: chain, Logger: log.Named("audit"), Heartbeat: heartbeats["audit"], Unable: outdated})}
	h.running, h.end = context.WithCancel(context.WithoutCancel(ctx))
	figures := newMetrics(d.DB, plugins, poller)
	h.handler = api.Handler(api.Deps{
		Authenticator: users, Resolver: op.ScopeResolver{DB: d.DB}, Recorder: audit.Recorder{DB: d.DB}, Rights: users, Browser: users.Browser,
		Entitlements: entitled(d.DB, log), Logger: log.Named("api"), Version: version, Observe: figures.observe,
		Replays: replays, Health: health(), Ready: ready(d.DB, plugins, box), Metrics: figures.handler(),
		Setup:   setup.Deps{Setup: first},
		Auth:    auth.Deps{Users: users},
		Keys:    keysapi.Deps{Users: users},
		Users:   userapi.Deps{Users: users},
		Teams:   teams.Deps{Users: users},
		Hosts:   hosts.Deps{Hosts: store, Poller: poller},
		VMs:     vms.Deps{VMs: machines},
		Apps:    apps.Deps{Apps: containers},
		Jobs:    jobs.Deps{Queue: queue},
		Audit:   auditapi.Deps{DB: d.DB, Chain: chain},
		Plugins: pluginapi.Deps{Plugins: plugins},

		Schedules: schedules.Deps{Schedules: timetable},
		Settings:  settings.Deps{Settings: &setting.Store{DB: d.DB, Hosts: store}},
		Cluster:   cluster.Deps{DB: d.DB},
		Meta:      meta.Deps{Updates: updates},
	})
	return h, nil
}

// entitled reads the feature flags. While they cannot be read nothing is on: a feature that was put off must not come
// back with a fault of the database.
func entitled(d *db.DB, log hclog.Logger) func(context.Context, string) bool {
	return func(ctx context.Context, name string) bool {
		on, err := setting.Entitled(ctx, d, name)
		if err != nil {
			log.Warn("a feature flag could not be read", "feature", name, "error", err)
		}
		return on
	}
}

// start starts everything that runs by itself. When it fails, stop must be called all the same.
func (h *server) start(ctx context.Context) error {
	if path, needed, err := h.setup.Prepare(ctx); err != nil {
		return err
	} else if needed {
		h.log.Warn("there is no user yet: POST /api/v1/setup with the token in this file makes the first owner", "file", path)
	}
	if err := h.plugins.Start(ctx); err != nil {
		return err
	}
	if err := h.box.Look(ctx, h.watch); err != nil && !errors.Is(err, secret.ErrOutdated) {
		return err
	}
	h.loops.Go(func() { h.box.Watch(h.running, h.watch) })
	if err := h.queue.Start(ctx); err != nil {
		return err
	}
	h.loops.Go(func() { h.poller.Run(h.running) })
	h.loops.Go(func() { h.sealer.Run(h.running) })
	h.loops.Go(func() { metric.Maintain(h.running, h.database.DB, h.log.Named("metric"), h.heartbeats["metric"]) })
	h.loops.Go(func() { h.schedule.Run(h.running) })
	h.loops.Go(func() { h.updates.Run(h.running) })
	return nil
}

// stop ends everything in order, within the context: no new requests, jobs to a safe point, loops, plugins, database.
func (h *server) stop(ctx context.Context, server *http.Server) {
	var ending sync.WaitGroup
	ending.Go(func() {
		if err := h.queue.Stop(ctx); err != nil {
			h.log.Warn("jobs did not come to a safe point in time; the next start resumes them", "error", err)
		}
	})
	ending.Go(func() {
		h.end() // event streams end with it
		if err := server.Shutdown(ctx); err != nil {
			_ = server.Close()
		}
	})
	ending.Wait()
	h.loops.Wait()
	h.plugins.Stop()
	h.poller.Close()
	h.copied.Close()
	h.database.close()
}

// lost is closed when the private database ended for good; never for a server that was given.
func (h *server) lost() <-chan struct{} {
	if h.database.cluster == nil {
		return nil
	}
	return h.database.cluster.Done()
}
