// Package servicetest makes services for tests: each on a database of its own with a key of its own, with cheap passwords and with
// whatever stands in for hypervisors.
package servicetest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/upload"
	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/membackend"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// Drivers gives every host the same driver.
type Drivers struct{ hypervisor.Driver }

// Hypervisor implements host.Drivers.
func (d Drivers) Hypervisor(string) hypervisor.Driver { return d.Driver }

// Firewalls gives every host the same firewall backend.
type Firewalls struct{ firewall.Backend }

// Firewall implements core/firewall.Backends.
func (f Firewalls) Firewall(string) firewall.Backend { return f.Backend }

// Catalogs are sources of the catalog by name.
type Catalogs map[string]catalog.Source

// CatalogNames implements core/catalog.Sources.
func (c Catalogs) CatalogNames() []string { return slices.Sorted(maps.Keys(c)) }

// Catalog implements core/catalog.Sources.
func (c Catalogs) Catalog(name string) catalog.Source { return c[name] }

// New makes a service that ends with the test. Nothing runs: not its loops, and so no jobs, which stay enqueued. The edits come
// after the defaults; the database is a fresh one, and the hypervisors and firewalls are in memory, when they leave none.
func New(t testing.TB, edits ...func(*service.Config)) *service.Service {
	t.Helper()
	c := service.Config{Version: "test", StateDir: t.TempDir(), Identity: identity.Config{Argon2: identitytest.CheapHash}}
	for _, edit := range edits {
		edit(&c)
	}
	if c.DB == nil {
		c.DB = dbtest.New(t)
	}
	if c.Drivers == nil {
		c.Drivers = Drivers{memdriver.New()} // which knows no host
	}
	if c.Firewalls == nil {
		c.Firewalls = Firewalls{membackend.New()} // nor does this
	}
	if c.Spool == nil {
		spool, err := upload.OpenSpool(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		c.Spool = spool
	}
	if c.Keys == nil {
		none := func(context.Context) ([]secret.KeyID, error) { return nil, nil }
		keys, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "keys", "secret.key"), none)
		if err != nil {
			t.Fatal(err)
		}
		c.Keys = keys
	}
	s, err := service.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s.API.StrictAudit = true
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		s.Drain(ctx) // the database is dropped next, with whatever did not come to an end
		s.Close()
	})
	return s
}

// Resource is one resource of a service, on its own.
type Resource struct {
	*apitest.API
	*service.Service
	dbtest.SQL
	t        testing.TB
	accounts accounts
}

// NewResource serves what register declares, to callers of apitest.Callers. The user whom those are is there.
func NewResource(t testing.TB, register func(*op.API, api.Deps), edits ...func(*service.Config)) *Resource {
	t.Helper()
	r := newResource(t, apitest.Callers{}, register, edits)
	inventorytest.User(t, r.DB)
	r.API.LogIn = apitest.FakeLogIn
	return r
}

// NewResourceOfUsers is NewResource for callers with sessions of real users, one user for each role and team.
func NewResourceOfUsers(t testing.TB, register func(*op.API, api.Deps), edits ...func(*service.Config)) *Resource {
	t.Helper()
	r := newResource(t, nil, register, edits)
	r.API.LogIn = func(request *http.Request, c *apitest.Caller) { request.AddCookie(r.Account(c).Cookie) }
	return r
}

func newResource(t testing.TB, who op.Authenticator, register func(*op.API, api.Deps), edits []func(*service.Config)) *Resource {
	t.Helper()
	s := New(t, edits...)
	if who == nil {
		who = s.Users
	}
	config := op.Config{Authenticator: who, Resolver: s.API.Resolver, Recorder: s.API.Recorder}
	handler := apitest.Resource(config, func(a *op.API) { register(a, s.API) })
	return &Resource{Service: s, SQL: dbtest.On(t, s.DB), t: t, API: &apitest.API{Handler: handler, URL: "http://hostler.example"}}
}

// accounts are users by who they stand for.
type accounts struct {
	mu   sync.Mutex
	made map[string]*identitytest.Account
}

// Account is the user who stands for a caller, made with the team when first asked for.
func (r *Resource) Account(c *apitest.Caller) *identitytest.Account {
	r.t.Helper()
	r.accounts.mu.Lock()
	defer r.accounts.mu.Unlock()
	name := c.String()
	if r.accounts.made[name] == nil {
		team := max(c.Team, identity.DefaultTeam)
		inventorytest.Team(r.t, r.DB, team)
		if r.accounts.made == nil {
			r.accounts.made = map[string]*identitytest.Account{}
		}
		r.accounts.made[name] = identitytest.User(r.t, r.Users, identitytest.In{team: c.Role})
	}
	return r.accounts.made[name]
}

// AuditLog returns what the audit log says of an action: the results and
// details of its entries in their order.
func (r *Resource) AuditLog(action string) string {
	return r.Value(fmt.Sprintf(`SELECT coalesce(string_agg(result || CASE WHEN error = '' THEN '' ELSE ' ' || error END || ' ' ||
		details::text, '; ' ORDER BY id), '') FROM audit WHERE action = '%s'`, action))
}
