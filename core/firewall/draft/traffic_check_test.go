package draft_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/firewall/draft"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/membackend"
)

// plan is what a draft would do, and whether its name must be typed.
func (f *fixture) plan(d draft.Draft) (text string, self bool) {
	f.t.Helper()
	_, err := f.Commit(plan.WithRequest(as(f.t, identity.Admin), plan.Request{Only: true}), d.ID, time.Hour, nil)
	answer := plan.ResultIn(err)
	if answer == nil {
		f.t.Fatal(err)
	}
	return fmt.Sprintf("%+v", answer.Plan), answer.Plan.IsSelf
}

// A draft that cuts the way by which the service logs in to a node is refused like one that cuts its API's, where a key is in use there.
func TestSSHIsCut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	f.keep(f.draft(`[{"scope":{"kind":"cluster"},"action":"change_options","options":{"enable":"1"}}]`))
	for i, name := range []string{"node1", "node2"} {
		node := sdk.Scope{Kind: sdk.NodeScope, Node: name}
		f.at.SetNICs(node, membackend.NIC{Name: "eth0", Address: fmt.Sprintf("192.0.2.%d", i+1)})
		f.at.SetRules(node, rule("ACCEPT", "1:65535"))
	}
	drop := func(port string) draft.Draft {
		return f.draft(`[{"scope":{"kind":"node","node":"node1"},"action":"create_rule","rule":{"type":"in","action":"DROP","enable":1,
			"proto":"tcp","dport":"` + port + `"}}]`)
	}
	f.Exec("UPDATE hosts SET ssh_port = 2222")
	ssh, api := drop("2222"), drop("8006")
	const way = "the SSH connection from this service to the node node1 (TCP port 2222)"
	for _, key := range []struct {
		state, statement string
		cut              bool
	}{
		{"none", "SELECT 1", false},
		{"pending", "INSERT INTO host_ssh_keys (host_id, state, public_key, private_key) VALUES (1, 'pending', 'ssh-ed25519 AAAA', '')", false},
		{"active", "UPDATE host_ssh_keys SET state = 'active'", true},
	} {
		f.Exec(key.statement)
		if text, self := f.plan(ssh); self != key.cut || strings.Contains(text, "This breaks "+way+".") != key.cut {
			t.Errorf("with the key %s: the plan is %s", key.state, text)
		}
	}
	if text, self := f.plan(api); !self || strings.Contains(text, "SSH") {
		t.Errorf("of the API's port: the plan is %s", text)
	}
	if _, err := f.Commit(as(t, identity.Admin), ssh.ID, time.Hour, nil); problem.CodeOf(err) != problem.CodeSelfTarget ||
		!strings.Contains(fmt.Sprint(err), way) {
		t.Errorf("it is committed: %v", err)
	}
	// What is closed already is not cut.
	f.keep(ssh)
	if text, self := f.plan(drop("23")); self || strings.Contains(text, "SSH") {
		t.Errorf("where SSH is closed: the plan is %s", text)
	}
}

// The plan names the network interface at which something is gained or lost where a guest has several, and of no other.
func TestPlanNamesInterfaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	f.at.SetNICs(f.guests["web"], membackend.NIC{Name: "eth0", Address: "192.0.2.10"}, membackend.NIC{Name: "eth1", Address: "198.51.100.10"})
	f.at.SetNICs(f.guests["db"], membackend.NIC{Name: "eth0", Address: "192.0.2.11"})
	f.keep(f.draft(`[{"scope":{"kind":"cluster"},"action":"change_options","options":{"enable":"1"}},
		{"scope":{"kind":"vm","id":1},"action":"change_options","options":{"enable":"1"}}]`))
	text, _ := f.plan(f.draft(`[{"scope":{"kind":"vm","id":1},"action":"create_rule","pos":0,"rule":{"type":"in","action":"DROP","enable":1,
		"proto":"tcp","dport":"22","dest":"198.51.100.10"}}]`))
	for _, want := range []string{"outside to web (eth1): loses tcp 22.", "db to web (eth1): loses tcp 22."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the plan %s", want, text)
		}
	}
	if strings.Contains(text, "web (eth0)") || strings.Contains(text, "db (") {
		t.Errorf("other interfaces are named: %s", text)
	}
}
