package feed_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/feed"
	"github.com/hostler/hostler/internal/waittest"
)

// What changes is told by the fields that changed, as the lists of the API name them.
func TestChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := hello(t, f.feed, everything)
	for _, s := range []struct {
		sql  string
		want []string
	}{
		{"UPDATE guests SET name = 'www', tags = '{a,b}' WHERE id = 1", []string{`guest 1 {"name":"www","tags":["a","b"]}`}},
		{"UPDATE guests SET lock = 'backup', pool = 'p', node = 'n2', template = true, vmid = 7, ref = '7', cpus = 3, memory_total = 5, " +
			"disk_total = 6, addresses = '{192.0.2.5}' WHERE id = 2", []string{`guest 2 {"addresses":["192.0.2.5"],"addresses_at":null,"cpus":3,` +
			`"disk_total_bytes":6,"guest_ref":"7","lock":"backup","memory_total_bytes":5,"node":"n2","pool":"p","template":true,"vmid":7}`}},
		{"UPDATE guests SET status = 'stopped', cpu = NULL, memory = NULL, uptime = NULL WHERE id = 1", []string{`guest 1 {"cpu":null,` +
			`"disk_bytes":null,"disk_read_bytes":null,"disk_write_bytes":null,"figures_at":null,"job_id":null,"memory_bytes":null,` +
			`"net_in_bytes":null,"net_out_bytes":null,"status":"stopped","uptime_s":null}`}},
		{"INSERT INTO apps (host_id, cluster_id, guest_id, guest_ref, vmid, name) VALUES (1, 1, 3, '102', 102, 'wiki')",
			[]string{`guest 3 {"app":"wiki","app_id":1}`}},
		{"WITH s AS (INSERT INTO backup_storages (cluster_id, host_id, node, name) VALUES (1, 1, '', 'nas') RETURNING id) " +
			"INSERT INTO backups (cluster_id, storage_id, ref, node, kind, guest_ref, guest_id, taken_at) " +
			"SELECT 1, id, 'b', 'n1', 'vm', '100', 1, '2026-01-31T12:00:00Z' FROM s", []string{`guest 1 {"backup_at":"2026-01-31T12:00:00Z"}`}},
		{"UPDATE backups SET verified = 'failed', protected = true", []string{`guest 1 {"backup_at":null}`}},
		{"UPDATE backups SET protected = false; UPDATE backups SET verified = 'ok', guest_id = 2",
			[]string{`guest 1 {"backup_at":null}`, `guest 2 {"backup_at":"2026-01-31T12:00:00Z"}`}},
		{"DELETE FROM backups", []string{`guest 2 {"backup_at":null}`}},
		{"DELETE FROM apps", []string{`guest 3 {"app":null,"app_id":null}`}},
		{"INSERT INTO jobs (kind, team_id, host_id, target_kind, target_id, target_name, exclusive) VALUES ('vm.start', 1, 1, 'vm', 1, " +
			"'web', 'guest:1')", []string{"job 1 whole", `guest 1 {"job_id":1,"status":"pending"}`}},
		{"UPDATE jobs SET status = 'running', share = 0.5, last_line = 'half', task_id = 'T1', runs = 1",
			[]string{`job 1 {"last_line":"half","progress":0.5,"runs":1,"status":"running","task_id":"T1"}`}},
		{"UPDATE jobs SET status = 'failed', error = 'no' WHERE id = 1",
			[]string{`job 1 {"error":"no","status":"failed"}`, `guest 1 {"job_id":null,"status":"stopped"}`}},
		{"UPDATE jobs SET progress = '{\"a\":1}', event_count = 7, task_lines = 3; UPDATE guests SET name = 'x' WHERE id = 1",
			[]string{`guest 1 {"name":"x"}`}},
		{"DELETE FROM jobs", []string{"job 1 gone"}},
		{"UPDATE hosts SET name = 'rack2', error_reason = 'auth', error = 'no token' WHERE id = 1",
			[]string{`host 1 {"error":"no token","name":"rack2","reason":"auth"}`}},
		{"INSERT INTO host_credentials (host_id, capability, token_id, secret) VALUES (2, 'monitoring', 'tok', '\\x00')",
			[]string{`host 2 {"capabilities":[{"console_limits":[],"extra":[],"form":"token","key":"monitoring","missing":[],"recommended":[],` +
				`"token_id":"tok","verified_at":null}]}`}},
		{"UPDATE clusters SET name = 'main' WHERE id = 1", []string{`host 1 {"cluster":{"id":1,"name":"main"}}`}},
		{"UPDATE nodes SET status = 'offline', address = '192.0.2.9' WHERE id = 1",
			[]string{`node 1 {"address":"192.0.2.9","cpu":0.25,"memory_bytes":1000,"status":"offline","uptime_s":9}`}},
		{"INSERT INTO alerts (team_id, host_id, target_kind, target_id, target_name, rule, severity, message) VALUES (1, 1, 'host', 1, 'a', " +
			"'r', 'warning', 'm')", []string{"alert 1 whole"}},
		{"UPDATE alerts SET acknowledged_at = '2026-01-31T12:00:00Z'",
			[]string{`alert 1 {"acknowledged_at":"2026-01-31T12:00:00Z","acknowledged_by":{"email":"","id":null}}`}},
		{"INSERT INTO alerts (team_id, host_id, target_kind, target_id, target_name, rule, severity, message, cause_id) SELECT 1, 1, 'vm', " +
			"n, 'g', 'r', 'warning', 'm', 1 FROM generate_series(2, 3) n", []string{"alert 2 whole", "alert 3 whole", `alert 1 {"folded":2}`}},
		{"UPDATE alerts SET cause_id = NULL WHERE id = 2", []string{`alert 2 {"cause_id":null}`, `alert 1 {"folded":1}`}},
		{"UPDATE alerts SET ack_note = 'n' WHERE id = 3", []string{`alert 3 {"ack_note":"n"}`}},
		{"DELETE FROM alerts WHERE id = 3", []string{`alert 1 {"folded":0}`, "alert 3 gone"}},
		{"DELETE FROM alerts WHERE id = 2", []string{"alert 2 gone"}},
		{"DELETE FROM alerts", []string{"alert 1 gone"}},
		{newGuest,
			[]string{"guest 5 whole"}},
		{"DELETE FROM guests WHERE id = 5", []string{"guest 5 gone"}},
	} {
		f.Exec(s.sql)
		c.is(s.want...)
	}
	// Figures, times and the service's own columns say nothing.
	for _, sql := range []string{
		"UPDATE guests SET cpu = 0.7, memory = 5, net_in = 1, uptime = 99, changed_at = now(), read_at = now(), listed_at = now()",
		"UPDATE nodes SET cpu = 0.7, memory = 5, disk = 7, disk_total = 8, uptime = 99, seen_at = now()",
		"UPDATE hosts SET polled_at = now(), ok_at = now(), next_poll_at = now(), failures = 1",
		"UPDATE clusters SET figures_at = now(), seen_at = now()",
	} {
		f.Exec(sql)
	}
	f.Exec("UPDATE guests SET name = 'end' WHERE id = 1")
	c.is(`guest 1 {"name":"end"}`)
}

// Objects carry all that their lists have; nodes are named by cluster and name.
func TestWholeObjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := hello(t, f.feed, everything)
	f.Exec("INSERT INTO nodes (cluster_id, host_id, name, status, seen_at) VALUES (1, 1, 'n2', 'online', now())")
	got := c.changes()
	if len(got) != 1 || !got[0].Whole || got[0].Cluster != 1 || got[0].Node != "n2" || got[0].Set["status"] != "online" ||
		got[0].Set["host"] != "rack1" {
		t.Errorf("a new node: %+v", got)
	}
	f.Exec("DELETE FROM nodes WHERE name = 'n2'")
	if got = c.changes(); len(got) != 1 || !got[0].Gone || got[0].Cluster != 1 || got[0].Node != "n2" {
		t.Errorf("a node that is gone: %+v", got)
	}
	before := got[0].Version
	f.Exec(newGuest)
	got = c.changes()
	if len(got) != 1 || got[0].Version <= before {
		t.Fatalf("a new guest: %+v after version %d", got, before)
	}
	for name, want := range map[string]any{"id": 5.0, "name": "new", "status": "running", "team_id": 1.0, "cluster": "prod",
		"host": "rack1", "tags": []any{}, "cpu": nil, "app_id": nil} {
		if value, there := got[0].Set[name]; !there || strings.TrimSpace(jsonOf(value)) != jsonOf(want) {
			t.Errorf("%s of a new guest is %v, want %v", name, value, want)
		}
	}
}

// Everybody hears of what they may see and of nothing else, of the end of it too.
func TestOtherTeamsHearNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	all, ours, theirs := hello(t, f.feed, everything), hello(t, f.feed, ofTeam(1)), hello(t, f.feed, ofTeam(2))
	nobody := hello(t, f.feed, feed.Filter{})
	f.Exec("UPDATE guests SET name = 'a' WHERE id = 1")
	all.is(`guest 1 {"name":"a"}`)
	ours.is(`guest 1 {"name":"a"}`)
	f.Exec("INSERT INTO jobs (kind, target_kind, target_id, target_name) VALUES ('jobs.prune', 'service', 0, 'x')") // of nobody's team
	all.is("job 1 whole")
	f.Exec("DELETE FROM jobs")
	all.is("job 1 gone")
	f.Exec("UPDATE guests SET name = 'b' WHERE id = 4")
	theirs.is(`guest 4 {"name":"b"}`)
	all.is(`guest 4 {"name":"b"}`)
	// A guest that goes to a host of another team is new there and gone here.
	f.Exec("UPDATE guests SET host_id = 2, name = 'c' WHERE id = 1")
	ours.is("guest 1 gone")
	theirs.is("guest 1 whole")
	all.is("guest 1 whole")
	f.Exec("DELETE FROM guests WHERE id = 1")
	theirs.is("guest 1 gone")
	all.is("guest 1 gone")
	// With its host goes all that stands there.
	f.Exec("DELETE FROM hosts WHERE id = 2")
	theirs.is("guest 4 gone", "node 2 gone", "host 2 gone")
	all.is("guest 4 gone", "node 2 gone", "host 2 gone")
	if !ours.quiet(300*time.Millisecond) || !nobody.quiet(10*time.Millisecond) {
		t.Error("someone heard of others")
	}
}

// A host that goes to another team changes what both may see; who sees both hears what changed.
func TestHostOfAnotherTeam(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	all, ours, theirs := hello(t, f.feed, everything), hello(t, f.feed, ofTeam(1)), hello(t, f.feed, ofTeam(2))
	f.Exec("INSERT INTO teams (id, name, slug) VALUES (3, 'c', 'c')")
	third := hello(t, f.feed, ofTeam(3))
	f.Exec("UPDATE hosts SET team_id = 2 WHERE id = 1")
	for _, c := range []*client{ours, theirs} {
		if m := c.next(); m.Event != "reset" || string(m.Data) != `{"reason":"rights"}` {
			t.Errorf("%s %s", m.Event, m.Data)
		}
	}
	all.is("host 1 whole", `guest 1 {"team":"team2","team_id":2}`, `guest 2 {"team":"team2","team_id":2}`,
		`guest 3 {"team":"team2","team_id":2}`, `node 1 {"team_id":2}`)
	if !third.quiet(200 * time.Millisecond) {
		t.Error("a third team heard of it")
	}
}

// A reader chooses kinds, and figures are told to those who ask for them: once for each cluster, by the team that may see them.
func TestTopicsAndFigures(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	jobs := hello(t, f.feed, feed.Filter{Visible: everything.Visible, Kinds: []feed.Kind{feed.Job}})
	all := everything
	all.Figures = true
	theirs := ofTeam(2)
	theirs.Figures = true
	figures, other := hello(t, f.feed, all), hello(t, f.feed, theirs)
	f.Exec("UPDATE guests SET name = 'a' WHERE id = 1")
	figures.is(`guest 1 {"name":"a"}`)
	f.Exec("INSERT INTO jobs (kind, team_id, target_kind, target_id, target_name) VALUES ('x', 1, 'vm', 1, 'web')")
	jobs.is("job 1 whole")
	figures.is("job 1 whole")
	f.Exec("UPDATE clusters SET figures_at = '2026-01-31T12:00:00Z' WHERE id = 1")
	m := figures.next()
	const want = `"at":"2026-01-31T12:00:00+00:00","guest_columns":["id","cpu","memory_bytes","disk_bytes","uptime_s"],` +
		`"guests":[[1,0.500,2048,null,60],[2,0.100,null,null,null]],` +
		`"node_columns":["node","cpu","memory_bytes","disk_bytes","uptime_s"],"nodes":[["n1",0.250,1000,null,9]]}]}`
	if !strings.HasPrefix(string(m.Data), `{"changes":[{"kind":"figures","id":1,"version":`) || !strings.HasSuffix(string(m.Data), want) {
		t.Errorf("figures: %s", m.Data)
	}
	f.Exec("UPDATE guests SET cpu = 0.75 WHERE id = 4; UPDATE clusters SET figures_at = now() WHERE id = 2")
	if got := other.changes(); len(got) != 1 || len(got[0].Guests) != 1 || got[0].Guests[0][1] != 0.75 || len(got[0].Nodes) != 0 {
		t.Errorf("figures of the team: %+v", got)
	}
	f.Exec("UPDATE jobs SET last_line = 'x'")
	jobs.is(`job 1 {"last_line":"x"}`)
}

// Many changes in little time are few messages with the last state of each.
func TestCoalescing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := hello(t, f.feed, everything)
	began := time.Now()
	for i := range 300 {
		f.Exec("UPDATE guests SET name = $1::int::text WHERE id = 1", i)
	}
	for c.known["guest1"]["name"] != "299" {
		c.next()
	}
	took := time.Since(began)
	if most := int(took/(100*time.Millisecond)) + 2; c.told > most {
		t.Errorf("%d messages in %v", c.told, took)
	}
}

// Tasks that others started are told to who may see their host, and asked for while somebody wants them.
func TestTasks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	watched := func() string { return f.Value("SELECT until > now() + interval '1 minute' FROM task_watch") }
	jobs := hello(t, f.feed, feed.Filter{Visible: everything.Visible, Kinds: []feed.Kind{feed.Job}})
	f.Exec("UPDATE guests SET name = 'a' WHERE id = 1")
	if watched() != "false" {
		t.Error("tasks are asked for though nobody wants them")
	}
	ours, theirs := hello(t, f.feed, ofTeam(1)), hello(t, f.feed, ofTeam(2))
	waittest.Until(t, "tasks are asked for", func() bool { return watched() == "true" })
	f.Exec("INSERT INTO hypervisor_tasks (cluster_id, host_id, ref, node, type, guest_ref, by_user, status, started_at, seen_at) VALUES " +
		"(1, 1, 'T1', 'n1', 'vzdump', '100', 'root', 'running', now(), now())")
	got := ours.changes()
	if len(got) != 1 || got[0].Kind != "task" || !got[0].Whole || got[0].Set["task_id"] != "T1" || got[0].Set["guest_id"] != 1.0 ||
		got[0].Set["status"] != "running" {
		t.Errorf("%+v", got)
	}
	f.Exec("UPDATE hypervisor_tasks SET seen_at = clock_timestamp()")
	f.Exec("UPDATE hypervisor_tasks SET status = 'ok', ended_at = '2026-01-31T12:00:00Z'")
	ours.is(`task 1 {"ended_at":"2026-01-31T12:00:00Z","error":null,"status":"ok"}`)
	f.Exec("DELETE FROM hypervisor_tasks")
	ours.is("task 1 gone")
	if !theirs.quiet(200*time.Millisecond) || !jobs.quiet(10*time.Millisecond) {
		t.Error("someone else was told of tasks")
	}
}

// Of more than is told one by one everybody loads anew.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := hello(t, f.feed, everything)
	f.Exec("INSERT INTO feed_changes (kind, object, what) SELECT 'guest', i, 'changed' FROM generate_series(1, 50001) i")
	if m := c.next(); m.Event != "reset" || string(m.Data) != `{"reason":"many"}` {
		t.Errorf("%s %s", m.Event, m.Data)
	}
	f.Exec("UPDATE guests SET name = 'a' WHERE id = 1")
	c.is(`guest 1 {"name":"a"}`)
}

// A transaction that writes first and commits last is told, though others were told since.
func TestLateCommitIsTold(t *testing.T) {
	if testing.Short() {
		t.Skip("lets transactions race: make check runs it")
	}
	t.Parallel()
	f := newFixture(t)
	c := hello(t, f.feed, everything)
	late, err := f.db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = late.Rollback(t.Context()) }()
	if _, err := late.Exec(t.Context(), "UPDATE guests SET name = 'late' WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	f.Exec("UPDATE guests SET name = 'early' WHERE id = 2")
	c.is(`guest 2 {"name":"early"}`)
	resuming := c.last
	f.Exec("UPDATE guests SET name = 'between' WHERE id = 3")
	c.is(`guest 3 {"name":"between"}`)
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.is(`guest 1 {"name":"late"}`)
	// One that comes back with where it was before hears both, here and at another instance.
	for _, at := range []*feed.Feed{f.feed, instance(t, f.db)} {
		again := join(t, at, everything, resuming)
		if m := again.next(); m.Event != "hello" || string(m.Data) != `{"version":"1.2.3","resumed":true,"poll_interval_s":30}` || m.ID != "" {
			t.Errorf("%s %s", m.Event, m.Data)
		}
		again.is(`guest 1 {"name":"late"}`, `guest 3 {"name":"between"}`)
		again.Close()
	}
}

// What is rolled back is not told.
func TestUndone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := hello(t, f.feed, everything)
	_ = f.db.Tx(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Pgx.Exec(t.Context(), "UPDATE guests SET name = 'never' WHERE id = 1")
		if err == nil {
			err = errUndo
		}
		return err
	})
	f.Exec("UPDATE guests SET name = 'b' WHERE id = 2")
	c.is(`guest 2 {"name":"b"}`)
}
