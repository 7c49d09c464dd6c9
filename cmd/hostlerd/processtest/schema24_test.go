package processtest

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
)

// What a release wrote whose schema was at version 24 is taken over whole, and the service goes on with it: the same hypervisors are
// polled into the same rows, a job that was under way comes to its end, and keys, teams, schedules and the audit log hold.
func TestUpgradeFromSchema24(t *testing.T) {
	t.Parallel()
	fleet := schema24Fleet(t)
	u := newUpgrade(t, fleet)
	u.migrate()
	s := startService(t, options{DB: u.url, State: u.state})
	u.goesOn(s)
	u.works(s, fleet)
	s.sealed(t)
	if out := run(t, s.env, "", "audit", "verify").succeeds(t).Out; !strings.Contains(out, " 0 cleared") {
		t.Error(out)
	}
}

// upgrade is a restored dump.
type upgrade struct {
	t          *testing.T
	url, state string
	db         *db.DB
	sql        dbtest.SQL
}

// keepBefore copies every table as the release has left it into a schema of its own.
const keepBefore = `CREATE SCHEMA before;
	DO $$ DECLARE of text; BEGIN
		FOR of IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
		LOOP EXECUTE format('CREATE TABLE before.%1$I AS SELECT * FROM public.%1$I', of); END LOOP;
	END $$`

// newUpgrade restores the dump. The hypervisors that it knows listen elsewhere today and have other certificates, and what was due
// since it was written is due later.
func newUpgrade(t *testing.T, fleet *sim) *upgrade {
	t.Helper()
	u := &upgrade{t: t, url: dbtest.Restore(t, filepath.Join(schema24, "database.sql")), state: t.TempDir()}
	key, err := os.ReadFile(filepath.Join(schema24, "secret.key"))
	keys := filepath.Join(u.state, "keys")
	if err := errors.Join(err, os.Mkdir(keys, 0o700), os.WriteFile(filepath.Join(keys, "secret.key"), key, 0o600)); err != nil {
		t.Fatal(err)
	}
	u.db = dbtest.Open(t, u.url)
	u.sql = dbtest.On(t, u.db)
	for name, at := range map[string]sim{schema24Lab: fleet.Hosts[0], schema24Shop: fleet.Hosts[1]} {
		if n := alter(t, u.db, "UPDATE hosts SET address = $2, tls_fingerprint = $3, server_fingerprint = $3 WHERE name = $1", name,
			strings.TrimPrefix(at.URL, "https://"), at.Fingerprint); n != 1 {
			t.Fatalf("the dump has %d hosts %s", n, name)
		}
	}
	alter(t, u.db, "UPDATE schedules SET next_run_at = now() + interval '1 day' WHERE next_run_at IS NOT NULL")
	u.sql.Exec(keepBefore)
	return u
}

// migrate does what the updater does, and nothing else than the schema changes with it.
func (u *upgrade) migrate() {
	u.t.Helper()
	latest := dbtest.On(u.t, dbtest.New(u.t)).Value("SELECT max(version_id) FROM goose_db_version")
	out := run(u.t, environment(u.t, u.url, u.state), "", "migrate", "--pin-plugins").succeeds(u.t).Out
	if !strings.HasPrefix(out, "The database is at version "+latest+".\n") {
		u.t.Error(out)
	}
	var lost []string
	for _, table := range u.tables() {
		// The job that is under way names its guest in the new way, the programs of the plugins are others, and two of the service's own
		// schedules have new names.
		but := map[string]string{"jobs": "status IN ('queued', 'running')", "plugins": "true",
			"schedules": "seeded AND job_kind IN ('audit.prune', 'update.check')"}[table]
		if but == "" {
			but = "false"
		}
		rows := u.sql.Value(fmt.Sprintf(`SELECT string_agg(to_jsonb(b)::text, E'\n') FROM before.%[1]q b WHERE NOT (%[2]s)
			AND NOT EXISTS (SELECT FROM public.%[1]q a WHERE to_jsonb(a) @> to_jsonb(b))`, table, but))
		if rows != "null" {
			lost = append(lost, table+": "+rows)
		}
	}
	if len(lost) > 0 {
		u.t.Errorf("the migrations have changed or removed\n%s", strings.Join(lost, "\n"))
	}
	for query, want := range map[string]string{
		"SELECT count(*) FROM before.jobs WHERE status = 'running'":                                                            "1",
		"SELECT count(*) FROM jobs a JOIN before.jobs b USING (id) WHERE a.params ->> 'ref' = b.params ->> 'vmid'":             "1",
		"SELECT count(*) FROM guests g WHERE ref <> vmid::text OR uid IS NOT NULL":                                             "0",
		"SELECT count(*) FROM apps a JOIN guests g ON g.id = a.guest_id WHERE a.vmid = g.vmid AND a.cluster_id = g.cluster_id": "1",
		"SELECT string_agg(DISTINCT form, ' ') FROM host_credentials":                                                          "token",
	} {
		if got := u.sql.Value(query); got != want {
			u.t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// tables are those of before. One without a row would show nothing.
func (u *upgrade) tables() (all []string) {
	u.t.Helper()
	all = strings.Fields(u.sql.Value("SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = 'before'::regnamespace"))
	for _, table := range strings.Fields(`users teams team_members clusters hosts host_credentials nodes guests storages apps jobs job_events
		audit audit_links metric_samples api_keys schedules plugins`) {
		if u.sql.Value("SELECT count(*) FROM before."+table) == "0" {
			u.t.Errorf("the dump has no %s", table)
		}
	}
	return all
}

// goesOn lets the hypervisors be polled: each is told of in the rows that were there.
func (u *upgrade) goesOn(s *service) {
	u.t.Helper()
	owner := newClient(s)
	owner.logIn(u.t, ownerEmail, ownerPassword)
	for _, id := range strings.Fields(u.sql.Value("SELECT string_agg(id::text, ' ') FROM hosts")) {
		owner.must(u.t, http.StatusOK, http.MethodPost, "/api/v1/hosts/"+id+"/sync", nil, nil)
	}
	same := func(table, columns string) string {
		return fmt.Sprintf(`SELECT concat_ws(' ', (SELECT count(*) FROM before.%[1]s), (SELECT count(*) FROM %[1]s),
			(SELECT count(*) FROM (SELECT %[2]s FROM before.%[1]s INTERSECT SELECT %[2]s FROM %[1]s) same))`, table, columns)
	}
	for table, columns := range map[string]string{
		"clusters": "id, team_id, name", "hosts": "id, team_id, cluster_id, name, status, entry_node, version",
		"nodes": "id, cluster_id, name, status, memory_total", "storages": "id, cluster_id, node, name, status, total",
		"guests": "id, cluster_id, host_id, kind, vmid, node, name, memory_total", "apps": "id, host_id, cluster_id, vmid, name",
	} {
		query := same(table, columns)
		if counts := strings.Fields(u.sql.Value(query)); counts[0] != counts[1] || counts[1] != counts[2] {
			u.t.Errorf("%s: %s before, %s now, %s of them the same", table, counts[0], counts[1], counts[2])
		}
	}
	for query, want := range map[string]string{
		"SELECT count(*) FROM hosts WHERE status <> 'online' OR ok_at < now() - interval '10 minutes'": "0",
		// One of them is being started by the job that was under way.
		`SELECT count(*) FROM guests g JOIN before.guests b USING (id) WHERE g.status <> b.status
			AND id <> (SELECT (params ->> 'guest_id')::bigint FROM before.jobs WHERE status = 'running')`: "0",
		"SELECT count(*) FROM nodes n JOIN before.nodes b USING (id) WHERE n.seen_at <= b.seen_at": "0",
		// Each figure goes on in the series of its own.
		`SELECT count(*) FROM (SELECT target_kind, target_id FROM before.metric_samples EXCEPT
			SELECT target_kind, target_id FROM metric_samples WHERE at > (SELECT max(at) FROM before.metric_samples)) x`: "0",
	} {
		if got := u.sql.Value(query); got != want {
			u.t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// works uses what the dump has.
func (u *upgrade) works(s *service, fleet *sim) {
	u.t.Helper()
	key, err := os.ReadFile(filepath.Join(schema24, "api-key"))
	if err != nil {
		u.t.Fatal(err)
	}
	script := newClient(s)
	script.http.Transport = bearer(strings.TrimSpace(string(key)))
	under := number(u.t, u.db, "SELECT id FROM before.jobs WHERE status = 'running'")
	if end := ended(u.t, script, int64(under)); end.Status != "succeeded" {
		u.t.Errorf("the job that was under way: %+v\n%s", end, transcript(u.t, script, end.ID))
	}
	if n := fleet.sent(u.t, "start"); n != 1 {
		u.t.Errorf("its request was sent %d times", n)
	}
	w := schema24Writer{u.t, script}
	app := "/api/v1/apps/" + u.sql.Value("SELECT id FROM apps WHERE name = $1", schema24App)
	w.does(http.MethodPost, app+"/snapshots", map[string]any{"name": "after"})
	schedule := u.sql.Value("SELECT min(id) FROM schedules WHERE job_kind = 'app.restart'")
	if end := ended(u.t, script, w.asks(http.MethodPost, "/api/v1/schedules/"+schedule+"/run", nil).ID); end.Status != "succeeded" {
		u.t.Errorf("the schedule's job: %+v", end)
	}
	// Somebody who may act in one team only.
	member := account{Email: "operator@example.com"}.as(u.t, s)
	shop := u.sql.Value("SELECT id FROM hosts WHERE name = $1", schema24Shop)
	vm := find(u.t, member, "/api/v1/vms?host="+shop, "running")
	schema24Writer{u.t, member}.does(http.MethodPost, fmt.Sprintf("/api/v1/vms/%d/stop", vm.ID), nil)
	other := find(u.t, member, "/api/v1/vms?host="+u.sql.Value("SELECT id FROM hosts WHERE name = $1", schema24Lab), "running")
	if a := member.do(u.t, http.MethodPost, fmt.Sprintf("/api/v1/vms/%d/stop", other.ID), nil); a.Status != http.StatusForbidden {
		u.t.Errorf("a viewer may stop a VM: %d %s", a.Status, a.Body)
	}
}

// bearer shows an API key with every request.
type bearer string

func (key bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(key))
	return http.DefaultTransport.RoundTrip(r)
}
