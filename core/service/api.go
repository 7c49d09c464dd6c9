package service

import (
	"context"

	"github.com/hostler/hostler/core/alert"
	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/alerts"
	"github.com/hostler/hostler/core/api/apps"
	"github.com/hostler/hostler/core/api/appscripts"
	auditapi "github.com/hostler/hostler/core/api/audit"
	"github.com/hostler/hostler/core/api/auth"
	"github.com/hostler/hostler/core/api/backups"
	catalogapi "github.com/hostler/hostler/core/api/catalog"
	"github.com/hostler/hostler/core/api/clones"
	"github.com/hostler/hostler/core/api/cluster"
	"github.com/hostler/hostler/core/api/configs"
	"github.com/hostler/hostler/core/api/consoles"
	discoveryapi "github.com/hostler/hostler/core/api/discovery"
	"github.com/hostler/hostler/core/api/events"
	firewallapi "github.com/hostler/hostler/core/api/firewall"
	"github.com/hostler/hostler/core/api/guests"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/jobs"
	"github.com/hostler/hostler/core/api/keys"
	"github.com/hostler/hostler/core/api/meta"
	metricsapi "github.com/hostler/hostler/core/api/metrics"
	"github.com/hostler/hostler/core/api/migrations"
	networkapi "github.com/hostler/hostler/core/api/network"
	"github.com/hostler/hostler/core/api/nics"
	"github.com/hostler/hostler/core/api/notifications"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/options"
	"github.com/hostler/hostler/core/api/plugins"
	"github.com/hostler/hostler/core/api/schedules"
	searchapi "github.com/hostler/hostler/core/api/search"
	"github.com/hostler/hostler/core/api/settings"
	"github.com/hostler/hostler/core/api/setup"
	"github.com/hostler/hostler/core/api/snapshots"
	ssoapi "github.com/hostler/hostler/core/api/sso"
	storageapi "github.com/hostler/hostler/core/api/storage"
	"github.com/hostler/hostler/core/api/teams"
	"github.com/hostler/hostler/core/api/uploads"
	"github.com/hostler/hostler/core/api/users"
	"github.com/hostler/hostler/core/api/vms"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/discovery"
	"github.com/hostler/hostler/core/firewall/template"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/option"
	"github.com/hostler/hostler/core/proxy"
	"github.com/hostler/hostler/core/search"
	"github.com/hostler/hostler/core/setting"
)

// deps returns the dependencies of the API, resource by resource.
func (s *Service) deps() api.Deps {
	c := &s.config
	firewalls := s.Firewall
	figures := newMetrics(c.DB, c.Plugins, s.Poller, s.Receiver, s.Load, s.Feed)
	return api.Deps{
		Authenticator: s.Users, Resolver: op.ScopeResolver{DB: c.DB}, Recorder: audit.Recorder{DB: c.DB, Spans: s.underway}, Rights: s.Users,
		Browser: s.Users.Browser, Entitlements: s.entitled, Logger: c.Loggers("api"), Version: c.Version, Observe: figures.observe,
		Proxy: proxy.Config{Trusted: c.TrustedProxies, BaseURL: c.BaseURL}, Replays: s.Replays, Stopping: s.running.Done(),
		OpenSockets: &s.lasting,
		Health:      Health(), Ready: ready(c.DB, c.Plugins, c.Keys, c.Version), Metrics: figures.handler(),
		UI: c.UI,

		Alerts:    alerts.Deps{Alerts: &alert.Store{DB: c.DB}},
		Setup:     setup.Deps{Setup: s.setup},
		Auth:      auth.Deps{Users: s.Users, Providers: s.Providers, Passkeys: s.Passkeys},
		SSO:       ssoapi.Deps{Providers: s.Providers},
		Keys:      keys.Deps{Users: s.Users},
		Users:     users.Deps{Users: s.Users},
		Teams:     teams.Deps{Users: s.Users},
		Hosts:     hosts.Deps{Hosts: s.Hosts, Poller: s.Poller, Power: s.Power},
		Guests:    guests.Deps{Guests: s.Guests, Actor: s.VMs.Actor},
		VMs:       vms.Deps{VMs: s.VMs},
		Snapshots: snapshots.Deps{VMs: s.VMs, Apps: s.Apps, Actor: s.VMs.Actor},
		Clones:    clones.Deps{VMs: s.VMs, Apps: s.Apps, Actor: s.VMs.Actor},
		Configs:   configs.Deps{VMs: s.VMs, Apps: s.Apps, Actor: s.VMs.Actor},
		Consoles:  consoles.Deps{Consoles: s.Consoles, VMs: s.VMs, Apps: s.Apps},
		NICs:      nics.Deps{VMs: s.VMs, Apps: s.Apps, Actor: s.VMs.Actor},
		Apps:      apps.Deps{Apps: s.Apps},
		Scripts:   appscripts.Deps{Scripts: s.Scripts},
		Backups:   backups.Deps{Backups: s.Backups, Guests: s.Guests, Actor: s.VMs.Actor},
		Catalog:   catalogapi.Deps{Catalog: s.Catalog, Installs: s.Installs, Guests: s.Guests},
		Storage:   storageapi.Deps{Storages: s.Storages},
		Network:   networkapi.Deps{Networks: s.Networks},
		Uploads:   uploads.Deps{Uploads: s.Uploads},
		Options:   options.Deps{VMs: s.VMs, Options: &option.Store{Actor: s.VMs.Actor, Firewalls: firewalls}},
		Firewall: firewallapi.Deps{Firewalls: firewalls, VMs: s.VMs, Apps: s.Apps, Guests: s.VMs.Guests, Stopping: s.Queue.Stopping(),
			Drafts: s.Drafts, Templates: &template.Store{DB: c.DB, Drafts: s.Drafts}},
		Jobs:      jobs.Deps{Queue: s.Queue, Hosts: s.Hosts},
		Events:    events.Deps{Feed: s.Feed, Stopping: s.Queue.Stopping()},
		Audit:     auditapi.Deps{DB: c.DB, Chain: s.Chain},
		Plugins:   plugins.Deps{Plugins: c.Plugins},
		Channels:  notifications.Deps{Channels: s.Channels},
		Schedules: schedules.Deps{Schedules: s.Schedule},
		Settings:  settings.Deps{Settings: &setting.Store{DB: c.DB, Hosts: s.Hosts}},
		Cluster:   cluster.Deps{DB: c.DB},
		Meta:      meta.Deps{Updates: s.Updates},
		Series:    metricsapi.Deps{Metrics: &metric.Store{DB: c.DB}, Receiver: s.Receiver},
		Search:    searchapi.Deps{Search: &search.Store{DB: c.DB}},
		Discovery: discoveryapi.Deps{Discovery: &discovery.Store{DB: c.DB, Guests: s.Guests, Apps: s.Apps, Rules: s.Apps.Rules}},

		Migrations: migrations.Deps{VMs: s.VMs, Apps: s.Apps, Actor: s.VMs.Actor},
	}
}

// entitled reports whether a feature is enabled. If the flags cannot be read,
// every feature is off: a feature that an owner disabled must not come back
// because the database failed.
func (s *Service) entitled(ctx context.Context, name string) bool {
	on, err := setting.IsEntitled(ctx, s.config.DB, name)
	if err != nil {
		s.config.Loggers("setting").Warn("a feature flag could not be read", "feature", name, "error", err)
	}
	return on
}
