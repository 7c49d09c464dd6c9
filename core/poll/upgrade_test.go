package poll_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/pressly/goose/v3"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/migrations"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// filled is data as a release before wrote it: a cluster with two VMs, of which 100 is stopped, and the container 102; an
// app of that, one whose container is away and one that has lost its host; jobs that were asked for and not done.
const filled = `
INSERT INTO clusters (team_id, name, seen_at) VALUES (1, 'mem', now() - interval '1 minute');
INSERT INTO hosts (cluster_id, driver, name, address, entry_node, status) VALUES
	(1, 'mem', 'one', 'pool.mem:8006', 'node1', 'online');
INSERT INTO host_credentials (host_id, capability, token_id, secret, verified_at) VALUES
	(1, 'monitoring', 'm', '', now()), (1, 'lifecycle', 'service@mem!lifecycle', '', now());
INSERT INTO nodes (cluster_id, host_id, name, status, seen_at) VALUES (1, 1, 'node1', 'online', now()), (1, 1, 'node2', 'online', now());
INSERT INTO guests (cluster_id, host_id, kind, vmid, node, name, status, memory, listed_at) VALUES
	(1, 1, 'container', 102, 'node1', 'container-102', 'running', 5, NULL), (1, 1, 'vm', 100, 'node1', 'vm-100', 'stopped', NULL, NULL),
	(1, 1, 'vm', 101, 'node2', 'vm-101', 'running', 7, now());
INSERT INTO apps (host_id, cluster_id, vmid, name, web_port) VALUES (1, 1, 102, 'wiki', 8080), (1, 1, 700, 'away', NULL),
	(NULL, NULL, 5, 'lost', 1);
INSERT INTO jobs (kind, status, team_id, host_id, target_kind, target_id, target_name, exclusive, params, progress, runs) VALUES
	('vm.start', 'queued', 1, 1, 'vm', 2, 'vm-100', 'guest:2', '{"guest_id": 2, "kind": "vm", "vmid": 100, "name": "vm-100"}', '{}', 0),
	('app.stop', 'running', 1, 1, 'app', 1, 'wiki', 'guest:1',
		'{"guest_id": 1, "kind": "container", "vmid": 102, "name": "container-102", "confirmed_self": true}', '{}', 1),
	('vm.stop', 'succeeded', 1, 1, 'vm', 3, 'vm-101', 'guest:3', '{"guest_id": 3, "kind": "vm", "vmid": 101, "name": "vm-101"}', '{}', 1),
	('jobs.prune', 'queued', 1, NULL, '', 0, '', 'maintenance:jobs', '{"vmid": 1}', '{}', 0);
INSERT INTO alerts (team_id, host_id, target_kind, target_id, target_name, rule, severity) VALUES
	(1, 1, 'guest', 2, 'vm-100', 'r', 'info');
INSERT INTO audit (actor_type, action, target_kind, target_id, target_name, result) VALUES
	('system', 'app.adopt', 'app', '1', 'wiki', 'ok');
INSERT INTO schedules (name, cron, job_kind, params) VALUES ('nightly', '0 3 * * *', 'vm.start', '{"vm_id": 2}')`

// contents is all that the schema of before has of guests, apps and jobs.
const contents = `SELECT concat_ws(E'\n',
	(SELECT string_agg(concat_ws(' ', id, cluster_id, host_id, kind, vmid, node, name, status, memory, listed_at), E'\n'
		ORDER BY id) FROM guests),
	(SELECT string_agg(concat_ws(' ', id, host_id, cluster_id, vmid, name, web_port, adopted_at), E'\n' ORDER BY id) FROM apps),
	(SELECT string_agg(concat_ws(' ', id, kind, status, target_id, exclusive, params), E'\n' ORDER BY id) FROM jobs))`

// to brings our tables to a version.
func to(t *testing.T, d *db.DB, version int64) {
	t.Helper()
	provider, err := goose.NewProvider(goose.DialectPostgres, d.SQL, migrations.FS, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	have, err := provider.GetDBVersion(t.Context())
	if err == nil && have > version {
		_, err = provider.DownTo(t.Context(), version)
	} else if err == nil {
		_, err = provider.UpTo(t.Context(), version)
	}
	if err != nil {
		t.Fatalf("to version %d: %v", version, err)
	}
}

// opener opens the cluster for every host.
type opener struct {
	driver  *memdriver.Driver
	cluster *memdriver.Cluster
}

func (o opener) Open(ctx context.Context, _ int64, capability endpoint.Capability) (hypervisor.Host, error) {
	return o.driver.Open(ctx, o.cluster.Target(capability))
}

// What a release wrote whose guests were numbers is as it was after an update, and goes on: everything keeps its id, a poll finds
// each guest's row, jobs that were asked for before are done, and the way back brings the same data.
func TestUpgradeFromNumbers(t *testing.T) {
	if testing.Short() {
		t.Skip("upgrades an old database: make check runs it")
	}
	t.Parallel()
	d := dbtest.Open(t, dbtest.EmptyURL(t))
	to(t, d, 24)
	dbtest.Exec(t, d, filled)
	sql := dbtest.On(t, d)
	before := sql.Value(contents)
	migrate := func() {
		t.Helper()
		if err := d.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	migrate()
	for query, want := range map[string]string{
		`SELECT string_agg(concat_ws(' ', id, ref, coalesce(uid, '-'), vmid, identity), ', ' ORDER BY id) FROM guests`: "1 102 - 102 " +
			"container:102, 2 100 - 100 vm:100, 3 101 - 101 vm:101",
		`SELECT string_agg(concat_ws(' ', id, name, coalesce(guest_id, 0), guest_ref, coalesce(guest_uid, '-'), vmid, identity), ', '
			ORDER BY id) FROM apps`: "1 wiki 1 102 - 102 container:102, 2 away 0 700 - 700 container:700, 3 lost 0 5 - 5 container:5",
		`SELECT string_agg(params::text, ', ' ORDER BY id) FROM jobs`: `{"ref": "100", "kind": "vm", "name": "vm-100", "guest_id": 2}, ` +
			`{"ref": "102", "kind": "container", "name": "container-102", "guest_id": 1, "confirmed_self": true}, ` +
			`{"kind": "vm", "name": "vm-101", "vmid": 101, "guest_id": 3}, {"vmid": 1}`,
	} {
		if got := sql.Value(query); got != want {
			t.Errorf("%s\n%s, want\n%s", query, got, want)
		}
	}

	to(t, d, 24)
	if got := sql.Value(contents); got != before {
		t.Fatalf("the way back brought\n%s\nwant\n%s", got, before)
	}
	migrate()
	goesOn(t, d)
}

// goesOn polls the upgraded database and does its jobs.
func goesOn(t *testing.T, d *db.DB) {
	t.Helper()
	sql := dbtest.On(t, d)
	hosts := opener{driver: memdriver.New()}
	hosts.cluster = hosts.driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2, VMs: 2, Containers: 1}) // 100 is stopped
	p := poll.New(poll.Config{DB: d, Hosts: hosts, Logger: hclog.NewNullLogger()})
	t.Cleanup(p.Close)
	queue, err := job.New(job.Config{DB: d, Logger: hclog.NewNullLogger(), ResumeEvery: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	(&guest.Worker{DB: d, Hosts: hosts}).Register(queue)
	if err := p.Sync(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = queue.Stop(context.Background()) })
	waittest.Until(t, "both jobs have ended", func() bool {
		return sql.Value("SELECT count(*) FROM jobs WHERE id < 3 AND status NOT IN ('queued', 'running')") == "2"
	})
	if got := sql.Value("SELECT string_agg(status || error, ' ') FROM jobs WHERE id < 3"); got != "succeeded succeeded" {
		t.Errorf("the jobs ended as %s", got)
	}
	var tasks []string
	for _, task := range hosts.cluster.Tasks() {
		tasks = append(tasks, fmt.Sprint(task.Operation, " ", task.GuestID))
	}
	if all := strings.Join(tasks, ", "); all != "start 100, stop 102" && all != "stop 102, start 100" {
		t.Errorf("the hypervisor did %s", all)
	}
	// Another container turns out by its name to be the one that was away.
	away := hosts.cluster.NewGuestAs(hypervisor.Container, hypervisor.GuestRunning, "700")
	hosts.cluster.Change("700", func(g *hypervisor.Guest) { g.Name = "away" })
	if err := p.Sync(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"SELECT string_agg(concat_ws(' ', id, kind, vmid, ref), ', ' ORDER BY id) FROM guests": "1 container 102 102, 2 vm 100 100, " +
			"3 vm 101 101, 4 container 700 700",
		"SELECT string_agg(concat_ws(' ', id, name, coalesce(guest_id, 0)), ', ' ORDER BY id) FROM apps": "1 wiki 1, 2 away 4, 3 lost 0",
		"SELECT node FROM guests WHERE id = 4": away.Node,
		"SELECT count(DISTINCT target_id) FROM metric_samples WHERE target_kind = 'guest' AND target_id < 5": "4",
	} {
		if got := sql.Value(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// What the tables of before have no place for goes with the way back: guests without a number, and the older of two of one number.
func TestTheWayBackFromNames(t *testing.T) {
	if testing.Short() {
		t.Skip("upgrades an old database: make check runs it")
	}
	t.Parallel()
	d := dbtest.New(t)
	dbtest.Exec(t, d, `INSERT INTO clusters (team_id, name) VALUES (1, 'c');
		INSERT INTO hosts (cluster_id, driver, name, address) VALUES (1, 'mem', 'a', 'a:1');
		INSERT INTO guests (cluster_id, host_id, kind, ref, uid, vmid, node, name, status) VALUES
			(1, 1, 'container', 'web', 'u1', NULL, 'n', 'web', 'running'), (1, 1, 'container', '100', 'u2', 100, 'n', 'old', 'unknown'),
			(1, 1, 'container', '100', 'u3', 100, 'n', 'new', 'running');
		INSERT INTO apps (host_id, cluster_id, guest_id, guest_ref, guest_uid, vmid, name) SELECT 1, 1, id, ref, uid, vmid, name FROM guests;
		INSERT INTO apps (host_id, cluster_id, guest_ref, vmid, name) VALUES (1, 1, '100', 100, 'away');
		INSERT INTO jobs (kind, status, target_kind, target_id, target_name, params) VALUES
			('app.stop', 'queued', 'app', 1, 'web', '{"guest_id": 1, "ref": "web", "uid": "u1"}'),
			('app.stop', 'queued', 'app', 3, 'new', '{"guest_id": 3, "ref": "100", "uid": "u3"}')`)
	to(t, d, 24)
	sql := dbtest.On(t, d)
	for query, want := range map[string]string{
		"SELECT string_agg(id || ' ' || vmid, ', ') FROM guests":              "3 100",
		"SELECT string_agg(id || ' ' || name || ' ' || vmid, ', ') FROM apps": "3 new 100",
		"SELECT string_agg(params::text, ', ' ORDER BY id) FROM jobs": `{"ref": "web", "uid": "u1", "guest_id": 1}, ` +
			`{"vmid": 100, "guest_id": 3}`,
	} {
		if got := sql.Value(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := sql.Value("SELECT string_agg(concat_ws(' ', name, guest_id), ', ') FROM apps"); got != "new 3" {
		t.Errorf("and forward again: %s", got)
	}
}
