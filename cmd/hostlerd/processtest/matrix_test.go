package processtest

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// Who may what, over the wire: nobody gets in without a log-in, no role below the declared one, every role from it on. The
// API's own test holds far more kinds of callers against each operation; this one is about the service as it is put together.
func TestMatrix(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one")
	s := startService(t, options{})
	owner := setUp(t, s)
	owner.enrol(t, cluster, "lab", "lifecycle") // the paths' ids are 1: what they name is there
	a := &apitest.API{URL: s.Base, LogIn: callersOf(t, s)}
	t.Run("everybody", a.Matrix)
	t.Run("another team", func(t *testing.T) { refuseOtherTeams(t, s, a) })
	t.Run("features", func(t *testing.T) { switchOff(t, s, owner) })
	t.Run("rights end", func(t *testing.T) { endStreams(t, s, owner) })
}

var placeholder = regexp.MustCompile(`\{[^}]+\}`)

// switchOff: an operation whose feature is off is refused, and the others are not.
func switchOff(t *testing.T, s *service, owner *client) {
	d := dbtest.Open(t, s.DB)
	for _, o := range declaredOperations(t, owner) {
		if o.Entitlement == "" {
			continue
		}
		set := func(sql string, args ...any) {
			if _, err := d.Pool.Exec(t.Context(), sql, args...); err != nil {
				t.Fatal(err)
			}
		}
		set("INSERT INTO settings (key, value) VALUES ('entitlements.disabled', jsonb_build_array($1::text))", o.Entitlement)
		if a := owner.do(t, o.method, placeholder.ReplaceAllString(o.path, "987654321"), nil); a.Status != http.StatusForbidden ||
			a.problem() != "entitlement_required" {
			t.Errorf("%s without %s: %d %s", o.ID, o.Entitlement, a.Status, a.Body)
		}
		set("DELETE FROM settings WHERE key = 'entitlements.disabled'")
	}
}

// endStreams: an open stream ends when its reader's session is revoked.
func endStreams(t *testing.T, s *service, owner *client) {
	d := dbtest.Open(t, s.DB)
	users := identitytest.New(d)
	account := identitytest.As(t, users, identity.Viewer)
	// A job that neither runs nor ends: this connection holds its lock, so that the queue believes it is run elsewhere.
	conn, err := d.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	var job int64
	err = conn.QueryRow(t.Context(), `
		WITH j AS (INSERT INTO jobs (kind, status, team_id, target_kind, target_id, target_name)
		VALUES ('vm.start', 'running', 1, 'vm', 1, 'x') RETURNING id)
		SELECT id FROM j WHERE pg_try_advisory_lock($1, id::integer)`, db.LockJob).Scan(&job)
	if err != nil {
		t.Fatal(err)
	}
	var times []time.Duration
	for range 3 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s/api/v1/jobs/%d/events/stream", s.Base, job),
			http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(account.Cookie)
		answer, err := http.DefaultClient.Do(r)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%v %v", answer, err)
		}
		began := time.Now()
		if _, err := d.Pool.Exec(t.Context(), "DELETE FROM sessions WHERE user_id = $1", account.ID); err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body) // how it breaks off is no matter
		_ = answer.Body.Close()
		if strings.Contains(string(text), "event: end") {
			t.Fatalf("the job itself has ended: %s", text)
		}
		times = append(times, time.Since(began))
		account = identitytest.LogIn(t, users, account.User)
	}
	t.Logf("the streams ended after %v", times)
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
				Name: role.String() + " GET " + path, Method: http.MethodGet, URL: "/api/v1" + path, As: stranger, Status: 200,
				Contains: []string{"[]"},
			})
		}
	}
	for _, path := range []string{"/hosts/1/sync", "/hosts/1/test", "/vms/1/stop"} {
		scenarios = append(scenarios, apitest.Scenario{
			Name: "POST " + path, Method: http.MethodPost, URL: "/api/v1" + path, As: apitest.In(team, identity.Owner), Status: 404,
			Error: "not_found",
		})
	}
	a.Run(t, scenarios...)
}
