package pvesim_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

const staleDigest = "0000000000000000000000000000000000000000"

// errorOf wants a 400 about one parameter and returns its text.
func (a caller) errorOf(method, path, form, parameter string) string {
	a.t.Helper()
	var body struct{ Errors map[string]string }
	decodeBody(a.t, a.refused(method, path, form, 400, "Parameter verification failed."), &body)
	if len(body.Errors) != 1 {
		a.t.Errorf("%s %s %s: %q", method, path, form, body.Errors)
	}
	return body.Errors[parameter]
}

// digest is that of the rows of a list, which must all have the same.
func (a caller) digest(path string) string {
	a.t.Helper()
	var rows []struct{ Digest string }
	a.get(path, &rows)
	digest := ""
	for i, r := range rows {
		if i > 0 && r.Digest != digest {
			a.t.Errorf("%s: digests %s and %s", path, digest, r.Digest)
		}
		digest = r.Digest
	}
	return digest
}

// changes wants the digest of a list to change, or to stay, with a request.
func (a caller) changes(list string, want bool, method, path, form string) {
	a.t.Helper()
	before := a.digest(list)
	a.decode(method, path, form, nil)
	if after := a.digest(list); (after != before) != want {
		a.t.Errorf("%s %s %s: digest %s, then %s", method, path, form, before, after)
	}
}

func TestFirewallAliases(t *testing.T) {
	t.Parallel()
	for path := range objectScopes {
		_, root := snapshotHost(t)
		list := path + "/aliases"
		root.decode("POST", list, "name=Web&cidr=10.0.0.3/24&comment=+first%20line%0Alost", nil)
		for form, cidr := range map[string]string{
			"name=one&cidr=10.0.0.1/32": "10.0.0.1", "name=six&cidr=2001:db8::1/128": "2001:db8::1",
			"name=net6&cidr=2001:db8::/64": "2001:db8::/64",
		} {
			root.decode("POST", list, form, nil)
			var alias struct{ CIDR string }
			root.get(list+"/"+strings.TrimPrefix(strings.Split(form, "&")[0], "name="), &alias)
			if alias.CIDR != cidr {
				t.Errorf("%s is %s", form, alias.CIDR)
			}
		}
		var one row
		root.get(list+"/wEB", &one)
		if !jsonEqual(one, row{"name": "Web", "cidr": "10.0.0.3/24", "ipversion": 4, "comment": "first line"}) {
			t.Errorf("%s: %v", path, one)
		}
		root.changes(list, false, "DELETE", list+"/nothing", "")
		root.changes(list, true, "PUT", list+"/WEB", "cidr=10.0.0.4&comment=c")
		root.changes(list, false, "PUT", list+"/WEB", "cidr=10.0.0.4&comment=c&rename=web") // its case is no other name
		root.changes(list, true, "PUT", list+"/web", "cidr=10.0.0.4")                       // the comment is gone, and the capitals
		root.get(list+"/web", &one)
		if one["name"] != "web" {
			t.Errorf("%s: %v", path, one)
		}
		if text := root.errorOf("PUT", list+"/web", "cidr=10.0.0.9&rename=ONE", "name"); text != "alias 'ONE' already exists" {
			t.Error(text)
		}
		root.changes(list, true, "PUT", list+"/web", "cidr=10.0.0.4&rename=Site&digest="+root.digest(list))
		const modified = "detected modified configuration - file changed by other user? Try again."
		root.refused("PUT", list+"/site", "cidr=10.0.0.9&digest="+staleDigest, 500, modified)
		root.refused("DELETE", list+"/site?digest="+staleDigest, "", 500, modified)
		root.changes(list, true, "DELETE", list+"/SITE?digest="+root.digest(list), "")
		if text := root.errorOf("GET", list+"/site", "", "name"); text != "no such alias" {
			t.Error(text)
		}
	}
}

// TestFirewallAliasInUseIsDeleted: the rules that use it stay, with a fault, and their digest with them.
func TestFirewallAliasInUseIsDeleted(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	noError(t, c.SetFirewallAlias(pvesim.FirewallCluster, "web", "10.0.0.1"))
	root.decode("POST", "/cluster/firewall/rules", "type=in&action=ACCEPT&source=web", nil)
	root.decode("DELETE", "/cluster/firewall/aliases/web", "", nil)
	var rule struct{ Errors map[string]string }
	root.get("/cluster/firewall/rules/0", &rule)
	if rule.Errors["source"] != "no such alias 'web'" {
		t.Errorf("%v", rule.Errors)
	}
}
