// Package api is the HTTP API of the service. Handler joins the resources into
// one handler; the list resources shows all of them.
//
// A resource is a folder beside this file. Its Register function declares the
// operations with package op, and its Deps are the stores that the handlers
// call. A handler converts the input, calls one method of a store and returns
// the result: rules belong into the stores, and authentication, validation, the
// audit log and the OpenAPI document into package op.
//
// Beside each resource, a package such as vms/vmstest has valid requests to its
// operations (package requesttest). The tests of this package run them against
// every role, with missing objects, with nulls and with faults, so a new
// operation needs an entry there.
package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/api/alerts"
	"github.com/hostler/hostler/core/api/apps"
	"github.com/hostler/hostler/core/api/appscripts"
	"github.com/hostler/hostler/core/api/audit"
	"github.com/hostler/hostler/core/api/auth"
	"github.com/hostler/hostler/core/api/backups"
	"github.com/hostler/hostler/core/api/catalog"
	"github.com/hostler/hostler/core/api/clones"
	"github.com/hostler/hostler/core/api/cluster"
	"github.com/hostler/hostler/core/api/configs"
	"github.com/hostler/hostler/core/api/consoles"
	"github.com/hostler/hostler/core/api/discovery"
	"github.com/hostler/hostler/core/api/events"
	"github.com/hostler/hostler/core/api/firewall"
	"github.com/hostler/hostler/core/api/guests"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/jobs"
	"github.com/hostler/hostler/core/api/keys"
	"github.com/hostler/hostler/core/api/meta"
	"github.com/hostler/hostler/core/api/metrics"
	"github.com/hostler/hostler/core/api/migrations"
	"github.com/hostler/hostler/core/api/network"
	"github.com/hostler/hostler/core/api/nics"
	"github.com/hostler/hostler/core/api/notifications"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/options"
	"github.com/hostler/hostler/core/api/plugins"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/api/schedules"
	"github.com/hostler/hostler/core/api/search"
	"github.com/hostler/hostler/core/api/settings"
	"github.com/hostler/hostler/core/api/setup"
	"github.com/hostler/hostler/core/api/snapshots"
	"github.com/hostler/hostler/core/api/sso"
	"github.com/hostler/hostler/core/api/storage"
	"github.com/hostler/hostler/core/api/teams"
	"github.com/hostler/hostler/core/api/uploads"
	"github.com/hostler/hostler/core/api/users"
	"github.com/hostler/hostler/core/api/vms"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/proxy"
)

// Deps has the dependencies of the API. core/service fills it. Authenticator,
// Resolver and Recorder are required; a resource works if its own Deps are set.
type Deps struct {
	Authenticator op.Authenticator
	Resolver      op.Resolver
	Recorder      op.Recorder
	// Rights ends event streams when their readers lose the right to them. nil
	// leaves that to a check every few seconds.
	Rights op.Rights
	// Entitlements reports whether a feature is enabled; nil means that all
	// are.
	Entitlements func(ctx context.Context, name string) bool
	Logger       hclog.Logger
	// Version is the version of the service in the OpenAPI document.
	Version string
	// StrictAudit is op.Config.StrictAudit, for tests.
	StrictAudit bool
	// Observe is called after every response of an operation, for metrics; nil
	// is allowed.
	Observe func(operation, method string, status int, took time.Duration)
	// Reauthorise is op.Config.Reauthorise.
	Reauthorise time.Duration

	// Proxy is op.Config.Proxy.
	Proxy proxy.Config
	// Browser is op.Config.Browser.
	Browser func(ctx context.Context, r *http.Request) (string, error)
	// Stopping is op.Config.Stopping, and OpenSockets op.Config.OpenSockets.
	Stopping    <-chan struct{}
	OpenSockets *sync.RWMutex
	// Replays is op.Config.Replays, and GapRetry op.Config.GapRetry.
	Replays  *idempotency.Store
	GapRetry time.Duration

	// The dependencies of each resource.
	Keys      keys.Deps
	Setup     setup.Deps
	Auth      auth.Deps
	SSO       sso.Deps
	Hosts     hosts.Deps
	Guests    guests.Deps
	VMs       vms.Deps
	Snapshots snapshots.Deps
	Clones    clones.Deps
	Configs   configs.Deps
	Consoles  consoles.Deps
	NICs      nics.Deps
	Options   options.Deps
	Apps      apps.Deps
	Backups   backups.Deps
	Scripts   appscripts.Deps
	Catalog   catalog.Deps
	Storage   storage.Deps
	Network   network.Deps
	Uploads   uploads.Deps
	Firewall  firewall.Deps
	Jobs      jobs.Deps
	Events    events.Deps
	Audit     audit.Deps
	Plugins   plugins.Deps
	Settings  settings.Deps
	Cluster   cluster.Deps
	Meta      meta.Deps
	Series    metrics.Deps
	Search    search.Deps
	Discovery discovery.Deps

	Migrations migrations.Deps

	Schedules schedules.Deps
	Channels  notifications.Deps
	Alerts    alerts.Deps
	Users     users.Deps
	Teams     teams.Deps

	// Health, Ready and Metrics serve /healthz, /readyz and /metrics. A nil one
	// makes its path 404.
	Health, Ready, Metrics http.Handler
	// UI serves every other path outside /api; nil means 404.
	UI http.Handler
}

// resources are all resources, each with the name of its folder. The tests find
// golden files and valid requests there by this name.
var resources = []struct {
	folder   string
	register func(*op.API, Deps)
}{
	{"setup", func(a *op.API, d Deps) { setup.Register(a, d.Setup) }},
	{"auth", func(a *op.API, d Deps) { auth.Register(a, d.Auth) }},
	{"sso", func(a *op.API, d Deps) { sso.Register(a, d.SSO) }},
	{"keys", func(a *op.API, d Deps) { keys.Register(a, d.Keys) }},
	{"users", func(a *op.API, d Deps) { users.Register(a, d.Users) }},
	{"teams", func(a *op.API, d Deps) { teams.Register(a, d.Teams) }},
	{"hosts", func(a *op.API, d Deps) { hosts.Register(a, d.Hosts) }},
	{"guests", func(a *op.API, d Deps) { guests.Register(a, d.Guests) }},
	{"vms", func(a *op.API, d Deps) { vms.Register(a, d.VMs) }},
	{"snapshots", func(a *op.API, d Deps) { snapshots.Register(a, d.Snapshots) }},
	{"clones", func(a *op.API, d Deps) { clones.Register(a, d.Clones) }},
	{"migrations", func(a *op.API, d Deps) { migrations.Register(a, d.Migrations) }},
	{"apps", func(a *op.API, d Deps) { apps.Register(a, d.Apps) }},
	{"appscripts", func(a *op.API, d Deps) { appscripts.Register(a, d.Scripts) }},
	{"backups", func(a *op.API, d Deps) { backups.Register(a, d.Backups) }},
	{"catalog", func(a *op.API, d Deps) { catalog.Register(a, d.Catalog) }},
	{"network", func(a *op.API, d Deps) { network.Register(a, d.Network) }},
	{"storage", func(a *op.API, d Deps) { storage.Register(a, d.Storage) }},
	{"uploads", func(a *op.API, d Deps) { uploads.Register(a, d.Uploads) }},
	{"configs", func(a *op.API, d Deps) { configs.Register(a, d.Configs) }},
	{"consoles", func(a *op.API, d Deps) { consoles.Register(a, d.Consoles) }},
	{"nics", func(a *op.API, d Deps) { nics.Register(a, d.NICs) }},
	{"options", func(a *op.API, d Deps) { options.Register(a, d.Options) }},
	{"firewall", func(a *op.API, d Deps) { firewall.Register(a, d.Firewall) }},
	{"jobs", func(a *op.API, d Deps) { jobs.Register(a, d.Jobs) }},
	{"events", func(a *op.API, d Deps) { events.Register(a, d.Events) }},
	{"audit", func(a *op.API, d Deps) { audit.Register(a, d.Audit) }},
	{"plugins", func(a *op.API, d Deps) { plugins.Register(a, d.Plugins) }},
	{"settings", func(a *op.API, d Deps) { settings.Register(a, d.Settings) }},
	{"cluster", func(a *op.API, d Deps) { cluster.Register(a, d.Cluster) }},
	{"metrics", func(a *op.API, d Deps) { metrics.Register(a, d.Series) }},
	{"discovery", func(a *op.API, d Deps) { discovery.Register(a, d.Discovery) }},
	{"alerts", func(a *op.API, d Deps) { alerts.Register(a, d.Alerts) }},
	{"schedules", func(a *op.API, d Deps) { schedules.Register(a, d.Schedules) }},
	{"notifications", func(a *op.API, d Deps) { notifications.Register(a, d.Channels) }},
	{"search", func(a *op.API, d Deps) { search.Register(a, d.Search) }},
	{"meta", func(a *op.API, d Deps) { meta.Register(a, d.Meta) }},
}

// New declares every operation. It panics if a declaration is wrong.
func New(d Deps) *op.API {
	router := route.New()
	var tokens op.Tokens
	if d.Hosts.Hosts != nil {
		tokens = d.Hosts.Hosts
	}
	a := op.New(op.Config{
		Router: router, Authenticator: d.Authenticator, Resolver: d.Resolver, Recorder: d.Recorder, Tokens: tokens,
		Entitlements: d.Entitlements, Logger: d.Logger, Version: d.Version, Fallback: d.UI, StrictAudit: d.StrictAudit,
		Observe: d.Observe, Rights: d.Rights, Reauthorise: d.Reauthorise, Browser: d.Browser, Replays: d.Replays, GapRetry: d.GapRetry,
		Proxy:    d.Proxy,
		Stopping: d.Stopping, OpenSockets: d.OpenSockets,
	})
	for _, r := range resources {
		r.register(a, d)
	}
	serveDocument(router, a, d.UI != nil)
	for path, handler := range map[string]http.Handler{"/healthz": d.Health, "/readyz": d.Ready, "/metrics": d.Metrics} {
		if handler != nil {
			router.Handle(http.MethodGet, path, func(w http.ResponseWriter, r *http.Request, _ route.Params) {
				handler.ServeHTTP(w, r)
			})
		}
	}
	return a
}

// Handler returns the whole API as one handler.
func Handler(d Deps) http.Handler { return New(d) }
