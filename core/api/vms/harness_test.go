package vms_test

import (
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/vms"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/vm"
)

// fixture is the resource on a real database. Jobs are enqueued and never begin.
type fixture struct {
	*apitest.API
	t    testing.TB
	db   *db.DB
	self *guest.Self
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	b := &fixture{t: t, db: dbtest.New(t)}
	b.self = &guest.Self{DB: b.db}
	queue, err := job.New(job.Config{DB: b.db})
	if err != nil {
		t.Fatal(err)
	}
	hosts := host.New(host.Config{DB: b.db})
	(&guest.Lifecycle{DB: b.db, Hosts: hosts}).Register(queue)
	store := &vm.Store{Guests: &guest.Store{DB: b.db, Self: b.self}, Actor: &guest.Actor{DB: b.db, Queue: queue, Hosts: hosts}}
	h := apitest.Resource(op.Config{Authenticator: apitest.Callers{}, Resolver: op.ScopeResolver{DB: b.db}, Recorder: audit.Recorder{DB: b.db}}, func(a *op.API) { vms.Register(a, vms.Deps{VMs: store}) })
	b.API = &apitest.API{Handler: h, LogIn: apitest.FakeLogIn}
	b.exec(`INSERT INTO users (email, email_key, password_hash) VALUES ('a@example.org', 'a', '');
		INSERT INTO teams (id, name, slug) VALUES (2, 'Two', 'two');
		INSERT INTO clusters (team_id, name, seen_at) VALUES (1, 'prod', now()), (2, '', now());
		INSERT INTO hosts (driver, name, address, cluster_id, team_id) VALUES ('fake', 'rack1', 'a:1', 1, 1), ('fake', 'rack2', 'b:1', 2, 2);
		INSERT INTO host_credentials (host_id, capability, token_id, secret) VALUES (1, 'lifecycle', 'x', '\x00');
		INSERT INTO guests (cluster_id, host_id, kind, vmid, node, name, status, template, cpu, memory, uptime) VALUES
			(1, 1, 'vm', 100, 'n1', 'web', 'running', false, 0.5, 1000, 60), (1, 1, 'vm', 101, 'n1', 'base', 'stopped', true, NULL, NULL, NULL),
			(1, 1, 'container', 102, 'n1', 'ct', 'running', false, NULL, NULL, NULL), (2, 2, 'vm', 100, 'm1', 'far', 'unknown', false, NULL, NULL, NULL)`)
	return b
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
