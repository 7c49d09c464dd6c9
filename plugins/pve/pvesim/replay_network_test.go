package pvesim_test

import "net/url"

// networkPreparations are for the recordings of a node's network: what was staged when they were made.
func (w *recordedServer) networkPreparations() []preparation {
	stage := func(form url.Values) func() {
		return func() { w.do("POST", "/nodes/pve1/network", form.Encode()) }
	}
	vmbr1 := url.Values{"iface": {"vmbr1"}, "type": {"bridge"}, "cidr": {"10.50.0.1/24"}, "autostart": {"1"}}
	commented := url.Values{"iface": {"vmbr1"}, "type": {"bridge"}, "cidr": {"10.50.0.1/24"}, "autostart": {"1"},
		"comments": {"line one\nline two"}}
	return []preparation{
		{"network__before_apply network__merge_test_list", func() {
			stage(vmbr1)()
			w.do("PUT", "/nodes/pve1/network", "")
		}},
		{"network__staged network__staged_many network_vmbr1__staged network__duplicate", stage(commented)},
		{"network__before_revert network_vmbr1__update network_vmbr1__update_missing_type network_vmbr1__change_type " +
			"network_vmbr1__delete_cidr network_vmbr1__after_update", stage(vmbr1)},
		{"network__before_revert network_vmbr1__after_update", func() {
			w.do("PUT", "/nodes/pve1/network/vmbr1", "type=bridge&delete=cidr,autostart")
		}},
		{"network__staged_many network__before_revert", func() {
			stage(url.Values{"iface": {"vmbr2"}, "type": {"bridge"}, "cidr": {"10.50.0.2/24"}})()
			stage(url.Values{"iface": {"vmbr0.5"}, "type": {"vlan"}})()
		}},
		{"network__staged_many network__before_revert network__bond", stage(url.Values{"iface": {"vmbr6"}, "type": {"bridge"},
			"bridge_vlan_aware": {"1"}, "bridge_ports": {"eno2"}, "mtu": {"1400"}})},
		{"network__post_existing_staged network_vmbr30__merge_test_put network_vmbr30__merge_test_after network_vmbr30__staged_only",
			stage(url.Values{"iface": {"vmbr30"}, "type": {"bridge"}, "cidr": {"10.30.0.1/24"}, "autostart": {"1"}, "comments": {"keepme"},
				"mtu": {"1400"}})},
		{"network_vmbr30__merge_test_after", func() { w.do("PUT", "/nodes/pve1/network/vmbr30", "type=bridge&cidr=10.31.0.1/24") }},
	}
}
