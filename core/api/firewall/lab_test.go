package firewall_test

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

// lab has a firewall in memory beside the hypervisor, which everybody may change who may by role. Each of its scopes has the rules first,
// second and third, but node2, which has none; the cluster has the group web.
type lab struct {
	*servicetest.Lab
	t        *testing.T
	firewall *membackend.Endpoint
	// direct is the firewall past the service.
	direct *membackend.Firewall
}

func newLab(t *testing.T) *lab {
	t.Helper()
	memory := membackend.New()
	return newLabOf(t, memory, memory)
}

// newLabOf is newLab with another backend, which is served in its own way.
func newLabOf(t *testing.T, memory *membackend.Backend, served sdk.Backend) *lab {
	t.Helper()
	b := servicetest.NewLab(t, memdriver.Tokens, func(a *op.API, d api.Deps) { firewall.Register(a, d.Firewall) }, func(c *service.Config) {
		c.Firewalls = servicetest.Firewalls{Backend: served}
	})
	at := memory.AddAt(b.Cluster.Target(endpoint.Monitoring))
	at.Admit(b.Cluster.Target(endpoint.Lifecycle))
	fw, err := memory.Open(t.Context(), b.Cluster.Target(endpoint.Lifecycle))
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{b, t, at, fw.(*membackend.Firewall)}
	for _, s := range l.scopes() {
		at.SetRules(s.sdk, named("first"), named("second"), named("third"))
	}
	at.SetRules(sdk.Scope{Kind: sdk.NodeScope, Node: "node2"})
	return l
}

// named is a rule that is known by its comment.
func named(comment string) sdk.Rule {
	return sdk.Rule{Direction: sdk.DirectionIn, Action: "ACCEPT", Enabled: true, Protocol: "tcp", DestinationPort: "22", Comment: comment}
}

// place is one scope: its word in ids of operations, its path below /api/v1, and who may change it.
type place struct {
	word, path string
	sdk        sdk.Scope
	least      identity.Role
}

func (l *lab) scopes() []place {
	vm := scopeOf(l.Refs["running"])
	vm.Guest.UID = l.Refs["running"].UID
	app := scopeOf(l.Refs["files"])
	app.Guest.UID = l.Refs["files"].UID
	node := sdk.Scope{Kind: sdk.NodeScope, Node: "node1"}
	return []place{
		{"vm_firewall", l.VM("running") + "/firewall", vm, identity.Operator},
		{"app_firewall", "apps/1/firewall", app, identity.Operator},
		{"cluster_firewall", "firewall/cluster/1", sdk.Scope{Kind: sdk.ClusterScope}, identity.Admin},
		{"node_firewall", "firewall/nodes/1/node1", node, identity.Admin},
		{"firewall_node", "firewall/node/1/node1", node, identity.Admin},
		{"group_firewall", "firewall/cluster/1/groups/web", sdk.Scope{Kind: sdk.GroupScope, Group: "web"}, identity.Admin},
	}
}

// as is somebody with a role.
func as(role identity.Role) *apitest.Caller {
	return map[identity.Role]*apitest.Caller{identity.Viewer: apitest.Viewer, identity.Operator: apitest.Operator,
		identity.Admin: apitest.Admin, identity.Owner: apitest.Owner}[role]
}

// row is a row of a list of whatever kind.
type row struct {
	Pos                         int
	Name, Group, CIDR, Comment  string
	Enable, NoMatch             int
	Action, Macro, DPort, Proto string
	Digest                      *string
}

// rows reads a list.
func (l *lab) rows(url string) []row {
	l.t.Helper()
	var all []row
	l.Get(l.t, url, &all)
	return all
}

// digest is that of a list that has rows.
func (l *lab) digest(url string) string {
	l.t.Helper()
	all := l.rows(url)
	if len(all) == 0 || all[0].Digest == nil {
		l.t.Fatalf("%s has no digest: %+v", url, all)
	}
	return *all[0].Digest
}

// order are the comments of rules, in their order; one that is off ends in a minus.
func (l *lab) order(url string) string {
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

func (l *lab) wantOrder(what, url, want string) {
	l.t.Helper()
	if got := l.order(url); got != want {
		l.t.Errorf("%s: the rules are %q, want %q", what, got, want)
	}
}

func quoted(digest string) string { return fmt.Sprintf(`"digest":%q`, digest) }
