package scenarios

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestHostNodeStatus(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	b.Enrol(t, "lab", b.cluster)
	get := func(name, node string, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "GET", "/api/v1/hosts/1/nodes/"+node+"/status", "", apitest.Viewer, status, code, contains...)
	}
	whole := get("all of it", "node1", 200, "", `"node":"node1"`, `"is_self":false`)
	whole.After = func(t *testing.T, answer *apitest.Response) {
		var got struct {
			UptimeS     int64     `json:"uptime_s"`
			LoadAverage []float64 `json:"load_average"`
			CPU         float64   `json:"cpu"`
			Memory      int64     `json:"memory_bytes"`
			MemoryTotal int64     `json:"memory_total_bytes"`
			Disk        int64     `json:"disk_bytes"`
			Swap        *int64    `json:"swap_bytes"`
			Kernel      string    `json:"kernel"`
			BootMode    string    `json:"boot_mode"`
			SecureBoot  *bool     `json:"secure_boot"`
		}
		answer.Decode(t, &got)
		if got.UptimeS != 3600 || len(got.LoadAverage) != 3 || got.CPU != 0.5 || got.Memory != 8<<30 || got.MemoryTotal != 16<<30 ||
			got.Disk != 10<<30 ||
			got.Swap == nil || *got.Swap != 0 || got.Kernel != "6.1.0-mem" || got.BootMode != "efi" || got.SecureBoot == nil {
			t.Errorf("%s", answer.Body)
		}
	}
	b.Run(t, whole,
		get("another node", "node2", 200, "", `"node":"node2"`, `"is_self":false`),
		get("an unknown node", "node3", 404, "not_found"),
		get("another case", "NODE1", 404, "not_found"),
		apitest.Scenario{Name: "an unknown host", Method: "GET", URL: "/api/v1/hosts/9/nodes/node1/status", As: apitest.Viewer, Status: 404,
			Error: "not_found"},
		apitest.Scenario{Name: "another team's host", Method: "GET", URL: "/api/v1/hosts/1/nodes/node1/status",
			As: foreign, Status: 404, Error: "not_found"},
		apitest.Scenario{Name: "nobody", Method: "GET", URL: "/api/v1/hosts/1/nodes/node1/status", Status: 401, Error: "unauthenticated"},
		apitest.Scenario{Name: "it only reads", Method: "POST", URL: "/api/v1/hosts/1/nodes/node1/status", As: apitest.Owner, Body: `{}`,
			Status: 405, Error: "method_not_allowed"},
		apitest.Scenario{Name: "self", Method: "PUT", URL: "/api/v1/hosts/self", As: apitest.Admin, Body: `{"host_id":1}`, Status: 200},
		get("the entry node is the service's own", "node1", 200, "", `"is_self":true`),
		get("the other is not", "node2", 200, "", `"is_self":false`),
	)
	b.cluster.SetFault("nodestatus", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "node1 is offline")})
	b.Run(t, get("off", "node1", 502, "hypervisor_error", `"reason":"unreachable"`, "node1 is offline"))
	b.cluster.SetFault("nodestatus", memdriver.Fault{Err: plugin.Errorf(plugin.Timeout, "no answer")})
	b.Run(t, get("late", "node1", 504, "timeout"))
	b.cluster.SetFault("nodestatus", memdriver.Fault{})
	weak := b.cluster.NewToken(endpoint.Monitoring, "weak", memdriver.GuestAudit).Credential
	b.Run(t,
		apitest.Scenario{Name: "a token without the right", Method: "POST", URL: "/api/v1/hosts/1/credentials", As: apitest.Owner, Status: 200,
			Body: `{"token_id":"` + weak.ID + `","token_secret":"` + string(weak.Secret) + `"}`},
		get("is refused by the hypervisor", "node1", 502, "hypervisor_error", `"reason":"permission"`, `"missing":["Node.Audit"]`),
	)
	b.cluster.Revoke(b.cluster.NewToken(endpoint.Monitoring, "weak"))
	b.Run(t, get("a revoked token", "node1", 502, "hypervisor_error", `"reason":"auth"`))
	if n := b.Value("SELECT count(*) FROM audit WHERE action LIKE '%node%'"); n != "0" {
		t.Errorf("%s rows of the audit log for reading", n)
	}
}

func TestHostNodeStatusOfHostileNames(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	b.Enrol(t, "lab", b.cluster)
	for name, c := range map[string]struct {
		node   string
		status int
		code   string
	}{
		"dots":                 {"..", 404, "not_found"},
		"escaped dots":         {"%2e%2e", 404, "not_found"},
		"a dot":                {".", 404, "not_found"},
		"nothing":              {"", 404, "not_found"},
		"a slash":              {"node1%2F..", 404, "not_found"},
		"only a slash":         {"%2F", 404, "not_found"},
		"another path":         {"..%2Fnodes%2Fnode1", 404, "not_found"},
		"escaped twice":        {"%252e%252e", 404, "not_found"},
		"NUL":                  {"node1%00", 404, "not_found"},
		"a new line":           {"node1%0d%0aX:y", 404, "not_found"},
		"a query":              {"node1%3Fa=b", 404, "not_found"},
		"not UTF-8":            {"%ff%fe", 404, "not_found"},
		"markup":               {"%3Cscript%3E", 404, "not_found"},
		"SQL":                  {"'%3B%20DROP%20TABLE%20hosts%3B--", 404, "not_found"},
		"the longest":          {strings.Repeat("n", 253), 404, "not_found"},
		"too long":             {strings.Repeat("n", 254), 422, "invalid"},
		"too long for a path":  {strings.Repeat("n", 5000), 404, "not_found"},
		"the word for oneself": {"localhost", 404, "not_found"},
	} {
		b.Run(t, apitest.Scenario{
			Name: name, Method: "GET", URL: "/api/v1/hosts/1/nodes/" + c.node + "/status", As: apitest.Viewer, Status: c.status, Error: c.code,
			Lacks: []string{"uptime_s", strings.Repeat("n", 200)},
		})
	}
}
