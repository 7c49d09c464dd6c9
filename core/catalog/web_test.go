package catalog_test

import (
	"testing"

	"github.com/hostler/hostler/core/app"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
)

// The page of an app is known from its entry, and from none of a source that is off.
func TestWeb(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mem.Add(catalogtest.State{Entries: []sdk.Entry{
		{Slug: "bare", Name: "Bare"}, {Slug: "wiki", Name: "Wiki", Web: &sdk.Web{Protocol: "https", Port: 8443, Path: "/start"}},
	}})
	f.refreshed()
	for _, step := range []struct {
		path string
		want app.Web
		ok   bool
	}{
		{"wiki", app.Web{Port: 8443, Path: "/start", Protocol: "https"}, true}, {"bare", app.Web{}, false}, {"other", app.Web{}, false},
	} {
		if got, ok, err := f.Web(t.Context(), step.path); err != nil || ok != step.ok || got != step.want {
			t.Errorf("%s: %+v, %t, %v", step.path, got, ok, err)
		}
	}
	f.Exec("UPDATE catalog_sources SET enabled = false")
	if got, ok, err := f.Web(t.Context(), "wiki"); err != nil || ok {
		t.Errorf("of a source that is off: %+v, %v", got, err)
	}
}
