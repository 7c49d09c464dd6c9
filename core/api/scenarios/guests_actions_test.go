package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service/servicetest"
)

// newActingGuests has VMs 1 "web" and 2 "base", a template, the containers 3 of app 1 and 4 of app 2, on which a job works, and VM 5 of
// team 2, whose host has no token for lifecycle. App 3 has lost its container.
func newActingGuests(t *testing.T) *servicetest.Resource {
	t.Helper()
	r := servicetest.NewResource(t, registerGuests)
	inventorytest.Team(t, r.DB, 2)
	inventorytest.Write(t, r.DB,
		inventorytest.Cluster{Name: "prod", Hosts: []inventorytest.Host{{Name: "rack1", Capabilities: []string{"lifecycle"}}},
			Guests: []inventorytest.Guest{
				{VMID: 100, Node: "n1", Name: "web", Uptime: 60, CPU: 0.5},
				{VMID: 101, Node: "n1", Name: "base", Status: "stopped", Template: true},
				{Container: true, VMID: 102, Node: "n1", Name: "ct1", App: "wiki"},
				{Container: true, VMID: 103, Node: "n1", Name: "ct2", App: "blog", Job: "app.stop"},
			}},
		inventorytest.Cluster{Team: 2, Hosts: []inventorytest.Host{{Name: "far"}}, Guests: []inventorytest.Guest{
			{VMID: 100, Node: "m1", Name: "theirs"},
		}})
	r.Exec("INSERT INTO apps (host_id, cluster_id, guest_ref, vmid, name) VALUES (1, 1, '777', 777, 'lost')")
	return r
}

func actOnGuests(name, query, body string, as *apitest.Caller, status int, code string, contains ...string) apitest.Scenario {
	return do(name, "POST", guestsURL+"/actions"+query, body, as, status, code, contains...)
}

func TestActionsOnGuests(t *testing.T) {
	t.Parallel()
	r := newActingGuests(t)
	var many []string
	for i := range 501 {
		many = append(many, fmt.Sprintf(`{"vm":%d}`, i+1))
	}
	r.Run(t,
		actOnGuests("a viewer", "", `{"action":"stop","targets":[{"vm":1}]}`, apitest.Viewer, 403, "forbidden"),
		actOnGuests("no target", "", `{"action":"stop","targets":[]}`, apitest.Operator, 422, "invalid"),
		actOnGuests("an empty target", "", `{"action":"stop","targets":[{}]}`, apitest.Operator, 422, "invalid", "either a vm or an app"),
		actOnGuests("two in one", "", `{"action":"stop","targets":[{"vm":1,"app":1}]}`, apitest.Operator, 422, "invalid"),
		actOnGuests("one twice", "", `{"action":"stop","targets":[{"vm":1},{"app":1},{"vm":1}]}`, apitest.Operator, 422, "invalid",
			`"loc":["body","targets",2]`, "listed twice"),
		actOnGuests("no such action", "", `{"action":"explode","targets":[{"vm":1}]}`, apitest.Operator, 422, "invalid"),
		actOnGuests("too many", "", `{"action":"stop","targets":[`+strings.Join(many, ",")+`]}`, apitest.Operator, 422, "invalid"),
		actOnGuests("the plan", "?plan=true", `{"action":"stop","targets":[{"vm":1},{"vm":2},{"app":1}]}`, apitest.Operator, 200, "",
			`"text":"web is running and is interrupted."`, `"text":"ct1 is running and is interrupted."`,
			"The vm 2 is skipped: base is a template",
			`"confirm_phrase":null`, `"blockers":[]`),
		actOnGuests("the plan of nothing", "?plan=true", `{"action":"stop","targets":[{"vm":2}]}`, apitest.Operator, 200, "",
			`"blockers":[]`, "Every target is skipped, so no job starts."),
		actOnGuests("an old plan", "?plan_digest=00", `{"action":"stop","targets":[{"vm":1}]}`, apitest.Operator, 409, "plan_stale", `"plan":{`),
	)
	if n := r.Value("SELECT count(*) FROM jobs WHERE status = 'queued'"); n != "0" {
		t.Errorf("%s jobs were made", n)
	}
	const all = `{"action":"stop","targets":[{"vm":1},{"vm":2},{"app":1},{"app":2},{"app":3},{"vm":5},{"vm":99},{"vm":3}]}`
	r.Run(t, actOnGuests("all", "", all, apitest.Operator, 202, "",
		`"kind":"vm.stop"`, `"kind":"app.stop"`,
		`{"target":{"vm":2,"app":null},"error":"invalid_state"`, `{"target":{"vm":null,"app":2},"error":"guest_busy"`,
		`{"target":{"vm":null,"app":3},"error":"invalid_state","detail":"the container of lost does not exist"`,
		`{"target":{"vm":5,"app":null},"error":"capability_missing"`,
		`{"target":{"vm":99,"app":null},"error":"not_found","detail":"vm not found"`,
		`{"target":{"vm":3,"app":null},"error":"not_found"`))
	got := r.Value("SELECT string_agg(action || ' ' || coalesce(target_id, '') || ' ' || result || ' ' || (job_id IS NOT NULL), ', ' " +
		"ORDER BY action, target_id) FROM audit WHERE result = 'ok' OR target_id IN ('2', '99') AND action LIKE '%.stop'")
	want := "app.stop 1 ok true, app.stop 2 refused false, guests.act  ok false, vm.stop 1 ok true, vm.stop 2 refused false, " +
		"vm.stop 99 refused false"
	if got != want {
		t.Errorf("the audit log: %s, want %s", got, want)
	}
	r.Run(t, actOnGuests("again", "", `{"action":"stop","targets":[{"vm":1}]}`, apitest.Operator, 202, "", `"jobs":[]`,
		"has not finished yet"))
}

// What others own is answered like what is not there, and a role that is too low is named.
func TestActionsOnGuestsOfOthers(t *testing.T) {
	t.Parallel()
	r := newActingGuests(t)
	const both = `{"action":"stop","targets":[{"vm":1},{"vm":5},{"app":3}]}`
	r.Run(t,
		actOnGuests("of another team", "", both, apitest.In(2, identity.Operator), 202, "", `"jobs":[]`,
			`{"target":{"vm":1,"app":null},"error":"not_found","detail":"vm not found"`, `"error":"capability_missing"`,
			`{"target":{"vm":null,"app":3},"error":"not_found","detail":"app not found"`),
		actOnGuests("a viewer of the other team", "", both, apitest.In(2, identity.Viewer), 403, "forbidden"),
	)
}

// The guest that the service itself runs in is skipped until its name was typed.
func TestActionsOnTheServicesOwnGuest(t *testing.T) {
	t.Parallel()
	r := newActingGuests(t)
	r.Exec("INSERT INTO settings (key, value) VALUES ('self.host_id', '1')")
	r.Guests.Self.Hostname = "web"
	r.Run(t,
		actOnGuests("the plan", "?plan=true", `{"action":"stop","targets":[{"vm":1},{"app":1}]}`, apitest.Operator, 200, "", `"is_self":true`,
			`"confirm_phrase":"web"`),
		actOnGuests("without a word", "", `{"action":"stop","targets":[{"vm":1},{"app":1}]}`, apitest.Operator, 202, "", `"kind":"app.stop"`,
			`{"target":{"vm":1,"app":null},"error":"self_target"`),
		actOnGuests("with its name", "", `{"action":"stop","targets":[{"vm":1}],"confirm":"web"}`, apitest.Operator, 202, "",
			`"kind":"vm.stop"`),
	)
}
