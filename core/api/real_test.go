package api_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/apps"
	auditapi "github.com/hostler/hostler/core/api/audit"
	"github.com/hostler/hostler/core/api/auth"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/jobs"
	"github.com/hostler/hostler/core/api/plugins"
	"github.com/hostler/hostler/core/api/setup"
	"github.com/hostler/hostler/core/api/vms"
	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/vm"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// inMemory gives every host the same driver.
type inMemory struct{ hypervisor.Driver }

func (d inMemory) Hypervisor(string) hypervisor.Driver { return d.Driver }

// noPlugins is a plugin manager with nothing installed.
type noPlugins struct{}

func (noPlugins) Status() []plugin.Status { return nil }

// house is the whole API on a real database, with a hypervisor in memory. It panics, and so answers 500, when an
// operation changes something without writing its audit row in the same transaction.
type house struct {
	*apitest.API
	t       *testing.T
	db      *db.DB
	users   *identity.Store
	cluster *memdriver.Cluster
	// host, vm, app and job are ids of things that are there after furnish.
	host, vm, app, job int64
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, db: dbtest.New(t)}
	h.users = identitytest.New(h.db)
	driver := memdriver.New()
	h.cluster = driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2, VMs: 6, Containers: 3})
	state := t.TempDir()
	keys, err := secret.Load(t.Context(), filepath.Join(state, "keys", "secret.key"), func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	queue, err := job.New(job.Config{DB: h.db})
	if err != nil {
		t.Fatal(err)
	}
	self := &guest.Self{DB: h.db}
	store := host.New(host.Config{DB: h.db, Drivers: inMemory{driver}, Keys: keys, Own: self})
	poller := poll.New(poll.Config{DB: h.db, Hosts: store})
	guests := &guest.Store{DB: h.db, Self: self}
	actor := &guest.Actor{DB: h.db, Queue: queue, Hosts: store}
	(&guest.Lifecycle{DB: h.db, Hosts: store, Self: self.Is}).Register(queue)
	if err := queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = queue.Stop(context.Background()) // the database is dropped next, with whatever did not come to an end
		poller.Close()
	})
	h.API = &apitest.API{LogIn: h.newSession, Handler: api.Handler(api.Deps{
		Authenticator: h.users, Resolver: api.Resolver{DB: h.db}, Recorder: audit.Recorder{DB: h.db}, Version: "test", StrictAudit: true,
		Setup:   setup.Deps{Setup: identity.NewSetup(h.users, state)},
		Auth:    auth.Deps{Users: h.users},
		Hosts:   hosts.Deps{Hosts: store, Poller: poller},
		VMs:     vms.Deps{VMs: &vm.Store{Guests: guests, Actor: actor}},
		Apps:    apps.Deps{Apps: &app.Store{Guests: guests, Actor: actor}},
		Jobs:    jobs.Deps{Queue: queue},
		Audit:   auditapi.Deps{DB: h.db},
		Plugins: plugins.Deps{Plugins: noPlugins{}},
	})}
	return h
}

// newSession makes r come from a new user with that role.
func (h *house) newSession(r *http.Request, c *apitest.Caller) {
	team := c.Team
	if team == 0 {
		team = identity.DefaultTeam
	}
	r.AddCookie(identitytest.User(h.t, h.users, identitytest.In{team: c.Role}).Cookie)
}

// furnish enrols the cluster, adopts a container and starts a VM.
func (h *house) furnish() {
	h.t.Helper()
	monitoring := h.cluster.Target(hypervisor.Monitoring).Credential
	lifecycle := h.cluster.Target(hypervisor.Lifecycle).Credential
	post := func(name, url, body string, status int) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "POST", URL: url, Body: body, As: apitest.Owner, Status: status}
	}
	h.Run(h.t,
		post("enrol", "/api/v1/hosts", fmt.Sprintf(`{"name":"lab","address":"pool.mem","token_id":%q,"token_secret":%q,"tls_fingerprint":%q}`,
			monitoring.TokenID, string(monitoring.Secret), h.cluster.Fingerprint()), 201),
		post("lifecycle", "/api/v1/hosts/1/credentials", fmt.Sprintf(`{"capability":"lifecycle","token_id":%q,"token_secret":%q}`,
			lifecycle.TokenID, string(lifecycle.Secret)), 200),
		post("sync", "/api/v1/hosts/1/sync", "", 200),
	)
	h.host = 1
	vmid := h.id("SELECT vmid FROM guests WHERE kind = 'container' ORDER BY vmid LIMIT 1")
	h.vm = h.id("SELECT id FROM guests WHERE kind = 'vm' AND status = 'running' ORDER BY id LIMIT 1")
	h.Run(h.t,
		post("adopt", "/api/v1/apps/adopt", fmt.Sprintf(`{"items":[{"host_id":1,"vmid":%d}]}`, vmid), 200),
		post("act", fmt.Sprintf("/api/v1/vms/%d/stop", h.vm), "", 202),
	)
	h.app = h.id("SELECT min(id) FROM apps")
	h.job = h.id("SELECT min(id) FROM jobs")
}

func (h *house) id(sql string) (id int64) {
	h.t.Helper()
	if err := h.db.Pool.QueryRow(h.t.Context(), sql).Scan(&id); err != nil {
		h.t.Fatalf("%s: %v", sql, err)
	}
	return id
}

func TestMatrixOnRealStores(t *testing.T) {
	t.Parallel()
	newHouse(t).Matrix(t)
}

func TestGarbageOnRealStores(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.furnish()
	owner := identitytest.As(t, h.users, identity.Owner)
	gentle := *h.API
	gentle.LogIn = func(r *http.Request, _ *apitest.Caller) { r.AddCookie(owner.Cookie) }
	id := func(n int64) string { return fmt.Sprint(n) }
	gentle.Garbage(t, apitest.GarbageConfig{
		Seed: 7, PerOperation: 120,
		Skip: []string{"log_out"}, // it would end the session of all that follow
		Values: map[string]string{
			"host_id": id(h.host), "vm_id": id(h.vm), "app_id": id(h.app), "job_id": id(h.job), "session_id": "1", "action": "start", "kind": "backup", "node": "node1",
			"page": "1", "per_page": "10",
		},
	})
	gentle.Run(t, apitest.Scenario{Name: "afterwards it works", Method: "GET", URL: "/api/v1/vms", As: apitest.Owner, Status: 200, Contains: []string{`"id":`}})
}

// Every id may be as large as an integer of 64 bits, whatever the database compares it with.
func TestLargestID(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.furnish()
	const largest = "9223372036854775807"
	for _, o := range declared().Operations() {
		url, _, _ := strings.Cut(o.Path, "/{upid}")
		url = parameter.ReplaceAllString(url, largest)
		status := 404
		if url == o.Path {
			url, status = url+"?host="+largest+"&actor="+largest, 200
		}
		if o.Method == "GET" && !o.Spec.Public {
			h.Run(t, apitest.Scenario{Name: o.Spec.ID, Method: "GET", URL: url, As: apitest.Owner, Status: status, Error: map[int]string{404: "not_found"}[status]})
		}
	}
}
