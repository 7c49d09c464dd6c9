package api_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/apps"
	auditapi "github.com/hostler/hostler/core/api/audit"
	"github.com/hostler/hostler/core/api/auth"
	"github.com/hostler/hostler/core/api/cluster"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/jobs"
	keysapi "github.com/hostler/hostler/core/api/keys"
	"github.com/hostler/hostler/core/api/meta"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/plugins"
	"github.com/hostler/hostler/core/api/schedules"
	"github.com/hostler/hostler/core/api/settings"
	"github.com/hostler/hostler/core/api/setup"
	"github.com/hostler/hostler/core/api/teams"
	"github.com/hostler/hostler/core/api/users"
	"github.com/hostler/hostler/core/api/vms"
	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/maintenance"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/selfupdate"
	"github.com/hostler/hostler/core/selfupdate/selfupdatetest"
	"github.com/hostler/hostler/core/setting"
	"github.com/hostler/hostler/core/vm"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// inMemory gives every host the same driver.
type inMemory struct{ hypervisor.Driver }

func (d inMemory) Hypervisor(string) hypervisor.Driver { return d.Driver }

// noPlugins is a plugin manager with nothing installed.
type noPlugins struct{}

func (noPlugins) Status() []plugin.Status { return nil }

// fixture is the whole API on a real database, with a hypervisor in memory. It panics, and so answers 500, when an
// operation changes something without writing its audit row in the same transaction.
type fixture struct {
	*apitest.API
	t       *testing.T
	db      *db.DB
	users   *identity.Store
	replays *idempotency.Store
	lookups *counting
	driver  *memdriver.Driver
	cluster *memdriver.Cluster
	// host, vm, app and job are ids of things that are there after furnish.
	host, vm, app, job, schedule int64
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureOn(t, dbtest.URL(t), memdriver.Spec{Nodes: 2, VMs: 6, Containers: 3})
}

// newHouseOn is one instance of several on a database.
func newFixtureOn(t *testing.T, url string, spec memdriver.Spec) *fixture {
	t.Helper()
	return newLoggedFixture(t, url, spec, nil)
}

// newLoggedHouse is newHouseOn with a log of the API.
func newLoggedFixture(t *testing.T, url string, spec memdriver.Spec, log hclog.Logger) *fixture {
	t.Helper()
	h := &fixture{t: t, db: dbtest.Open(t, url)}
	h.driver = memdriver.New()
	h.cluster = h.driver.Add("pool.mem:8006", spec)
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
	store := host.New(host.Config{DB: h.db, Drivers: inMemory{h.driver}, Keys: keys, Own: self})
	h.users = identity.New(h.db, identity.Config{Argon2: identitytest.Cheap, Keys: keys, Assets: store})
	h.lookups = &counting{Authenticator: h.users}
	poller := poll.New(poll.Config{DB: h.db, Hosts: store})
	guests := &guest.Store{DB: h.db, Self: self}
	actor := &guest.Actor{DB: h.db, Queue: queue, Hosts: store}
	(&guest.Lifecycle{DB: h.db, Hosts: store, Self: self.Is}).Register(queue)
	chain := audit.NewChain(h.db, keys)
	h.replays = &idempotency.Store{DB: h.db, Keys: keys}
	housekeeping := maintenance.New(maintenance.Config{DB: h.db, Queue: queue, Sessions: h.users, Replays: h.replays, Trail: chain})
	housekeeping.Register()
	installed := selfupdatetest.New(t, "1.0.0")
	installed.Publish("1.1.0", nil)
	updates := selfupdate.New(selfupdate.Config{DB: h.db, Queue: queue, ConfigFile: installed.File, Machine: installed.Machine(), Architecture: selfupdatetest.Architecture})
	updates.Register()
	machines, containers := &vm.Store{Guests: guests, Actor: actor}, &app.Store{Guests: guests, Actor: actor}
	timetable := schedule.New(schedule.Config{DB: h.db, Users: h.users, Kinds: slices.Concat(machines.Kinds(), containers.Kinds(), housekeeping.Kinds(), updates.Kinds())})
	if err := queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = queue.Stop(context.Background()) // the database is dropped next, with whatever did not come to an end
		poller.Close()
	})
	h.API = &apitest.API{LogIn: h.newSession, Handler: api.Handler(api.Deps{
		Authenticator: h.lookups, Resolver: op.ScopeResolver{DB: h.db}, Recorder: audit.Recorder{DB: h.db}, Version: "test", StrictAudit: true,
		Logger: log, GapRetry: 50 * time.Millisecond,
		Replays: h.replays, Rights: h.users, Reauthorise: time.Hour, Entitlements: func(ctx context.Context, name string) bool {
			on, err := setting.Entitled(ctx, h.db, name)
			return on && err == nil
		},
		Setup:   setup.Deps{Setup: identity.NewSetup(h.users, state)},
		Auth:    auth.Deps{Users: h.users},
		Keys:    keysapi.Deps{Users: h.users},
		Users:   users.Deps{Users: h.users},
		Teams:   teams.Deps{Users: h.users},
		Hosts:   hosts.Deps{Hosts: store, Poller: poller},
		VMs:     vms.Deps{VMs: machines},
		Apps:    apps.Deps{Apps: containers},
		Jobs:    jobs.Deps{Queue: queue},
		Audit:   auditapi.Deps{DB: h.db, Chain: chain},
		Plugins: plugins.Deps{Plugins: noPlugins{}},

		Schedules: schedules.Deps{Schedules: timetable},
		Settings:  settings.Deps{Settings: &setting.Store{DB: h.db, Hosts: store}},
		Cluster:   cluster.Deps{DB: h.db},
		Meta:      meta.Deps{Updates: updates},
	})}
	return h
}

// newSession makes r come from a new user with that role.
func (h *fixture) newSession(r *http.Request, c *apitest.Caller) {
	team := c.Team
	if team == 0 {
		team = identity.DefaultTeam
	}
	r.AddCookie(identitytest.User(h.t, h.users, identitytest.In{team: c.Role}).Cookie)
}

// post is a request of an owner.
func post(name, url, body string, status int) apitest.Scenario {
	return apitest.Scenario{Name: name, Method: "POST", URL: url, Body: body, As: apitest.Owner, Status: status}
}

// enrolment is the body that enrols a cluster.
func enrolment(name, address string, cluster *memdriver.Cluster) string {
	monitoring := cluster.Target(endpoint.Monitoring).Credential
	return fmt.Sprintf(`{"name":%q,"address":%q,"token_id":%q,"token_secret":%q,"tls_fingerprint":%q}`,
		name, address, monitoring.TokenID, string(monitoring.Secret), cluster.Fingerprint())
}

// lifecycleToken is the body that adds the token for lifecycle.
func lifecycleToken(cluster *memdriver.Cluster) string {
	lifecycle := cluster.Target(endpoint.Lifecycle).Credential
	return fmt.Sprintf(`{"capability":"lifecycle","token_id":%q,"token_secret":%q}`, lifecycle.TokenID, string(lifecycle.Secret))
}

// enrol makes a host of the cluster, with its token for lifecycle, and polls it.
func (h *fixture) enrol(name, address string, cluster *memdriver.Cluster) int64 {
	h.t.Helper()
	h.Run(h.t, post("enrol", "/api/v1/hosts", enrolment(name, address, cluster), 201))
	id := h.id("SELECT max(id) FROM hosts")
	h.Run(h.t,
		post("lifecycle", fmt.Sprintf("/api/v1/hosts/%d/credentials", id), lifecycleToken(cluster), 200),
		post("sync", fmt.Sprintf("/api/v1/hosts/%d/sync", id), "", 200),
	)
	return id
}

// occupy adopts a container of the host and stops one of its VMs: an app, a VM and a job.
func (h *fixture) occupy(host int64) (vm, app, job int64) {
	h.t.Helper()
	vmid := h.id("SELECT vmid FROM guests WHERE kind = 'container' AND host_id = $1 ORDER BY vmid LIMIT 1", host)
	vm = h.id("SELECT id FROM guests WHERE kind = 'vm' AND status = 'running' AND host_id = $1 ORDER BY id LIMIT 1", host)
	h.Run(h.t,
		post("adopt", "/api/v1/apps/adopt", fmt.Sprintf(`{"items":[{"host_id":%d,"vmid":%d}]}`, host, vmid), 200),
		post("act", fmt.Sprintf("/api/v1/vms/%d/stop", vm), "", 202),
	)
	return vm, h.id("SELECT max(id) FROM apps"), h.id("SELECT max(id) FROM jobs")
}

// plan makes a schedule that starts the VM.
func (h *fixture) plan(vm int64, name string) int64 {
	h.t.Helper()
	h.Run(h.t, post("schedule", "/api/v1/schedules", fmt.Sprintf(`{"name":%q,"cron":"0 3 * * *","job_kind":"vm.start","params":{"vm_id":%d}}`, name, vm), 201))
	return h.id("SELECT max(id) FROM schedules")
}

// furnish enrols the cluster, adopts a container and stops a VM.
func (h *fixture) furnish() {
	h.t.Helper()
	h.host = h.enrol("lab", "pool.mem", h.cluster)
	h.vm, h.app, h.job = h.occupy(h.host)
	h.schedule = h.plan(h.vm, "n")
}

func (h *fixture) id(sql string, args ...any) (id int64) {
	h.t.Helper()
	if err := h.db.Pool.QueryRow(h.t.Context(), sql, args...).Scan(&id); err != nil {
		h.t.Fatalf("%s: %v", sql, err)
	}
	return id
}

func TestGarbageOnRealStores(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.furnish()
	owner, user := identitytest.As(t, h.users, identity.Owner), identitytest.As(t, h.users, identity.Viewer)
	gentle := *h.API
	gentle.LogIn = func(r *http.Request, _ *apitest.Caller) { r.AddCookie(owner.Cookie) }
	id := func(n int64) string { return fmt.Sprint(n) }
	gentle.Garbage(t, apitest.GarbageConfig{
		Seed: 7, PerOperation: 120,
		Skip: []string{"log_out"}, // it would end the session of all that follow
		Values: map[string]string{
			"host_id": id(h.host), "vm_id": id(h.vm), "app_id": id(h.app), "job_id": id(h.job), "schedule_id": id(h.schedule), "session_id": "1", "action": "start", "kind": "backup", "node": "node1",
			"page": "1", "per_page": "10",
			"user_id": id(user.ID), "team_id": id(identitytest.Team(t, h.db, "blue")),
		},
	})
	gentle.Run(t, apitest.Scenario{Name: "afterwards it works", Method: "GET", URL: "/api/v1/vms", As: apitest.Owner, Status: 200, Contains: []string{`"id":`}})
}

// Every id may be as large as an integer of 64 bits, whatever the database compares it with.
func TestLargestID(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
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
