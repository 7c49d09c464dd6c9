package pvegolden

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
)

// firewalled gives the cluster, its first node and both guests a firewall each: two rules, and where there are names, an alias and two IP
// sets that nothing names; the cluster has a group with two rules and one without.
func (w *World) firewalled() {
	w.t.Helper()
	rules := []pvesim.FirewallRule{
		{Type: "in", Action: "ACCEPT", Enable: true, Proto: "tcp", Dport: "22"}, {Type: "in", Action: "DROP", Comment: "all else"},
	}
	node := pvesim.FirewallConfig{Rules: rules}
	guest := pvesim.FirewallConfig{Rules: rules, Aliases: []pvesim.FirewallAlias{{Name: "old", CIDR: "192.0.2.6"}},
		IPSets: []pvesim.FirewallIPSet{{Name: "old", Members: []pvesim.FirewallMember{{CIDR: "192.0.2.0/24"}}}, {Name: "spare"}}}
	cluster := guest
	cluster.Groups = []pvesim.SecurityGroup{{Name: "web", Rules: rules}, {Name: "spare"}}
	all := map[pvesim.FirewallScope]pvesim.FirewallConfig{pvesim.FirewallCluster: cluster, pvesim.FirewallNode("pve1"): node}
	lines := []string{"0 6 PVEFW-HOST-IN 01/Mar/2026:12:00:00 +0000 policy DROP: IN=vmbr0 SRC=198.51.100.7 DST=192.0.2.10 " +
		"PROTO=TCP SPT=5 DPT=22"}
	for _, name := range []string{"vm", "app"} {
		all[pvesim.FirewallGuest(w.VMID(name))] = guest
		lines = append(lines, strings.Replace(lines[0], "0 6 PVEFW-HOST-IN", strconv.Itoa(w.VMID(name))+" 6 tap-IN", 1))
	}
	if err := w.SetFirewalls(all); err != nil {
		w.t.Fatal(err)
	}
	for _, on := range []string{"pve1", "pve2"} {
		if err := w.AppendFirewallLog(on, lines...); err != nil {
			w.t.Fatal(err)
		}
	}
}

// grant adds a privilege to a role.
func (w *World) grant(role, privilege string) {
	w.t.Helper()
	if has := w.Role(role); !slices.Contains(has, privilege) {
		w.SetRole(role, append(slices.Clone(has), privilege)...)
	}
}

// firewallActs are those of each scope.
func firewallActs() (acts []Act) {
	for _, scope := range []struct {
		word, path string
		// names says that the scope has aliases and IP sets, and log that it has a log.
		names, log, options bool
	}{
		{"vm_firewall", "/vms/{vm}/firewall", true, true, true}, {"app_firewall", "/apps/{app}/firewall", true, true, true},
		{"cluster_firewall", "/firewall/cluster/{host}", true, false, true},
		{"node_firewall", "/firewall/nodes/{host}/pve1", false, true, true},
		{"firewall_node", "/firewall/node/{host}/pve1", false, true, true},
		{"group_firewall", "/firewall/cluster/{host}/groups/web", false, false, false},
	} {
		add := func(has bool, id, method, path, body string) {
			a := Act{Operation: strings.Replace(id, "%", scope.word, 1), Method: method, Path: scope.path + path, Body: body,
				Before: (*World).firewalled, Lacks: !has}
			if method != "GET" {
				a.Tokens = lifecycle
			}
			if strings.HasPrefix(path, "/log") && scope.names {
				a.Tokens = []endpoint.Capability{endpoint.Console} // of a guest
			}
			acts = append(acts, a)
		}
		add(true, "list_%_rules", "GET", "/rules", "")
		add(true, "create_%_rule", "POST", "/rules", `{"type":"in","action":"ACCEPT"}`)
		add(true, "change_%_rule", "PUT", "/rules/1", `{"enable":1,"delete":"comment"}`)
		add(true, "move_%_rule", "PUT", "/rules/1/move", `{"moveto":0}`)
		add(true, "delete_%_rule", "DELETE", "/rules/1", "")
		add(scope.names, "list_%_aliases", "GET", "/aliases", "")
		add(scope.names, "create_%_alias", "POST", "/aliases", `{"name":"made","cidr":"192.0.2.7"}`)
		add(scope.names, "change_%_alias", "PUT", "/aliases/old", `{"cidr":"192.0.2.8"}`)
		add(scope.names, "delete_%_alias", "DELETE", "/aliases/old?confirm=old", "")
		add(scope.names, "list_%_ipsets", "GET", "/ipsets", "")
		add(scope.names, "create_%_ipset", "POST", "/ipsets", `{"name":"made"}`)
		add(scope.names, "delete_%_ipset", "DELETE", "/ipsets/spare?confirm=spare", "")
		add(scope.names, "list_%_ipset_members", "GET", "/ipsets/old/members", "")
		add(scope.names, "add_%_ipset_member", "POST", "/ipsets/old/members", `{"cidr":"198.51.100.7"}`)
		add(scope.names, "change_%_ipset_member", "PUT", "/ipsets/old/members/192.0.2.0/24", `{"comment":"text"}`)
		add(scope.names, "remove_%_ipset_member", "DELETE", "/ipsets/old/members/192.0.2.0/24", "")
		if !scope.options {
			continue
		}
		add(true, "get_%_options", "GET", "/options", "")
		add(true, "change_%_options", "PUT", "/options", `{"enable":1}`)
		add(scope.log, "read_%_log", "GET", "/log", "")
		add(scope.log, "follow_%_log", "GET", "/log/stream?start=0&limit=1", "")
		add(scope.names, "list_%_refs", "GET", "/refs", "")
	}
	groups := "/firewall/cluster/{host}/groups"
	return append(acts,
		Act{Operation: "list_firewall_groups", Method: "GET", Path: groups, Before: (*World).firewalled, Most: 1},
		Act{Operation: "create_firewall_group", Tokens: lifecycle, Method: "POST", Path: groups, Before: (*World).firewalled,
			Body: `{"group":"made"}`},
		Act{Operation: "delete_firewall_group", Tokens: lifecycle, Method: "DELETE", Path: groups + "/spare?confirm=spare",
			Before: (*World).firewalled},
		Act{Operation: "delete_firewall_group", Case: "which nothing names", Tokens: lifecycle, Method: "DELETE", Path: groups + "/spare",
			Before: (*World).firewalled},
		Act{Operation: "delete_vm_firewall_alias", Case: "which nothing names", Tokens: lifecycle, Method: "DELETE",
			Path: "/vms/{vm}/firewall/aliases/old", Before: (*World).firewalled},
		Act{Operation: "delete_cluster_firewall_alias", Case: "which nothing names", Tokens: lifecycle, Method: "DELETE",
			Path: "/firewall/cluster/{host}/aliases/old", Before: (*World).firewalled},
		Act{Operation: "list_firewall_macros", Method: "GET", Path: "/firewall/cluster/{host}/macros", Most: 1},
		Act{Operation: "test_firewall_packet", Method: "POST", Path: "/firewall/test", Before: (*World).firewalled, Most: 40,
			Body: `{"from":{"app_id":{app}},"to":{"vm_id":{vm}},"protocol":"tcp","dport":22}`},
		Act{Operation: "test_firewall_packet", Case: "to a node", Method: "POST", Path: "/firewall/test", Before: (*World).firewalled, Most: 40,
			Body: `{"from":{"outside":true},"to":{"host_id":{host},"node":"pve1"},"protocol":"tcp","dport":8006}`},
		Act{Operation: "list_firewall_reach", Method: "POST", Path: "/firewall/reach", Before: (*World).firewalled, Most: 60,
			Body: `{"to":{"vm_id":{vm}}}`},
		Act{Operation: "create_firewall_draft", Tokens: lifecycle, Method: "POST", Path: "/firewall/drafts",
			Body: draftBody, Before: (*World).firewalled},
		Act{Operation: "change_firewall_draft", Tokens: lifecycle, Method: "PUT", Path: "/firewall/drafts/{draft}", Before: (*World).drafted,
			Body: `{"version":1,"changes":[{"scope":{"kind":"vm","id":{vm}},"action":"delete_rule","pos":0}]}`},
		Act{Operation: "commit_firewall_draft", Tokens: lifecycle, Method: "POST", Path: "/firewall/drafts/{draft}/commit",
			Body: `{"window_seconds":60,"confirm":"telnet"}`, Before: (*World).drafted},
		Act{Operation: "create_firewall_draft_of_template", Tokens: lifecycle, Method: "POST",
			Path: "/firewall/templates/{template}/drafts", Body: `{"host_id":{host},"scopes":[{"kind":"vm","id":{vm}}]}`,
			Before: (*World).templated},
		Act{Operation: "create_vm_firewall_rule", Case: "at a place, switched on", Tokens: lifecycle, Method: "POST",
			Path: "/vms/{vm}/firewall/rules", Before: (*World).firewalled, Body: `{"type":"in","action":"ACCEPT","enable":1,"pos":2}`},
	)
}

// draftBody is the body that creates a draft with one new rule for the VM.
const draftBody = `{"host_id":{host},"name":"telnet","changes":[{"scope":{"kind":"vm","id":{vm}},"action":"create_rule","pos":0,` +
	`"rule":{"type":"in","action":"DROP","enable":1,"proto":"tcp","dport":"23"}}]}`

// drafted is firewalled with a draft, which is confirmed as soon as its changes are made.
func (w *World) drafted() {
	w.t.Helper()
	w.firewalled()
	w.Exec(`CREATE OR REPLACE FUNCTION confirm_at_once() RETURNS trigger LANGUAGE plpgsql AS
		$$BEGIN NEW.confirmed_at := now(); NEW.confirmed_by := 'somebody'; RETURN NEW; END$$`)
	w.Exec(`CREATE OR REPLACE TRIGGER confirm_at_once BEFORE UPDATE ON firewall_drafts FOR EACH ROW
		WHEN (NEW.status = 'waiting' AND OLD.status <> 'waiting') EXECUTE FUNCTION confirm_at_once()`)
	w.vars["draft"] = w.made("/firewall/drafts", draftBody)
}

// templated is firewalled with a template that is kept.
func (w *World) templated() {
	w.t.Helper()
	w.firewalled()
	w.vars["template"] = w.made("/firewall/templates", `{"name":"web","content":{"rules":[{"type":"in","action":"ACCEPT","enable":1,`+
		`"proto":"tcp","dport":"443"}]}}`)
}

// made is the id of what a POST makes.
func (w *World) made(path, body string) string {
	w.t.Helper()
	var made struct{ ID int64 }
	if err := json.Unmarshal(w.want(http.MethodPost, path, body, http.StatusCreated).Body, &made); err != nil {
		w.t.Fatal(err)
	}
	return strconv.FormatInt(made.ID, 10)
}
