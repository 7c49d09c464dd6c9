package scenarios

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestPeersOfHosts(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	b.driver.AddEntry(b.cluster, "second.mem:8006", "node2")
	at := `,"name":"lab","address":"pool.mem","tls_fingerprint":"` + b.cluster.Fingerprint() + `"`
	b.Expect(t, "POST", "hosts", pasteOfHost(b.cluster.RoleOutput(fourCapabilities[:2], nil), at), apitest.Admin, 201, "")
	b.Expect(t, "POST", "hosts/1/sync", "", apitest.Operator, 200, "")
	get := func(name string, as *apitest.Caller, status int, code string, contains ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "GET", URL: "/api/v1/hosts/1/peers", As: as, Status: status, Error: code, Contains: contains,
			Lacks: []string{"secret-of"}}
	}
	post := func(name, body string, as *apitest.Caller, status int, code string, contains ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "POST", URL: "/api/v1/hosts/1/peers", As: as, Body: body, Status: status, Error: code,
			Contains: contains, Lacks: []string{"secret-of"}}
	}
	two := `{"nodes":["node2","node9"]}`
	b.Run(t,
		get("operators may not look", apitest.Operator, 403, "forbidden"),
		get("an admin looks", apitest.Admin, 200, "", `[{"node":"node2","address":"second.mem:8006","fingerprint":"`+b.cluster.Fingerprint(),
			`"reachable":true`, `"enrolled":false,"host_id":null,"can_enrol":true}]`),
		post("admins may not enrol", two, apitest.Admin, 403, "forbidden"),
		post("no node", `{"nodes":[]}`, apitest.Owner, 422, "invalid", `["body","nodes"]`),
		post("NUL", `{"nodes":["node2\u0000"]}`, apitest.Owner, 422, "invalid", `["body","nodes",0]`),
		post("very many", `{"nodes":["`+strings.Repeat(`n","`, 100)+`n"]}`, apitest.Owner, 422, "invalid", `"too_long"`),
		post("half a certificate", `{"nodes":["node2"],"tls_fingerprints":{"node2":"AB"}}`, apitest.Owner, 422, "invalid",
			`["body","tls_fingerprints","node2"]`),
	)

	// What the host itself fails with is the row of each.
	denied := plugin.Errorf(plugin.Denied, "no")
	denied.Missing, denied.Path, denied.Remedy = []string{"Node.Audit"}, "/", "grant it"
	for want, err := range map[string]error{
		`"error":"hypervisor_error","detail":"gone","reason":"unreachable","missing":[]`: plugin.Errorf(plugin.Unreachable, "gone"),
		`"error":"timeout","detail":"late","reason":"timeout"`:                           plugin.Errorf(plugin.Timeout, "late"),
		`"reason":"permission","missing":["Node.Audit"],"path":"/","remedy":"grant it"}`: denied,
	} {
		b.cluster.SetFault("peers", memdriver.Fault{Err: err})
		b.Run(t, post("of a host that fails", two, apitest.Owner, 200, "", `[{"node":"node2","host_id":null`, `{"node":"node9"`, want))
	}
	b.cluster.SetFault("peers", memdriver.Fault{})

	b.Run(t,
		post("one and none", two, apitest.Owner, 200, "",
			`{"node":"node2","host_id":2,"name":"node2","capabilities":["monitoring","lifecycle"],`+
				`"error":null`, `{"node":"node9","host_id":null,"name":null,"capabilities":[],"error":"not_found"`),
		post("again", `{"nodes":["node2"]}`, apitest.Owner, 200, "", `"error":"already_enrolled"`),
	)
	b.readable()
	details := b.Value("SELECT details::text FROM audit WHERE action = 'host.create' AND target_id = '2'")
	for _, want := range []string{`"peer_of": 1`, "second.mem:8006", `"monitoring", "lifecycle"`, "service@mem!lifecycle"} {
		if !strings.Contains(details, want) {
			t.Errorf("the details in the audit log do not contain %s: %s", want, details)
		}
	}
	if n := b.Value("SELECT count(*) FROM audit WHERE action = 'host.enrol_peers' AND details->'refused'->>'node9' = 'not_found'"); n != "1" {
		t.Errorf("%s rows of the audit log name the missing node, want 1", n)
	}
}
