package scenarios

import (
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/vms"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/host/hosttest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

func registerVMs(a *op.API, d api.Deps) { vms.Register(a, d.VMs) }

// newVMs is the resource on a real database. Jobs are enqueued and never begin.
func newVMs(t *testing.T, edits ...func(*service.Config)) *servicetest.Resource {
	t.Helper()
	r := servicetest.NewResource(t, registerVMs, edits...)
	inventorytest.Write(t, r.DB,
		inventorytest.Cluster{Name: "prod", Hosts: []inventorytest.Host{{Name: "rack1", Capabilities: []string{"lifecycle"}}},
			Guests: []inventorytest.Guest{
				{VMID: 100, Node: "n1", Name: "web", CPU: 0.5, Memory: 1000, Uptime: 60},
				{VMID: 101, Node: "n1", Name: "base", Status: "stopped", Template: true},
				{VMID: 102, Node: "n1", Name: "ct", Container: true},
			}},
		inventorytest.Cluster{Team: 2, Hosts: []inventorytest.Host{{Name: "rack2"}},
			Guests: []inventorytest.Guest{{VMID: 100, Node: "m1", Name: "far", Status: "unknown"}}})
	return r
}

func TestListAndGetVMs(t *testing.T) {
	t.Parallel()
	b := newVMs(t)
	get := func(name, url string, as *apitest.Caller, status int, code string, contains, lacks []string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "GET", URL: "/api/v1/vms" + url, As: as, Status: status, Error: code, Contains: contains,
			Lacks: lacks}
	}
	b.Run(t,
		get("all, containers not among them", "", apitest.Viewer, 200, "",
			[]string{`"name":"web"`, `"name":"far"`, `"name":"base"`, `"memory_bytes":1000`}, []string{`"name":"ct"`}),
		get("of one host", "?host=2", apitest.Viewer, 200, "", []string{`"name":"far"`}, []string{`"name":"web"`}),
		get("of a host that is not there", "?host=99", apitest.Viewer, 200, "", []string{"[]"}, nil),
		get("by a piece of the name", "?q=WE", apitest.Viewer, 200, "", []string{`"name":"web"`}, []string{`"name":"far"`}),
		get("by what means something to LIKE", "?q=%25", apitest.Viewer, 200, "", []string{"[]"}, nil),
		get("by state", "?status=stopped", apitest.Viewer, 200, "", []string{`"name":"base"`}, []string{`"name":"web"`}),
		get("of another team", "", apitest.In(2, identity.Viewer), 200, "", []string{`"name":"far"`}, []string{`"name":"web"`}),
		get("of no team", "", apitest.NoRole, 403, "forbidden", nil, nil),
		get("of nobody", "", nil, 401, "unauthenticated", nil, nil),
		get("one", "/1", apitest.Viewer, 200, "",
			[]string{`"vmid":100`, `"host":"rack1"`, `"cluster":"prod"`, `"uptime_s":60`, `"is_self":false`}, nil),
		get("one whose figures are not known", "/4", apitest.Viewer, 200, "",
			[]string{`"status":"unknown"`, `"cpu":null`, `"memory_bytes":null`}, nil),
		get("a container", "/3", apitest.Viewer, 404, "not_found", nil, nil),
		get("another team's", "/1", apitest.In(2, identity.Owner), 404, "not_found", nil, nil),
		get("no number", "/x", apitest.Viewer, 422, "invalid", nil, nil),
	)
}

func TestActionsOnVMs(t *testing.T) {
	t.Parallel()
	b := newVMs(t)
	act := func(name, path, body string, as *apitest.Caller, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "POST", "/api/v1/vms/"+path, body, as, status, code, contains...)
	}
	b.Run(t,
		act("no such action", "1/explode", "", apitest.Operator, 422, "invalid"),
		act("no such VM", "99/start", "", apitest.Operator, 404, "not_found"),
		act("a viewer", "1/start", "", apitest.Viewer, 403, "forbidden"),
		act("a template", "2/start", "", apitest.Operator, 409, "invalid_state"),
		act("a host without the token", "4/start", "", apitest.Operator, 409, "capability_missing", `"capability":"lifecycle"`),
		act("stop", "1/stop", "", apitest.Operator, 202, "", `"kind":"vm.stop"`, `"status":"queued"`, `"is_self":false`),
		act("while that is not done", "1/start", "", apitest.Operator, 409, "guest_busy"),
		apitest.Scenario{Name: "it is pending", Method: "GET", URL: "/api/v1/vms?status=pending", As: apitest.Viewer, Status: 200,
			Contains: []string{`"name":"web"`, `"status":"pending"`}},
	)
	if got := b.Value("SELECT string_agg(action || ' ' || result || ' ' || coalesce(job_id::text, '-'), ', ' ORDER BY id) FROM audit " +
		"WHERE result = 'ok'"); got != "vm.stop ok 1" {
		t.Errorf("the audit log: %s", got)
	}
}

// The guest that the service itself runs in is taken away only after its name was typed.
func TestActionsOnTheServicesOwnVM(t *testing.T) {
	t.Parallel()
	b := newVMs(t)
	b.Exec("INSERT INTO settings (key, value) VALUES ('self.host_id', '1')")
	b.Guests.Self.Hostname = "WEB"
	act := func(name, action, body string, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "POST", "/api/v1/vms/1/"+action, body, apitest.Operator, status, code, contains...)
	}
	b.Run(t,
		apitest.Scenario{Name: "is marked", Method: "GET", URL: "/api/v1/vms/1", As: apitest.Viewer, Status: 200,
			Contains: []string{`"is_self":true`}},
		act("stop", "stop", "", 409, "self_target", `"confirm_phrase":"web"`),
		act("shutdown", "shutdown", "{}", 409, "self_target"), act("restart", "restart", "", 409, "self_target"),
		act("pause", "pause", "", 409, "self_target"), act("reset", "reset", `{"confirm":"WEB"}`, 409, "self_target"),
		act("stop with its name", "stop", `{"confirm":"web"}`, 202, "", `"is_self":true`),
	)
	b.Exec("UPDATE jobs SET status = 'failed'")
	b.Run(t, act("start needs no word", "start", "", 202, "", `"is_self":true`))
	b.Exec("UPDATE settings SET value = '2'")
	b.Run(t, apitest.Scenario{Name: "a name elsewhere is another's", Method: "GET", URL: "/api/v1/vms/1", As: apitest.Viewer, Status: 200,
		Contains: []string{`"is_self":false`}})
}

// What was moved to another cluster is not started beside itself without a word.
func TestStartOfAVMThatWasMoved(t *testing.T) {
	t.Parallel()
	b := newVMs(t)
	b.Exec("UPDATE guests SET tags = '{prod,moved}', status = 'stopped' WHERE kind = 'vm'")
	act := func(name, action, body string, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "POST", "/api/v1/vms/1/"+action, body, apitest.Operator, status, code, contains...)
	}
	b.Run(t,
		act("start", "start", "", 409, "confirm_required", `"confirm_phrase":"web"`, "it was moved to another host"),
		act("plan", "start?plan=true", "", 200, "", `"confirm_phrase":"web"`, `"text":"web is started."`),
		act("with its name", "start", `{"confirm":"web"}`, 202, ""),
	)
	b.Exec("UPDATE jobs SET status = 'failed'")
	b.Run(t, act("stop", "stop", "", 202, ""))
	b.Exec("UPDATE jobs SET status = 'failed'")
	b.Exec("UPDATE guests SET tags = '{prod}'")
	b.Run(t, act("without the tag", "start", "", 202, ""))
}

// What the hypervisor of a VM cannot do is refused at once.
func TestActionsOnVMsThatTheDriverLacks(t *testing.T) {
	t.Parallel()
	b := newVMs(t, func(c *service.Config) {
		c.Drivers = hosttest.DriverTable{"pve": memdriver.New(), "certmem": memdriver.NewCertificateDriver()}
	})
	act := func(name, action string, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "POST", "/api/v1/vms/1/"+action, "", apitest.Operator, status, code, contains...)
	}
	b.Exec("UPDATE hosts SET driver = 'certmem'")
	b.Run(t, act("reset", "reset", 501, "unsupported", "Certified Memory"), act("pause", "pause", 202, ""))
	b.Exec("UPDATE jobs SET status = 'failed'")
	b.Exec("UPDATE hosts SET driver = 'pve'")
	b.Run(t, act("reset of another", "reset", 202, ""))
}
