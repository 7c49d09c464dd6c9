package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// callersOf makes requests come from new users of a running service, each with a session of its own in its database.
func callersOf(t testing.TB, s *service) func(*http.Request, *apitest.Caller) {
	t.Helper()
	users := identitytest.New(dbtest.Open(t, s.DB))
	return func(r *http.Request, c *apitest.Caller) {
		team := c.Team
		if team == 0 {
			team = identity.DefaultTeam
		}
		r.AddCookie(identitytest.User(t, users, identitytest.In{team: c.Role}).Cookie)
	}
}

// declaredOperation is what the matrix reads of an operation in the OpenAPI document.
type declaredOperation struct {
	ID       string `json:"operationId"`
	Role     string `json:"x-role"`
	Security []any

	method, path string
}

// declaredOperations are those of the running service that need a caller.
func declaredOperations(t testing.TB, c *client) []declaredOperation {
	t.Helper()
	var document struct {
		Paths map[string]map[string]declaredOperation
	}
	c.must(t, http.StatusOK, http.MethodGet, "/api/openapi.json", nil, &document)
	var all []declaredOperation
	for path, methods := range document.Paths {
		for method, o := range methods {
			if len(o.Security) > 0 {
				o.method, o.path = strings.ToUpper(method), path
				all = append(all, o)
			}
		}
	}
	if len(all) < 30 {
		t.Fatalf("the document has %d operations for callers", len(all))
	}
	return all
}

// Who may what, over the wire: nobody gets in without a log-in, no role below the declared one, every role from it on.
func TestMatrix(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one")
	s := startService(t, options{})
	owner := setUp(t, s)
	owner.enrol(t, cluster, "lab", "lifecycle") // the paths' ids are 1: what they name is there
	a := &apitest.API{URL: s.Base, LogIn: callersOf(t, s)}
	t.Run("refused", a.Matrix)
	t.Run("admitted", func(t *testing.T) {
		for _, o := range declaredOperations(t, owner) {
			least, err := identity.ParseRole(o.Role)
			if err != nil {
				least = identity.NoRole
			}
			for role := least; role <= identity.Owner; role++ {
				if complaint := admitted(t, a, o, role); complaint != "" {
					t.Error(complaint)
				}
			}
		}
	})
	t.Run("another team", func(t *testing.T) { refuseOtherTeams(t, s, a) })
}

var placeholder = regexp.MustCompile(`\{[^}]+\}`)

// admitted asks for a thing that is not there, so that nothing changes, and says when the role is turned away.
func admitted(t *testing.T, a *apitest.API, o declaredOperation, role identity.Role) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), o.method, a.URL+placeholder.ReplaceAllString(o.path, "987654321"), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := a.Do(t.Context(), r, &apitest.Caller{Role: role})
	if err != nil {
		return err.Error()
	}
	if answer.Status == http.StatusUnauthorized || answer.Status == http.StatusForbidden || answer.Status >= 500 {
		return fmt.Sprintf("%s as %s, declared for %s: %d %s", o.ID, role, o.Role, answer.Status, answer.Body)
	}
	return ""
}

// refuseOtherTeams: what belongs to another team is not there, for reading and for acting.
func refuseOtherTeams(t *testing.T, s *service, a *apitest.API) {
	team := identitytest.Team(t, dbtest.Open(t, s.DB), "other")
	var scenarios []apitest.Scenario
	for _, role := range []identity.Role{identity.Viewer, identity.Owner} {
		stranger := apitest.In(team, role)
		for _, path := range []string{"/hosts/1", "/hosts/1/tasks", "/hosts/1/nodes/pve1/status", "/vms/1"} {
			scenarios = append(scenarios, apitest.Scenario{
				Name: role.String() + " GET " + path, Method: http.MethodGet, URL: "/api/v1" + path, As: stranger, Status: 404, Error: "not_found",
			})
		}
		for _, path := range []string{"/hosts", "/vms", "/apps", "/apps/discovered", "/jobs"} {
			scenarios = append(scenarios, apitest.Scenario{
				Name: role.String() + " GET " + path, Method: http.MethodGet, URL: "/api/v1" + path, As: stranger, Status: 200, Contains: []string{"[]"},
			})
		}
	}
	for _, path := range []string{"/hosts/1/sync", "/hosts/1/test", "/vms/1/stop"} {
		scenarios = append(scenarios, apitest.Scenario{
			Name: "POST " + path, Method: http.MethodPost, URL: "/api/v1" + path, As: apitest.In(team, identity.Owner), Status: 404, Error: "not_found",
		})
	}
	a.Run(t, scenarios...)
}
