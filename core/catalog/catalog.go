// Package catalog keeps what can be installed. Sources are plugins, which an
// owner of the instance enables. A refresh asks them for their entries and
// stores these in the database, so that lists need no plugin.
//
// # Flow
//
// A refresh is a job that goes through the enabled sources:
//
//   - syncSource asks a source for its changes since the stored cursor, and
//     take writes them in one transaction.
//   - fetchIcons downloads missing icons, and rank asks for the popularity of
//     entries. Their failures do not fail the refresh.
//
// An installation is prepared here and carried out by package install: Plan
// shows what would run, Offer returns the bundle and the text to agree to, and
// Launch asks the source how to run it. Package appscript does the same for
// updates, with Current, UpdateBundle and UpdateLaunch.
//
// # Trust
//
// The service does not trust a source. A sync is taken completely or not at
// all, and only if the digest over all entries is correct. A source that
// suddenly loses more than a fifth of its entries waits for an owner (Accept).
// An entry does not decide what is executed: that is a bundle (package
// core/bundle), which users see before they agree.
//
// # Names
//
// Entries of the source "scripts" are named by their slug alone; those of every
// other source begin with the source's name, as in "folder/wiki". So no source
// can replace an entry of another.
//
// # Main types
//
// Store is the catalog. Item and Entry are entries in a list and alone, Plan
// and Offer what an installation would do, Source and Status the sources and
// their state. Errors for users are problems of package core/problem.
package catalog

import (
	"context"
	"crypto/x509"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/secret"
	sdk "github.com/hostler/hostler/sdk/catalog"
)

// SealedTable is the column with the options of sources, for the rotation of keys.
var SealedTable = secret.Table{Name: "catalog_sources", Column: "options", Key: []string{"name"}}

// firstSource is the name of the source whose entries have no prefix.
const firstSource = "scripts"

// Sources gives access to the plugins that are sources.
type Sources interface {
	// CatalogNames returns the names of the sources that are installed on the
	// machine of this instance.
	CatalogNames() []string
	// Catalog returns a source by name. For one that is not installed it
	// returns a source whose calls fail.
	Catalog(name string) sdk.Source
}

// Config is what a Store works with. DB, Keys, Queue, Sources and Bundles are
// required.
type Config struct {
	DB      *db.DB
	Keys    *secret.Box
	Queue   *job.Queue
	Sources Sources
	Bundles *bundle.Store
	// Folder is where sources keep what they download, each in its own folder
	// below it; empty for none.
	Folder string
	// AllowLocal allows loopback and link-local addresses for icons and for
	// sources.
	AllowLocal bool
	// Authorities are the certificate authorities for servers of icons; nil
	// means those of the system.
	Authorities *x509.CertPool
	// Executors tells whether programs can run on a host; nil means on none.
	Executors Executors
	Logger    hclog.Logger

	// SyncTime bounds one sync; 0 means 15 minutes. IconTime bounds downloading
	// one icon; 0 means 10 seconds.
	SyncTime, IconTime time.Duration
}

// Store is the catalog of an instance. It is safe for concurrent use, also by
// several instances on one database.
type Store struct {
	Config
	// hook is called at named points. Tests use it to stop there.
	hook func(point string)
}

// askTime limits how long a source may take to describe itself.
const askTime = 5 * time.Second

// New returns a store. It asks nothing.
func New(c Config) *Store {
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if c.SyncTime == 0 {
		c.SyncTime = 15 * time.Minute
	}
	if c.IconTime == 0 {
		c.IconTime = 10 * time.Second
	}
	return &Store{Config: c, hook: func(string) {}}
}

// pathOf returns the name of an entry for users. Entries of the first source
// have no prefix, except those whose slug would hide an operation of the API.
func pathOf(source, slug string) string {
	if source == firstSource && slug != "status" && slug != "refresh" && slug != "sources" && slug != "installs" {
		return slug
	}
	return source + "/" + slug
}

// info asks a source for its description, within askTime.
func (s *Store) info(ctx context.Context, name string) (sdk.Info, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return s.Sources.Catalog(name).Info(ctx)
}
