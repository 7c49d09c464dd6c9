package pvesim_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

// firewallScopes are the paths at which rules are served.
var firewallScopes = map[string]pvesim.FirewallScope{
	"/cluster/firewall/rules":             pvesim.FirewallCluster,
	"/nodes/pve1/firewall/rules":          pvesim.FirewallNode("pve1"),
	"/nodes/pve1/qemu/100/firewall/rules": pvesim.FirewallGuest(100),
	"/nodes/pve1/lxc/101/firewall/rules":  pvesim.FirewallGuest(101),
}

// comments lists the comments of the rules in their order, and wants the positions to be right.
func (a caller) comments(path string) (names []string, digest string) {
	a.t.Helper()
	var rows []struct {
		Pos             int
		Comment, Digest string
	}
	a.get(path, &rows)
	for i, r := range rows {
		if r.Pos != i || digest != "" && r.Digest != digest {
			a.t.Errorf("row %d of %s: %+v", i, path, r)
		}
		names, digest = append(names, r.Comment), r.Digest
	}
	return names, digest
}

func TestFirewallRulesHaveAnOrder(t *testing.T) {
	t.Parallel()
	for path := range firewallScopes {
		_, root := snapshotHost(t)
		want := func(order string) string {
			t.Helper()
			names, digest := root.comments(path)
			if got := strings.Join(names, " "); got != order {
				t.Errorf("%s: %q, want %q", path, got, order)
			}
			return digest
		}
		want("")
		for _, name := range []string{"d", "c", "b", "a"} { // each is put first, whatever position it asks for
			root.decode("POST", path, "type=in&action=ACCEPT&pos=7&comment="+name, nil)
		}
		before := want("a b c d")
		for _, move := range []struct {
			pos, to, order string
		}{
			{"0", "1", "a b c d"}, {"0", "2", "b a c d"}, {"3", "0", "d b a c"}, {"0", "99", "b a c d"}, {"1", "1", "b a c d"},
			{"1", "0", "a b c d"},
		} {
			root.decode("PUT", path+"/"+move.pos, "comment=lost&moveto="+move.to, nil)
			if move.pos == move.to { // that is no move
				root.decode("PUT", path+"/"+move.pos, "comment=a", nil)
			}
			want(move.order)
		}
		root.refused("DELETE", path+"/0?digest="+strings.Repeat("0", 40), "", 500,
			"detected modified configuration - file changed by other user? Try again.")
		root.refused("PUT", path+"/0", "comment=x&digest="+strings.Repeat("0", 40), 500,
			"detected modified configuration - file changed by other user? Try again.")
		root.decode("DELETE", path+"/0?digest="+before, "", nil)
		if after := want("b c d"); after == before {
			t.Error("the digest stayed")
		}
		for _, method := range []string{"GET", "PUT", "DELETE"} {
			root.refused(method, path+"/3", "", 500, "no rule at position 3")
			root.refused(method, path+"/x", "", 400, "Parameter verification failed.")
			root.refused(method, path+"/-1", "", 400, "Parameter verification failed.")
		}
	}
}

// The real server has no list of rules where it has no file, and keeps no file without content.
func TestFirewallWithoutAFile(t *testing.T) {
	t.Parallel()
	_, root := snapshotHost(t)
	const undefined = "Can't use an undefined value as an ARRAY reference at /usr/share/perl5/PVE/API2/Firewall/Rules.pm line "
	for path := range firewallScopes {
		lacking := func() {
			t.Helper()
			if names, _ := root.comments(path); len(names) != 0 {
				t.Errorf("%s has %q", path, names)
			}
			root.refused("GET", path+"/0", "", 500, "no rule at position 0")
			root.refused("PUT", path+"/0", "delete=type", 500, undefined+"373.")
			root.refused("PUT", path+"/0", "moveto=1", 500, undefined+"373.")
			root.refused("PUT", path+"/0", "delete=type&digest="+strings.Repeat("0", 40), 500,
				"detected modified configuration - file changed by other user? Try again.")
			root.refused("DELETE", path+"/0", "", 500, undefined+"462.")
		}
		lacking()
		root.decode("POST", path, "type=in&action=DROP", nil)
		root.refused("PUT", path+"/1", "delete=type", 500, "no rule at position 1")
		root.decode("DELETE", path+"/0", "", nil)
		lacking()
		options := strings.TrimSuffix(path, "rules") + "options"
		root.decode("PUT", options, "enable=0", nil)
		root.refused("PUT", path+"/0", "delete=type", 500, "no rule at position 0")
		root.decode("PUT", options, "delete=enable", nil)
		lacking()
	}
}

func TestFirewallRulesArePartsOfTheirScope(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	for path, scope := range firewallScopes {
		root.decode("POST", path, "type=in&action=ACCEPT&comment=of+"+strings.ReplaceAll(string(scope), "/", "+"), nil)
	}
	for path, scope := range firewallScopes {
		if names, _ := root.comments(path); !slices.Equal(names, []string{"of " + strings.ReplaceAll(string(scope), "/", " ")}) {
			t.Errorf("%s has %q", path, names)
		}
		if rules := c.FirewallRules(scope); len(rules) != 1 || rules[0].Enable {
			t.Errorf("%s: %+v", scope, rules)
		}
	}
	noError(t, c.RemoveGuest(100))
	if names, _ := root.comments("/nodes/pve1/qemu/100/firewall/rules"); len(names) != 0 {
		t.Errorf("the rules of a guest that is gone: %q", names)
	}
	root.decode("POST", "/nodes/pve1/lxc/999/firewall/rules", "type=in&action=DROP", nil) // nobody looks whether it exists
	if rules := c.FirewallRules(pvesim.FirewallGuest(999)); len(rules) != 1 {
		t.Errorf("%+v", rules)
	}
}

func TestFirewallPrivileges(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Bare: true})
	addGuest(t, c, pvesim.GuestSpec{VMID: 100})
	addGuest(t, c, pvesim.GuestSpec{VMID: 101, Type: pvesim.LXC})
	c.SetRole("Reader", "VM.Audit", "Sys.Audit")
	c.SetRole("Writer", "VM.Config.Network", "Sys.Modify")
	reader, writer := c.AddToken("reader@pve!tt", false), c.AddToken("writer@pve!tt", false)
	c.Grant("/", "reader@pve", "Reader", true)
	c.Grant("/", "writer@pve", "Writer", true)
	for path, names := range map[string][2]string{
		"/cluster/firewall/rules":             {"/, Sys.Modify", "/, Sys.Audit"},
		"/nodes/pve1/firewall/rules":          {"/nodes/pve1, Sys.Modify", "/nodes/pve1, Sys.Audit"},
		"/nodes/pve1/qemu/100/firewall/rules": {"/vms/100, VM.Config.Network", "/vms/100, VM.Audit"},
		"/nodes/pve1/lxc/101/firewall/rules":  {"/vms/101, VM.Config.Network", "/vms/101, VM.Audit"},
	} {
		as(t, c, writer).decode("POST", path, "type=in&action=ACCEPT", nil)
		as(t, c, writer).refused("GET", path, "", 403, "Permission check failed ("+names[1]+")")
		as(t, c, reader).get(path+"/0", nil)
		for _, call := range []string{"POST ", "PUT /0", "DELETE /0"} {
			method, rest, _ := strings.Cut(call, " ")
			as(t, c, reader).refused(method, path+rest, "", 403, "Permission check failed ("+names[0]+")")
		}
	}
}

func TestSetFirewallRefuses(t *testing.T) {
	t.Parallel()
	c, _ := snapshotHost(t)
	good := pvesim.FirewallRule{Type: "in", Action: "ACCEPT"}
	noError(t, c.SetFirewallRules(pvesim.FirewallGuest(100), good))
	for name, err := range map[string]error{
		"no such node":   c.SetFirewallRules(pvesim.FirewallNode("pve9"), good),
		"no such guest":  c.SetFirewallRules(pvesim.FirewallGuest(999), good),
		"no such scope":  c.SetFirewallRules("moon", good),
		"a bad rule":     c.SetFirewallRules(pvesim.FirewallGuest(100), good, pvesim.FirewallRule{Type: "in", Action: "NOPE"}),
		"an empty rule":  c.SetFirewallRules(pvesim.FirewallGuest(100), pvesim.FirewallRule{}),
		"a bad alias":    c.SetFirewallAlias(pvesim.FirewallCluster, "x", "10.0.0.1"),
		"a bad address":  c.SetFirewallAlias(pvesim.FirewallCluster, "web", "10.0.0"),
		"a bad set":      c.SetFirewallIPSet(pvesim.FirewallCluster, "9"),
		"alias, nowhere": c.SetFirewallAlias("moon", "web", "10.0.0.1"),
		"set, nowhere":   c.SetFirewallIPSet("moon", "web"),
	} {
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if n := len(c.FirewallRules(pvesim.FirewallGuest(100))); n != 1 {
		t.Errorf("%d rules after a refusal", n)
	}
}
