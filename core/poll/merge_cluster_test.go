package poll_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// deleteTeam deletes a team as an owner does.
func (f *fixture) deleteTeam(id int64) {
	f.t.Helper()
	users := identity.New(f.db, identity.Config{Assets: host.New(host.Config{DB: f.db})})
	if _, err := users.DeleteTeam(f.t.Context(), nil, id); err != nil {
		f.t.Fatalf("deleting the team: %v", err)
	}
}

// A cluster that two teams had enrolled is one when one team falls to the other, whichever host is polled first: each
// guest is there once, and jobs and apps stand at rows that are there.
func TestAClusterOfTwoTeamsBecomesOne(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		hosts [2]int // of the default team, of the other
		order []int  // in which the hosts are polled afterwards
	}{
		"alone and alone, the old one first":      {[2]int{1, 1}, []int{0, 1}},
		"alone and alone, the fallen one first":   {[2]int{1, 1}, []int{1, 0}},
		"two and two, the old ones first":         {[2]int{2, 2}, []int{0, 1, 2, 3}},
		"two and two, the fallen ones first":      {[2]int{2, 2}, []int{2, 3, 0, 1}},
		"two and two, one fallen one is enough":   {[2]int{2, 2}, []int{3}},
		"alone and two, the old one is enough":    {[2]int{1, 2}, []int{0}},
		"alone and two, a fallen one is enough":   {[2]int{1, 2}, []int{2}},
		"two and alone, the fallen one is enough": {[2]int{2, 1}, []int{2}},
	} {
		t.Run(name, func(t *testing.T) {
			inBothShapes(t, func(t *testing.T, f *fixture) {
				f.Exec("INSERT INTO teams (id, name, slug) VALUES (2, 'T', 't')")
				nodes := []hypervisor.Node{node("n1"), node("n2"), node("n3"), node("n4")}
				guests := []hypervisor.Guest{vm(100, "n1", "a"), vm(200, "n2", "b"), ct(300, "n3", "c"), ct(400, "n4", "d")}
				var ids []int64
				for i := range test.hosts[0] + test.hosts[1] {
					entry := fmt.Sprint("n", i+1)
					id := f.host(func() hypervisor.Page { return report("prod", entry, nodes, guests...) })
					if i >= test.hosts[0] {
						f.Exec("UPDATE hosts SET team_id = 2 WHERE id = $1", id)
					}
					ids = append(ids, id)
				}
				p := f.poller(f.db)
				for _, id := range ids {
					f.sync(p, id)
				}
				if n := f.Value("SELECT count(*) FROM guests"); n != "8" || f.Value("SELECT count(*) FROM clusters") != "2" {
					t.Fatalf("%s guests before", n)
				}
				// Both teams adopted one container, and each another one; there are jobs on guests of both.
				f.Exec(`INSERT INTO apps (host_id, cluster_id, guest_id, guest_ref, guest_uid, vmid, name, web_port)
				SELECT host_id, cluster_id, id, ref, uid, vmid, name, CASE WHEN cluster_id = 2 THEN 8443 END FROM guests
				WHERE kind = 'container' AND (vmid = 300 OR cluster_id = 1)`)
				f.Exec(`INSERT INTO apps (host_id, cluster_id, guest_ref, vmid, name) SELECT id, cluster_id, '500', 500, 'gone' FROM hosts
				WHERE team_id = 2 LIMIT 1`)
				f.Exec(`INSERT INTO jobs (kind, status, team_id, host_id, target_kind, target_id, target_name, exclusive, params)
				SELECT 'vm.start', s.status, c.team_id, g.host_id, 'vm', g.id, g.name, 'guest:' || g.id, jsonb_build_object('guest_id', g.id,
				'ref', g.ref)
				FROM guests g JOIN clusters c ON c.id = g.cluster_id, (VALUES ('succeeded'), ('queued')) s(status) WHERE g.kind = 'vm'
				AND (g.vmid = 100 OR c.team_id = 2)`)
				f.Exec(`INSERT INTO jobs (kind, status, team_id, host_id, target_kind, target_id, target_name)
				SELECT 'app.start', 'failed', c.team_id, a.host_id, 'app', a.id, a.name FROM apps a JOIN clusters c ON c.id = a.cluster_id`)
				f.Exec(`INSERT INTO jobs (kind, status, team_id, target_kind, target_id, target_name, exclusive) SELECT 'backup.restore',
				'succeeded', c.team_id, 'backup', 1, g.name, 'guest:' || g.id FROM guests g JOIN clusters c ON c.id = g.cluster_id`)
				// A draft of the other team's is being tried out on what both know and on what is of its cluster alone.
				f.Exec(`INSERT INTO firewall_drafts (host_id, cluster_id, name, changes, scopes, role, status)
				SELECT min(h.id), h.cluster_id, 'try', jsonb_build_array(jsonb_build_object('scope', jsonb_build_object('kind', 'vm', 'id', (SELECT id
				FROM guests WHERE vmid = 100 AND cluster_id = h.cluster_id)), 'action', 'delete_rule', 'pos', 0)),
				(SELECT jsonb_agg(jsonb_build_object('kind', s.kind, 'id', s.id, 'guest_id', s.guest_id, 'name', s.name) ORDER BY s.vmid)
				FROM (SELECT 'vm' kind, id, id guest_id, name, vmid FROM guests WHERE vmid = 100 AND cluster_id = h.cluster_id UNION ALL
				SELECT 'app', id, guest_id, name, vmid FROM apps WHERE vmid = 300 AND cluster_id = h.cluster_id) s)
				|| '[{"kind": "cluster", "name": "prod"}]', 'admin', 'waiting' FROM hosts h WHERE team_id = 2 GROUP BY h.cluster_id;
				INSERT INTO firewall_draft_locks SELECT d.cluster_id, 'guest:' || g.id, d.id FROM firewall_drafts d
				JOIN guests g ON g.cluster_id = d.cluster_id AND g.vmid IN (100, 300);
				INSERT INTO firewall_draft_locks SELECT cluster_id, 'cluster', id FROM firewall_drafts`)
				// Schedules name what both know by the other team's rows, one of them by both, and what is of one cluster alone.
				f.Exec(`INSERT INTO schedules (name, cron, job_kind, params)
				SELECT 'one', '@daily', 'vm.start', jsonb_build_object('vm_id', id) FROM guests WHERE vmid = 100 AND cluster_id = 2 UNION ALL
				SELECT 'app', '@daily', 'app.start', jsonb_build_object('app_id', id) FROM apps WHERE vmid = 300 AND cluster_id = 2 UNION ALL
				SELECT 'some', '@daily', 'backup.run', jsonb_build_object('keep', 3, 'targets', (SELECT jsonb_agg(t ORDER BY n) FROM (
					SELECT jsonb_build_object('vm', id) t, 9 - cluster_id n FROM guests WHERE vmid = 200 UNION ALL
					SELECT jsonb_build_object('app', id), 10 FROM apps WHERE vmid = 300 AND cluster_id = 2 UNION ALL
					SELECT jsonb_build_object('app', id), 11 FROM apps WHERE vmid = 400) t)) UNION ALL
				SELECT 'none', '@daily', 'vm.start', '{"vm_id": 999999}'`)
				jobs := f.Value("SELECT count(*) FROM jobs")

				f.deleteTeam(2)
				if n := f.Value("SELECT count(*) FROM guests g JOIN hosts h ON h.id = g.host_id WHERE h.team_id = 1"); n != "8" {
					t.Errorf("%s guests are the default team's before the next poll, want 8", n)
				}
				for _, i := range test.order {
					f.sync(p, ids[i])
				}
				for sql, want := range map[string]string{
					"SELECT count(*) FROM clusters": "1",
					"SELECT count(*) FROM hosts WHERE team_id = 1 AND cluster_id = (SELECT id FROM clusters)": fmt.Sprint(len(ids)),
					"SELECT string_agg(vmid::text, ' ' ORDER BY vmid) FROM guests":                            "100 200 300 400",
					"SELECT count(*) FROM nodes":                                 "4",
					"SELECT string_agg(vmid::text, ' ' ORDER BY vmid) FROM apps": "300 400 500",
					"SELECT count(*) FROM apps a JOIN guests g USING (cluster_id, vmid) WHERE g.kind = 'container' AND g.id = a.guest_id": "2",
					"SELECT count(*) FROM apps a JOIN hosts h ON h.id = a.host_id AND h.cluster_id = a.cluster_id":                        "3",
					"SELECT web_port FROM apps WHERE vmid = 300":                                                                          "8443",
					"SELECT count(*) FROM jobs WHERE team_id = 1":                                                                         jobs,
					"SELECT count(*) FROM jobs WHERE target_kind = 'vm' AND target_id NOT IN (SELECT id FROM guests)":                     "0",
					"SELECT count(*) FROM jobs j WHERE target_kind = 'backup' AND exclusive NOT IN (SELECT 'guest:' || id FROM guests)":   "0",
					"SELECT count(*) FROM jobs WHERE target_kind = 'app' AND target_id NOT IN (SELECT id FROM apps)":                      "0",
					"SELECT count(*) FROM jobs WHERE status = 'queued' AND (params->>'guest_id')::bigint <> target_id":                    "0",
					"SELECT count(*) FROM jobs WHERE status = 'queued' AND target_name = 'b' AND exclusive <> 'guest:' || target_id":      "0",
					"SELECT count(*) FROM jobs WHERE host_id NOT IN (SELECT id FROM hosts)":                                               "0",
					`SELECT string_agg(concat_ws(' ', s.name, s.job_kind, g.vmid, a.vmid), ', ' ORDER BY s.name) FROM schedules s
						LEFT JOIN guests g ON g.id = (params->>'vm_id')::bigint LEFT JOIN apps a ON a.id = (params->>'app_id')::bigint
						WHERE NOT s.seeded AND NOT params ? 'targets'`: "app app.start 300, none vm.start, one vm.start 100",
					`SELECT params->>'keep' || ': ' || string_agg(coalesce('vm ' || g.vmid, 'app ' || a.vmid, 'none'), ', ' ORDER BY t.n)
						FROM schedules, jsonb_array_elements(params->'targets') WITH ORDINALITY t (v, n)
						LEFT JOIN guests g ON g.id = (v->>'vm')::bigint LEFT JOIN apps a ON a.id = (v->>'app')::bigint
						GROUP BY params->>'keep'`: "3: vm 200, app 300, app 400",
					"SELECT count(*) FROM audit WHERE action = 'schedule.update' AND target_name = 'some'": "1",
					"SELECT count(*) FROM firewall_drafts WHERE cluster_id = (SELECT id FROM clusters)":    "1",
					`SELECT string_agg(concat_ws(' ', s.v->>'kind', coalesce(g.vmid, a.vmid), o.vmid), ', ' ORDER BY s.n) FROM firewall_drafts d,
						jsonb_array_elements(d.scopes) WITH ORDINALITY s (v, n) LEFT JOIN guests o ON o.id = (s.v->>'guest_id')::bigint
						LEFT JOIN guests g ON g.id = (s.v->>'id')::bigint AND s.v->>'kind' = 'vm'
						LEFT JOIN apps a ON a.id = (s.v->>'id')::bigint AND s.v->>'kind' = 'app'`: "vm 100 100, app 300 300, cluster",
					`SELECT g.vmid FROM firewall_drafts d JOIN guests g ON g.id = (d.changes#>>'{0,scope,id}')::bigint`: "100",
					`SELECT string_agg(coalesce(g.vmid::text, l.scope), ' ' ORDER BY l.scope) FROM firewall_draft_locks l
						JOIN clusters c ON c.id = l.cluster_id LEFT JOIN guests g ON l.scope = 'guest:' || g.id`: "cluster 100 300",
				} {
					if got := f.Value(sql); got != want {
						t.Errorf("%s: %s, want %s", sql, got, want)
					}
				}
				// It stays so.
				for _, id := range ids {
					f.sync(p, id)
				}
				if f.Value("SELECT count(*) FROM clusters") != "1" || len(f.guests()) != 4 {
					t.Errorf("%s clusters, %+v", f.Value("SELECT count(*) FROM clusters"), f.guests())
				}
			})
		})
	}
}

// A team may be deleted at any moment of a poll: a host and its cluster are always of one team.
func TestATeamFallsWhileItsHostsArePolled(t *testing.T) {
	if testing.Short() {
		t.Skip("lets a removal and polls race: make check runs it")
	}
	t.Parallel()
	f := newFixture(t)
	var ids []int64
	for i := range 3 {
		name := fmt.Sprint("m", i)
		ids = append(ids, f.host(func() hypervisor.Page {
			return report("", name, []hypervisor.Node{node(name)}, vm(100, name, "a"))
		}))
	}
	ids = append(ids, trio(f, vm(200, "n1", "b"), ct(300, "n3", "c"))...)
	p := f.poller(f.db, fast)
	for _, id := range ids {
		f.sync(p, id)
	}
	run(t, p)
	store := host.New(host.Config{DB: f.db})
	users := identity.New(f.db, identity.Config{Assets: store})
	for range 12 {
		team, err := users.CreateTeam(t.Context(), nil, identity.NewTeam{Name: "Red"})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []int64{ids[0], ids[1], ids[3]} {
			if _, err := store.Patch(t.Context(), id, host.Change{TeamID: &team.ID}); err != nil {
				t.Fatal(err)
			}
		}
		f.due()
		if _, err := users.DeleteTeam(t.Context(), nil, team.ID); err != nil {
			t.Fatal(err)
		}
		if n := f.Value("SELECT count(*) FROM hosts h LEFT JOIN clusters c ON c.id = h.cluster_id " +
			"WHERE h.team_id <> 1 OR c.team_id <> 1"); n != "0" {
			t.Fatalf("%s hosts or clusters are of no team", n)
		}
	}
	for _, id := range ids {
		f.sync(p, id)
	}
	if n := f.Value("SELECT count(*) FROM guests"); n != "5" || f.Value("SELECT count(*) FROM clusters c WHERE EXISTS (SELECT FROM hosts "+
		"h WHERE h.cluster_id = c.id)") != "4" {
		t.Errorf("%s guests: %+v", n, f.guests())
	}
}

// Clusters that only share a name stay two when their teams become one.
func TestClustersOfTwoTeamsThatOnlyShareANameStayTwo(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Exec("INSERT INTO teams (id, name, slug) VALUES (2, 'T', 't')")
	other := func(name string) hypervisor.Node {
		n := node(name)
		n.Address = "198.51.100." + name[1:]
		return n
	}
	var ids []int64
	for i := range 4 {
		entry, nodes := fmt.Sprint("n", i%2+1), []hypervisor.Node{node("n1"), node("n2")}
		if i > 1 {
			nodes = []hypervisor.Node{other("n1"), other("n2")}
		}
		ids = append(ids, f.host(func() hypervisor.Page { return report("prod", entry, nodes, vm(100, "n1", "a")) }))
	}
	f.Exec("UPDATE hosts SET team_id = 2 WHERE id > $1", ids[1])
	p := f.poller(f.db)
	for range 2 {
		for _, id := range ids {
			f.sync(p, id)
		}
		if n := f.Value("SELECT count(*) FROM clusters"); n != "2" || len(f.guests()) != 2 {
			t.Errorf("%s clusters", n)
		}
		if f.Value("SELECT count(*) FROM teams") == "2" {
			f.deleteTeam(2)
		}
	}
}

// aliased is a driver whose cluster answers at several addresses, at each as another node, and says where its nodes are.
type aliased struct {
	hypervisor.Driver
	address string
}

func (d aliased) Hypervisor(string) hypervisor.Driver { return d }

func (d aliased) Open(ctx context.Context, target endpoint.Target) (hypervisor.Host, error) {
	entry := "node1"
	if target.Address == "pool2.mem:8006" {
		entry = "node2"
	}
	target.Address = d.address
	h, err := d.Driver.Open(ctx, target)
	return addressed{h, entry}, err
}

type addressed struct {
	hypervisor.Host
	entry string
}

func (h addressed) Inventory(ctx context.Context, q hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
	return h.Host.Inventory(ctx, q, func(p hypervisor.Page) error {
		if p.Cluster != nil {
			p.Cluster.Entry = h.entry
		}
		for i := range p.Nodes {
			p.Nodes[i].Address = "192.0.2." + strings.TrimLeft(p.Nodes[i].Name, "abcdefghijklmnopqrstuvwxyz")
		}
		return page(p)
	})
}

// The same on a driver: two teams enrol one cluster by two addresses.
func TestAnEnrolledClusterOfTwoTeamsBecomesOne(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	driver := memdriver.New()
	cluster := driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2, VMs: 6, Containers: 3})
	keys, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "keys", "secret.key"),
		func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	store := host.New(host.Config{DB: d, Drivers: aliased{driver, "pool.mem:8006"}, Keys: keys})
	users := identity.New(d, identity.Config{Assets: store})
	team, err := users.CreateTeam(t.Context(), nil, identity.NewTeam{Name: "Two"})
	if err != nil {
		t.Fatal(err)
	}
	token := cluster.Target(endpoint.Monitoring).Credential
	p := poll.New(poll.Config{DB: d, Hosts: store})
	t.Cleanup(p.Close)
	var ids []int64
	for _, name := range []string{"pool", "pool2"} {
		made, _, err := store.Create(t.Context(), host.EnrolRequest{
			Name: name, Address: name + ".mem", TokenID: token.ID, Secret: secret.New(string(token.Secret)),
			Fingerprint: cluster.Fingerprint(),
		})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, made.ID)
	}
	if _, err := store.Patch(t.Context(), ids[1], host.Change{TeamID: &team.ID}); err != nil {
		t.Fatal(err)
	}
	sync := func() (guests, clusters int) {
		t.Helper()
		for _, id := range ids {
			if err := p.Sync(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Pool.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM guests), (SELECT count(*) FROM clusters)").Scan(&guests,
			&clusters); err != nil {
			t.Fatal(err)
		}
		return guests, clusters
	}
	if guests, clusters := sync(); guests != 18 || clusters != 2 {
		t.Fatalf("%d guests in %d clusters", guests, clusters)
	}
	if hosts, err := users.DeleteTeam(t.Context(), nil, team.ID); err != nil || hosts != 1 {
		t.Fatalf("%d %v", hosts, err)
	}
	if guests, clusters := sync(); guests != 9 || clusters != 1 {
		t.Errorf("%d guests in %d clusters", guests, clusters)
	}
}
