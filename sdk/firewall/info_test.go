package firewall_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/membackend"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/plugintest"
	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
	"google.golang.org/grpc"
)

// says is a backend that says something else of its scopes.
type says struct {
	firewall.Backend
	scopes []firewall.ScopeAbilities
}

func (s says) Info(context.Context) (firewall.Info, error) {
	return firewall.Info{Name: "says", Version: "1", Scopes: s.scopes}, nil
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	list := (*membackend.ListFirewall)(nil)
	all := []string{"rules", "rule_edit", "log"}
	info, err := firewall.Describe(t.Context(), says{}, list)
	if want := []firewall.ScopeAbilities{
		{Kind: firewall.ClusterScope, Abilities: all}, {Kind: firewall.NodeScope, Abilities: all}, {Kind: firewall.GuestScope, Abilities: all},
	}; err != nil || !reflect.DeepEqual(info.Scopes, want) || !reflect.DeepEqual(info.Abilities, all) {
		t.Errorf("one that says nothing is %+v, %v", info, err)
	}
	if !info.Has(firewall.NodeScope, "log") || info.Has(firewall.GroupScope, "rules") || info.Has(firewall.NodeScope, "aliases") {
		t.Errorf("what there is where is wrong: %+v", info)
	}
	for want, scopes := range map[string][]firewall.ScopeAbilities{
		"not a kind of scope":  {{Kind: "planet", Abilities: all}},
		"occurs twice":         {{Kind: firewall.GuestScope, Abilities: all}, {Kind: firewall.GuestScope}},
		"does not implement":   {{Kind: firewall.GuestScope, Abilities: append([]string{"aliases"}, all...)}},
		"has the ability log":  {{Kind: firewall.GuestScope, Abilities: all[:2]}},
		"has the ability rule": {},
	} {
		if _, err := firewall.Describe(t.Context(), says{scopes: scopes}, list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error is %v, want one with %q", scopes, err, want)
		}
	}
	everywhere := []string{"rules", "rule_edit", "rule_move", "rule_check", "aliases", "ipsets", "ipset_members", "options", "log",
		"references", "groups", "macros", "usage", "evaluate"}
	groups := []firewall.ScopeAbilities{{Kind: firewall.NodeScope, Abilities: everywhere}}
	if _, err := firewall.Describe(t.Context(), says{scopes: groups}, (*membackend.Firewall)(nil)); err == nil {
		t.Error("groups that are no ability of the cluster are taken")
	}
	if _, err := firewall.Describe(t.Context(), nil, list); err == nil {
		t.Error("nothing is taken for a backend")
	}
}

// older is a plugin of a release that had no scopes: its description has none.
type older struct{ plugin.Service }

func (o older) Describe(ctx context.Context) (plugin.Description, error) {
	d, err := o.Service.Describe(ctx)
	d.Scopes = nil
	return d, err
}

func TestPluginWithoutScopes(t *testing.T) {
	t.Parallel()
	backend := membackend.NewLists()
	at := backend.Add("lists.mem:8443")
	conn := plugintest.Connect(t, older{firewall.Service{Backend: backend, FirewallType: (*membackend.ListFirewall)(nil)}})
	client := firewall.NewClient(conn)
	fw, err := client.Open(t.Context(), at.Target(endpoint.Monitoring))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := firewall.AsAt[firewall.LogReader](fw, firewall.NodeScope); !ok {
		t.Error("an ability is not at every usual scope")
	}
	if _, ok := firewall.AsAt[firewall.LogReader](fw, firewall.GroupScope); ok {
		t.Error("an ability is at groups, which there were not")
	}
	if _, ok := firewall.AsAt[firewall.AliasManager](fw, firewall.ClusterScope); ok {
		t.Error("an ability that is not claimed is there")
	}
}

// A service that does not know the scopes of a plugin asks for what is not there, and the plugin refuses.
func TestServerRefusesScopes(t *testing.T) {
	t.Parallel()
	backend := membackend.NewLists()
	at := backend.Add("lists.mem:8443")
	conn := unaware{plugintest.Connect(t, firewall.Service{Backend: backend, FirewallType: (*membackend.ListFirewall)(nil)})}
	fw, err := firewall.NewClient(conn).Open(t.Context(), at.Target(endpoint.Monitoring))
	if err != nil {
		t.Fatal(err)
	}
	_, err = fw.(firewall.LogReader).Log(t.Context(), firewall.Scope{Kind: firewall.ClusterScope}, firewall.LogQuery{})
	if e, ok := err.(*plugin.Error); !ok || e.Kind != plugin.Unsupported || e.Field != firewall.FieldScope {
		t.Errorf("error is %v, want unsupported at the scope", err)
	}
}

// unaware takes the scopes out of what a plugin says.
type unaware struct{ grpc.ClientConnInterface }

func (u unaware) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	err := u.ClientConnInterface.Invoke(ctx, method, args, reply, opts...)
	if d, ok := reply.(*pluginv1.DescribeResponse); ok {
		for _, s := range d.GetServices() {
			s.Scopes = nil
		}
	}
	return err
}
