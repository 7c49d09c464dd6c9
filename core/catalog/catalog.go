// Package catalog keeps what can be installed. Sources are plugins, which an
// owner of the instance switches on. A refresh asks them for their entries and
// stores these in the database.
//
// # Trust
//
// The service does not trust a source. A sync is taken completely or not at
// all, in one transaction, and only if the digest over all entries is correct.
// A source that suddenly loses more than a fifth of its entries waits for an
// owner. A wrong row does not decide what is executed: that is a bundle
// (package core/bundle), which people see before they agree.
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
	// CatalogNames are those that are installed on the machine of this instance.
	CatalogNames() []string
	// Catalog gives the source of a name, also of one that is not installed: its calls fail then.
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
	// Folder is where sources keep what they have fetched, each in a folder of
	// its own below it; empty for none.
	Folder string
	// AllowLocal permits loopback and link-local addresses, for icons and for sources.
	AllowLocal bool
	// Authorities check the certificates of servers of icons; nil for those of the system.
	Authorities *x509.CertPool
	// Executors tell whether programs can be run on a host; nil for none that can.
	Executors Executors
	Logger    hclog.Logger

	// SyncTime is how long one sync may take; 15 minutes when zero. IconTime is
	// how long one icon may take; 10 seconds when zero.
	SyncTime, IconTime time.Duration
}

// Store is the catalog of an instance. It is safe for concurrent use, also by
// several instances on one database.
type Store struct {
	Config
	// hook is called at named points, for tests that stop there.
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
