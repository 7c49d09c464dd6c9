package pvesim_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// members lists an IP set in its order, with a ! before those that do not match.
func (a caller) members(path string) string {
	a.t.Helper()
	var rows []struct {
		CIDR    string
		NoMatch int
		Comment string
	}
	a.get(path, &rows)
	var out []string
	for _, r := range rows {
		text := r.CIDR
		if r.NoMatch == 1 {
			text = "!" + text
		}
		if r.Comment != "" {
			text += "#" + r.Comment
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestFirewallIPSetMembers(t *testing.T) {
	t.Parallel()
	for path := range objectScopes {
		_, root := snapshotHost(t)
		root.decode("POST", path+"/ipset", "name=set1&comment=c", nil)
		set := path + "/ipset/set1"
		want := func(list string) {
			t.Helper()
			if got := root.members(set); got != list {
				t.Errorf("%s: %q, want %q", path, got, list)
			}
		}
		names := root.digest(path + "/ipset")
		root.changes(set, true, "POST", set, "cidr=10.1.2.3/32&comment=c")
		root.changes(set, true, "POST", set, "cidr=10.9.7.9/24&nomatch=1")
		root.changes(set, true, "POST", set, "cidr=2001:DB8:0:0::9/64")
		want("10.1.2.3#c !10.9.7.0/24 2001:db8::/64")
		if root.digest(path+"/ipset") != names {
			t.Error("members changed the digest of the list of sets")
		}
		for form, text := range map[string]string{
			"cidr=10.9.7.0/24": "address '10.9.7.0/24' already exists", "cidr=10.1.2.3": "address '10.1.2.3' already exists",
			"cidr=::/0": "a zero prefix is not allowed in ipset entries",
		} {
			if got := root.errorOf("POST", set, form, "cidr"); got != text {
				t.Errorf("%s %s: %q", path, form, got)
			}
		}
		root.changes(set, false, "DELETE", set+"/10.9.7.9%2F24", "") // the set has another text of it
		root.changes(set, true, "PUT", set+"/10.9.7.0%2F24", "comment=d")
		root.changes(set, true, "PUT", set+"/10.1.2.3", "nomatch=1") // its comment was not sent again
		want("!10.1.2.3 10.9.7.0/24#d 2001:db8::/64")
		const modified = "detected modified configuration - file changed by other user? Try again."
		root.refused("PUT", set+"/10.1.2.3", "comment=x&digest="+staleDigest, 500, modified)
		root.refused("DELETE", set+"/10.1.2.3?digest="+staleDigest, "", 500, modified)
		root.changes(set, true, "DELETE", set+"/10.9.7.0/24?digest="+root.digest(set), "") // a slash may stand in the path
		want("!10.1.2.3 2001:db8::/64")
		root.refused("DELETE", set, "", 500, "IPSet 'set1' is not empty")
		root.decode("DELETE", set+"?force=1", "", nil)
		root.refused("GET", set, "", 500, "no such IPSet 'set1'")
	}
}

func TestFirewallIPSetNames(t *testing.T) {
	t.Parallel()
	for path := range objectScopes {
		c, root := snapshotHost(t)
		list := path + "/ipset"
		root.decode("POST", list, "name=MySet&comment=c", nil) // capitals are lost
		var sets []row
		root.get(list, &sets)
		if set := rowWith(sets, "name", "myset"); set["comment"] != "c" {
			t.Errorf("%s: %v", path, sets)
		}
		root.refused("GET", list+"/MySet", "", 500, "no such IPSet 'MySet'")
		root.decode("POST", list+"/myset", "cidr=10.0.0.0/8", nil)
		root.decode("POST", list, "name=MYSET", nil) // nobody minds, and nothing is lost
		if got := root.members(list + "/myset"); got != "10.0.0.0/8" {
			t.Errorf("%s: %q", path, got)
		}
		root.decode("POST", list, "name=other", nil)
		if got := root.errorOf("POST", list, "name=other&rename=myset", "name"); got != "IPSet 'other' does already exist" {
			t.Error(got)
		}
		root.refused("POST", list, "name=third&rename=myset&digest="+staleDigest, 500,
			"detected modified configuration - file changed by other user? Try again.")
		root.changes(list, true, "POST", list, "name=third&rename=myset&digest="+root.digest(list))
		if got := root.members(list + "/third"); got != "10.0.0.0/8" {
			t.Errorf("%s: %q", path, got)
		}
		root.changes(list, true, "POST", list, "name=third&rename=third&comment=d")
		noError(t, c.SetFirewallRules(objectScopes[path], pvesim.FirewallRule{Type: "in", Action: "DROP", Source: "+third"}))
		root.decode("DELETE", list+"/third?force=1", "", nil) // in use
	}
}
