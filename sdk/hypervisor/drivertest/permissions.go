package drivertest

import (
	"context"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// permissions tests Host.Permissions with proper, lacking and exceeding
// credentials. Missing and Extra are the names of privileges in the
// hypervisor's own words, and Missing is sorted.
func (s *suite) permissions(t *testing.T) {
	for _, capability := range s.described(t).Capabilities {
		s.run(t, string(capability)+" proper", func(t *testing.T, ctx context.Context) {
			got, err := s.host(t, capability).Permissions(ctx)
			must(t, "asking for permissions", err)
			if len(got.Missing) > 0 || len(got.Extra) > 0 {
				t.Errorf("the right token lacks %v and has %v in excess", got.Missing, got.Extra)
			}
			if len(got.Paths) == 0 {
				t.Error("the path is missing")
			}
			for _, end := range got.Ends {
				if end.ID == "" {
					t.Errorf("a credential without an ID expires at %s", end.At)
				}
			}
			if got.Version != nil && got.Version.Version == "" {
				t.Error("a release without a version")
			}
		})
		s.run(t, string(capability)+" lacking", func(t *testing.T, ctx context.Context) {
			hook(t, "Lacking", s.Lacking != nil)
			target, missing := s.Lacking(t, capability)
			got, err := s.open(t, target).Permissions(ctx)
			must(t, "asking for permissions", err)
			if p, ok := subset(missing, got.Missing); !ok {
				t.Errorf("missing %v does not name %s", got.Missing, p)
			}
			if !slices.IsSorted(got.Missing) {
				t.Errorf("missing %v is not sorted", got.Missing)
			}
		})
		s.run(t, string(capability)+" exceeding", func(t *testing.T, ctx context.Context) {
			hook(t, "Exceeding", s.Exceeding != nil)
			target, extra := s.Exceeding(t, capability)
			got, err := s.open(t, target).Permissions(ctx)
			must(t, "asking for permissions", err)
			if p, ok := subset(extra, got.Extra); !ok {
				t.Errorf("extra %v does not name %s", got.Extra, p)
			}
			if len(got.Missing) > 0 {
				t.Errorf("the token lacks %v", got.Missing)
			}
		})
	}
	s.run(t, "wrong token", func(t *testing.T, ctx context.Context) {
		target := s.wrong(t, endpoint.Monitoring)
		_, err := s.open(t, target).Permissions(ctx)
		wantKind(t, err, plugin.TokenRejected)
	})
}
