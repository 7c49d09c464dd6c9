// Package firewalltest has valid requests to firewalls. The tests over all
// operations of the API send them; see package requesttest.
package firewalltest

import (
	"fmt"
	"strings"

	"github.com/hostler/hostler/core/api/requesttest"
)

// name is that of an alias and an IP set which each scope has, and of a security group of the cluster; member is in the set.
const (
	name   = requesttest.Canary
	member = "192.0.2.9"
)

// scope is one at which the operations are: the word that it has in their ids, and its path.
type scope struct{ word, path string }

func scopes(f *requesttest.Fixture) []scope {
	cluster := fmt.Sprintf("/api/v1/firewall/cluster/%d", f.Host)
	node := fmt.Sprintf("/%d/%s-node1", f.Host, requesttest.Canary)
	return []scope{
		{"app_firewall", fmt.Sprintf("/api/v1/apps/%d/firewall", f.App)}, {"vm_firewall", fmt.Sprintf("/api/v1/vms/%d/firewall", f.VM)},
		{"cluster_firewall", cluster}, {"group_firewall", cluster + "/groups/" + name},
		{"node_firewall", "/api/v1/firewall/nodes" + node}, {"firewall_node", "/api/v1/firewall/node" + node},
	}
}

// Requests are those of the resource, at each scope.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		all := scopes(f)
		f.Expect("POST", strings.TrimSuffix(all[3].path, "/"+name), fmt.Sprintf(`{"group":%q}`, name), 200)
		for _, s := range all[:5] { // the last one is another path of that before
			f.Expect("POST", s.path+"/aliases", fmt.Sprintf(`{"name":%q,"cidr":"192.0.2.9"}`, name), 200)
			f.Expect("POST", s.path+"/ipsets", fmt.Sprintf(`{"name":%q}`, name), 200)
			f.Expect("POST", s.path+"/ipsets/"+name+"/members", fmt.Sprintf(`{"cidr":%q}`, member), 200)
		}
		return map[string]string{"group": name, "name": name, "pos": "0", "cidr": member, "draft_id": draftID(f),
			"template_id": templateID(f)}
	},
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		all := []requesttest.Change{
			{Operation: "create_firewall_group", Body: `{"group":"fresh","comment":"text"}`},
			{Operation: "delete_firewall_group", Path: map[string]string{"group": "fresh"}},
		}
		packet := fmt.Sprintf(`{"from":{"app_id":%d,"nic":"net0","address":"192.0.2.9"},"to":{"host_id":%d,"node":"%s-node1"},`+
			`"protocol":"icmp","sport":0,"dport":0,"icmp_type":"echo-request","at":"current"}`, f.App, f.Host, requesttest.Canary)
		all = append(all, requesttest.Change{Operation: "test_firewall_packet", Body: packet},
			requesttest.Change{Operation: "list_firewall_reach", Body: fmt.Sprintf(`{"to":{"vm_id":%d},"limit":9,"at":"current"}`, f.VM)})
		for _, s := range scopes(f) {
			all = append(all, changes(s.word)...)
		}
		return append(all, draftChanges(f)...)
	},
}

// changes are those of one scope, in an order in which each succeeds.
func changes(word string) []requesttest.Change {
	const rule = `{"type":"in","action":"ACCEPT","enable":1,"iface":"net0","source":"192.0.2.0/24","dest":"192.0.2.9","sport":"1024:65535",` +
		`"dport":"22","proto":"tcp","log":"info","comment":"text","pos":0}`
	const patch = `{"type":"in","action":"DROP","enable":1,"comment":"text"}`
	fresh := map[string]string{"name": "fresh"}
	renamed := map[string]string{"name": "renamed"}
	added := map[string]string{"cidr": "192.0.2.7"}
	all := []requesttest.Change{
		{Operation: "create_%_rule", Body: rule},
		{Operation: "change_%_rule", Body: patch},
		{Operation: "move_%_rule", Body: `{"moveto":0}`},
		{Operation: "delete_%_rule"},
		{Operation: "create_%_alias", Body: `{"name":"fresh","cidr":"192.0.2.7","comment":"text"}`},
		{Operation: "change_%_alias", Path: fresh, Body: `{"cidr":"192.0.2.8","comment":"text","rename":"renamed"}`,
			Nulls: fmt.Sprintf(`{"cidr":"192.0.2.8","comment":"text","rename":%q}`, name)},
		{Operation: "delete_%_alias", Path: renamed},
		{Operation: "create_%_ipset", Body: `{"name":"fresh","comment":"text"}`},
		{Operation: "delete_%_ipset", Path: fresh},
		{Operation: "add_%_ipset_member", Body: `{"cidr":"192.0.2.7","nomatch":0,"comment":"text"}`},
		{Operation: "change_%_ipset_member", Body: `{"nomatch":1,"comment":"text"}`},
		{Operation: "remove_%_ipset_member", Path: added},
	}
	if word != "group_firewall" {
		all = append(all, requesttest.Change{Operation: "change_%_options",
			Body: `{"enable":1,"dhcp":1,"policy_in":"DROP","log_level_in":"info"}`})
	}
	for i := range all {
		all[i].Operation = strings.Replace(all[i].Operation, "%", word, 1)
	}
	return all
}
