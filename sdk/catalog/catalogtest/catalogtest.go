// Package catalogtest is the conformance suite for catalog sources, with two
// doubles for tests of code that reads from a source.
//
// Run checks a source against the contract in the comments of package catalog,
// directly and over real gRPC. Memory is an honest source whose states a test
// sets. Hostile wraps a source and falsifies its answers in one of the ways of
// Faults: code that reads from a source must reject every one of them, because
// sources download from the internet and plugins can be compromised.
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

// Config describes the source that is tested.
type Config struct {
	// Source must have at least two entries, one of which can be installed.
	Source catalog.Source
	// CatalogType is a nil pointer of the type that Source.Open returns. Its
	// optional interfaces are the abilities of the source.
	CatalogType catalog.Catalog
	// Catalog is the configuration with which the source is opened. Without a
	// Cache the suite uses a temporary folder.
	Catalog catalog.Config
	// Change changes the source: it changes the own files of one entry or adds
	// an entry, and leaves at least one entry unchanged. It may be called
	// several times. Nil skips the cases that need it.
	Change func(t *testing.T)
}

// Run tests a source directly and then over gRPC. Cases run one after the
// other, because Change affects all of them.
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

// cases are all cases, in the order in which they run.
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

// suite is one run of all cases, directly or over gRPC.
type suite struct {
	Config
	source  catalog.Source
	catalog catalog.Catalog
}

// open opens the source and closes the catalog at the end of the test.
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

// listed is the result of a sync with its entries by slug.
type listed struct {
	catalog.SyncResult
	entries map[string]catalog.Entry
}

// sync performs a sync with the service's verification. known are the digests
// of the entries from earlier syncs, by slug.
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

// whole performs a sync without a cursor.
func (s *suite) whole(t *testing.T) listed {
	t.Helper()
	return s.sync(t, catalog.SyncRequest{}, nil)
}

// installable returns the entries that can be installed, sorted by slug.
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

// unknownPin returns a pin in the form of another one that no repository has.
func unknownPin(like catalog.Pin) catalog.Pin {
	pin := slices.Clone(like)
	commit := []byte(pin[0].Commit)
	for i := range commit {
		commit[i] = "fedcba9876543210"[i%16]
	}
	pin[0].Commit = string(commit)
	return pin
}

// kind reports an error that is nil or of none of the kinds.
func kind(t *testing.T, what string, err error, kinds ...plugin.ErrorKind) {
	t.Helper()
	if err == nil || !slices.Contains(kinds, plugin.KindOf(err)) {
		t.Errorf("%s: the error is %v, want one of %q", what, err, kinds)
	}
}

// errEnough is the error of a caller that stops reading.
var errEnough = errors.New("enough")

// hostileNames are slugs, references and values from an attacker: paths that
// lead out of a folder, options, shell syntax, and encoded separators. They are
// unknown to every source.
var hostileNames = []string{"", ".", "..", "../../etc/passwd", "/etc/passwd", "a/../../b", "nobody-has-this", "a\x00b", "a\nb", "-rf",
	"$(id)", "`id`",
	"ü", "a b", `a"b'c`, "%2e%2e%2f"}
