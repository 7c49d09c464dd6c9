// Package catalogtest is the conformance suite of the catalog kind.
package catalogtest

import (
	"context"
	"errors"
	"testing"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin/plugintest"
)

// Config is what a source is tried with.
type Config struct {
	// Source must have at least two entries.
	Source catalog.Source
	// CatalogType is a typed nil of what Source.Open returns.
	CatalogType catalog.Catalog
	// Catalog is what it is opened under.
	Catalog catalog.Config
}

// Run tries a source directly and over gRPC.
func Run(t *testing.T, config Config) {
	remote := catalog.NewClient(plugintest.Connect(t, catalog.Service{Source: config.Source, CatalogType: config.CatalogType}))
	for name, source := range map[string]catalog.Source{"direct": config.Source, "grpc": remote} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info, err := source.Info(t.Context())
			if err != nil || info.Name == "" || info.Version == "" {
				t.Errorf("info is %+v, %v", info, err)
			}
			opened, err := source.Open(t.Context(), config.Catalog)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = opened.Close() })
			t.Run("sync", func(t *testing.T) { testSync(t, opened) })
		})
	}
}

func testSync(t *testing.T, c catalog.Catalog) {
	digests := map[string]string{}
	var begin *catalog.Begin
	var end *catalog.End
	err := c.Sync(t.Context(), catalog.SyncRequest{}, func(step catalog.SyncStep) error {
		switch {
		case end != nil, (step.Begin != nil) != (begin == nil):
			t.Errorf("%+v comes at the wrong place", step)
		case step.Begin != nil:
			begin = step.Begin
		case step.End != nil:
			end = step.End
		case step.Entry != nil:
			if err := catalog.CheckEntry(*step.Entry); err != nil || digests[step.Entry.Slug] != "" {
				t.Errorf("the entry %+v is wrong or comes twice: %v", step.Entry, err)
			}
			digests[step.Entry.Slug] = step.Entry.Digest
		}
		return nil
	})
	if err != nil || begin == nil || end == nil || len(digests) < 2 {
		t.Fatalf("%d entries, %v, %v, %v", len(digests), begin, end, err)
	}
	if !begin.Whole || !begin.Pin.Valid() || end.Entries != len(digests) || end.Digest != catalog.CatalogDigest(digests) {
		t.Errorf("%d entries came, and it said %+v and %+v", len(digests), begin, end)
	}
	enough, calls := errors.New("enough"), 0
	err = c.Sync(t.Context(), catalog.SyncRequest{}, func(catalog.SyncStep) error { calls++; return enough })
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("after the caller's error %d calls, %v", calls, err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	err = c.Sync(canceled, catalog.SyncRequest{}, func(catalog.SyncStep) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
