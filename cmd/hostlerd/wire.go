package main

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apps"
	auditapi "github.com/hostler/hostler/core/api/audit"
	"github.com/hostler/hostler/core/api/auth"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/jobs"
	pluginapi "github.com/hostler/hostler/core/api/plugins"
	"github.com/hostler/hostler/core/api/setup"
	"github.com/hostler/hostler/core/api/vms"
	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/core/setting"
	"github.com/hostler/hostler/core/vm"
)

// house is the service with all its parts joined: the only place where all meets.
type house struct {
	log      hclog.Logger
	database *database
	setup    *identity.Setup
	plugins  *plugin.Manager
	queue    *job.Queue
	poller   *poll.Poller
	handler  http.Handler

	// running is the context of the loops and of every request; end ends it, and loops waits for the loops.
	running context.Context
	end     context.CancelFunc
	loops   sync.WaitGroup
}

// wire opens the database, brings it up to date and joins the parts. Nothing runs yet but the database.
func wire(ctx context.Context, cfg Config, log hclog.Logger) (h *house, err error) {
	d, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	if err := d.migrate(ctx); err != nil {
		return nil, err
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
	queue, err := job.New(job.Config{DB: d.DB, Logger: log.Named("job")})
	if err != nil {
		return nil, err
	}

	self := guest.DetectSelf(d.DB)
	store := host.New(host.Config{DB: d.DB, Keys: box, Drivers: plugins, Own: self, AllowLocal: cfg.AllowLoopbackHosts, Logger: log.Named("host")})
	poller := poll.New(poll.Config{DB: d.DB, Hosts: store, Logger: log.Named("poll"), Interval: func(ctx context.Context) time.Duration {
		seconds, err := setting.Get(ctx, d.DB, setting.PollInterval)
		if err != nil {
			return 0 // the default, while the database is away
		}
		return time.Duration(seconds) * time.Second
	}})
	guests := &guest.Store{DB: d.DB, Self: self}
	actor := &guest.Actor{DB: d.DB, Queue: queue, Hosts: store}
	(&guest.Lifecycle{DB: d.DB, Hosts: store, Self: self.Is}).Register(queue)
	users := identity.New(d.DB, identity.Config{})
	first := identity.NewSetup(users, cfg.StateDir)

	h = &house{log: log, database: d, setup: first, plugins: plugins, queue: queue, poller: poller}
	h.running, h.end = context.WithCancel(context.WithoutCancel(ctx))
	figures := newMetrics(d.DB, plugins, poller)
	h.handler = api.Handler(api.Deps{
		Authenticator: users, Resolver: api.Resolver{DB: d.DB}, Recorder: audit.Recorder{DB: d.DB},
		Entitlements: entitled(d.DB, log), Logger: log.Named("api"), Version: version, Observe: figures.observe,
		Health: health(), Ready: ready(d.DB, plugins), Metrics: figures.handler(),
		Setup:   setup.Deps{Setup: first},
		Auth:    auth.Deps{Users: users},
		Hosts:   hosts.Deps{Hosts: store, Poller: poller},
		VMs:     vms.Deps{VMs: &vm.Store{Guests: guests, Actor: actor}},
		Apps:    apps.Deps{Apps: &app.Store{Guests: guests, Actor: actor}},
		Jobs:    jobs.Deps{Queue: queue},
		Audit:   auditapi.Deps{DB: d.DB},
		Plugins: pluginapi.Deps{Plugins: plugins},
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
func (h *house) start(ctx context.Context) error {
	if path, needed, err := h.setup.Prepare(ctx); err != nil {
		return err
	} else if needed {
		h.log.Warn("there is no user yet: POST /api/v1/setup with the token in this file makes the first owner", "file", path)
	}
	if err := h.plugins.Start(ctx); err != nil {
		return err
	}
	if err := h.queue.Start(ctx); err != nil {
		return err
	}
	h.loops.Go(func() { h.poller.Run(h.running) })
	h.loops.Go(func() { metric.Maintain(h.running, h.database.DB, h.retention, h.log.Named("metric")) })
	return nil
}

// retention is how long samples are kept as polled.
func (h *house) retention(ctx context.Context) (time.Duration, error) {
	days, err := setting.Get(ctx, h.database.DB, setting.MetricsRetentionRaw)
	return time.Duration(days) * 24 * time.Hour, err
}

// stop ends everything in order, within the context: no new requests, jobs to a safe point, loops, plugins, database.
func (h *house) stop(ctx context.Context, server *http.Server) {
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
	h.database.close()
}

// lost is closed when the private database ended for good; never for a server that was given.
func (h *house) lost() <-chan struct{} {
	if h.database.cluster == nil {
		return nil
	}
	return h.database.cluster.Done()
}
