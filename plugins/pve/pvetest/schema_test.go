package pvetest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvetest"
)

// checked are the parts of the API whose answers the schema check must accept as they were recorded.
var checked = []string{"/version", "/nodes/{node}/version", "/access/permissions", "/access/users", "/access/roles", "/access/acl",
	"/access/users/{userid}/token/{tokenid}", "/cluster/resources", "/cluster/status", "/cluster/tasks", "/nodes", "/nodes/{node}/status",
	"/nodes/{node}/tasks", "/nodes/{node}/tasks/{upid}/status", "/nodes/{node}/tasks/{upid}/log", "/nodes/{node}/qemu", "/nodes/{node}/lxc",
	"/nodes/{node}/qemu/{vmid}/status/current", "/nodes/{node}/lxc/{vmid}/status/current",
	"/nodes/{node}/qemu/{vmid}/status/start", "/nodes/{node}/lxc/{vmid}/status/stop"}

func TestCheckAnswerAcceptsWhatTheRealServerSent(t *testing.T) {
	t.Parallel()
	schema := pvetest.LoadSchema(t)
	n := 0
	for _, e := range pvetest.Exchanges(t) {
		m, _ := schema.Find(e.Method, strings.ReplaceAll(e.Path, "//", "/"))
		if e.Status != 200 || m == nil || !slices.Contains(checked, m.Path) || !strings.HasPrefix(e.Request.URL, "/api2/json") &&
			e.Request.UPID == "" {
			continue
		}
		n++
		for _, fault := range schema.CheckAnswer(e.Method, e.Path, e.Response) {
			t.Errorf("%s: %s", e.Case, fault)
		}
	}
	if n < 40 {
		t.Errorf("only %d recordings were checked", n)
	}
}

func TestCheckAnswerFindsFaults(t *testing.T) {
	t.Parallel()
	schema := pvetest.LoadSchema(t)
	for name, c := range map[string]struct{ method, path, body, want string }{
		"no data":        {"GET", "/version", `{}`, "has no data"},
		"no JSON":        {"GET", "/version", `x`, "no JSON object"},
		"unknown member": {"GET", "/version", `{"data":{"version":"9","release":"9","repoid":"x","bogus":1}}`, `"bogus"`},
		"wrong type":     {"GET", "/nodes", `{"data":[{"node":["a"],"status":"online"}]}`, "is an array"},
		"missing":        {"GET", "/version", `{"data":{"version":"9","release":"9"}}`, `"repoid" is missing`},
		"bad enum":       {"GET", "/nodes/pve1/tasks/x/status", `{"data":{"status":"gone"}}`, `"gone"`},
		"unknown path":   {"GET", "/nope", `{"data":1}`, "not in the schema"},
		"text as number": {"GET", "/cluster/resources", `{"data":[{"id":"x","type":"node","mem":"many"}]}`, `"many"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(schema.CheckAnswer(c.method, c.path, []byte(c.body)), "\n")
			if !strings.Contains(got, c.want) {
				t.Errorf("faults %q do not contain %q", got, c.want)
			}
		})
	}
}

func TestCheckRequest(t *testing.T) {
	t.Parallel()
	schema := pvetest.LoadSchema(t)
	for name, c := range map[string]struct {
		method, path string
		params       map[string]string
		want         string // "" means fine
	}{
		"fine":           {"POST", "/nodes/pve1/qemu/100/status/shutdown", map[string]string{"timeout": "60", "forceStop": "1"}, ""},
		"indexed":        {"PUT", "/nodes/pve1/lxc/100/config", map[string]string{"net0": "name=eth0,bridge=vmbr0"}, ""},
		"unknown":        {"POST", "/nodes/pve1/lxc/100/status/start", map[string]string{"timeout": "60"}, `"timeout" is not in the schema`},
		"missing":        {"POST", "/nodes/pve1/status", nil, `"command" is missing`},
		"enum":           {"POST", "/nodes/pve1/status", map[string]string{"command": "dance"}, "not one of"},
		"type":           {"GET", "/nodes/pve1/tasks", map[string]string{"limit": "x"}, "is no integer"},
		"range":          {"GET", "/nodes/pve1/tasks", map[string]string{"limit": "-1"}, "is below 0"},
		"boolean":        {"GET", "/nodes/pve1/tasks", map[string]string{"errors": "yes"}, "neither 0 nor 1"},
		"path parameter": {"GET", "/nodes/pve1/qemu/7/status/current", nil, "is below 100"},
		"method":         {"POST", "/version", nil, "not in the schema"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(schema.CheckRequest(c.method, c.path, c.params), "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("faults %q, want %q", got, c.want)
			}
		})
	}
}

func TestRecordingsAreRead(t *testing.T) {
	t.Parallel()
	if n := len(pvetest.Exchanges(t)); n < 900 {
		t.Errorf("%d exchanges", n)
	}
	task, ok := pvetest.RecordedTasks(t)["qemu_start_running"]
	var status struct {
		Data struct{ ExitStatus string }
	}
	if err := json.Unmarshal(task.Response, &status); !ok || err != nil || status.Data.ExitStatus != "VM 210 already running" {
		t.Errorf("task %+v, %v", status, err)
	}
}
