package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/firewall"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/membackend"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// firewallLab has a firewall in memory beside the hypervisor, which everybody may change who may by role. Each of its scopes has the
// rules first, second and third, but node2, which has none; the cluster has the group web.
type firewallLab struct {
	*servicetest.Lab
	t        *testing.T
	firewall *membackend.Endpoint
	// direct is the firewall past the service.
	direct *membackend.Firewall
}

func newFirewallLab(t *testing.T) *firewallLab {
	t.Helper()
	memory := membackend.New()
	return newFirewallLabOf(t, memory, memory)
}

// newFirewallLabOf is newLab with another backend, which is served in its own way.
func newFirewallLabOf(t *testing.T, memory *membackend.Backend, served sdk.Backend) *firewallLab {
	t.Helper()
	b := servicetest.NewLab(t, memdriver.Tokens, func(a *op.API, d api.Deps) { firewall.Register(a, d.Firewall) }, func(c *service.Config) {
		c.Firewalls = servicetest.Firewalls{Backend: served}
	})
	at := memory.AddAt(b.Cluster.Target(endpoint.Monitoring))
	at.Admit(b.Cluster.Target(endpoint.Lifecycle))
	at.Admit(b.Cluster.Target(endpoint.Console))
	fw, err := memory.Open(t.Context(), b.Cluster.Target(endpoint.Lifecycle))
	if err != nil {
		t.Fatal(err)
	}
	l := &firewallLab{b, t, at, fw.(*membackend.Firewall)}
	for _, s := range l.scopes() {
		at.SetRules(s.sdk, namedRule("first"), namedRule("second"), namedRule("third"))
	}
	at.SetRules(sdk.Scope{Kind: sdk.NodeScope, Node: "node2"})
	return l
}

// namedRule is a rule that is known by its comment.
func namedRule(comment string) sdk.Rule {
	return sdk.Rule{Direction: sdk.DirectionIn, Action: "ACCEPT", Enabled: true, Protocol: "tcp", DestinationPort: "22", Comment: comment}
}

// firewallPlace is one scope: its word in ids of operations, its path below /api/v1, and who may change it.
type firewallPlace struct {
	word, path string
	sdk        sdk.Scope
	least      identity.Role
}

func (l *firewallLab) scopes() []firewallPlace {
	vm := firewallScope(l.Refs["running"])
	vm.Guest.UID = l.Refs["running"].UID
	app := firewallScope(l.Refs["files"])
	app.Guest.UID = l.Refs["files"].UID
	node := sdk.Scope{Kind: sdk.NodeScope, Node: "node1"}
	return []firewallPlace{
		{"vm_firewall", l.VM("running") + "/firewall", vm, identity.Operator},
		{"app_firewall", "apps/1/firewall", app, identity.Operator},
		{"cluster_firewall", "firewall/cluster/1", sdk.Scope{Kind: sdk.ClusterScope}, identity.Admin},
		{"node_firewall", "firewall/nodes/1/node1", node, identity.Admin},
		{"firewall_node", "firewall/node/1/node1", node, identity.Admin},
		{"group_firewall", "firewall/cluster/1/groups/web", sdk.Scope{Kind: sdk.GroupScope, Group: "web"}, identity.Admin},
	}
}

// callerAs is somebody with a role.
func callerAs(role identity.Role) *apitest.Caller {
	return map[identity.Role]*apitest.Caller{identity.Viewer: apitest.Viewer, identity.Operator: apitest.Operator,
		identity.Admin: apitest.Admin, identity.Owner: apitest.Owner}[role]
}

// firewallRow is a row of a list of whatever kind.
type firewallRow struct {
	Pos                         int
	Name, Group, CIDR, Comment  string
	Enable, NoMatch             int
	Action, Macro, DPort, Proto string
	Digest                      *string
}

// rows reads a list.
func (l *firewallLab) rows(url string) []firewallRow {
	l.t.Helper()
	var all []firewallRow
	l.Get(l.t, url, &all)
	return all
}

// digest is that of a list that has rows.
func (l *firewallLab) digest(url string) string {
	l.t.Helper()
	all := l.rows(url)
	if len(all) == 0 || all[0].Digest == nil {
		l.t.Fatalf("%s has no digest: %+v", url, all)
	}
	return *all[0].Digest
}

// order are the comments of rules, in their order; one that is off ends in a minus.
func (l *firewallLab) order(url string) string {
	l.t.Helper()
	var all []string
	for _, r := range l.rows(url + "/rules") {
		name := r.Comment
		if r.Enable == 0 {
			name += "-"
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

func (l *firewallLab) wantOrder(what, url, want string) {
	l.t.Helper()
	if got := l.order(url); got != want {
		l.t.Errorf("%s: the rules are %q, want %q", what, got, want)
	}
}

func quotedDigest(digest string) string { return fmt.Sprintf(`"digest":%q`, digest) }
