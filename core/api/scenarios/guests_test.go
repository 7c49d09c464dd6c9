package scenarios

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/guests"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service/servicetest"
)

const guestsURL = "/api/v1/guests"

func registerGuests(a *op.API, d api.Deps) { guests.Register(a, d.Guests) }

// newGuests has a cluster with two enrolled members, one whose host is away, and a cluster of team 2.
func newGuests(t *testing.T) *servicetest.Resource {
	t.Helper()
	r := servicetest.NewResource(t, registerGuests)
	inventorytest.Team(t, r.DB, 2)
	inventorytest.Write(t, r.DB,
		inventorytest.Cluster{
			Name:  "prod",
			Hosts: []inventorytest.Host{{Name: "rack1", Node: "n1", Status: "online"}, {Name: "rack2", Node: "n2", Status: "online"}},
			Guests: []inventorytest.Guest{
				{VMID: 100, Node: "n1", Name: "web", Tags: []string{"prod", "shop"}, Pool: "front", Lock: "backup", CPU: 0.5, Memory: 1000,
					Uptime: 60},
				{VMID: 101, Node: "n2", Name: "base", Status: "stopped", Template: true},
				{Container: true, VMID: 102, Node: "n2", Name: "ct-wiki", App: "Handbook", Job: "app.stop"},
				{Container: true, VMID: 103, Node: "n3", Name: "plain"},
			},
		},
		inventorytest.Cluster{Hosts: []inventorytest.Host{{Name: "gone", Status: "unreachable"}}, Guests: []inventorytest.Guest{
			{VMID: 100, Node: "k1", Name: "asleep", Status: "unknown"},
		}},
		// The same ids in another cluster are other guests, and its app is another app.
		inventorytest.Cluster{Team: 2, Name: "prod", Hosts: []inventorytest.Host{{Name: "far", Status: "online"}}, Guests: []inventorytest.Guest{
			{Container: true, VMID: 103, Node: "m1", Name: "theirs", App: "Theirs"}, {VMID: 102, Node: "m1", Name: "vm-of-that-id"},
		}})
	return r
}

// namesOfGuests of the guests that a caller is answered, with the total in the header held against them.
func namesOfGuests(t *testing.T, r *servicetest.Resource, query string, as *apitest.Caller) (all string) {
	t.Helper()
	r.Run(t, apitest.Scenario{Name: query + " as " + as.String(), Method: "GET", URL: guestsURL + query, As: as, Status: 200,
		After: func(t *testing.T, a *apitest.Response) {
			var found []struct{ Name string }
			if err := json.Unmarshal(a.Body, &found); err != nil {
				t.Fatalf("%v: %s", err, a.Body)
			}
			text := []string{}
			for _, g := range found {
				text = append(text, g.Name)
			}
			all = strings.Join(text, " ")
		}})
	return all
}

func TestFiltersOfGuests(t *testing.T) {
	t.Parallel()
	r := newGuests(t)
	for _, c := range []struct {
		query, want string
		as          *apitest.Caller
	}{
		{"", "web base ct-wiki plain asleep vm-of-that-id theirs", apitest.Viewer},
		{"", "vm-of-that-id theirs", apitest.In(2, identity.Viewer)},
		{"", "", apitest.In(3, identity.Owner)},
		{"?kind=vm", "web base asleep vm-of-that-id", apitest.Viewer},
		{"?kind=container", "ct-wiki plain theirs", apitest.Viewer},
		{"?kind=app", "ct-wiki theirs", apitest.Viewer},
		{"?kind=app", "theirs", apitest.In(2, identity.Viewer)},
		{"?host=1", "web plain", apitest.Viewer}, // plain is on a node where nobody is registered
		{"?host=2", "base ct-wiki", apitest.Viewer},
		{"?host=1", "", apitest.In(2, identity.Owner)},
		{"?host=99", "", apitest.Viewer},
		{"?status=pending", "ct-wiki", apitest.Viewer},
		{"?status=running", "web plain vm-of-that-id theirs", apitest.Viewer},
		{"?status=unknown", "asleep", apitest.Viewer},
		{"?q=HAND", "ct-wiki", apitest.Viewer},
		{"?q=theirs&kind=app", "theirs", apitest.Viewer},
		{"?q=shop", "web", apitest.Viewer},
		{"?q=103", "plain theirs", apitest.Viewer},
		{"?q=n2", "base ct-wiki", apitest.Viewer},
		{"?q=%25", "", apitest.Viewer},
		{"?q=%27%3B--", "", apitest.Viewer},
	} {
		if got := namesOfGuests(t, r, c.query, c.as); got != c.want {
			t.Errorf("%s as %s: %q, want %q", c.query, c.as, got, c.want)
		}
	}
	for _, query := range []string{"?kind=lxc", "?kind=", "?host=0", "?host=x", "?status=done", "?q=" + strings.Repeat("a", 201), "?q=%00"} {
		r.Run(t, apitest.Scenario{Name: query, Method: "GET", URL: guestsURL + query, As: apitest.Viewer, Status: 422, Error: "invalid"})
	}
}

func TestShapeOfGuests(t *testing.T) {
	t.Parallel()
	r := newGuests(t)
	r.Exec("INSERT INTO settings (key, value) VALUES ('self.host_id', '1')")
	r.Guests.Self.Hostname = "WEB"
	r.Run(t,
		apitest.Scenario{Name: "VM", Method: "GET", URL: guestsURL + "?q=web", As: apitest.Viewer, Status: 200, Contains: []string{
			`"kind":"vm","name":"web","vmid":100,"guest_ref":"100","status":"running"`, `"host_id":1,"host":"rack1","cluster":"prod","node":"n1",` +
				`"template":false,"lock":"backup","pool":"front","tags":["prod","shop"],"cpu":0.5`,
			`"memory_bytes":1000`, `"net_in_bytes":null`, `"disk_write_bytes":null`, `"uptime_s":60`, `"is_self":true`,
			`"app_id":null,"app":null,"cluster_id":1,"team_id":1,"team":`}},
		apitest.Scenario{Name: "app", Method: "GET", URL: guestsURL + "?kind=app&host=2", As: apitest.Viewer, Status: 200, Contains: []string{
			`"kind":"container","name":"ct-wiki","vmid":102,"guest_ref":"102","status":"pending","job_id":1`, `"is_self":false`,
			`"app_id":1,"app":"Handbook","cluster_id":1,"team_id":1`}},
		apitest.Scenario{Name: "template", Method: "GET", URL: guestsURL + "?q=base", As: apitest.Viewer, Status: 200,
			Contains: []string{`"template":true`}},
		apitest.Scenario{Name: "another team's", Method: "GET", URL: guestsURL + "?kind=app", As: apitest.In(2, identity.Viewer), Status: 200,
			Contains: []string{`"app_id":2,"app":"Theirs"`, `"team_id":2,"team":"team2"`}, Lacks: []string{"Handbook", "ct-wiki"},
			After: func(t *testing.T, a *apitest.Response) {
				if total := a.Header.Get("X-Total-Count"); total != "1" {
					t.Errorf("X-Total-Count is %q", total)
				}
			}},
	)
}

// BenchmarkListOfGuests is GET /api/v1/guests of 10,000 guests, with no app and with thousands: what the apps are joined with costs
// little.
func BenchmarkListOfGuests(b *testing.B) {
	for name, containers := range map[string]int{"VMs": 0, "half containers": 5_000} {
		b.Run(name, func(b *testing.B) {
			r := servicetest.NewResource(b, registerGuests)
			inventorytest.Many(b, r.DB, 10_000-containers, containers)
			b.ReportAllocs()
			for b.Loop() {
				request := httptest.NewRequest("GET", guestsURL, nil)
				apitest.FakeLogIn(request, apitest.Viewer)
				w := httptest.NewRecorder()
				r.API.Handler.ServeHTTP(w, request)
				if w.Code != 200 || w.Header().Get("X-Total-Count") != "10000" {
					b.Fatal(w.Code)
				}
				b.ReportMetric(float64(w.Body.Len()), "bytes")
			}
		})
	}
}
