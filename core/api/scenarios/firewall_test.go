package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/apps"
	"github.com/hostler/hostler/core/api/firewall"
	"github.com/hostler/hostler/core/api/hosts"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/membackend"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// firewallFixture is the resource on a real database, with a cluster of two nodes and its firewall in memory. Host 1 has the driver mem;
// the only VM is vm, and app 1 is the only container.
type firewallFixture struct {
	*servicetest.Resource
	t         *testing.T
	cluster   *memdriver.Cluster
	firewall  *membackend.Endpoint
	backend   sdk.Backend
	vm        int64
	guest, ct hypervisor.GuestRef
}

// firewallBackends are those of mem; of other names there is none.
type firewallBackends struct{ mem sdk.Backend }

func (b firewallBackends) Firewall(name string) sdk.Backend {
	if name != "mem" {
		return membackend.New()
	}
	return b.mem
}

// newFirewall takes the backend as it is unless it is to be wrapped.
func newFirewall(t *testing.T, wrap ...func(sdk.Backend) sdk.Backend) *firewallFixture {
	t.Helper()
	driver, memory := memdriver.New(), membackend.New()
	b := &firewallFixture{t: t, cluster: driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2, VMs: 1, Containers: 1})}
	b.firewall = memory.AddAt(b.cluster.Target(endpoint.Monitoring))
	backend := sdk.Backend(memory)
	for _, w := range wrap {
		backend = w(backend)
	}
	b.backend = memory
	b.Resource = servicetest.NewResource(t, func(a *op.API, d api.Deps) {
		hosts.Register(a, d.Hosts)
		apps.Register(a, d.Apps)
		firewall.Register(a, d.Firewall)
	}, func(c *service.Config) {
		c.Drivers, c.Firewalls = servicetest.Drivers{Driver: driver}, firewallBackends{backend}
	})
	b.Enrol(t, "pool", b.cluster)
	guests := b.cluster.Guests()
	b.guest, b.ct = guests[0], guests[1]
	b.Expect(t, "POST", "apps/adopt", fmt.Sprintf(`{"items":[{"host_id":1,"guest_ref":%q,"name":"wiki"}]}`, b.ct.ID), apitest.Admin, 200, "")
	if _, err := fmt.Sscan(b.Value("SELECT id FROM guests WHERE kind = 'vm'"), &b.vm); err != nil {
		t.Fatal(err)
	}
	b.firewall.SetRules(sdk.Scope{Kind: sdk.ClusterScope},
		sdk.Rule{Direction: sdk.DirectionIn, Action: "ACCEPT", Enabled: true, Macro: "SSH", Source: "+management", Comment: "administrators"},
		sdk.Rule{Direction: sdk.DirectionGroup, Action: "web"})
	b.firewall.SetRules(sdk.Scope{Kind: sdk.NodeScope, Node: "node1"},
		sdk.Rule{Direction: sdk.DirectionForward, Action: "DROP", Comment: "of node1"})
	b.firewall.SetRules(sdk.Scope{Kind: sdk.NodeScope, Node: "node2"})
	b.firewall.SetRules(firewallScope(b.guest), sdk.Rule{Direction: sdk.DirectionOut, Action: "REJECT", Protocol: "tcp",
		DestinationPort: "25"})
	b.firewall.SetRules(firewallScope(b.ct), sdk.Rule{Direction: sdk.DirectionIn, Action: "ACCEPT", Protocol: "icmp",
		ICMPType: "echo-request"})
	return b
}

func firewallScope(ref hypervisor.GuestRef) sdk.Scope {
	return sdk.Scope{Kind: sdk.GuestScope, Guest: &sdk.Guest{Kind: string(ref.Kind), Node: ref.Node, ID: string(ref.ID)}}
}

func (b *firewallFixture) vmPath() string { return fmt.Sprintf("vms/%d/firewall", b.vm) }

// scopes are the paths of one scope of each kind.
func (b *firewallFixture) scopes() map[string]string {
	return map[string]string{
		"app": "apps/1/firewall", "vm": b.vmPath(), "cluster": "firewall/cluster/1", "node": "firewall/nodes/1/node1",
		"node, by its other path": "firewall/node/1/node1",
	}
}

// listRules is a scenario of listing the rules at a path.
func listRules(name, path string, as *apitest.Caller, status int, code string, contains ...string) apitest.Scenario {
	return do(name, "GET", "/api/v1/"+path+"/rules", "", as, status, code, contains...)
}

func TestFirewallRulesOfEachScope(t *testing.T) {
	t.Parallel()
	b := newFirewall(t)
	rows := b.Value("SELECT count(*) FROM audit")
	for scope, want := range map[string][]string{
		"app": {`[{"pos":0,"type":"in","action":"ACCEPT","enable":0,"macro":null,`, `"proto":"icmp"`, `"icmp_type":"echo-request"`},
		"vm":  {`[{"pos":0,"type":"out","action":"REJECT",`, `"dport":"25"`, `"source":null`},
		"cluster": {`[{"pos":0,"type":"in","action":"ACCEPT","enable":1,"macro":"SSH","iface":null,"source":"+management"`,
			`"comment":"administrators","digest":"`, `{"pos":1,"type":"group","action":"web","enable":0`},
		"node":                    {`[{"pos":0,"type":"forward","action":"DROP",`, `"comment":"of node1"`},
		"node, by its other path": {`[{"pos":0,"type":"forward","action":"DROP",`, `"comment":"of node1"`},
	} {
		path := b.scopes()[scope]
		elsewhere := strings.Replace(path, "/1", "/77", 1)
		if scope == "vm" {
			elsewhere = "vms/77/firewall"
		}
		b.Run(t,
			listRules(scope+": all", path, apitest.Viewer, 200, "", want...),
			listRules(scope+": nobody", path, nil, 401, "unauthenticated"),
			listRules(scope+": another team's", path, foreign, 404, "not_found"),
			listRules(scope+": of what is not there", elsewhere, apitest.Viewer, 404, "not_found"),
		)
	}
	b.Run(t, listRules("no rules", "firewall/nodes/1/node2", apitest.Viewer, 200, "", "[]"))
	if n := b.Value("SELECT count(*) FROM audit"); n != rows {
		t.Errorf("%s rows of the audit log after reading, %s before", n, rows)
	}
}

func TestFirewallRulesOfHostileNodes(t *testing.T) {
	t.Parallel()
	b := newFirewall(t)
	for name, node := range map[string]string{
		"unknown": "node3", "another case": "NODE1", "dots": "..", "escaped dots": "%2e%2e", "nothing": "", "only a slash": "%2F",
		"a slash": "node1%2F..", "escaped twice": "%252e%252e", "NUL": "node1%00", "a new line": "node1%0d%0aX:y", "not UTF-8": "%ff%fe",
		"the cluster": "cluster", "SQL": "'%3B%20DROP%20TABLE%20hosts%3B--", "the longest": strings.Repeat("n", 253),
	} {
		b.Run(t, listRules(name, "firewall/nodes/1/"+node, apitest.Viewer, 404, "not_found"))
	}
	b.Run(t,
		listRules("too long", "firewall/nodes/1/"+strings.Repeat("n", 254), apitest.Viewer, 422, "invalid", `"node"`),
		listRules("no number", "firewall/cluster/x", apitest.Viewer, 422, "invalid", `"host_id"`),
		listRules("a huge number", "firewall/cluster/99999999999999999999", apitest.Viewer, 422, "invalid", `"host_id"`),
	)
}

// What the database knows of a guest is not always what the hypervisor has.
func TestFirewallRulesOfGuestsThatAreElsewhere(t *testing.T) {
	t.Parallel()
	b := newFirewall(t)
	b.Exec("UPDATE guests SET node = CASE node WHEN 'node1' THEN 'node2' ELSE 'node1' END")
	b.Run(t,
		listRules("a VM that has moved", b.vmPath(), apitest.Viewer, 200, "", `"action":"REJECT"`),
		listRules("an app that has moved", "apps/1/firewall", apitest.Viewer, 200, "", `"proto":"icmp"`),
	)
	b.cluster.Remove(b.guest.ID)
	b.Run(t, listRules("a VM that is gone at the hypervisor", b.vmPath(), apitest.Viewer, 404, "not_found"))
	b.firewall.Fail(plugin.Errorf(plugin.Internal, "this was not to be asked"))
	b.Exec("DELETE FROM guests")
	b.Run(t,
		listRules("a VM that is gone", b.vmPath(), apitest.Viewer, 404, "not_found"),
		listRules("an app whose container is gone", "apps/1/firewall", apitest.Viewer, 409, "invalid_state"),
	)
}

func TestFirewallRulesOfAHostThatFails(t *testing.T) {
	t.Parallel()
	b := newFirewall(t)
	weak := plugin.Errorf(plugin.Denied, "the token may not do this")
	weak.Missing = []string{"Node.Audit"}
	for _, c := range []struct {
		name   string
		err    error
		status int
		code   string
		text   string
	}{
		{"away", plugin.Errorf(plugin.Unreachable, "no route"), 502, "hypervisor_error", `"reason":"unreachable"`},
		{"slow", plugin.Errorf(plugin.Timeout, "no answer"), 504, "timeout", ""},
		{"without its plugin", fmt.Errorf("calling: %w", plugin.ErrGone), 503, "plugin_unavailable", ""},
		{"without the right", weak, 502, "hypervisor_error", `"missing":["Node.Audit"]`},
		{"of another release", plugin.Errorf(plugin.Unsupported, "not here"), 501, "unsupported", ""},
	} {
		b.firewall.Fail(c.err)
		for scope, path := range b.scopes() {
			b.Run(t, listRules(c.name+", "+scope, path, apitest.Viewer, c.status, c.code, c.text))
		}
	}
	b.firewall.Fail(plugin.Errorf(plugin.Internal, "this was not to be asked"))
	b.Exec("DELETE FROM host_credentials")
	for scope, path := range b.scopes() {
		b.Run(t, listRules("without a token, "+scope, path, apitest.Viewer, 409, "capability_missing", `"capability":"monitoring"`))
	}
}

func TestFirewallBackendWithoutTheAbility(t *testing.T) {
	t.Parallel()
	b := newFirewall(t, func(backend sdk.Backend) sdk.Backend { return bareBackend{backend} })
	for scope, path := range b.scopes() {
		b.Run(t, listRules(scope, path, apitest.Viewer, 501, "unsupported", "it lacks the ability rules"))
	}
}

// A host uses the backend of its driver's name; that of another plugin knows nothing of it.
func TestFirewallOfAnotherDriver(t *testing.T) {
	t.Parallel()
	b := newFirewall(t)
	b.Exec("UPDATE hosts SET driver = 'other'")
	b.Run(t, listRules("cluster", "firewall/cluster/1", apitest.Viewer, 502, "hypervisor_error", `"reason":"unreachable"`))
}
