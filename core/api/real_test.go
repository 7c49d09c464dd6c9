package api_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/catalog/catalogtest"
	"github.com/hostler/hostler/core/api/hosts/hoststest"
	"github.com/hostler/hostler/core/api/schedules/schedulestest"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/selfupdate"
	"github.com/hostler/hostler/core/selfupdate/selfupdatetest"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/sampletest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/membackend"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// inMemory gives every host the same driver, or what is left of it without its optional abilities.
type inMemory struct {
	hypervisor.Driver
	bare *atomic.Bool
}

func (d inMemory) Hypervisor(string) hypervisor.Driver {
	if d.bare.Load() {
		return bareDriver{d.Driver}
	}
	return d.Driver
}

// bareDriver has what every driver must have, and nothing else.
type bareDriver struct{ hypervisor.Driver }

func (d bareDriver) Open(ctx context.Context, target endpoint.Target) (hypervisor.Host, error) {
	host, err := d.Driver.Open(ctx, target)
	return bareHost{host}, err
}

type bareHost struct{ hypervisor.Host }

// firewallsInMemory are the firewalls of the hosts that inMemory has; bare ones have no optional abilities.
type firewallsInMemory struct {
	firewall.Backend
	bare *atomic.Bool
}

func (f firewallsInMemory) Firewall(string) firewall.Backend {
	if f.bare.Load() {
		return bareBackend{f.Backend}
	}
	return f.Backend
}

type bareBackend struct{ firewall.Backend }

func (b bareBackend) Open(ctx context.Context, target endpoint.Target) (firewall.Firewall, error) {
	fw, err := b.Backend.Open(ctx, target)
	return struct{ firewall.Firewall }{fw}, err
}

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
	bare    *atomic.Bool
	cluster *memdriver.Cluster
	// firewalls has the firewall of every host that was enrolled, and protected are those.
	firewalls *membackend.Backend
	protected []*membackend.Endpoint
	// host, vm, app and job are ids of things that are there after furnish.
	host, vm, app, job, schedule int64
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureOn(t, dbtest.URL(t), memdriver.Spec{Nodes: 2, VMs: 6, Containers: 3})
}

// newFixtureOn is one instance of several on a database.
func newFixtureOn(t *testing.T, url string, spec memdriver.Spec) *fixture {
	t.Helper()
	return newLoggedFixture(t, url, spec, nil)
}

// newLoggedFixture is newFixtureOn with a log of the API.
func newLoggedFixture(t *testing.T, url string, spec memdriver.Spec, log hclog.Logger) *fixture {
	t.Helper()
	h := &fixture{t: t, driver: memdriver.New(), bare: &atomic.Bool{}, firewalls: membackend.NewEverywhere()}
	h.cluster = h.driver.Add("pool.mem:8006", spec)
	installed := selfupdatetest.New(t, "1.0.0")
	installed.Publish("1.1.0", nil)
	s := servicetest.New(t, func(c *service.Config) {
		c.DB, c.Drivers, c.Loops = dbtest.Open(t, url), inMemory{h.driver, h.bare}, []service.Loop{service.Jobs}
		c.Firewalls = firewallsInMemory{h.firewalls, h.bare}
		c.Catalogs = servicetest.Catalogs{"mem": catalogtest.Source()}
		c.Updates = selfupdate.Config{ConfigFile: installed.File, Machine: installed.Machine(), Architecture: selfupdatetest.Architecture}
	})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.db, h.users, h.replays = s.DB, s.Users, s.Replays
	h.lookups = &counting{Authenticator: h.users}
	s.API.Authenticator, s.API.Logger, s.API.GapRetry, s.API.Reauthorise = h.lookups, log, 50*time.Millisecond, time.Hour
	h.API = &apitest.API{LogIn: h.newSession, Handler: s.Handler(), Document: wholeDocument}
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

// enrol makes a host of the cluster, with its token for lifecycle, and polls it.
func (h *fixture) enrol(name, address string, cluster *memdriver.Cluster) int64 {
	h.t.Helper()
	id := hoststest.Enrol(h.t, h.API, name, address, cluster)
	h.protect(cluster)
	return id
}

// protect gives the cluster a firewall, with a rule for the cluster itself, each node and each guest. Names in them are the cluster's.
func (h *fixture) protect(cluster *memdriver.Cluster) {
	at := h.firewalls.AddAt(cluster.Target(endpoint.Monitoring))
	at.Admit(cluster.Target(endpoint.Lifecycle))
	at.Admit(cluster.Target(endpoint.Console))
	h.protected = append(h.protected, at)
	rule := firewall.Rule{Direction: firewall.DirectionIn, Action: "ACCEPT", Enabled: true, Comment: cluster.Nodes()[0]}
	at.SetRules(firewall.Scope{Kind: firewall.ClusterScope}, rule)
	for _, node := range cluster.Nodes() {
		at.SetRules(firewall.Scope{Kind: firewall.NodeScope, Node: node}, rule)
	}
	for _, ref := range cluster.Guests() {
		at.SetRules(firewall.Scope{Kind: firewall.GuestScope, Guest: &firewall.Guest{
			Kind: string(ref.Kind), Node: ref.Node, ID: string(ref.ID), UID: ref.UID,
		}}, rule)
	}
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
	h.Run(h.t, post("schedule", "/api/v1/schedules", schedulestest.StartVM(name, vm), 201))
	return h.id("SELECT max(id) FROM schedules")
}

// furnish enrols the cluster, adopts a container and stops a VM.
func (h *fixture) furnish() {
	h.t.Helper()
	h.host = h.enrol("lab", "pool.mem", h.cluster)
	h.vm, h.app, h.job = h.occupy(h.host)
	h.schedule = h.plan(h.vm, "n")
}

func (h *fixture) id(sql string, args ...any) int64 {
	h.t.Helper()
	return dbtest.Value[int64](h.t, h.db, sql, args...)
}

// Every operation answers hostile requests, some of which name what is there, and the service works as before when they end.
func TestGarbageOnRealStores(t *testing.T) {
	t.Parallel()
	h := newTeamsFixture(t)
	h.schedule = h.plan(h.vm, "n")
	owner, user := identitytest.As(t, h.users, identity.Owner), identitytest.As(t, h.users, identity.Viewer)
	gentle := *h.API
	gentle.LogIn = func(r *http.Request, _ *apitest.Caller) { r.AddCookie(owner.Cookie) }
	values := maps.Clone(h.values)
	maps.Copy(values, map[string]string{
		"action": "start", "kind": "backup", "page": "1", "per_page": "10", "schedule_id": fmt.Sprint(h.schedule),
		"user_id": fmt.Sprint(user.ID), "team_id": fmt.Sprint(h.blue), "password": "canary-mehlwurm-zebra-19", "role": "viewer",
	})
	gentle.Garbage(t, apitest.GarbageConfig{
		Seed: 7, PerOperation: 60,
		Skip:   []string{"log_out", "log_out_at_provider"}, // it would end the session of all that follow
		Values: values,
	})
	gentle.Run(t, apitest.Scenario{Name: "afterwards it works", Method: "GET", URL: "/api/v1/vms", As: apitest.Owner, Status: 200,
		Contains: []string{`"id":`}})
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
		if reads()[o.Spec.ID].Status == 422 { // its query is incomplete, whatever its path names
			status = 422
		}
		if url == o.Path {
			url, status = url+"?host="+largest+"&actor="+largest, cmp.Or(reads()[o.Spec.ID].Status, 200)
		}
		if o.Method == "GET" && !o.Spec.Public && sampletest.Selected(o.Spec.ID, 3) {
			h.Run(t, apitest.Scenario{Name: o.Spec.ID, Method: "GET", URL: url, As: apitest.Owner, Status: status,
				Error: map[int]string{404: "not_found", 422: "invalid"}[status]})
		}
	}
}
