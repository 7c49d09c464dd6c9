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

// Config has what a service is put together from. DB, Keys, Drivers and
// Firewalls are required; the other fields may be zero.
type Config struct {
	// DB is an open database with the schema of this release. The caller closes
	// it, after Close.
	DB *db.DB
	// Keys encrypts the secrets in the database.
	Keys *secret.Box
	// Drivers connect to the hypervisors: the manager of plugins, or a
	// hypervisor in memory in tests.
	Drivers host.Drivers
	// Firewalls connect to the firewalls of the hypervisors, each under the
	// name of its driver.
	Firewalls firewall.Backends
	// Catalogs are the sources of the catalog; nil for none.
	Catalogs catalog.Sources
	// Plugins are the processes behind Drivers, Firewalls and Catalogs. Start
	// starts them and Close stops them. nil if there are none.
	Plugins Plugins
	// Loggers returns the logger of a part by the part's name; nil logs
	// nothing.
	Loggers func(part string) hclog.Logger
	// Loops are the loops that Start starts; a complete service has all of
	// them. Without loops the service answers requests, and its jobs wait for
	// another instance. Tests use that.
	Loops []Loop
	// Now is the clock of schedules. nil uses the clock of the database, so
	// that all instances agree on what is due.
	Now func() time.Time

	// Version is the release of the running service.
	Version string
	// UI serves the web page; nil for none.
	UI http.Handler
	// Spool is the folder for uploaded files; nil refuses uploads.
	Spool *upload.Spool
	// StateDir is the folder for the token of the first setup and for files of
	// the catalog.
	StateDir string
	// BaseURL is the URL at which clients reach the service, as
	// proxy.ParseBaseURL returns it, without a slash at the end. If it is nil,
	// notifications have no links, and single sign-on is not available.
	BaseURL *url.URL
	// TrustedProxies are the networks of the reverse proxies whose headers
	// about the client are trusted.
	TrustedProxies []netip.Prefix
	// Self recognizes the guest in which the service runs; nil recognizes none.
	Self *guest.Self
	// AllowLocal permits hosts at loopback and link-local addresses.
	AllowLocal bool

	// Jobs, Identity and Updates have limits and folders. New fills in the
	// fields that connect them to the other parts.
	Jobs     job.Config
	Identity identity.Config
	Updates  selfupdate.Config
}

// Plugins are the processes of the drivers, firewalls and catalogs.
// *plugin.Manager implements it.
type Plugins interface {
	plugins.Manager
	load.Source
	Start(ctx context.Context) error
	Stop()
}

var _ Plugins = (*plugin.Manager)(nil)

// noPlugins is a service without plugins.
type noPlugins struct{}

// noCatalogs is a service without sources of the catalog.
type noCatalogs struct{}

func (noCatalogs) CatalogNames() []string { return nil }

func (noCatalogs) Catalog(string) sdk.Source { return noSource{} }

// noSource is a source whose plugin does not exist. All its methods fail with
// ErrGone.
type noSource struct{}

func (noSource) Info(context.Context) (sdk.Info, error) { return sdk.Info{}, sdkplugin.ErrGone }

func (noSource) Open(context.Context, sdk.Config) (sdk.Catalog, error) { return nil, sdkplugin.ErrGone }

func (noPlugins) Status() []plugin.Status     { return nil }
func (noPlugins) Start(context.Context) error { return nil }
func (noPlugins) Stop()                       {}

func (noPlugins) TakeRequests(context.Context) []plugin.SentRequests { return nil }

// fill replaces missing parts by ones that do nothing, so that the rest of the
// package needs no checks for nil.
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

// baseURL returns BaseURL as a string; empty if there is none.
func (c *Config) baseURL() string {
	if c.BaseURL == nil {
		return ""
	}
	return c.BaseURL.String()
}

// catalogFolder is where sources of the catalog store what they download; empty
// without StateDir.
func (c *Config) catalogFolder() string {
	if c.StateDir == "" {
		return ""
	}
	return filepath.Join(c.StateDir, "catalog")
}
