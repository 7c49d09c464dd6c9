package snapshots_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/snapshots"
	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/host/hosttest"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/vm"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// fixture is the resource on a real database with a hypervisor in memory. Jobs are enqueued and never begin. VM 1, VM 2,
// which is a template, and the container of app 1 are at host 1; VM 4 is at host 2, of another team, which has no token for
// lifecycle.
type fixture struct {
	*apitest.API
	t         *testing.T
	db        *db.DB
	driver    *memdriver.Driver
	cluster   *memdriver.Cluster
	self      *guest.Self
	vm, other hypervisor.GuestRef
}

func newFixture(t *testing.T, dress func(hypervisor.Host) hypervisor.Host) *fixture {
	t.Helper()
	driver := memdriver.New()
	b := &fixture{t: t, db: dbtest.New(t), driver: driver, cluster: driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2})}
	b.self = &guest.Self{DB: b.db}
	box, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "key"), func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	queue, err := job.New(job.Config{DB: b.db})
	if err != nil {
		t.Fatal(err)
	}
	hosts := host.New(host.Config{DB: b.db, Keys: box, Drivers: hosttest.SingleDriver(dressed{driver, dress})})
	(&guest.Worker{DB: b.db, Hosts: hosts}).Register(queue)
	guests, actor := &guest.Store{DB: b.db, Self: b.self}, &guest.Actor{DB: b.db, Queue: queue, Hosts: hosts}
	h := apitest.Resource(op.Config{
		Authenticator: apitest.Callers{}, Resolver: op.ScopeResolver{DB: b.db}, Recorder: audit.Recorder{DB: b.db},
		Replays: &idempotency.Store{DB: b.db, Keys: box},
	}, func(a *op.API) {
		snapshots.Register(a, snapshots.Deps{VMs: &vm.Store{Guests: guests}, Apps: &app.Store{Guests: guests}, Actor: actor})
	})
	b.API = &apitest.API{Handler: h, LogIn: apitest.FakeLogIn}
	b.vm = b.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
	ct := b.cluster.NewGuest(hypervisor.Container, hypervisor.GuestRunning)
	b.other = b.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
	b.exec(`INSERT INTO users (email, email_key, password_hash) VALUES ('a@example.org', 'a', '');
		INSERT INTO teams (id, name, slug) VALUES (2, 'Two', 'two');
		INSERT INTO clusters (team_id, name, seen_at) VALUES (1, 'prod', now()), (2, '', now());
		INSERT INTO hosts (driver, name, address, cluster_id, team_id, tls_fingerprint)
			VALUES ('mem', 'rack1', 'pool.mem:8006', 1, 1, '` + b.cluster.Fingerprint() + `'), ('mem', 'rack2', 'b:1', 2, 2, NULL)`)
	b.exec(fmt.Sprintf(`INSERT INTO guests (cluster_id, host_id, kind, ref, node, name, status, template) VALUES
		(1, 1, 'vm', '%s', '%s', 'web', 'running', false), (1, 1, 'vm', '999', 'node1', 'base', 'stopped', true),
		(1, 1, 'container', '%s', '%s', 'ct', 'running', false), (2, 2, 'vm', '%s', '%s', 'far', 'running', false);
		INSERT INTO apps (host_id, cluster_id, guest_id, guest_ref, name) SELECT 1, 1, id, ref, 'wiki' FROM guests WHERE kind = 'container';
		INSERT INTO apps (host_id, cluster_id, guest_ref, vmid, name) VALUES (1, 1, '777', 777, 'lost')`,
		b.vm.ID, b.vm.Node, ct.ID, ct.Node, b.other.ID, b.other.Node))
	for _, capability := range []endpoint.Capability{endpoint.Monitoring, endpoint.Lifecycle} {
		token := b.cluster.Target(capability).Credential
		var id int64
		err := b.db.Pool.QueryRow(t.Context(), "INSERT INTO host_credentials (host_id, capability, token_id, secret) VALUES (1, $1, $2, '') "+
			"RETURNING id", capability, token.ID).Scan(&id)
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := box.Seal(secret.New(string(token.Secret)),
			secret.Binding{Table: host.SealedTable.Name, Column: host.SealedTable.Column, Row: secret.Row(id)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.db.Pool.Exec(t.Context(), "UPDATE host_credentials SET secret = $2 WHERE id = $1", id, sealed); err != nil {
			t.Fatal(err)
		}
	}
	for _, ref := range []hypervisor.GuestRef{b.vm, ct} {
		b.taken(ref, "fresh")
		b.taken(ref, "later")
	}
	return b
}

// dressed is a driver whose hosts are changed by the test.
type dressed struct {
	hypervisor.Driver
	dress func(hypervisor.Host) hypervisor.Host
}

func (d dressed) Open(ctx context.Context, target endpoint.Target) (hypervisor.Host, error) {
	h, err := d.Driver.Open(ctx, target)
	if err != nil || d.dress == nil {
		return h, err
	}
	return d.dress(h), nil
}

// bare is a host with nothing optional.
type bare struct{ hypervisor.Host }

// taken takes a snapshot and waits for it.
func (b *fixture) taken(ref hypervisor.GuestRef, name string) {
	b.t.Helper()
	at, err := b.driver.Open(b.t.Context(), b.cluster.Target(endpoint.Lifecycle))
	if err != nil {
		b.t.Fatal(err)
	}
	task, err := at.(hypervisor.Snapshotter).TakeSnapshot(b.t.Context(), ref,
		hypervisor.SnapshotSpec{Name: name, Description: "the " + name + " one"})
	if err != nil {
		b.t.Fatal(err)
	}
	if result, err := at.WaitTask(b.t.Context(), task, 0, func(hypervisor.LogLine) error { return nil }); err != nil || !result.OK() {
		b.t.Fatal(result, err)
	}
}

func (b *fixture) exec(sql string) {
	b.t.Helper()
	if _, err := b.db.Pool.Exec(b.t.Context(), sql); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
}

func (b *fixture) value(sql string) (v string) {
	b.t.Helper()
	if err := b.db.Pool.QueryRow(b.t.Context(), "SELECT ("+sql+")::text").Scan(&v); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func scenario(name, method, url, body string, as *apitest.Caller, status int, code string, contains ...string) apitest.Scenario {
	return apitest.Scenario{Name: name, Method: method, URL: "/api/v1/" + url, Body: body, As: as, Status: status, Error: code,
		Contains: contains}
}

func TestList(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	foreign := apitest.In(2, identity.Owner)
	for _, s := range []string{"vms", "apps"} {
		b.Run(t,
			scenario(s+": all, oldest first", "GET", s+"/1/snapshots", "", apitest.Viewer, 200, "",
				`[{"name":"fresh","parent":null,"description":"the fresh one","snaptime":"`, `{"name":"later","parent":"fresh"`,
				`"vmstate":false,"incomplete":false}`),
			scenario(s+": nobody", "GET", s+"/1/snapshots", "", nil, 401, "unauthenticated"),
			scenario(s+": another team's", "GET", s+"/1/snapshots", "", foreign, 404, "not_found"),
			scenario(s+": no such guest", "GET", s+"/77/snapshots", "", apitest.Viewer, 404, "not_found"),
		)
	}
	b.Run(t, scenario("an app whose container is gone", "GET", "apps/2/snapshots", "", apitest.Viewer, 409, "invalid_state"))
	b.cluster.Change(b.vm.ID, func(g *hypervisor.Guest) { g.Node = map[string]string{"node1": "node2", "node2": "node1"}[g.Node] })
	b.Run(t, scenario("a VM that has moved", "GET", "vms/1/snapshots", "", apitest.Viewer, 200, "", `"name":"fresh"`))
	b.cluster.ChangeSnapshots(b.vm.ID, func(all []hypervisor.Snapshot) []hypervisor.Snapshot {
		all[1].Incomplete = true
		return all
	})
	b.Run(t, scenario("one that was not finished", "GET", "vms/1/snapshots", "", apitest.Viewer, 200, "",
		`"vmstate":false,"incomplete":false},{"name":"later"`, `"vmstate":false,"incomplete":true}]`))
	b.cluster.SetFault("snapshots", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route")})
	b.Run(t,
		scenario("a host that is away", "GET", "vms/1/snapshots", "", apitest.Viewer, 502, "hypervisor_error", `"reason":"unreachable"`),
		scenario("taking one while the host is away", "POST", "vms/1/snapshots", `{"name":"new"}`, apitest.Operator, 502, "hypervisor_error"),
	)
}

func TestAsk(t *testing.T) {
	t.Parallel()
	for _, s := range []struct{ all, kind, name string }{{"vms", "vm", "web"}, {"apps", "app", "wiki"}} {
		t.Run(s.all, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, nil)
			all, one, back := s.all+"/1/snapshots", s.all+"/1/snapshots/fresh", s.all+"/1/snapshots/fresh/rollback"
			foreign := apitest.In(2, identity.Owner)
			b.Run(t,
				scenario("take: a viewer", "POST", all, `{"name":"new"}`, apitest.Viewer, 403, "forbidden"),
				scenario("take: another team's", "POST", all, `{"name":"new"}`, foreign, 404, "not_found"),
				scenario("take: no name", "POST", all, `{}`, apitest.Operator, 422, "invalid", `"name"`),
				scenario("take: a short name", "POST", all, `{"name":"a"}`, apitest.Operator, 422, "invalid"),
				scenario("take: a long name", "POST", all, `{"name":"a1234567890123456789012345678901234567890"}`, apitest.Operator, 422, "invalid"),
				scenario("take: a name with a slash", "POST", all, `{"name":"a/b"}`, apitest.Operator, 422, "invalid"),
				scenario("take: a name that begins with a digit", "POST", all, `{"name":"1a"}`, apitest.Operator, 422, "invalid"),
				scenario("take: the present state", "POST", all, `{"name":"current"}`, apitest.Operator, 422, "invalid", `"name"`),
				scenario("take: an unknown key", "POST", all, `{"name":"new","x":1}`, apitest.Operator, 422, "invalid"),
				scenario("take: a name that is taken", "POST", all, `{"name":"later"}`, apitest.Operator, 409, "conflict"),
				scenario("delete: a viewer", "DELETE", one, "", apitest.Viewer, 403, "forbidden"),
				scenario("delete: another team's", "DELETE", one, "", foreign, 404, "not_found"),
				scenario("delete: an unknown name", "DELETE", all+"/none", "", apitest.Operator, 404, "not_found"),
				scenario("roll back: an operator", "POST", back, "", apitest.Operator, 403, "forbidden"),
				scenario("roll back: another team's", "POST", back, "", foreign, 404, "not_found"),
				scenario("roll back: an unknown name", "POST", all+"/none/rollback", "", apitest.Admin, 404, "not_found"),
				scenario("roll back: without a word", "POST", back, "", apitest.Admin, 409, "confirm_required", `"confirm_phrase":"`+s.name+`"`),
				scenario("roll back: with another word", "POST", back, `{"confirm":"fresh"}`, apitest.Admin, 409, "confirm_required"),

				scenario("take", "POST", all, `{"name":"new","description":null,"vmstate":false}`, apitest.Operator, 202, "",
					`"kind":"`+s.kind+`.snapshot_create"`, `"is_self":false`, `"params":{"name":"new"}`),
				scenario("take: while that is not done", "POST", all, `{"name":"other"}`, apitest.Operator, 409, "guest_busy"),
			)
			b.exec("UPDATE jobs SET status = 'failed'")
			b.Run(t, scenario("delete", "DELETE", one, "", apitest.Operator, 202, "", `"kind":"`+s.kind+`.snapshot_delete"`,
				`"params":{"name":"fresh"}`))
			b.exec("UPDATE jobs SET status = 'failed'")
			b.Run(t, scenario("roll back", "POST", back, `{"confirm":"`+s.name+`"}`, apitest.Admin, 202, "",
				`"kind":"`+s.kind+`.snapshot_rollback"`, `"params":{"name":"fresh"}`))
			got := b.value("SELECT string_agg(action || ' ' || (job_id IS NOT NULL)::text || ' ' || coalesce(details->>'snapshot', ''), ', ' " +
				"ORDER BY id) FROM audit WHERE result = 'ok'")
			want := fmt.Sprintf("%[1]s.snapshot_create true new, %[1]s.snapshot_delete true , %[1]s.snapshot_rollback true ", s.kind)
			if got != want {
				t.Errorf("the audit log: %q, want %q", got, want)
			}
		})
	}
}

// What a failed take or delete has left is no way back and keeps its name; it can be deleted.
func TestIncompleteSnapshot(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	b.cluster.ChangeSnapshots(b.vm.ID, func(all []hypervisor.Snapshot) []hypervisor.Snapshot {
		all[0].Incomplete = true
		return all
	})
	b.Run(t,
		scenario("roll back", "POST", "vms/1/snapshots/fresh/rollback", `{"confirm":"web"}`, apitest.Admin, 409, "invalid_state"),
		scenario("take", "POST", "vms/1/snapshots", `{"name":"fresh"}`, apitest.Operator, 409, "conflict"),
		scenario("delete", "DELETE", "vms/1/snapshots/fresh", "", apitest.Operator, 202, ""),
	)
}

// What can be known without the hypervisor is refused before it is asked.
func TestRefusedAtOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	b.cluster.SetFault("any", memdriver.Fault{Err: plugin.Errorf(plugin.Internal, "this was not to be asked")})
	each := func(vm string, code string, as *apitest.Caller, status int) {
		b.Run(t,
			scenario("take", "POST", "vms/"+vm+"/snapshots", `{"name":"new"}`, as, status, code),
			scenario("delete", "DELETE", "vms/"+vm+"/snapshots/fresh", "", as, status, code),
			scenario("roll back", "POST", "vms/"+vm+"/snapshots/fresh/rollback", "", as, status, code),
		)
	}
	each("2", "invalid_state", apitest.Admin, 409)
	each("4", "capability_missing", apitest.In(2, identity.Admin), 409)
	b = newFixture(t, nil)
	b.exec("DELETE FROM host_credentials WHERE capability = 'lifecycle'")
	each("1", "capability_missing", apitest.Admin, 409)
}

func TestDriverWithoutTheAbility(t *testing.T) {
	t.Parallel()
	b := newFixture(t, func(h hypervisor.Host) hypervisor.Host { return bare{h} })
	b.Run(t,
		scenario("list", "GET", "vms/1/snapshots", "", apitest.Viewer, 501, "unsupported"),
		scenario("take", "POST", "vms/1/snapshots", `{"name":"new"}`, apitest.Operator, 501, "unsupported"),
		scenario("delete", "DELETE", "apps/1/snapshots/fresh", "", apitest.Operator, 501, "unsupported"),
		scenario("roll back", "POST", "apps/1/snapshots/fresh/rollback", `{"confirm":"wiki"}`, apitest.Admin, 501, "unsupported"),
	)
	if n := b.value("SELECT count(*) FROM jobs"); n != "0" {
		t.Errorf("%s jobs were made", n)
	}
}

// The service's own guest is confirmed like any other: everybody types its name.
func TestOwnGuest(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	b.exec("INSERT INTO settings (key, value) VALUES ('self.host_id', '1')")
	b.self.Hostname = "WEB"
	b.Run(t,
		scenario("take", "POST", "vms/1/snapshots", `{"name":"new"}`, apitest.Operator, 202, "", `"is_self":true`),
		scenario("roll back", "POST", "vms/1/snapshots/fresh/rollback", "", apitest.Admin, 409, "confirm_required", `"confirm_phrase":"web"`),
	)
	b.exec("UPDATE jobs SET status = 'failed'")
	b.Run(t, scenario("with its name", "POST", "vms/1/snapshots/fresh/rollback", `{"confirm":"web"}`, apitest.Admin, 202, "",
		`"is_self":true`))
	if got := b.value("SELECT params->>'confirmed_self' FROM jobs ORDER BY id DESC LIMIT 1"); got != "true" {
		t.Errorf("the job knows of the confirmation: %s", got)
	}
}

// What would happen is told before it does, by those who may ask for it only, and a plan that has changed since refuses the request.
func TestPlan(t *testing.T) {
	t.Parallel()
	for _, s := range []struct{ all, name string }{{"vms", "web"}, {"apps", "wiki"}} {
		b := newFixture(t, nil)
		back := s.all + "/1/snapshots/fresh/rollback"
		b.Run(t,
			scenario("an operator", "POST", back+"?plan=true", "", apitest.Operator, 403, "forbidden"),
			scenario("another team's", "POST", back+"?plan=true", "", apitest.In(2, identity.Owner), 404, "not_found"),
			scenario("an unknown snapshot", "POST", s.all+"/1/snapshots/none/rollback?plan=true", "", apitest.Admin, 404, "not_found"),
			scenario("no truth value", "POST", back+"?plan=maybe", "", apitest.Admin, 422, "invalid"),
			scenario("a plan", "POST", back+"?plan=true", "", apitest.Admin, 200, "",
				`"kind":"uptime"`, `"kind":"data","text":"All data that`, `"kind":"snapshot","text":"The snapshot later is newer`,
				`"confirm_phrase":"`+s.name+`"`, `"blockers":[]`, `"is_self":false`),
			scenario("refused with the plan", "POST", back, "", apitest.Admin, 409, "confirm_required", `"plan":{"effects":[{"kind":"uptime"`),
			scenario("an old plan", "POST", back+"?plan_digest=0000000000000000", `{"confirm":"`+s.name+`"}`, apitest.Admin, 409, "plan_stale",
				`"plan":{"effects"`),
			scenario("deleting", "DELETE", s.all+"/1/snapshots/fresh?plan=true", "", apitest.Operator, 200, "", `"The snapshot fresh of `),
			scenario("deleting an unknown one", "DELETE", s.all+"/1/snapshots/none?plan=true", "", apitest.Operator, 404, "not_found"),
		)
		if n := b.value("SELECT count(*) FROM jobs"); n != "0" {
			t.Errorf("planning made %s jobs", n)
		}
		if n := b.value("SELECT count(*) FROM audit WHERE result = 'ok'"); n != "0" {
			t.Errorf("planning left %s rows of success in the audit log", n)
		}
		b.cluster.SetFault("snapshots", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route")})
		b.Run(t, scenario("a host that is away", "POST", back+"?plan=true", "", apitest.Admin, 200, "",
			`"warnings":["The hypervisor did not answer`))
	}
}

// A plan that was seen lets the request through, under a key that the plan itself has not used up.
func TestPlanThatWasSeen(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	const back = "/api/v1/vms/1/snapshots/fresh/rollback"
	ask := func(url, body string, status int) *apitest.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "seen")
		answer, err := b.Do(t.Context(), r, apitest.Admin)
		if err != nil || answer.Status != status {
			t.Fatalf("%s: %v %d %s", url, err, answer.Status, answer.Body)
		}
		return answer
	}
	var seen struct{ Digest string }
	if err := json.Unmarshal(ask(back+"?plan=true", "", 200).Body, &seen); err != nil || seen.Digest == "" {
		t.Fatal(seen, err)
	}
	ask(back+"?plan_digest="+seen.Digest, `{"confirm":"web"}`, 202)
	var busy struct{ Blockers []struct{ Error string } }
	if err := json.Unmarshal(ask(back+"?plan=true", "", 200).Body, &busy); err != nil || len(busy.Blockers) != 1 ||
		busy.Blockers[0].Error != "guest_busy" {
		t.Errorf("the plan of a guest on which a job works: %+v, %v", busy, err)
	}
}
