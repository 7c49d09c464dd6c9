package scenarios

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/apps"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service/servicetest"
)

// appsFixture is the resource on a real database. Jobs are enqueued and never begin.
type appsFixture struct{ *servicetest.Resource }

// newApps has a cluster of the hosts 1 (at node n1) and 2 (at n2) with four containers, and a container of team 2.
func newApps(t *testing.T) *appsFixture {
	t.Helper()
	b := &appsFixture{servicetest.NewResource(t, func(a *op.API, d api.Deps) { apps.Register(a, d.Apps) })}
	lifecycle := []string{"lifecycle"}
	inventorytest.Write(t, b.DB,
		inventorytest.Cluster{
			Name:  "prod",
			Hosts: []inventorytest.Host{{Name: "rack1", Node: "n1", Capabilities: lifecycle}, {Name: "rack2", Node: "n2", Capabilities: lifecycle}},
			Guests: []inventorytest.Guest{
				{Container: true, VMID: 101, Node: "n1", Name: "wiki", Memory: 1000},
				{Container: true, VMID: 102, Node: "n2", Name: "mail", Status: "stopped", Memory: 2000},
				{Container: true, VMID: 103, Node: "n1", Name: "base", Status: "stopped", Template: true}, {VMID: 104, Node: "n1", Name: "machine"},
			},
		},
		inventorytest.Cluster{Team: 2, Hosts: []inventorytest.Host{{Name: "far"}},
			Guests: []inventorytest.Guest{{Container: true, VMID: 101, Node: "m1", Name: "theirs"}}})
	return b
}

func (b *appsFixture) adopt(name, body string, as *apitest.Caller, status int, code string, contains ...string) apitest.Scenario {
	return do(name, "POST", "/api/v1/apps/adopt", body, as, status, code, contains...)
}

func (b *appsFixture) get(name, url string, as *apitest.Caller, status int, code string, contains, lacks []string) apitest.Scenario {
	return apitest.Scenario{Name: name, Method: "GET", URL: "/api/v1/apps" + url, As: as, Status: status, Error: code, Contains: contains,
		Lacks: lacks}
}

func TestDiscoverAndAdoptApps(t *testing.T) {
	t.Parallel()
	b := newApps(t)
	b.Run(t,
		b.get("no apps yet", "", apitest.Viewer, 200, "", []string{"[]"}, nil),
		b.get("containers are discovered at the host of their node", "/discovered", apitest.Viewer, 200, "",
			[]string{`"name":"wiki"`, `"name":"mail"`, `"host":"rack2"`, `"name":"theirs"`}, []string{`"name":"machine"`}),
		b.get("a template is marked as one", "/discovered", apitest.Viewer, 200, "",
			[]string{`"name":"base","vmid":103,"guest_ref":"103","status":"stopped"`, `"template":true`}, nil),
		b.get("of one host", "/discovered?host=2", apitest.Viewer, 200, "", []string{`"name":"mail"`}, []string{`"name":"wiki"`,
			`"name":"theirs"`}),
		b.get("by another team", "/discovered", apitest.In(2, identity.Viewer), 200, "", []string{`"name":"theirs"`}, []string{`"name":"wiki"`}),

		b.adopt("an operator", `{"items":[{"host_id":1,"vmid":101}]}`, apitest.Operator, 403, "forbidden"),
		b.adopt("nothing", `{"items":[]}`, apitest.Admin, 422, "invalid"),
		b.adopt("a VM", `{"items":[{"host_id":1,"vmid":104}]}`, apitest.Admin, 404, "not_found"),
		b.adopt("a template", `{"items":[{"host_id":1,"vmid":103}]}`, apitest.Admin, 409, "invalid_state"),
		b.adopt("another team's", `{"items":[{"host_id":1,"vmid":101}]}`, apitest.In(2, identity.Admin), 404, "not_found"),
		b.adopt("one that is not there takes the others back", `{"items":[{"host_id":1,"vmid":101},{"host_id":1,"vmid":999}]}`, apitest.Admin,
			404, "not_found", `"item":1`),
		b.adopt("one twice takes all back", `{"items":[{"host_id":1,"vmid":101},{"host_id":2,"vmid":101}]}`, apitest.Admin, 409,
			"already_adopted"),
		b.get("nothing was adopted by these", "", apitest.Viewer, 200, "", []string{"[]"}, nil),

		b.adopt("two, through whichever member", `{"items":[{"host_id":1,"vmid":101,"name":"The wiki","web_port":8080},{"host_id":1,`+
			`"vmid":102}]}`, apitest.Admin, 200, "", `"name":"The wiki"`, `"web_port":8080`, `"name":"mail"`),
		b.adopt("again", `{"items":[{"host_id":2,"vmid":102}]}`, apitest.Admin, 409, "already_adopted"),
		b.get("they are discovered no more", "/discovered", apitest.Viewer, 200, "", []string{`"name":"theirs"`},
			[]string{`"name":"wiki"`, `"name":"mail"`}),
		b.get("by a piece of the container's name", "?q=WIK", apitest.Viewer, 200, "", []string{`"name":"The wiki"`}, []string{`"name":"mail"`}),
		b.get("by host", "?host=2", apitest.Viewer, 200, "", []string{`"name":"mail"`}, []string{`"The wiki"`}),
		b.get("by state", "?status=stopped", apitest.Viewer, 200, "", []string{`"name":"mail"`}, []string{`"The wiki"`}),
	)
	if got := b.Value("SELECT count(*) || ' ' || max(details::text) FROM audit WHERE " +
		"action = 'app.adopt' AND result = 'ok'"); got != `1 {"apps": ["The wiki", "mail"]}` {
		t.Errorf("the audit log: %s", got)
	}
}

// Where guests have names instead of numbers a container is named by that, and of two of one name the one that is there is meant.
func TestAdoptByTheHypervisorsOwnID(t *testing.T) {
	t.Parallel()
	b := newApps(t)
	inventorytest.Write(t, b.DB, inventorytest.Cluster{
		Hosts: []inventorytest.Host{{Name: "lab", Node: "l1"}},
		Guests: []inventorytest.Guest{
			{Container: true, Ref: "customers/web", UID: "u1", Node: "l1", Name: "web", Status: "unknown"},
			{Container: true, Ref: "customers/web", UID: "u2", Node: "l1", Name: "web"}, {Ref: "machine", UID: "u3", Node: "l1", Name: "machine"},
		}})
	b.Exec("UPDATE guests SET listed_at = now() WHERE uid = 'u1'")
	item := func(rest string) string { return `{"items":[{"host_id":4` + rest + `}]}` }
	b.Run(t,
		b.adopt("without either", item(""), apitest.Admin, 422, "invalid",
			`{"loc":["body","items",0],"msg":"requires exactly one of vmid and guest_ref`),
		b.adopt("with both", item(`,"vmid":101,"guest_ref":"101"`), apitest.Admin, 422, "invalid", `["body","items",0]`),
		b.adopt("with null", item(`,"guest_ref":null`), apitest.Admin, 422, "invalid"),
		b.adopt("an empty one", item(`,"guest_ref":""`), apitest.Admin, 422, "invalid", `["body","items",0,"guest_ref"]`),
		b.adopt("lines", item(`,"guest_ref":"a\nb"`), apitest.Admin, 422, "invalid", `["body","items",0,"guest_ref"]`),
		b.adopt("too long", item(`,"guest_ref":"`+strings.Repeat("a", 256)+`"`), apitest.Admin, 422, "invalid"),
		b.adopt("too many bytes", item(`,"guest_ref":"`+strings.Repeat("é", 128)+`"`), apitest.Admin, 422, "invalid"),
		b.adopt("a number", item(`,"guest_ref":7`), apitest.Admin, 422, "invalid"),
		b.adopt("a name as a number", item(`,"vmid":"customers/web"`), apitest.Admin, 422, "invalid"),
		b.adopt("one that is not there", item(`,"guest_ref":"../web"`), apitest.Admin, 404, "not_found", "../web"),
		b.adopt("a VM", item(`,"guest_ref":"machine"`), apitest.Admin, 404, "not_found"),
		b.adopt("of another cluster", item(`,"guest_ref":"102"`), apitest.Admin, 404, "not_found"),
		b.adopt("by its name", item(`,"guest_ref":"customers/web"`), apitest.Admin, 200, "", `"name":"web"`, `"vmid":null`,
			`"guest_ref":"customers/web"`, `"status":"running"`),
		b.adopt("again", item(`,"guest_ref":"customers/web"`), apitest.Admin, 409, "already_adopted", "customers/web"),
		b.adopt("a number by its text", `{"items":[{"host_id":1,"guest_ref":"102"}]}`, apitest.Admin, 200, "", `"vmid":102`),
	)
	if got := b.Value("SELECT string_agg(g.uid, ' ') FROM apps a JOIN guests g ON g.id = a.guest_id"); got != "u2" {
		t.Errorf("apps of %s, want u2", got)
	}
}

func TestAppAndItsContainer(t *testing.T) {
	t.Parallel()
	b := newApps(t)
	inventorytest.Adopt(t, b.DB, 1, 101, "The wiki")
	inventorytest.MissingApp(t, b.DB, 1, 777, "Lost")
	b.Exec("INSERT INTO apps (guest_ref, vmid, name) VALUES ('5', 5, 'Homeless')")
	act := func(name, path, body string, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "POST", "/api/v1/apps/"+path, body, apitest.Operator, status, code, contains...)
	}
	only := func(actions ...string) (all []apitest.Scenario) {
		for _, a := range actions {
			all = append(all, act(a+" is no action of an app", "1/"+a, "", 422, "invalid"))
		}
		return all
	}
	b.Run(t, only("pause", "resume", "reset", "explode")...)
	b.Run(t,
		b.get("with its container's figures", "/1", apitest.Viewer, 200, "",
			[]string{`"status":"running"`, `"memory_bytes":1000`, `"vmid":101`, `"node":"n1"`}, nil),
		b.get("whose container is gone", "/2", apitest.Viewer, 200, "", []string{`"status":"unknown"`, `"memory_bytes":null`, `"node":null`},
			nil),
		b.get("none is missing yet", "?status=missing", apitest.Viewer, 200, "", nil, []string{"Lost"}),
		b.get("whose host is gone", "/3", apitest.Viewer, 200, "", []string{`"host_id":null`}, nil),
		b.get("whose host is gone, to a stranger", "/3", apitest.In(2, identity.Owner), 404, "not_found", nil, nil),
		act("no container to start", "2/start", "", 409, "invalid_state"),
		act("no host to start it on", "3/start", "", 409, "invalid_state"),
		act("restart", "1/restart", "", 202, "", `"kind":"app.restart"`, `"id":1`, `"name":"The wiki"`),
		act("while that is not done", "1/stop", "", 409, "guest_busy"),
		b.get("it is pending", "?status=pending", apitest.Viewer, 200, "", []string{`"The wiki"`}, nil),
	)
	b.Exec("UPDATE apps SET absent_since = now(), absent_for = '15 minutes' WHERE id = 2")
	b.Run(t, b.get("whose container was away for long", "?status=missing", apitest.Viewer, 200, "",
		[]string{`"Lost"`, `"status":"missing"`, `"missing_since":"2`}, []string{"wiki", "Homeless"}))
}

func TestOwnContainerOfAnApp(t *testing.T) {
	t.Parallel()
	b := newApps(t)
	inventorytest.Adopt(t, b.DB, 1, 101, "The wiki")
	inventorytest.Adopt(t, b.DB, 1, 102, "mail")
	b.Exec("INSERT INTO settings (key, value) VALUES ('self.host_id', '2')")
	// The id that the container runs under tells, not the name; any member of the cluster may be the one that was named.
	b.Guests.Self.Container, b.Guests.Self.Hostname = "101", "mail"
	b.Run(t,
		b.get("is marked", "/1", apitest.Viewer, 200, "", []string{`"is_self":true`}, nil),
		b.get("the other is not", "/2", apitest.Viewer, 200, "", []string{`"is_self":false`}, nil),
		apitest.Scenario{Name: "stop", Method: "POST", URL: "/api/v1/apps/1/stop", As: apitest.Operator, Status: 409, Error: "self_target",
			Contains: []string{`"confirm_phrase":"The wiki"`}},
		apitest.Scenario{Name: "stop with its name", Method: "POST", URL: "/api/v1/apps/1/stop", Body: `{"confirm":"The wiki"}`,
			As: apitest.Operator, Status: 202},
	)
}
