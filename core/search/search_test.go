package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/search"
)

var everything = identity.VisibleTeams{All: true, Teams: []int64{}}

// stock is an inventory of two teams.
func stock(t *testing.T) *db.DB {
	t.Helper()
	d := dbtest.New(t)
	inventorytest.Write(t, d,
		inventorytest.Cluster{Name: "prod",
			Hosts: []inventorytest.Host{{Name: "rack1", Address: "192.0.2.1:8006", Node: "pve1", Status: "online"}},
			Nodes: []inventorytest.Node{{Name: "pve1", Address: "192.0.2.1"}, {Name: "pve11", Address: "192.0.2.11"}},
			Storages: []inventorytest.Storage{{Node: "pve1", Name: "nas", Shared: true}, {Node: "pve11", Name: "nas", Shared: true},
				{Node: "pve1", Name: "local-web"}},
			Guests: []inventorytest.Guest{
				{VMID: 101, Node: "pve1", Name: "web", Tags: []string{"prod", "front_end"}, Pool: "shop"},
				{VMID: 102, Node: "pve1", Name: "web-2", Tags: []string{"prod"}, Status: "stopped"},
				{VMID: 103, Node: "pve11", Name: "new-web", Tags: []string{"test"}},
				{VMID: 104, Node: "pve11", Name: "cobweb", Job: "vm.start"},
				{VMID: 105, Node: "pve11", Name: "db", Tags: []string{"web"}},
				{VMID: 201, Node: "pve1", Container: true, Name: "ct-wiki", App: "Ünser Wiki"},
				{VMID: 202, Node: "pve1", Container: true, Name: "bare"},
				{VMID: 900, Node: "pve1", Name: "tmpl", Template: true},
			}},
		inventorytest.Cluster{Team: 2, Hosts: []inventorytest.Host{{Name: "lab", Address: "[2001:db8::1]:8006"}},
			Nodes: []inventorytest.Node{{Name: "alone"}}, Storages: []inventorytest.Storage{{Node: "alone", Name: "local-web"}},
			Guests: []inventorytest.Guest{{VMID: 101, Node: "alone", Name: "web"}, {Ref: "c1", Node: "alone", Container: true, Name: "box"}}},
	)
	inventorytest.MissingApp(t, d, 1, 299, "lost")
	dbtest.Exec(t, d, "UPDATE guests SET addresses = '{10.0.0.5,2001:DB8::5}' WHERE name = 'db'")
	dbtest.Exec(t, d, "UPDATE guests SET addresses = '{10.0.0.50}' WHERE name = 'bare'")
	dbtest.Exec(t, d, "UPDATE storages SET type = 'nfs' WHERE name = 'nas'")
	dbtest.Exec(t, d, "DELETE FROM schedules")
	dbtest.Exec(t, d, "INSERT INTO schedules (name, cron, job_kind) VALUES ('nightly web', '0 3 * * *', 'backup.run')")
	dbtest.Exec(t, d, `INSERT INTO jobs (kind, status, team_id, host_id, target_kind, target_id, target_name)
		VALUES ('vm.stop', 'failed', 1, 1, 'vm', 1, 'web'), ('vm.stop', 'succeeded', 2, 2, 'vm', 9, 'web')`)
	return d
}

// found are the hits as "kind name", in order.
func found(t *testing.T, d *db.DB, query string, visible identity.VisibleTeams) []string {
	t.Helper()
	s := &search.Store{DB: d}
	hits, total, err := s.Find(t.Context(), query, visible, 0, 500)
	if err != nil {
		t.Fatalf("%q: %v", query, err)
	}
	if total != len(hits) {
		t.Errorf("%q: %d of %d", query, len(hits), total)
	}
	got := []string{}
	for _, h := range hits {
		got = append(got, h.Kind+" "+h.Name)
	}
	return got
}

func TestFind(t *testing.T) {
	t.Parallel()
	d := stock(t)
	for _, tt := range []struct{ query, want string }{
		// Who is called so, whose name begins so, who has it as a tag, whose name has a word, who has it inside; jobs come last but for
		// what only stands on something that is called so.
		{"web is:vm", "vm web, vm web, vm web-2, vm db, vm new-web, vm cobweb"},
		{"WEB host:rack1", "vm web, vm web-2, vm db, vm new-web, storage local-web, vm cobweb, job web, job cobweb"},
		{"web -is:guest -is:job", "storage local-web, storage local-web, schedule nightly web"},
		{"101", "vm web, vm web"},
		{"vmid:101 cluster:prod", "vm web"},
		{"vmid:10*", "vm cobweb, vm db, vm new-web, vm web, vm web, vm web-2"},
		{"c1", "container box"},
		{"vmid:c1", "container box"},
		{"10.0.0.5", "vm db, container bare"},
		{"ip:10.0.0.5", "vm db"},
		{"ip:10.0.0.*", "container bare, vm db"},
		{"ip:2001:db8::5", "vm db"},
		{"ip:192.0.2.1", "host rack1, node pve1"},
		{"ip:2001:db8::1", "host lab"},
		{"tag:prod", "vm web, vm web-2"},
		{"tag:prod status:running", "vm web"},
		{"tag:pro", ""},
		{"tag:front_end", "vm web"},
		{"tag:front%end", ""},
		{"tag:*_end", "vm web"},
		{"tag:*", "vm db, vm new-web, vm web, vm web-2"},
		{"-tag:* is:vm", "vm cobweb, vm tmpl, vm web"},
		{"pool:shop", "vm web"},
		{"node:pve1 is:guest", "container bare, vm tmpl, vm web, vm web-2, app Ünser Wiki"},
		{"node:*1 is:vm tag:web", "vm db"},
		{"node:pve*", "container bare, vm cobweb, vm db, vm new-web, vm tmpl, vm web, vm web-2, app Ünser Wiki, host rack1, " +
			"node pve1, node pve11, storage local-web, storage nas"},
		{"node:*eb", ""}, // what stands for anything goes not beyond its piece
		{"status:pending", "vm cobweb, host lab"},
		{"status:online", "host rack1, node alone, node pve1, node pve11"},
		{"status:failed", "job web"},
		{"is:template", "vm tmpl"},
		{"is:app", "app Ünser Wiki, app lost"},
		{"ünser", "app Ünser Wiki"},
		{"UNSER", ""},
		{"ct-wiki", "app Ünser Wiki"},
		{"is:node", "node alone, node pve1, node pve11"},
		{"pve1", "node pve1, node pve11, container bare, vm tmpl, vm web, vm web-2, app Ünser Wiki, vm cobweb, vm db, vm new-web, host rack1, " +
			"storage local-web, storage nas"},
		{"is:storage", "storage local-web, storage local-web, storage nas"},
		{"type:nfs", "storage nas"},
		{"nfs", "storage nas"},
		{"kind:vm.stop", "job web, job web"},
		{"kind:backup.*", "schedule nightly web"},
		{"kind:vm.stop team:2", "job web"},
		{"team:team2 is:guest", "container box, vm web"},
		{`team:"Default" web is:vm`, "vm web, vm web-2, vm db, vm new-web, vm cobweb"},
		{"host:2 is:host", "host lab"},
		{"cluster:prod is:host", "host rack1"},
		{"name:web*", "vm web, vm web, vm web-2, job web, job web"},
		{`name:"ünser wiki"`, "app Ünser Wiki"},
		{"is:nothing", ""},
		{"is:vm is:host", ""},
		{"web zebra", ""},
		{"no%such", ""},
		{`%`, ""}, {`_`, "vm web"}, {`\`, ""}, {`'; DROP TABLE guests; --`, ""}, {`tag:(`, ""}, {`tag:[*`, ""}, {`node:\*`, ""},
		{"$all", ""}, {"$1", ""}, {"{6}", ""}, {"tag:{6}", ""}, {"tag:?*", ""}, {"?", ""},
	} {
		// What counts the same is sorted by name and then by key; only vm, container and app share a rank.
		if got := strings.Join(found(t, d, tt.query, everything), ", "); got != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.query, got, tt.want)
		}
	}
	if got := found(t, d, "", everything); len(got) != 23 {
		t.Errorf("everything: %d %q", len(got), got)
	}
}

// Nothing of another team is found, counted or told by a filter, and the instance's schedules are for those of the instance.
func TestFindShowsNothingOfOtherTeams(t *testing.T) {
	t.Parallel()
	d := stock(t)
	for _, tt := range []struct {
		visible identity.VisibleTeams
		query   string
		want    string
	}{
		{identity.VisibleTeams{Teams: []int64{2}}, "", "vm web, container box, host lab, node alone, storage local-web, job web"},
		{identity.VisibleTeams{Teams: []int64{2}}, "web", "vm web, storage local-web, job web"},
		{identity.VisibleTeams{Teams: []int64{2}}, "host:rack1", ""},
		{identity.VisibleTeams{Teams: []int64{2}}, "team:1", ""},
		{identity.VisibleTeams{Teams: []int64{2}}, "ip:192.0.2.1", ""},
		{identity.VisibleTeams{Teams: []int64{2}}, "1", "vm web, container box, host lab"},
		{identity.VisibleTeams{Teams: []int64{}}, "", ""},
		{identity.VisibleTeams{Teams: []int64{}}, "web", ""},
	} {
		got := found(t, d, tt.query, tt.visible)
		want := []string{}
		if tt.want != "" {
			want = strings.Split(tt.want, ", ")
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q of %v: %q", tt.query, tt.visible, got)
		}
	}
	if got := found(t, d, "is:schedule", identity.VisibleTeams{Teams: []int64{1}}); len(got) != 0 {
		t.Errorf("a team finds schedules: %q", got)
	}
}

// What a hit says.
func TestHit(t *testing.T) {
	t.Parallel()
	d := stock(t)
	s := &search.Store{DB: d}
	for query, want := range map[string]string{
		"name:db":           "vm 5 db running 105 1 rack1 pve11 prod 1 [web] [10.0.0.5 2001:DB8::5] -",
		"name:cobweb is:vm": "vm 4 cobweb pending 104 1 rack1 pve11 prod 1 [] [] -",
		"is:app 201":        "app 1 Ünser Wiki running 201 1 rack1 pve1 prod 1 [] [] -",
		"name:lost":         "app 2 lost unknown 299 1 rack1 - prod 1 [] [] -",
		"name:box":          "container 10 box running - 2 lab alone - 2 [] [] c1",
		"name:lab":          "host 2 lab pending - 2 lab - - 2 [] [] [2001:db8::1]:8006",
		"name:pve1":         "node - pve1 online - 1 rack1 pve1 prod 1 [] [192.0.2.1] -",
		"name:nas":          "storage - nas available - 1 rack1 - prod 1 [] [] nfs",
		"is:schedule":       "schedule 7 nightly web enabled - - - - - - [] [] backup.run",
		"status:failed":     "job 2 web failed - 1 rack1 - - 1 [] [] vm.stop",
	} {
		hits, _, err := s.Find(t.Context(), query, everything, 0, 10)
		if err != nil || len(hits) != 1 {
			t.Errorf("%q: %+v %v", query, hits, err)
			continue
		}
		h := hits[0]
		got := fmt.Sprint(h.Kind, " ", or(h.ID), " ", h.Name, " ", h.Status, " ", or(h.VMID), " ", or(h.HostID), " ", or(h.Host), " ",
			or(h.Node), " ", or(h.Cluster), " ", or(h.TeamID), " ", h.Tags, " ", h.Addresses, " ", or(h.Detail))
		if got != want {
			t.Errorf("%q:\n got %s\nwant %s", query, got, want)
		}
		if (h.At != nil) != (h.Kind == "job") {
			t.Errorf("%q: at %v", query, h.At)
		}
	}
}

// or is what a pointer points to, and a hyphen for none and for the empty text.
func or[T any](p *T) string {
	if p == nil || fmt.Sprint(*p) == "" {
		return "-"
	}
	return fmt.Sprint(*p)
}

// The words of guests follow every change, whoever makes it.
func TestWordsFollowGuests(t *testing.T) {
	t.Parallel()
	d := stock(t)
	dbtest.Exec(t, d, "UPDATE guests SET name = 'renamed', tags = '{Fresh}', node = 'pve2', host_id = 2 WHERE name = 'db'")
	for _, query := range []string{"renamed", "tag:fresh", "node:pve2", "host:lab renamed"} {
		if got := found(t, d, query, everything); !slices.Contains(got, "vm renamed") {
			t.Errorf("%q: %q", query, got)
		}
	}
	if got := found(t, d, "name:db", everything); len(got) != 0 {
		t.Errorf("the old name finds %q", got)
	}
	if got := found(t, d, "renamed", identity.VisibleTeams{Teams: []int64{1}}); len(got) != 0 {
		t.Errorf("the team that it has left finds %q", got)
	}
	dbtest.Exec(t, d, "UPDATE guests SET addresses = NULL, cpu = 0.5 WHERE name = 'bare'")
	if got := found(t, d, "ip:10.0.0.*", everything); !slices.Equal(got, []string{"vm renamed"}) {
		t.Errorf("an address that is gone finds %q", got)
	}
	dbtest.Exec(t, d, "DELETE FROM guests WHERE name = 'renamed'")
	if got := found(t, d, "renamed", everything); len(got) != 0 {
		t.Errorf("a guest that is gone: %q", got)
	}
	if lacking := dbtest.Value[int64](t, d, `SELECT count(*) FROM guests g FULL JOIN guest_words w ON w.guest_id = g.id
		WHERE g.id IS NULL OR w.guest_id IS NULL`); lacking != 0 {
		t.Errorf("%d have no words, or are words of nobody", lacking)
	}
}

// Pages have an order without gaps and repetitions, and each tells how much there is.
func TestPages(t *testing.T) {
	t.Parallel()
	d := stock(t)
	s := &search.Store{DB: d}
	var all []string
	for offset := 0; ; offset += 4 {
		hits, total, err := s.Find(t.Context(), "", everything, offset, 4)
		if err != nil || total != 23 {
			t.Fatalf("%d %v", total, err)
		}
		if len(hits) == 0 {
			break
		}
		for _, h := range hits {
			all = append(all, h.Kind+or(h.ID)+h.Name+or(h.HostID))
		}
	}
	slices.Sort(all)
	if len(all) != 23 || len(slices.Compact(all)) != 23 {
		t.Errorf("%d things on all pages: %q", len(all), all)
	}
}

// An old job is found by its id alone.
func TestOldJobs(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	dbtest.Exec(t, d, `INSERT INTO jobs (kind, status, target_kind, target_id, target_name, created_at, team_id)
		SELECT 'vm.start', 'failed', 'vm', 1, 'old' || i, now() + i * interval '1 second', 1 FROM generate_series(1, 1200) i`)
	if got := found(t, d, "old7", everything); slices.Contains(got, "job old7") {
		t.Error("the oldest are looked at")
	}
	if got := found(t, d, "7", everything); !slices.Contains(got, "job old7") || got[0] == "job old1200" {
		t.Errorf("by its id: %q", got[:min(len(got), 5)])
	}
	if got := found(t, d, "7", identity.VisibleTeams{Teams: []int64{2}}); len(got) != 0 {
		t.Errorf("another team finds %q", got)
	}
}

// Entries of the catalog are found by everybody, while their source is on and there is a catalog at all.
func TestCatalog(t *testing.T) {
	t.Parallel()
	d := stock(t)
	dbtest.Exec(t, d, "INSERT INTO catalog_sources (name, enabled) VALUES ('scripts', true), ('folder', false)")
	for i, source := range []string{"scripts", "folder"} {
		dbtest.Exec(t, d, `INSERT INTO catalog_entries (source, slug, path, digest, entry_type, name, summary, categories, tags, installable,
			variant_of, icon, words, entry) VALUES ($1, 'website', $2, '', 'ct', 'Web Site', '', '{}', '{pages}', true, '', '',
			'web site website' || E'\n' || 'much that is not looked through: rack', '{}')`, source, fmt.Sprintf("p%d", i))
	}
	for _, visible := range []identity.VisibleTeams{everything, {Teams: []int64{2}}, {Teams: []int64{}}} {
		for query, want := range map[string]int{"is:catalog": 1, "website": 1, "is:catalog web": 1, "is:catalog rack": 0, "tag:pages": 1,
			"type:ct name:web*":             1,
			"is:catalog status:unavailable": 0} {
			if got := found(t, d, query, visible); len(got) != want || want == 1 && got[0] != "catalog Web Site" {
				t.Errorf("%s: %q", query, got)
			}
		}
	}
	hits, _, err := (&search.Store{DB: d}).Find(t.Context(), "is:catalog", everything, 0, 10)
	if err != nil || *hits[0].Detail != "p0" || hits[0].Status != "installable" || hits[0].ID != nil {
		t.Errorf("%+v, %v", hits, err)
	}
	dbtest.Exec(t, d, `INSERT INTO settings (key, value) VALUES ('entitlements.disabled', '["store.catalog"]')`)
	if got := found(t, d, "is:catalog", everything); len(got) != 0 {
		t.Errorf("without a catalog: %q", got)
	}
}
