package scenarios

import (
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestHostNodeHardware(t *testing.T) {
	t.Parallel()
	b := newHosts(t)
	b.Enrol(t, "lab", b.cluster)
	get := func(name, of string, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "GET", "/api/v1/hosts/1/nodes/"+of, "", apitest.Viewer, status, code, contains...)
	}
	read := func(answer *apitest.Response) (got host.NodeHardware) {
		answer.Decode(t, &got)
		return got
	}
	quiet := get("disks are let sleep", "node1/hardware", 200, "", `"node":"node1"`, `"health_asked":false`, `"unreadable":[]`,
		`"key":"mem-…"`, `"addresses":["192.0.2.10/24","2001:db8::a/64"]`, `"iommu_group":3`, `"nameservers":["192.0.2.53"]`,
		`"checked_at":"2026-01-02T03:04:05Z"`, `"comment":null`, `"ports":[]`)
	quiet.After = func(t *testing.T, answer *apitest.Response) {
		got := read(answer)
		if len(got.Disks) != 2 || !got.Disks[0].Wakes || got.Disks[0].Health != nil || got.Disks[1].Wakes || got.Disks[1].WearPercent != nil ||
			len(got.Interfaces) != 2 || len(got.PCI) != 1 || len(got.Services) != 1 || got.System.Clock == nil {
			t.Errorf("%s", answer.Body)
		}
	}
	b.Run(t, quiet,
		get("disks are asked", "node2/hardware?health=true", 200, "", `"health_asked":true`, `"health":"passed"`, `"health":"failed"`,
			`"wear_percent":97`),
		get("an unknown node", "node3/hardware", 404, "not_found"),
		get("a name that no node can have", "..%2Fnode1/hardware", 404, "not_found"),
		get("no truth value", "node1/hardware?health=perhaps", 422, "invalid"),
		apitest.Scenario{Name: "an unknown host", Method: "GET", URL: "/api/v1/hosts/9/nodes/node1/hardware", As: apitest.Viewer,
			Status: 404, Error: "not_found"},
		apitest.Scenario{Name: "another team's host", Method: "GET", URL: "/api/v1/hosts/1/nodes/node1/hardware",
			As: foreign, Status: 404, Error: "not_found"},
		apitest.Scenario{Name: "nobody", Method: "GET", URL: "/api/v1/hosts/1/nodes/node1/hardware", Status: 401, Error: "unauthenticated"},
	)

	denied := plugin.Errorf(plugin.Denied, "no")
	denied.Missing, denied.Path, denied.Remedy = []string{"Node.Audit"}, "/nodes/node1", "grant it"
	for method, err := range map[string]error{
		"disks": plugin.Errorf(plugin.Timeout, "late"), "pci": denied, "services": plugin.Errorf(plugin.Refused, "not today"),
		"subscription": plugin.Errorf(plugin.Unsupported, "there is none"), "interfaces": plugin.Errorf(plugin.Unreachable, "gone"),
	} {
		b.cluster.SetFault(method, memdriver.Fault{Err: err})
	}
	some := get("one is left", "node1/hardware", 200, "", `"disks":null`, `"subscription":null`, `"nameservers":["192.0.2.53"]`)
	some.After = func(t *testing.T, answer *apitest.Response) {
		reasons := map[string]host.Unreadable{}
		for _, u := range read(answer).Unreadable {
			reasons[u.Section] = u
		}
		for section, want := range map[string]string{"disks": "timeout", "pci": "permission", "services": "refused",
			"subscription": "unsupported", "interfaces": "unreachable"} {
			if got := reasons[section]; got.Reason != want || got.Detail == "" {
				t.Errorf("%s is unreadable with %+v, want %s", section, got, want)
			}
		}
		if u := reasons["pci"]; len(reasons) != 5 || len(u.Missing) != 1 || u.Missing[0] != "Node.Audit" || u.Path == nil ||
			*u.Path != "/nodes/node1" || u.Remedy == nil || *u.Remedy != "grant it" {
			t.Errorf("%s", answer.Body)
		}
	}
	b.Run(t, some)
	b.cluster.SetFault("system", memdriver.Fault{Err: plugin.Errorf(plugin.Timeout, "late")})
	b.Run(t, get("none is left, and some said why", "node1/hardware", 502, "hypervisor_error", `"reason":"unreachable"`))
	setAll := func(fault memdriver.Fault) {
		for _, section := range hypervisor.HardwareSections() {
			b.cluster.SetFault(string(section), fault)
		}
	}
	setAll(memdriver.Fault{Err: plugin.Errorf(plugin.Timeout, "late")})
	b.Run(t, get("nothing came", "node1/hardware", 502, "hypervisor_error", `"reason":"timeout"`))
	setAll(memdriver.Fault{Err: plugin.Errorf(plugin.Unsupported, "no sections")})
	b.Run(t, get("it has none", "node1/hardware", 502, "hypervisor_error", `"reason":"unsupported"`))
	setAll(memdriver.Fault{})
	weak := b.cluster.NewToken(endpoint.Monitoring, "weak", memdriver.GuestAudit).Credential
	b.Run(t,
		apitest.Scenario{Name: "a token without the right", Method: "POST", URL: "/api/v1/hosts/1/credentials", As: apitest.Owner, Status: 200,
			Body: `{"token_id":"` + weak.ID + `","token_secret":"` + string(weak.Secret) + `"}`},
		get("is refused everything", "node1/hardware", 502, "hypervisor_error", `"reason":"permission"`, `"missing":["Node.Audit"]`),
	)
}
