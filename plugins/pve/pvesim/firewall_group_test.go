package pvesim_test

import (
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

func TestSecurityGroups(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	const list = "/cluster/firewall/groups"
	root.decode("POST", list, "group=Web&comment=c", nil)
	root.refused("GET", list+"/Web", "", 500, "no such security group 'Web'")
	root.decode("POST", list+"/web", "type=in&action=ACCEPT&macro=http&enable=1", nil)
	for form, text := range map[string]string{
		"type=group&action=other":             "type: invalid rule type 'group' for rule_env 'group'",
		"type=in&action=ACCEPT&iface=vmbr0":   "type: parameter -i not allowed for this rule type",
		"type=forward&action=REJECT":          "action: cannot define REJECT rules on forward chain",
		"type=in&action=ACCEPT&source=noname": "source: no such alias 'noname'",
	} {
		var body struct{ Errors map[string]string }
		decodeBody(t, root.refused("POST", list+"/web", form, 400, "Parameter verification failed."), &body)
		for field, got := range body.Errors {
			if field+": "+got != text || len(body.Errors) != 1 {
				t.Errorf("%s: %q", form, body.Errors)
			}
		}
	}
	scopes := []pvesim.FirewallScope{pvesim.FirewallCluster, pvesim.FirewallNode("pve1"), pvesim.FirewallGuest(100),
		pvesim.FirewallGuest(101)}
	use := pvesim.FirewallRule{Type: "group", Action: "web", Enable: true}
	for _, scope := range scopes {
		noError(t, c.SetFirewallRules(scope, use))
	}
	root.refused("DELETE", list+"/web", "", 500, "Security group 'web' is not empty")
	root.refused("POST", list, "group=site&rename=web&digest="+staleDigest, 500,
		"detected modified configuration - file changed by other user? Try again.")
	root.changes(list, true, "POST", list, "group=site&rename=web&digest="+root.digest(list))
	for _, scope := range scopes {
		if rules := c.FirewallRules(scope); rules[0].Action != "site" {
			t.Errorf("%s: the rule did not follow its group: %+v", scope, rules)
		}
	}
	if rules := c.FirewallRules(pvesim.FirewallGroup("site")); len(rules) != 1 || rules[0].Macro != "HTTP" {
		t.Errorf("%+v", rules)
	}
	if got := root.errorOf("POST", list, "group=x1&rename=gone", "group"); got != "Security group 'gone' does not exist" {
		t.Error(got)
	}
	root.decode("DELETE", list+"/site/0", "", nil)
	root.decode("DELETE", list+"/site", "", nil) // although rules name it
	root.decode("DELETE", list+"/site", "", nil) // and again, though it is gone
	for _, call := range []string{"GET", "PUT", "DELETE"} {
		root.refused(call, list+"/site/0", "", 500, "no such security group 'site'")
	}
}
