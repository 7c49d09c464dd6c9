package poll_test

import (
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// figured is data as a release before wrote it: a cluster that was polled a minute ago and one that never was; a node and a storage
// with figures, and ones that are away.
const figured = `
INSERT INTO clusters (team_id, name, seen_at) VALUES (1, 'mem', now() - interval '1 minute'), (1, '', NULL);
INSERT INTO hosts (cluster_id, driver, name, address, entry_node, status) VALUES
	(1, 'mem', 'one', 'pool.mem:8006', 'node1', 'online'), (2, 'mem', 'two', 'two.mem:8006', '', 'pending');
INSERT INTO host_credentials (host_id, capability, token_id, secret, verified_at) VALUES (1, 'monitoring', 'm', '', now());
INSERT INTO nodes (cluster_id, host_id, name, status, cpu, memory, seen_at) VALUES
	(1, 1, 'node1', 'online', 0.5, 7, now() - interval '1 minute'), (1, 1, 'node2', 'offline', NULL, NULL, now() - interval '1 minute');
INSERT INTO storages (cluster_id, host_id, node, name, status, used, total, seen_at) VALUES
	(1, 1, 'node1', 'local', 'available', 5, 9, now() - interval '1 minute'),
	(1, 1, 'node2', 'local', 'unknown', NULL, 9, now() - interval '1 minute');
INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status, cpu, memory, uptime) VALUES
	(1, 1, 'vm', 100, '100', 'node1', 'vm-100', 'running', 0.25, 5, 60),
	(1, 1, 'vm', 101, '101', 'node2', 'vm-101', 'unknown', NULL, NULL, NULL)`

// polled is everything in the tables that polls write.
const polled = `SELECT string_agg(row, E'\n') FROM (SELECT to_jsonb(t)::text AS row FROM clusters t
	UNION ALL SELECT to_jsonb(t)::text FROM guests t UNION ALL SELECT to_jsonb(t)::text FROM nodes t
	UNION ALL SELECT to_jsonb(t)::text FROM storages t ORDER BY 1) r`

// Figures that a release before wrote are of its last poll, the way back brings the same data, and polls go on.
func TestUpgradeToFiguresWithAge(t *testing.T) {
	if testing.Short() {
		t.Skip("upgrades an old database: make check runs it")
	}
	t.Parallel()
	d := dbtest.Open(t, dbtest.EmptyURL(t))
	to(t, d, 26)
	dbtest.Exec(t, d, figured)
	sql := dbtest.On(t, d)
	before := sql.Value(polled)
	to(t, d, 27)
	for query, want := range map[string]string{
		"SELECT string_agg(concat_ws(' ', id, figures_at = seen_at, ident = ''), ', ' ORDER BY id) FROM clusters": "1 t t, 2 t",
		"SELECT string_agg(concat_ws(' ', name, figures_at = seen_at), ', ' ORDER BY name) FROM nodes":            "node1 t, node2",
		"SELECT string_agg(concat_ws(' ', node, figures_at = seen_at), ', ' ORDER BY node) FROM storages":         "node1 t, node2",
		`SELECT string_agg(concat_ws(' ', vmid, cpu, memory, figures_at, cpu_seconds, cpu_seconds_at), ', ' ORDER BY id)
			FROM guests`: "100 0.25 5, 101",
	} {
		if got := sql.Value(query); got != want {
			t.Errorf("%s\n%s, want %s", query, got, want)
		}
	}
	to(t, d, 26)
	if got := sql.Value(polled); got != before {
		t.Fatalf("the way back brought\n%s\nwant\n%s", got, before)
	}
	if err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	hosts := opener{driver: memdriver.New()}
	hosts.cluster = hosts.driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2, VMs: 2})
	p := poll.New(poll.Config{DB: d, Hosts: hosts, Logger: hclog.NewNullLogger()})
	t.Cleanup(p.Close)
	if err := p.Sync(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if got := sql.Value(`SELECT concat_ws(' ', (SELECT count(*) FROM guests WHERE id < 3),
		(SELECT bool_and(figures_at = c.figures_at) FROM nodes), c.figures_at > now() - interval '30 seconds',
		c.figures_at <= c.seen_at) FROM clusters c WHERE id = 1`); got != "2 t t t" {
		t.Errorf("after a poll: %s", got)
	}
}
