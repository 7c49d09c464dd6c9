// Package catalogtest is the conformance suite of the catalog kind.
package catalogtest

import (
	"context"
	"errors"
	"testing"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin/plugintest"
)

// Run tries a source directly and over gRPC. The source must have at least two entries.
func Run(t *testing.T, source catalog.Source) {
	remote := catalog.NewClient(plugintest.Connect(t, catalog.Service{Source: source}))
	for name, source := range map[string]catalog.Source{"direct": source, "grpc": remote} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info, err := source.Info(t.Context())
			if err != nil || info.Name == "" || info.Version == "" {
				t.Errorf("info is %+v, %v", info, err)
			}
			ids := map[string]bool{}
			err = source.Entries(t.Context(), func(e catalog.Entry) error {
				if e.ID == "" || e.Name == "" || ids[e.ID] {
					t.Errorf("entry %+v has no id or name, or comes again", e)
				}
				ids[e.ID] = true
				return nil
			})
			if err != nil || len(ids) < 2 {
				t.Errorf("%d entries, %v", len(ids), err)
			}
			enough, calls := errors.New("enough"), 0
			err = source.Entries(t.Context(), func(catalog.Entry) error { calls++; return enough })
			if !errors.Is(err, enough) || calls != 1 {
				t.Errorf("after the caller's error %d calls, %v", calls, err)
			}
			canceled, cancel := context.WithCancel(t.Context())
			cancel()
			if err := source.Entries(canceled, func(catalog.Entry) error { return nil }); !errors.Is(err, context.Canceled) {
				t.Errorf("canceled: %v", err)
			}
		})
	}
}
