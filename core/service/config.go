package service

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/api/plugins"
	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/load"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/selfupdate"
	"github.com/hostler/hostler/core/upload"
	sdk "github.com/hostler/hostler/sdk/catalog"
	sdkplugin "github.com/hostler/hostler/sdk/plugin"
)

// Config is what a service is put together from. DB, Keys, Drivers and Firewalls are required.
type Config struct {
	// DB is an open database with this release's schema. It is the caller's to close, after Close.
	DB *db.DB
	// Keys seals what is secret in the database.
	Keys *secret.Box
	// Drivers reach the hypervisors: the plugins' manager, or a hypervisor in memory.
	Drivers host.Drivers
	// Firewalls reach the firewalls of the hypervisors, each under the name of its driver.
	Firewalls firewall.Backends
	// Catalogs are the sources of the catalog; nil for none.
	Catalogs catalog.Sources
	// Plugins are the processes behind Drivers, Firewalls and Catalogs, which Start starts and Close stops; nil when there are none.
	Plugins Plugins
	// Loggers gives each part its logger by the part's name; nil logs nothing.
	Loggers func(part string) hclog.Logger
	// Loops are what Start lets run, all of Loops for a whole service. Without any, the service answers requests, and its jobs wait.
	Loops []Loop
	// Now is the clock of schedules; nil takes the database's, so that all instances have the same.
	Now func() time.Time

	// Version of the running service.
	Version string
	// UI serves the web page; nil for none.
	UI http.Handler
	// Spool is the folder of files that are uploaded; nil takes none.
	Spool *upload.Spool
	// StateDir is where the token of the first setup is written.
	StateDir string
	// BaseURL is where clients find the service, as proxy.ParseBaseURL yields it, without a slash at its end; nil where nobody has said
	// so, and then there are no links to it.
	BaseURL *url.URL
	// TrustedProxies are the networks of the proxies whose word about a request is taken.
	TrustedProxies []netip.Prefix
	// Self knows the guest that the service runs in; nil recognises none.
	Self *guest.Self
	// AllowLocal permits hosts at loopback and link-local addresses.
	AllowLocal bool

	// Jobs, Identity and Updates hold limits and places; what joins them to the rest is filled in.
	Jobs     job.Config
	Identity identity.Config
	Updates  selfupdate.Config
}

// Plugins are the processes of the drivers.
type Plugins interface {
	plugins.Manager
	load.Source
	Start(ctx context.Context) error
	Stop()
}

var _ Plugins = (*plugin.Manager)(nil)

// noPlugins stands for a service without plugins.
type noPlugins struct{}

// noCatalogs stands for a service without sources of the catalog.
type noCatalogs struct{}

func (noCatalogs) CatalogNames() []string { return nil }

func (noCatalogs) Catalog(string) sdk.Source { return noSource{} }

// noSource stands for a source whose plugin is gone.
type noSource struct{}

func (noSource) Info(context.Context) (sdk.Info, error) { return sdk.Info{}, sdkplugin.ErrGone }

func (noSource) Open(context.Context, sdk.Config) (sdk.Catalog, error) { return nil, sdkplugin.ErrGone }

func (noPlugins) Status() []plugin.Status     { return nil }
func (noPlugins) Start(context.Context) error { return nil }
func (noPlugins) Stop()                       {}

func (noPlugins) TakeRequests(context.Context) []plugin.SentRequests { return nil }

// fill puts what stands for absent parts into the configuration.
func (c *Config) fill() {
	if c.Plugins == nil {
		c.Plugins = noPlugins{}
	}
	if c.Catalogs == nil {
		c.Catalogs = noCatalogs{}
	}
	if c.Loggers == nil {
		c.Loggers = func(string) hclog.Logger { return hclog.NewNullLogger() }
	}
	if c.Self == nil {
		c.Self = &guest.Self{DB: c.DB}
	}
}

// baseURL is BaseURL as a text; empty where there is none.
func (c *Config) baseURL() string {
	if c.BaseURL == nil {
		return ""
	}
	return c.BaseURL.String()
}

// catalogFolder is where sources of the catalog keep what they fetch; empty without a folder of state.
func (c *Config) catalogFolder() string {
	if c.StateDir == "" {
		return ""
	}
	return filepath.Join(c.StateDir, "catalog")
}
