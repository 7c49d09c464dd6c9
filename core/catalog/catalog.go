// Package catalog has what can be installed. Sources are plugins, which an owner of the instance switches on; a refresh asks them for
// their entries and keeps these in the database. Nothing that a source says is believed: a sync is taken whole or not at all, in one
// transaction and only when the digest of all entries is right, and a source that suddenly loses more than a fifth of its entries waits
// for an owner. A bad row decides nothing of what is executed: what runs is a bundle (core/bundle), which people look at before.
//
// The entries of the source "scripts" are known by their slug alone; those of every other source have its name before them, as in
// "folder/wiki". So none can take the place of another's.
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

// Sealed is the column of the sources' options, for rotating the key.
var Sealed = secret.Table{Name: "catalog_sources", Column: "options", Key: []string{"name"}}

// firstSource is the name of the source whose entries have no prefix.
const firstSource = "scripts"

// Sources are the plugins that are sources.
type Sources interface {
	// CatalogNames are those that are installed on the machine of this instance.
	CatalogNames() []string
	// Catalog gives the source of a name, also of one that is not installed: its calls fail then.
	Catalog(name string) sdk.Source
}

// Config is what a Store works with. DB, Keys, Queue, Sources and Bundles are required.
type Config struct {
	DB      *db.DB
	Keys    *secret.Box
	Queue   *job.Queue
	Sources Sources
	Bundles *bundle.Store
	// Folder is where sources keep what they have fetched, each in a folder of its own below it; empty for none.
	Folder string
	// AllowLocal permits loopback and link-local addresses, for icons and for sources.
	AllowLocal bool
	// Authorities check the certificates of servers of icons; nil for those of the system.
	Authorities *x509.CertPool
	// Executors tell whether programs can be run on a host; nil for none that can.
	Executors Executors
	Logger    hclog.Logger

	// SyncTime is how long one sync may take; 15 minutes when zero. IconTime is how long one icon may take; 10 seconds when zero.
	SyncTime, IconTime time.Duration
}

// Store has the catalog of an instance.
type Store struct {
	Config
	// hook is called at named points, for tests that stop there.
	hook func(point string)
}

// askTime is how long a source may take to say what it is.
const askTime = 5 * time.Second

// New makes a store.
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

// pathOf is how users name an entry. The first source's entries have no prefix, but for those that would hide an operation of the API.
func pathOf(source, slug string) string {
	if source == firstSource && slug != "status" && slug != "refresh" && slug != "sources" && slug != "installs" {
		return slug
	}
	return source + "/" + slug
}

// info asks a source what it is, within some seconds.
func (s *Store) info(ctx context.Context, name string) (sdk.Info, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return s.Sources.Catalog(name).Info(ctx)
}
