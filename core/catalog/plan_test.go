package catalog_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
	"github.com/hostler/hostler/sdk/plugin"
)

// wiki is a state with one app, whose files say so.
func wiki(own, engine string) catalogtest.State {
	e := sdk.Entry{Slug: "wiki", Name: "Wiki", Prompts: 2, Architectures: []string{"amd64"},
		Privileges: []sdk.Privilege{{Key: "privileged", Text: "a privileged container"}}, Notes: []sdk.Note{{Level: sdk.WarningNote,
			Text: "Slow"}}}
	files := map[string]string{"install.sh": own, "lib/engine.sh": engine, "overlay/clear": "#!/bin/sh\n"}
	removed := sdk.Entry{Slug: "old", Name: "Old", Removed: "it is gone"}
	bare := sdk.Entry{Slug: "bare", Name: "Bare"}
	return catalogtest.State{Entries: []sdk.Entry{e, removed, bare, {Slug: "machine", Name: "Machine", Type: sdk.VMEntry}},
		Files: map[string]map[string]string{"wiki": files}}
}

// hosts makes a host of the default team and one of team 7.
func (f *fixture) hosts() {
	f.t.Helper()
	inventorytest.User(f.t, f.db)
	inventorytest.Write(f.t, f.db, inventorytest.Cluster{Hosts: []inventorytest.Host{{Name: "lab", Node: "n1"}},
		Nodes: []inventorytest.Node{{Name: "n1"}}},
		inventorytest.Cluster{Team: 7, Hosts: []inventorytest.Host{{Name: "theirs"}}})
	f.Exec("UPDATE hosts SET status = 'online'")
	f.Exec(`INSERT INTO storages (cluster_id, host_id, node, name, type, status, content, used, total, seen_at)
		SELECT cluster_id, id, 'n1', 'fast', 'zfs', 'available', '{rootdir}', 30, 100, now() FROM hosts WHERE name = 'lab'`)
}

// as is a context of the user with a role in the default team.
func as(t testing.TB, role identity.Role) context.Context {
	t.Helper()
	return identity.WithCaller(t.Context(), &identity.Caller{UserID: 1, Email: "ann@example.com", Teams: map[int64]identity.Role{1: role}})
}

// consent gives consent to what a plan shows.
func (f *fixture) consent(ctx context.Context, p *catalog.Plan) {
	f.t.Helper()
	pin, _ := sdk.ParsePin(*p.Pin)
	err := f.db.Tx(ctx, func(tx *db.Tx) error {
		return f.Bundles.GiveConsent(ctx, tx, p.Host.ID, bundle.Key{Source: p.Source, Slug: p.Slug, Purpose: sdk.Purpose(p.Purpose), Pin: pin},
			*p.Sum)
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

func codes(p *catalog.Plan) string {
	all := make([]string, len(p.Blockers))
	for i, b := range p.Blockers {
		all[i] = b.Code
	}
	return strings.Join(all, " ")
}

// A plan shows what would run, and after a consent what has changed since.
func TestPlan(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.hosts()
	f.mem.Add(wiki("echo one\necho two\n", "engine one\n"))
	f.refreshed()
	ctx := as(t, identity.Admin)
	p, err := f.Plan(ctx, "wiki", 1, sdk.Install)
	if err != nil {
		t.Fatal(err)
	}
	if codes(p) != "ssh_not_enrolled" || p.Consent.Given || p.Diff != nil || len(p.Files) != 3 || p.Files[0].Path != "install.sh" ||
		p.Size == 0 {
		t.Error(marshal(t, p))
	}
	if len(p.Storages) != 1 || *p.Storages[0].Free != 70 || p.Host.Node != "n1" || len(p.Warnings) != 1 {
		t.Error(marshal(t, p))
	}
	for _, want := range []string{*p.Sum, "lab", "a privileged container", catalog.Unpinned} {
		if !strings.Contains(p.Consent.Text, want) {
			t.Errorf("the text of the consent lacks %q: %s", want, p.Consent.Text)
		}
	}
	file, err := f.File(ctx, "wiki", *p.Sum, "install.sh")
	if err != nil || *file.Text != "echo one\necho two\n" {
		t.Errorf("%+v, %v", file, err)
	}
	f.consent(ctx, p)
	p, err = f.Plan(ctx, "wiki", 1, sdk.Install)
	if err != nil || !p.Consent.Given || *p.Consent.By != "ann@example.com" || p.Diff == nil || len(p.Diff.Files) != 0 {
		t.Fatalf("%s, %v", marshal(t, p), err)
	}
	// Consent is for these bytes only, and what has changed is shown, its own files first.
	f.mem.Add(wiki("echo one\necho three\n", "engine one\nengine two\n"))
	f.refreshed()
	was := *p.Sum
	p, err = f.Plan(ctx, "wiki", 1, sdk.Install)
	if err != nil || p.Consent.Given || p.Diff == nil || p.Diff.Sum != was || len(p.Diff.Files) != 2 {
		t.Fatalf("%s, %v", marshal(t, p), err)
	}
	if c := p.Diff.Files[0]; c.Path != "install.sh" || c.Added != 1 || c.Removed != 1 || !strings.Contains(*c.Diff,
		"-echo two\n+echo three\n") {
		t.Errorf("%+v", c)
	}
	if held, err := f.Bundles.FindConsent(ctx, 1, sdk.Install, was); err != nil || held == nil {
		t.Errorf("the consent to the first bytes: %v, %v", held, err)
	}
	if held, err := f.Bundles.FindConsent(ctx, 2, sdk.Install, was); err != nil || held != nil {
		t.Errorf("a consent on another host: %v, %v", held, err)
	}
	if held, err := f.Bundles.FindConsent(ctx, 1, sdk.Update, was); err != nil || held != nil {
		t.Errorf("a consent for something else: %v, %v", held, err)
	}
}

// Plans are for admins of the host, and tell what is in the way of entries that cannot be installed.
func TestPlanRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *catalog.Config) { c.Executors = executors{} })
	f.hosts()
	f.mem.Add(wiki("a\n", "b\n"))
	f.refreshed()
	ctx := as(t, identity.Admin)
	_, err := f.Plan(as(t, identity.Operator), "wiki", 1, sdk.Install)
	isProblem(t, err, problem.CodeForbidden)
	theirs := identity.WithCaller(t.Context(), &identity.Caller{UserID: 1, Teams: map[int64]identity.Role{7: identity.Owner}})
	_, err = f.Plan(theirs, "wiki", 1, sdk.Install)
	isProblem(t, err, problem.CodeNotFound)
	for _, slug := range []string{"nothing", "folder/wiki", "wiki/", "../wiki", "WIKI"} {
		_, err = f.Plan(ctx, slug, 1, sdk.Install)
		isProblem(t, err, problem.CodeNotFound)
	}
	for slug, want := range map[string]string{"old": "removed", "machine": "entry_type", "bare": "no_bundle", "wiki": "architecture"} {
		p, err := f.Plan(ctx, slug, 1, sdk.Install)
		if err != nil || codes(p) != want || (p.Sum != nil) != (slug == "wiki") {
			t.Errorf("%s: %s, %v", slug, marshal(t, p), err)
		}
	}
	f.Exec("UPDATE hosts SET status = 'unreachable'")
	if p, err := f.Plan(ctx, "wiki", 1, sdk.Install); err != nil || codes(p) != "host_unreachable architecture" {
		t.Errorf("%s, %v", marshal(t, p), err)
	}
}

type executors struct{}

func (executors) Node(context.Context, int64) (catalog.Node, error) {
	return catalog.Node{Architecture: "arm64"}, nil
}

// What was made once is there while the source is away, and what a source falsifies is never kept.
func TestBundlesOfHostileSources(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.hosts()
	hostile := catalogtest.NewHostile(f.mem)
	f.sources["scripts"] = hostile
	f.mem.Add(wiki("echo one\n", "engine one\n"))
	f.refreshed()
	ctx := as(t, identity.Admin)
	for _, fault := range catalogtest.Faults() {
		if fault.Verb != "bundle" {
			continue
		}
		hostile.SetFault(fault.Name)
		_, err := f.Plan(ctx, "wiki", 1, sdk.Install)
		if p := problem.From(err); err == nil || p.Code != problem.CodeCatalogSourceError || p.Members["reason"] != "protocol" {
			t.Errorf("%s: %v", fault.Name, err)
		}
		if n := f.Value("SELECT (SELECT count(*) FROM bundle_files) + (SELECT count(*) FROM bundles) + (SELECT count(*) FROM " +
			"bundle_manifests)"); n != "0" {
			t.Fatalf("%s: %s rows are kept", fault.Name, n)
		}
	}
	hostile.SetFault("")
	p, err := f.Plan(ctx, "wiki", 1, sdk.Install)
	if err != nil {
		t.Fatal(err)
	}
	f.mem.SetFault(func(string) error { return plugin.Errorf(plugin.Unreachable, "there is no network") })
	again, err := f.Plan(ctx, "wiki", 1, sdk.Install)
	if err != nil || *again.Sum != *p.Sum {
		t.Errorf("while the source is away: %v", err)
	}
	_, err = f.Plan(ctx, "wiki", 1, sdk.Update)
	if p := isProblem(t, err, problem.CodeCatalogSourceError); p.Members["reason"] != "unreachable" || !strings.Contains(p.Detail,
		"no network") {
		t.Errorf("%+v", p)
	}
	// One byte that is changed in the store is noticed, wherever it is read.
	f.Exec("UPDATE bundle_files SET data = 'echo evil'::bytea WHERE sum = $1", p.Files[0].SHA256)
	if _, err := f.File(ctx, "wiki", *p.Sum, "install.sh"); !errors.Is(err, bundle.ErrAltered) {
		t.Errorf("an altered file is shown: %v", err)
	}
	f.Exec("UPDATE bundle_manifests SET manifest = replace(manifest::text, 'install.sh', 'another.sh')::json")
	if _, err := f.Plan(ctx, "wiki", 1, sdk.Install); err == nil {
		t.Error("an altered manifest is shown")
	}
}
