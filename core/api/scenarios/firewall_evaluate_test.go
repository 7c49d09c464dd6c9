package scenarios

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/membackend"
	"github.com/hostler/hostler/sdk/plugin"
)

// switchOn makes the firewalls of the cluster and of both guests hold, with an address each. The VM's lets tcp 5432 in from the container.
func (b *firewallFixture) switchOn() {
	b.t.Helper()
	fw, err := b.backend.Open(b.t.Context(), b.firewall.Target(endpoint.Lifecycle))
	if err != nil {
		b.t.Fatal(err)
	}
	yes := true
	for i, scope := range []sdk.Scope{{Kind: sdk.ClusterScope}, firewallScope(b.guest), firewallScope(b.ct)} {
		err := fw.(*membackend.Firewall).ChangeOptions(b.t.Context(), scope, sdk.OptionsChange{Set: sdk.Options{Enable: &yes}})
		if err != nil {
			b.t.Fatal(err)
		}
		if i > 0 {
			b.firewall.SetNICs(scope, membackend.NIC{Name: "eth0", Address: fmt.Sprintf("192.0.2.%d", i)})
		}
	}
	b.firewall.SetNICs(sdk.Scope{Kind: sdk.NodeScope, Node: "node1"}, membackend.NIC{Name: "br0", Address: "192.0.2.254"})
	b.firewall.SetRules(firewallScope(b.guest),
		sdk.Rule{Direction: sdk.DirectionIn, Action: "ACCEPT", Protocol: "tcp", DestinationPort: "22"},
		sdk.Rule{Direction: sdk.DirectionIn, Action: "ACCEPT", Enabled: true, Protocol: "tcp", DestinationPort: "5432", Source: "192.0.2.2"})
}

// testPacket is a scenario of testing a packet.
func testPacket(name string, as *apitest.Caller, body string, status int, code string, contains ...string) apitest.Scenario {
	return do(name, "POST", "/api/v1/firewall/test", body, as, status, code, contains...)
}

func TestFirewallPacketTest(t *testing.T) {
	t.Parallel()
	b := newFirewall(t)
	b.switchOn()
	rows := b.Value("SELECT count(*) FROM audit")
	vm := fmt.Sprintf(`{"vm_id":%d}`, b.vm)
	fromApp := func(rest string) string {
		return fmt.Sprintf(`{"from":{"app_id":1},"to":%s,"protocol":"tcp"%s}`, vm, rest)
	}
	b.Run(t,
		testPacket("a rule accepts", apitest.Viewer, fromApp(`,"dport":5432`), 200, "", `"verdict":"accept"`,
			`"summary":"accept by rule 1 of guest `, `in ACCEPT proto tcp source 192.0.2.2 dport 5432"`, `"why":"disabled"`, `"app_id":1`,
			`"address":"192.0.2.2"`, `"at":"current"`, `"as_of":"20`),
		testPacket("the policy drops", apitest.Viewer, fromApp(`,"dport":80`), 200, "", `"verdict":"drop"`, `"check":"policy"`, `"why":"dport"`,
			`"reason":null`),
		testPacket("from outside", apitest.Viewer, fmt.Sprintf(`{"from":{"outside":true},"to":%s,"protocol":"tcp","dport":5432}`, vm), 200, "",
			`"verdict":"drop"`, `"why":"source"`, `"kind":"outside"`),
		testPacket("from an address", apitest.Viewer, fmt.Sprintf(`{"from":{"address":"192.0.2.2"},"to":%s,"protocol":"tcp","dport":5432}`, vm),
			200, "", `"verdict":"accept"`),
		testPacket("to a node", apitest.Viewer, `{"from":{"app_id":1},"to":{"host_id":1,"node":"node1"},"protocol":"icmp"}`, 200, "",
			`"verdict":"drop"`, `"kind":"node"`),
		testPacket("a NIC that is not there", apitest.Viewer, fmt.Sprintf(
			`{"from":{"app_id":1},"to":{"vm_id":%d,"nic":"eth9"},"protocol":"tcp"}`, b.vm), 200, "", `"verdict":"unknown"`, `"by":null`, `eth9`),
		testPacket("nobody", nil, fromApp(""), 401, "unauthenticated"),
		testPacket("another team's", foreign, fromApp(""), 404, "not_found"),
		testPacket("a node of another team's", foreign, `{"from":{"outside":true},"to":{"host_id":1,"node":"node1"},"protocol":"tcp"}`, 404,
			"not_found"),
		testPacket("a guest that is not there", apitest.Viewer, `{"from":{"app_id":1},"to":{"vm_id":99},"protocol":"tcp"}`, 404, "not_found"),
		testPacket("a node that is not there", apitest.Viewer, `{"from":{"app_id":1},"to":{"host_id":1,"node":"node9"},"protocol":"tcp"}`, 404,
			"not_found"),
		testPacket("no ends", apitest.Viewer, `{"from":{},"to":{"vm_id":1,"app_id":1,"address":"x"},"protocol":"tcp"}`, 422, "invalid",
			`"from"`, `must contain one of`, `must contain only one`, `"address"`),
		testPacket("only outside", apitest.Viewer, `{"from":{"outside":true},"to":{"address":"192.0.2.9"},"protocol":"tcp"}`, 422, "invalid",
			`"to"`),
		testPacket("a node without host", apitest.Viewer, `{"from":{"node":"node1"},"to":{"app_id":1,"nic":"\u0007"},"protocol":"tcp"}`, 422,
			"invalid", "host_id", "control"),
		testPacket("a port that is none", apitest.Viewer, fromApp(`,"dport":65536`), 422, "invalid", `"dport"`),
		testPacket("an unknown key", apitest.Viewer, fromApp(`,"port":1`), 422, "invalid", `"port"`),
		testPacket("a draft that is not there", apitest.Viewer, fromApp(`,"at":"7"`), 404, "not_found"),
		testPacket("what no draft is", apitest.Viewer, fromApp(`,"at":"-7"`), 422, "invalid", `"at"`),
	)
	b.firewall.FailCall("Test", plugin.Errorf(plugin.Unreachable, "no route"))
	b.Run(t, testPacket("a hypervisor that is away", apitest.Viewer, fromApp(""), 502, "hypervisor_error"))
	if n := b.Value("SELECT count(*) FROM audit"); n != rows {
		t.Errorf("%s rows of the audit log after tests, %s before", n, rows)
	}
}

func TestFirewallReach(t *testing.T) {
	t.Parallel()
	b := newFirewall(t)
	b.switchOn()
	reach := func(name string, as *apitest.Caller, body string, status int, code string, contains ...string) apitest.Scenario {
		s := testPacket(name, as, body, status, code, contains...)
		s.URL = "/api/v1/firewall/reach"
		return s
	}
	vm := fmt.Sprintf(`"to":{"vm_id":%d}`, b.vm)
	b.Run(t,
		reach("of a VM", apitest.Viewer, "{"+vm+"}", 200, "", `"open":[{"proto":"tcp","first":5432,"last":5432}],"ping":false`, `"open":[]`,
			`"kind":"outside"`, `"omitted":0`),
		reach("bounded", apitest.Viewer, "{"+vm+`,"limit":1}`, 200, "", `"omitted":1`),
		reach("no limit", apitest.Viewer, "{"+vm+`,"limit":0}`, 422, "invalid", `"limit"`),
		reach("another team's", foreign, "{"+vm+"}", 404, "not_found"),
		reach("of who is outside", apitest.Viewer, `{"to":{"outside":true}}`, 422, "invalid", `"to"`),
	)
}

// A guest sends from its address of the version of IP that it is asked about, and from both where none is named.
func TestFirewallReachByEachVersionOfIP(t *testing.T) {
	t.Parallel()
	b := newFirewall(t)
	b.switchOn()
	b.firewall.SetRules(firewallScope(b.guest),
		sdk.Rule{Direction: sdk.DirectionIn, Action: "ACCEPT", Enabled: true, Protocol: "tcp", DestinationPort: "5432", Source: "fd00::/64"})
	for addresses, want := range map[string][3]string{
		"'fe80::2', '192.0.2.2', '192.0.2.3', 'fd00::2', 'fd00::3'": {"5432 192.0.2.2", "closed 192.0.2.2", "5432 fd00::2"},
		"'fd00::2'":   {"5432 fd00::2", "5432 fd00::2", "5432 fd00::2"},
		"'192.0.2.2'": {"closed 192.0.2.2", "closed 192.0.2.2", "closed 192.0.2.2"},
	} {
		b.Exec("UPDATE guests SET addresses = ARRAY[" + addresses + "] WHERE kind = 'container'")
		for i, to := range []string{"", `,"address":"192.0.2.1"`, `,"address":"fd00::1"`} {
			open := "[]"
			verdict, address, _ := strings.Cut(want[i], " ")
			if verdict == "5432" {
				open = `[{"proto":"tcp","first":5432,"last":5432}]`
			}
			s := testPacket(addresses+" to "+to, apitest.Viewer, fmt.Sprintf(`{"to":{"vm_id":%d%s}}`, b.vm, to), 200, "",
				`"address":"`+address+`","iface":null},"open":`+open+`,"ping":false`)
			s.URL = "/api/v1/firewall/reach"
			b.Run(t, s)
		}
	}
}

// firewallDrafts has one draft of the cluster of host 1.
type firewallDrafts struct{ states []sdk.State }

func (d firewallDrafts) States(_ context.Context, id, _ int64) ([]sdk.State, error) {
	if id != 7 {
		return nil, problem.New(problem.CodeNotFound, "draft not found")
	}
	return d.states, nil
}

func TestFirewallPacketTestOfADraft(t *testing.T) {
	t.Parallel()
	b := newFirewall(t)
	b.switchOn()
	yes := true
	b.Service.API.Firewall.Firewalls.Drafts = firewallDrafts{[]sdk.State{
		{Scope: firewallScope(b.guest), Options: sdk.Options{Enable: &yes, PolicyIn: "ACCEPT"}}}}
	body := fmt.Sprintf(`{"from":{"app_id":1},"to":{"vm_id":%d},"protocol":"tcp","dport":80,"at":%%q}`, b.vm)
	b.Run(t,
		testPacket("as it is", apitest.Viewer, fmt.Sprintf(body, "current"), 200, "", `"verdict":"drop"`),
		testPacket("as it would be", apitest.Viewer, fmt.Sprintf(body, "7"), 200, "", `"verdict":"accept"`, `"at":"7"`),
		testPacket("of no draft", apitest.Viewer, fmt.Sprintf(body, "8"), 404, "not_found"),
	)
}

// A firewall that cannot be evaluated says so.
func TestFirewallPacketTestWithoutTheAbility(t *testing.T) {
	t.Parallel()
	b := newFirewall(t, func(backend sdk.Backend) sdk.Backend {
		return membackend.ListBackend{Backend: backend.(*membackend.Backend)}
	})
	b.Run(t, testPacket("lists only", apitest.Viewer, fmt.Sprintf(`{"from":{"app_id":1},"to":{"vm_id":%d},"protocol":"tcp"}`, b.vm), 501,
		"unsupported"))
}
