package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
	"github.com/hostler/hostler/sdk/plugin"
)

// A refresh takes what is new, changed and gone, and says what it did.
func TestRefresh(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mem.Add(catalogtest.State{Entries: entries("a", "b", "c", "d", "e", "f"), Categories: []sdk.Category{{Key: "docs", Name: "Documents"}}})
	if got := f.refreshed(); !strings.Contains(got, "scripts: 6 entries at memory@") || f.slugs(catalog.Filter{}) != "a b c d e f" {
		t.Errorf("%s: %s", f.slugs(catalog.Filter{}), got)
	}
	if got := f.refreshed(); !strings.Contains(got, "nothing has changed, 6 entries") {
		t.Error(got)
	}
	next := entries("a", "b", "c", "d", "e", "new")
	next[0].Description, next[0].Categories = "Another one", []string{"docs"}
	pin := f.mem.Add(catalogtest.State{Entries: next, Categories: []sdk.Category{{Key: "docs", Name: "Documents"}}})
	if got := f.refreshed(); !strings.Contains(got, "6 entries at "+pin.String()+", 2 new or changed, 1 removed") {
		t.Error(got)
	}
	a, err := f.Entry(t.Context(), "a")
	if err != nil || a.Description != "Another one" || *a.Category != "docs" || *a.Pin != pin.String() {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := f.Entry(t.Context(), "f"); problem.CodeOf(err) != problem.CodeNotFound {
		t.Errorf("what is gone: %v", err)
	}
	if s := f.source("scripts"); s.Failure != nil || s.Held != nil || *s.Pin != pin.String() || s.Entries != 6 || s.SyncedAt == nil {
		t.Errorf("%+v", s)
	}
}

// Of a source that says anything wrong, nothing is taken; what was there stays, and the reason is told.
func TestHostileSources(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hostile := catalogtest.NewHostile(f.mem)
	f.sources["scripts"] = hostile
	f.mem.Add(catalogtest.State{Entries: entries("a", "b")})
	f.refreshed()
	for i, fault := range catalogtest.Faults() {
		if fault.Verb != "sync" || fault.Name == "sync: another pin" { // a refresh asks for the newest, whichever that is
			continue
		}
		f.Exec("UPDATE catalog_sources SET cursor = ''") // so that all comes
		before := f.Value("SELECT cursor || pin FROM catalog_sources")
		hostile.SetFault(fault.Name)
		f.mem.Add(catalogtest.State{Entries: entries("a", "b", fmt.Sprintf("new%d", i))})
		status, transcript := f.refresh()
		s := f.source("scripts")
		if status != "failed" || s.Failure == nil || s.Failure.Reason != string(plugin.Protocol) || f.slugs(catalog.Filter{}) != "a b" ||
			f.Value("SELECT cursor || pin FROM catalog_sources") != before {
			t.Errorf("%s: %s: %s: %+v", fault.Name, status, transcript, s.Failure)
		}
		if strings.Contains(transcript, "\x00") {
			t.Errorf("%s: %q", fault.Name, transcript)
		}
	}
	hostile.SetFault("")
	f.mem.Add(catalogtest.State{Entries: entries("a", "b", "c")})
	if f.refreshed(); f.slugs(catalog.Filter{}) != "a b c" || f.source("scripts").Failure != nil {
		t.Error("it did not recover:", f.slugs(catalog.Filter{}))
	}
}

// A source whose changes do not fit what is there is asked for everything, and what is there is put right by that.
func TestMismatchIsMended(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mem.Add(catalogtest.State{Entries: entries("a", "b", "c")})
	f.refreshed()
	f.Exec("UPDATE catalog_entries SET digest = repeat('0', 64), name = 'Altered' WHERE slug = 'b'")
	if got := f.refreshed(); !strings.Contains(got, "3 entries") || f.Value("SELECT name FROM catalog_entries WHERE slug = 'b'") != "B" {
		t.Error(got)
	}
}

// A sudden loss of more than a fifth waits for an owner, who accepts just that; everything stays until then.
func TestLossIsHeld(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var slugs []string
	for i := range 10 {
		slugs = append(slugs, fmt.Sprintf("app%d", i))
	}
	f.mem.Add(catalogtest.State{Entries: entries(slugs...)})
	f.refreshed()
	f.mem.Add(catalogtest.State{Entries: entries(slugs[:8]...)}) // a fifth
	f.refreshed()
	f.mem.Add(catalogtest.State{Entries: entries(slugs[:6]...)})
	if got := f.refreshed(); !strings.Contains(got, "2 of 8 entries are missing") {
		t.Error(got)
	}
	held := f.source("scripts").Held
	if held == nil || held.Of != 8 || strings.Join(held.Removed, " ") != "app6 app7" || len(strings.Fields(f.slugs(catalog.Filter{}))) != 8 {
		t.Fatalf("%+v, %s", held, f.slugs(catalog.Filter{}))
	}
	_, err := f.Accept(t.Context(), "scripts", strings.Repeat("0", 64))
	isProblem(t, err, problem.CodePlanStale)
	// It loses more than was looked at, before it is accepted: that waits again.
	f.mem.Add(catalogtest.State{Entries: entries(slugs[:4]...)})
	accept := func(digest string) {
		t.Helper()
		made, err := f.Accept(t.Context(), "scripts", digest)
		if err != nil {
			t.Fatal(err)
		}
		if status, transcript := f.ended(made.Job.ID); status != "succeeded" {
			t.Fatal(transcript)
		}
	}
	accept(held.Digest)
	held = f.source("scripts").Held
	if held == nil || len(held.Removed) != 4 || len(strings.Fields(f.slugs(catalog.Filter{}))) != 8 {
		t.Fatalf("%+v", held)
	}
	accept(held.Digest)
	if got := f.slugs(catalog.Filter{}); got != "app0 app1 app2 app3" || f.source("scripts").Held != nil {
		t.Error(got)
	}
	_, err = f.Accept(t.Context(), "scripts", held.Digest)
	isProblem(t, err, problem.CodeInvalidState)
	_, err = f.Accept(t.Context(), "nobody", held.Digest)
	isProblem(t, err, problem.CodeNotFound)
}

// No source can take the place of another one's entry, and what one does wrong keeps no other from being asked.
func TestSourcesAreApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := &catalogtest.Memory{Name: "folder"}
	f.sources["folder"] = other
	f.on("folder")
	f.mem.Add(catalogtest.State{Entries: entries("wiki", "status")})
	other.Add(catalogtest.State{Entries: entries("wiki", "own")})
	f.refreshed()
	if got := f.slugs(catalog.Filter{}); got != "folder/own scripts/status folder/wiki wiki" {
		t.Error(got)
	}
	f.mem.SetFault(func(verb string) error {
		if verb == "sync" {
			return plugin.Errorf(plugin.Unreachable, "the archive cannot be fetched")
		}
		return nil
	})
	other.Add(catalogtest.State{Entries: entries("wiki", "own", "third")})
	status, transcript := f.refresh()
	if status != "failed" || !strings.Contains(transcript, "the archive cannot be fetched") || !strings.Contains(f.slugs(catalog.Filter{}),
		"folder/third") {
		t.Errorf("%s: %s", status, transcript)
	}
	now, err := f.Status(t.Context())
	if err != nil || len(now.Sources) != 2 || now.Sources[1].Failure == nil || now.Sources[1].Failure.Reason != "unreachable" || now.Stale {
		t.Errorf("%s, %v", marshal(t, now), err)
	}
	if _, err := f.Update(t.Context(), "folder", catalog.SourceChange{Enabled: new(false)}); err != nil {
		t.Fatal(err)
	}
	if got := f.slugs(catalog.Filter{}); got != "scripts/status wiki" {
		t.Error("a source that is off is shown:", got)
	}
	if _, err := f.Entry(t.Context(), "folder/wiki"); problem.CodeOf(err) != problem.CodeNotFound {
		t.Errorf("an entry of a source that is off: %v", err)
	}
}

// While there is nothing, or only old things, the catalog is stale.
func TestStatus(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mem.Add(catalogtest.State{Entries: entries("a", "b")})
	if s, err := f.Status(t.Context()); err != nil || !s.Stale || s.AgeS != nil || s.SyncedAt != nil || s.StaleAfterS != 172800 {
		t.Errorf("%s, %v", marshal(t, s), err)
	}
	f.refreshed()
	if s, err := f.Status(t.Context()); err != nil || s.Stale || *s.AgeS > 60 || s.Entries != 2 {
		t.Errorf("%s, %v", marshal(t, s), err)
	}
	f.Exec("UPDATE catalog_sources SET synced_at = now() - interval '49 hours'")
	if s, err := f.Status(t.Context()); err != nil || !s.Stale || *s.AgeS < 49*3600 {
		t.Errorf("%s, %v", marshal(t, s), err)
	}
}
