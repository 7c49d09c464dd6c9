package schedules_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/schedules"
	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/vm"
)

// fixture is the resource on a real database, with the kinds of VMs and apps. Jobs are enqueued and never begin.
type fixture struct {
	*apitest.API
	t     *testing.T
	db    *db.DB
	users *identity.Store
	store *schedule.Store
	self  *guest.Self
	// accounts are the users who stand for a caller's roles, the same one each time.
	accounts map[string]*identitytest.Account
}

// Ids: VMs 1 web and 2 base (a template), 4 far (of another team); containers 3 and 5, the latter the app 1; app 2 has no container.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	b := &fixture{t: t, db: dbtest.New(t), accounts: map[string]*identitytest.Account{}}
	// Those that come with the service are tested where their jobs are.
	b.exec("DELETE FROM schedules; ALTER TABLE schedules ALTER COLUMN id RESTART")
	b.users = identitytest.New(b.db)
	b.self = &guest.Self{DB: b.db}
	queue, err := job.New(job.Config{DB: b.db})
	if err != nil {
		t.Fatal(err)
	}
	hosts := host.New(host.Config{DB: b.db})
	(&guest.Lifecycle{DB: b.db, Hosts: hosts}).Register(queue)
	guests, actor := &guest.Store{DB: b.db, Self: b.self}, &guest.Actor{DB: b.db, Queue: queue, Hosts: hosts}
	machines, containers := &vm.Store{Guests: guests, Actor: actor}, &app.Store{Guests: guests, Actor: actor}
	b.store = schedule.New(schedule.Config{DB: b.db, Users: b.users, Kinds: slices.Concat(machines.Kinds(), containers.Kinds())})
	h := apitest.Resource(op.Config{Authenticator: b.users, Resolver: apitest.Nothing{}, Recorder: audit.Recorder{DB: b.db}}, func(a *op.API) {
		schedules.Register(a, schedules.Deps{Schedules: b.store})
	})
	b.API = &apitest.API{Handler: h, LogIn: func(r *http.Request, c *apitest.Caller) { r.AddCookie(b.account(c).Cookie) }}
	b.exec(`INSERT INTO teams (id, name, slug) VALUES (2, 'Two', 'two');
		INSERT INTO clusters (team_id, name, seen_at) VALUES (1, 'prod', now()), (2, '', now());
		INSERT INTO hosts (driver, name, address, cluster_id, team_id) VALUES ('fake', 'rack1', 'a:1', 1, 1), ('fake', 'rack2', 'b:1', 2, 2);
		INSERT INTO host_credentials (host_id, capability, token_id, secret) VALUES (1, 'lifecycle', 'x', '\x00');
		INSERT INTO guests (cluster_id, host_id, kind, vmid, node, name, status, template) VALUES
			(1, 1, 'vm', 100, 'n1', 'web', 'running', false), (1, 1, 'vm', 101, 'n1', 'base', 'stopped', true),
			(1, 1, 'container', 102, 'n1', 'ct', 'running', false), (2, 2, 'vm', 100, 'm1', 'far', 'running', false), (1, 1, 'container', 103, 'n1', 'wiki', 'running', false);
		INSERT INTO apps (host_id, cluster_id, vmid, name) VALUES (1, 1, 103, 'wiki'), (1, 1, 999, 'lost')`)
	return b
}

func (b *fixture) account(c *apitest.Caller) *identitytest.Account {
	key := c.String()
	if b.accounts[key] == nil {
		team := c.Team
		if team == 0 {
			team = identity.DefaultTeam
		}
		b.accounts[key] = identitytest.User(b.t, b.users, identitytest.In{team: c.Role})
	}
	return b.accounts[key]
}

func (b *fixture) exec(sql string) {
	b.t.Helper()
	if _, err := b.db.Pool.Exec(b.t.Context(), sql); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
}

func (b *fixture) value(sql string) (v string) {
	b.t.Helper()
	if err := b.db.Pool.QueryRow(b.t.Context(), "SELECT coalesce(("+sql+")::text, 'null')").Scan(&v); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// create writes a schedule as an admin and returns its id.
func (b *fixture) create(body string) int64 {
	b.t.Helper()
	var made schedule.Schedule
	b.Run(b.t, apitest.Scenario{Name: "create", Method: "POST", URL: "/api/v1/schedules", Body: body, As: apitest.Admin, Status: 201, After: func(t *testing.T, answer *apitest.Answer) {
		if err := json.Unmarshal(answer.Body, &made); err != nil {
			t.Fatal(err)
		}
	}})
	return made.ID
}

func path(id int64, rest string) string { return fmt.Sprintf("/api/v1/schedules/%d%s", id, rest) }
