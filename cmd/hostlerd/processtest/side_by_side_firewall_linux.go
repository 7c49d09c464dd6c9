package processtest

import "strings"

// sideFirewallRequests has every operation about firewalls, each so that nothing is changed: a digest that is none, a name that is not
// there, or a filter that is wrong. The second kind has no firewall here, and no VM.
func sideFirewallRequests() (all []sideRequest) {
	const ok, stale, absent, unsupported = "200", "409 digest_conflict", "404 not_found", "501 unsupported"
	const elsewhere, invalid = "501 unsupported_at_scope", "422 invalid"
	type m = map[string]any
	for _, scope := range []struct {
		word string
		// Of the first kind: whether the scope is there, and has names and a log.
		there, names, log bool
	}{
		{"vm_firewall", true, true, true}, {"app_firewall", true, true, true}, {"cluster_firewall", true, true, false},
		{"node_firewall", true, false, true}, {"firewall_node", true, false, true}, {"group_firewall", false, false, false},
	} {
		lxd := unsupported
		if scope.word == "vm_firewall" {
			lxd = absent
		}
		ask := func(id, query string, body m, pve, lxd string) {
			all = append(all, sideRequest{operation: strings.Replace(id, "%", scope.word, 1), query: query, body: body, pve: pve, lxd: lxd,
				params: map[string]string{"name": "none", "group": "none", "pos": "0", "cidr": "192.0.2.9"}})
		}
		rules := func(what string) string {
			if !scope.there {
				return absent
			}
			return what
		}
		names := func(what string) string {
			if !scope.names {
				return elsewhere
			}
			return what
		}
		ask("list_%_rules", "", nil, rules(ok), lxd)
		ask("create_%_rule", "", m{"type": "in", "action": "DROP", "digest": "none"}, rules(stale), lxd)
		ask("change_%_rule", "", m{"enable": 0, "digest": "none"}, rules(stale), lxd)
		ask("move_%_rule", "", m{"moveto": 0, "digest": "none"}, rules(stale), lxd)
		ask("delete_%_rule", "digest=none", nil, rules(stale), lxd)
		ask("list_%_aliases", "", nil, names(ok), lxd)
		ask("create_%_alias", "", m{"name": "asked", "cidr": "192.0.2.7", "digest": "none"}, names(stale), lxd)
		ask("change_%_alias", "", m{"cidr": "192.0.2.7", "digest": "none"}, names(stale), lxd)
		ask("delete_%_alias", "digest=none", nil, names(stale), lxd)
		ask("list_%_ipsets", "", nil, names(ok), lxd)
		ask("create_%_ipset", "", m{"name": "asked", "digest": "none"}, names(stale), lxd)
		ask("delete_%_ipset", "digest=none", nil, names(stale), lxd)
		ask("list_%_ipset_members", "", nil, names(absent), lxd)
		ask("add_%_ipset_member", "", m{"cidr": "192.0.2.7"}, names(absent), lxd)
		ask("change_%_ipset_member", "", m{"nomatch": 1}, names(absent), lxd)
		ask("remove_%_ipset_member", "", nil, names(absent), lxd)
		if !scope.there {
			continue
		}
		log := ok
		if !scope.log {
			log = elsewhere
		}
		ask("get_%_options", "", nil, ok, lxd)
		ask("change_%_options", "", m{"enable": 1, "digest": "none"}, stale, lxd)
		if log == ok { // which the tokens' roles do not have
			log = "502 hypervisor_error"
		}
		ask("read_%_log", "", nil, log, lxd)
		wrong := invalid
		if lxd == absent {
			wrong = absent
		}
		ask("follow_%_log", "source=nowhere", nil, invalid, wrong)
		ask("list_%_refs", "", nil, names(ok), lxd)
	}
	draft, template := map[string]string{"draft_id": "999999"}, map[string]string{"template_id": "999999"}
	nowhere := m{"from": m{"outside": true}, "to": m{"outside": true}, "protocol": "tcp"}
	return append(all,
		sideRequest{operation: "list_firewall_drafts", pve: ok, lxd: ok},
		sideRequest{operation: "create_firewall_draft", body: m{}, pve: invalid, lxd: invalid},
		sideRequest{operation: "get_firewall_draft", params: draft, pve: absent, lxd: absent},
		sideRequest{operation: "change_firewall_draft", params: draft, body: m{}, pve: invalid, lxd: invalid},
		sideRequest{operation: "commit_firewall_draft", params: draft, body: m{}, pve: absent, lxd: absent},
		sideRequest{operation: "confirm_firewall_draft", params: draft, pve: absent, lxd: absent},
		sideRequest{operation: "delete_firewall_draft", params: draft, pve: absent, lxd: absent},
		sideRequest{operation: "list_firewall_templates", pve: ok, lxd: ok},
		sideRequest{operation: "create_firewall_template", body: m{}, pve: invalid, lxd: invalid},
		sideRequest{operation: "get_firewall_template", params: template, pve: absent, lxd: absent},
		sideRequest{operation: "change_firewall_template", params: template, body: m{}, pve: invalid, lxd: invalid},
		sideRequest{operation: "delete_firewall_template", params: template, pve: absent, lxd: absent},
		sideRequest{operation: "create_firewall_draft_of_template", params: template, body: m{}, pve: invalid, lxd: invalid},
		sideRequest{operation: "test_firewall_packet", body: nowhere, pve: invalid, lxd: invalid},
		sideRequest{operation: "list_firewall_reach", body: m{"to": m{"outside": true}}, pve: invalid, lxd: invalid},
		sideRequest{operation: "list_firewall_groups", pve: ok, lxd: unsupported},
		sideRequest{operation: "create_firewall_group", body: m{"group": "asked", "digest": "none"}, pve: stale, lxd: unsupported},
		sideRequest{operation: "delete_firewall_group", query: "digest=none", params: map[string]string{"group": "none"}, pve: stale,
			lxd: unsupported},
		sideRequest{operation: "list_firewall_macros", pve: ok, lxd: unsupported},
	)
}
