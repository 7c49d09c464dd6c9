// Package service is the whole service without its process. It is the only
// package in which all parts meet.
//
// The order of calls is:
//
//	s, err := service.New(config)  // joins the parts; no I/O yet
//	h := s.Handler()               // declares the API
//	err = s.Start(ctx)             // plugins, key watch, loops
//	// serve h until a signal arrives
//	s.Drain(ctx)                   // loops, sockets, jobs
//	s.Close()                      // plugins; then close the database
//
// cmd/hostlerd adds configuration, listeners and signals. Tests use the same
// calls with a hypervisor in memory; see package servicetest.
package service

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"
	_ "time/tzdata" // schedules are read in time zones, on machines without that database too

	"github.com/hostler/hostler/core/acme"
	"github.com/hostler/hostler/core/alert"
	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/appscript"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/backup"
	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/channel"
	"github.com/hostler/hostler/core/cluster"
	"github.com/hostler/hostler/core/console"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/feed"
	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/firewall/draft"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/install"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/load"
	"github.com/hostler/hostler/core/maintenance"
	"github.com/hostler/hostler/core/network"
	"github.com/hostler/hostler/core/outbound"
	"github.com/hostler/hostler/core/passkey"
	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/core/power"
	"github.com/hostler/hostler/core/remotewrite"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/selfupdate"
	"github.com/hostler/hostler/core/setting"
	"github.com/hostler/hostler/core/sso"
	"github.com/hostler/hostler/core/storage"
	"github.com/hostler/hostler/core/upload"
	"github.com/hostler/hostler/core/vm"
)

// SealedTables are all columns with encrypted values. The rotation of the key
// re-encrypts exactly these. Add every new encrypted column here: values in a
// missing column cannot be decrypted after a rotation.
var SealedTables = []secret.Table{host.SealedTable, identity.SealedTable, audit.SealedTable, idempotency.SealedTable, job.SealedTable,
	remotewrite.SealedTable, console.SealedTable, channel.SealedTable, host.SealedSSHTable, catalog.SealedTable,
	sso.SealedTable, acme.SealedTable}

// Service is the service with all its parts. The parts are exported for tests
// and for cmd/hostlerd; the API gets them from API.
type Service struct {
	// API is what Handler serves. It may be changed until Handler is called.
	API api.Deps
	// Heartbeats has one monitor per loop. The map is not changed after New.
	Heartbeats map[Loop]*heartbeat.Monitor

	// The parts.
	DB    *db.DB
	Users *identity.Store
	// Providers are those of identities, for log-in.
	Providers *sso.Store
	Passkeys  *passkey.Store
	Hosts     *host.Store
	Guests    *guest.Store
	VMs       *vm.Store
	Apps      *app.Store
	Scripts   *appscript.Store
	Backups   *backup.Store
	Bundles   *bundle.Store
	Catalog   *catalog.Store
	Installs  *install.Store
	Storages  *storage.Store
	Networks  *network.Store
	Power     *power.Store
	Firewall  *firewall.Store
	Drafts    *draft.Store
	Uploads   *upload.Store
	Consoles  *console.Store
	Queue     *job.Queue
	Poller    *poll.Poller
	Chain     *audit.Chain
	Replays   *idempotency.Store
	Schedule  *schedule.Store
	Updates   *selfupdate.Store
	Receiver  *remotewrite.Store
	Channels  *channel.Store
	Load      *load.Recorder
	Feed      *feed.Feed
	Alerts    *alert.Engine

	config Config
	watch  secret.WatchConfig
	setup  *identity.Setup
	sealer *audit.Sealer
	// underway tracks the open consoles for the audit log.
	underway *audit.SpanTracker
	details  *guest.DetailReader

	// running is the context of the loops and of responses without an end; end
	// cancels it, and loops waits for the loops.
	running context.Context
	end     context.CancelFunc
	loops   sync.WaitGroup
	// lasting is locked for reading by each open socket; leave locks it for
	// writing.
	lasting      sync.RWMutex
	drain, close sync.Once
}

// New joins the parts. It starts nothing and does not contact the database. The
// caller must call Close in the end, whether or not it called Start.
func New(c Config) (*Service, error) {
	c.fill()
	s := &Service{DB: c.DB, config: c, Heartbeats: map[Loop]*heartbeat.Monitor{}}
	for _, loop := range Loops {
		s.Heartbeats[loop] = &heartbeat.Monitor{}
	}
	s.running, s.end = context.WithCancel(context.Background())
	// Without the present key no token can be opened: jobs and polls are the other instances' then.
	outdated := func() bool { return c.Keys.Outdated() != nil }
	var err error
	if s.Queue, err = job.New(s.jobs()); err != nil {
		s.end()
		return nil, err
	}
	s.watch = secret.WatchConfig{DB: c.DB, Tables: SealedTables, Logger: c.Loggers("keys"), Changed: func(outdated error) {
		if outdated != nil {
			s.Queue.Suspend()
		} else {
			s.Queue.Unsuspend()
		}
	}}

	s.Hosts = host.New(host.Config{DB: c.DB, Keys: c.Keys, Drivers: c.Drivers, Own: c.Self, AllowLocal: c.AllowLocal,
		Logger: c.Loggers("host")})
	s.Poller = poll.New(poll.Config{
		DB: c.DB, Hosts: s.Hosts, Logger: c.Loggers("poll"), Heartbeat: s.Heartbeats[Polls], HostsUnavailable: outdated,
		Interval: s.pollInterval,
	})
	s.Guests = &guest.Store{DB: c.DB, Self: c.Self}
	actor := &guest.Actor{DB: c.DB, Queue: s.Queue, Hosts: s.Hosts, Machines: s.Hosts}
	worker := &guest.Worker{DB: c.DB, Hosts: s.Hosts, Machines: s.Hosts, Self: c.Self.Is, Sync: func(ctx context.Context, id int64) error {
		return s.Poller.Sync(ctx, id)
	}, List: func(ctx context.Context, hostID int64, storage, node string) error {
		return s.Backups.Refresh(ctx, hostID, storage, node)
	}}
	worker.Register(s.Queue)
	s.details = &guest.DetailReader{DB: c.DB, Hosts: s.Hosts, Logger: c.Loggers("detail"), Heartbeat: s.Heartbeats[Details],
		HostsUnavailable: outdated}
	s.Backups = &backup.Store{DB: c.DB, Actor: actor, Guests: s.Guests, Logger: c.Loggers("backup"), Heartbeat: s.Heartbeats[Backups],
		HostsUnavailable: outdated}
	s.Backups.Register(s.Queue)
	s.Bundles = &bundle.Store{DB: c.DB, References: append([]string{appscript.BundleReferences}, install.BundleReferences...)}
	s.Catalog = catalog.New(catalog.Config{DB: c.DB, Keys: c.Keys, Queue: s.Queue, Sources: c.Catalogs, Bundles: s.Bundles,
		Executors: executors{s.Hosts}, Folder: c.catalogFolder(), AllowLocal: c.AllowLocal, Logger: c.Loggers("catalog")})
	s.Catalog.Register()
	s.Installs = &install.Store{DB: c.DB, Hosts: s.Hosts, Actor: actor, Catalog: s.Catalog, Bundles: s.Bundles, Sync: s.Poller.Sync}
	s.Installs.Register(s.Queue)
	s.Storages = &storage.Store{DB: c.DB, Hosts: s.Hosts, Actor: actor, Guests: s.Guests, Deleted: s.Backups.Refresh,
		Sync: s.Poller.Sync}
	s.Storages.Register(s.Queue)
	s.Power = &power.Store{DB: c.DB, Hosts: s.Hosts, Actor: actor, Sync: s.Poller.Sync}
	s.Power.Register(s.Queue)
	s.Networks = &network.Store{DB: c.DB, Hosts: s.Hosts, Actor: actor, Self: c.Self}
	s.Networks.Register(s.Queue)
	s.Firewall = &firewall.Store{DB: c.DB, Hosts: s.Hosts, Backends: c.Firewalls}
	s.Drafts = &draft.Store{DB: c.DB, Hosts: s.Hosts, Firewalls: s.Firewall, Actor: actor, Self: c.Self,
		Logger: c.Loggers("firewall"), Heartbeat: s.Heartbeats[Drafts]}
	s.Firewall.Drafts = s.Drafts
	s.Drafts.Register(s.Queue)
	s.Uploads = &upload.Store{DB: c.DB, Actor: actor, Spool: c.Spool, Logger: c.Loggers("upload"), Heartbeat: s.Heartbeats[Uploads]}
	s.Uploads.Register(s.Queue)
	s.Consoles = &console.Store{DB: c.DB, Hosts: s.Hosts, Keys: c.Keys}
	s.VMs, s.Apps = &vm.Store{Guests: s.Guests, Actor: actor}, &app.Store{Guests: s.Guests, Actor: actor, Hosts: s.Hosts,
		Rules: outbound.Rules{AllowLocal: c.AllowLocal}, Catalog: s.Catalog}
	s.Scripts = &appscript.Store{DB: c.DB, Apps: s.Apps, Catalog: s.Catalog, Bundles: s.Bundles, Hosts: s.Hosts, Actor: actor,
		Queue: s.Queue, Worker: worker}
	s.Scripts.Register(s.Queue)

	who := c.Identity
	who.Keys, who.Assets, who.Logger = c.Keys, s.Hosts, c.Loggers("identity")
	s.Users = identity.New(c.DB, who)
	s.Providers = sso.New(sso.Config{DB: c.DB, Users: s.Users, Keys: c.Keys, AllowLocal: c.AllowLocal, BaseURL: c.baseURL(),
		Logger: c.Loggers("sso")})
	s.Passkeys = passkey.New(passkey.Config{DB: c.DB, Users: s.Users, Keys: c.Keys, BaseURL: c.baseURL(), Logger: c.Loggers("passkey")})
	s.setup = identity.NewSetup(s.Users, c.StateDir)
	s.Chain = audit.NewChain(c.DB, c.Keys)
	s.underway = &audit.SpanTracker{DB: c.DB, Logger: c.Loggers("audit")}
	s.sealer = audit.NewSealer(audit.SealerConfig{Chain: s.Chain, Logger: c.Loggers("audit"), Heartbeat: s.Heartbeats[Seal],
		KeyUnavailable: outdated})
	s.Replays = &idempotency.Store{DB: c.DB, Keys: c.Keys}
	s.Receiver = &remotewrite.Store{DB: c.DB, Keys: c.Keys, AllowLocal: c.AllowLocal, Logger: c.Loggers("remote-write"),
		Heartbeat: s.Heartbeats[RemoteWrite], SecretsUnavailable: outdated}
	s.Channels = channel.New(channel.Config{DB: c.DB, Keys: c.Keys, AllowLocal: c.AllowLocal, Logger: c.Loggers("notification"),
		Heartbeat: s.Heartbeats[Notifications], SecretsUnavailable: outdated, BaseURL: c.baseURL()})
	s.Load = &load.Recorder{DB: c.DB, Source: c.Plugins, Logger: c.Loggers("load"), Heartbeat: s.Heartbeats[Load]}

	s.Feed = feed.New(feed.Config{DB: c.DB, Guests: s.Guests, Hosts: s.Hosts, Clusters: &cluster.Store{DB: c.DB}, Jobs: s.Queue,
		Version: c.Version, Logger: c.Loggers("feed"), Heartbeat: s.Heartbeats[Feed]})

	housekeeping := maintenance.New(maintenance.Config{DB: c.DB, Queue: s.Queue, Sessions: s.Users, Replays: s.Replays, AuditLog: s.Chain,
		Consoles: s.Consoles, Bundles: s.Bundles, Drafts: s.Drafts})
	housekeeping.Register()
	updates := c.Updates
	updates.DB, updates.Queue, updates.Version = c.DB, s.Queue, c.Version
	updates.Logger, updates.Heartbeat = c.Loggers("update"), s.Heartbeats[Updates]
	s.Updates = selfupdate.New(updates)
	s.Updates.Register()
	s.Alerts = alert.NewEngine(alert.Config{DB: c.DB, Update: s.newerRelease, Logger: c.Loggers("alert"), Heartbeat: s.Heartbeats[Alerts]})
	s.Schedule = schedule.New(schedule.Config{
		DB: c.DB, Users: s.Users, Now: c.Now, Logger: c.Loggers("schedule"), Heartbeat: s.Heartbeats[Schedules],
		Kinds: slices.Concat(s.VMs.Kinds(), s.Apps.Kinds(), s.Scripts.Kinds(), s.Backups.Kinds(), s.Catalog.Kinds(),
			housekeeping.Kinds(), s.Updates.Kinds()),
	})
	s.API = s.deps()
	return s, nil
}

// jobs returns the configuration of the queue. IsUnavailable recognizes a job
// that failed because this instance's key file missed a rotation; the queue
// leaves such a job to other instances instead of failing it.
func (s *Service) jobs() job.Config {
	c := s.config.Jobs
	c.DB, c.Keys, c.Logger, c.Heartbeat = s.config.DB, s.config.Keys, s.config.Loggers("job"), s.Heartbeats[Jobs]
	if s.config.Spool != nil {
		c.Place = s.config.Spool.ID()
	}
	c.IsUnavailable = func(err error) bool {
		if !errors.Is(err, secret.ErrKeyWrong) && !errors.Is(err, secret.ErrOutdated) {
			return false
		}
		return errors.Is(s.config.Keys.CheckKeyFile(context.WithoutCancel(s.running), s.watch), secret.ErrOutdated)
	}
	return c
}

// pollInterval returns the setting of the interval between polls, or 0 for the
// default if the database does not answer.
func (s *Service) pollInterval(ctx context.Context) time.Duration {
	seconds, err := setting.Get(ctx, s.config.DB, setting.PollInterval)
	if err != nil {
		return 0 // the default, while the database is away
	}
	return time.Duration(seconds) * time.Second
}

// newerRelease returns the version of the release that can be installed; empty
// if there is none.
func (s *Service) newerRelease(ctx context.Context) (string, error) {
	status, err := s.Updates.Status(ctx)
	if err != nil || status.Available == nil {
		return "", err
	}
	return status.Available.Version, nil
}

// Handler returns the whole API as one handler. Each call declares every
// operation again, so that an earlier handler keeps its state.
func (s *Service) Handler() http.Handler { return api.Handler(s.API) }
