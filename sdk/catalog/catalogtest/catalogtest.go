// Package catalogtest is the conformance suite of the catalog kind.
package catalogtest

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/plugintest"
)

// Config is what a source is tried with.
type Config struct {
	// Source must have at least two entries, one of which can be installed.
	Source catalog.Source
	// CatalogType is a typed nil of what Source.Open returns.
	CatalogType catalog.Catalog
	// Catalog is what it is opened under. Without a Cache the suite gives it one.
	Catalog catalog.Config
	// Change changes what the source lists: it changes the own files of one
	// entry, or adds one, and leaves at least one as it is. It may be called
	// several times. Nil leaves out the cases that need it.
	Change func(t *testing.T)
}

// Run tries a source directly and over gRPC, one after the other.
func Run(t *testing.T, config Config) {
	remote := catalog.NewClient(plugintest.Connect(t, catalog.Service{Source: config.Source, CatalogType: config.CatalogType}))
	if _, err := remote.Info(t.Context()); err != nil { // from then on it knows its abilities
		t.Fatal(err)
	}
	for _, way := range []struct {
		name   string
		source catalog.Source
	}{{"direct", config.Source}, {"grpc", remote}} {
		t.Run(way.name, func(t *testing.T) {
			s := &suite{Config: config, source: way.source}
			if s.Catalog.Cache == "" {
				s.Catalog.Cache = t.TempDir()
			}
			s.catalog = s.open(t, s.Catalog)
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) { c.run(t, s) })
			}
		})
	}
}

var cases = []struct {
	name string
	run  func(*testing.T, *suite)
}{
	{"info", testInfo}, {"options", testOptions}, {"health", testHealth},
	{"sync whole", testSyncWhole}, {"sync from a cursor", testSyncCursor}, {"sync at a pin", testSyncPin},
	{"sync ended by its caller", testSyncEnded}, {"sync twice at once", testSyncAtOnce}, {"sync of changes", testSyncChanges},
	{"entry", testEntry}, {"entry that is not there", testEntryNotFound},
	{"bundle", testBundle}, {"bundle that is not there", testBundleNotFound}, {"bundle of what is removed", testBundleRemoved},
	{"bundle ended by its caller", testBundleEnded}, {"bundle of an older pin", testBundleOlder},
	{"launch", testLaunch}, {"launch with hostile words", testLaunchHostile}, {"launch that makes no sense", testLaunchRefused},
	{"icon", testIcon}, {"popularity", testPopularity},
}

// suite is a source that is tried in one way.
type suite struct {
	Config
	source  catalog.Source
	catalog catalog.Catalog
}

func (s *suite) open(t *testing.T, config catalog.Config) catalog.Catalog {
	t.Helper()
	opened, err := s.source.Open(t.Context(), config)
	if err != nil {
		t.Fatal("opening:", err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error("closing:", err)
		}
	})
	return opened
}

// listed is a sync with its entries.
type listed struct {
	catalog.SyncResult
	entries map[string]catalog.Entry
}

// sync makes a verified sync.
func (s *suite) sync(t *testing.T, request catalog.SyncRequest, known map[string]string) listed {
	t.Helper()
	entries := map[string]catalog.Entry{}
	synced, err := catalog.VerifySync(t.Context(), s.catalog, request, known, func(step catalog.SyncStep) error {
		if step.Entry != nil {
			entries[step.Entry.Slug] = *step.Entry
		}
		return nil
	})
	if err != nil {
		t.Fatal("sync:", err)
	}
	return listed{synced, entries}
}

func (s *suite) whole(t *testing.T) listed {
	t.Helper()
	return s.sync(t, catalog.SyncRequest{}, nil)
}

// installable are the entries that can be installed, by slug.
func (l listed) installable(t *testing.T) []catalog.Entry {
	t.Helper()
	var list []catalog.Entry
	for e := range maps.Values(l.entries) {
		if e.Type == catalog.ContainerEntry && e.Removed == "" {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		t.Fatal("the source has no entry that can be installed")
	}
	slices.SortFunc(list, func(a, b catalog.Entry) int { return cmp.Compare(a.Slug, b.Slug) })
	return list
}

// unknownPin is a pin like another one, which nobody has.
func unknownPin(like catalog.Pin) catalog.Pin {
	pin := slices.Clone(like)
	commit := []byte(pin[0].Commit)
	for i := range commit {
		commit[i] = "fedcba9876543210"[i%16]
	}
	pin[0].Commit = string(commit)
	return pin
}

// kind reports an error that is not of a kind.
func kind(t *testing.T, what string, err error, kinds ...plugin.ErrorKind) {
	t.Helper()
	if err == nil || !slices.Contains(kinds, plugin.KindOf(err)) {
		t.Errorf("%s: the error is %v, want one of %q", what, err, kinds)
	}
}

var errEnough = errors.New("enough")

// hostileNames are slugs, references and values of somebody who wants out.
var hostileNames = []string{"", ".", "..", "../../etc/passwd", "/etc/passwd", "a/../../b", "nobody-has-this", "a\x00b", "a\nb", "-rf",
	"$(id)", "`id`",
	"ü", "a b", `a"b'c`, "%2e%2e%2f"}
