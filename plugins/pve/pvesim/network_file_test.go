package pvesim_test

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

// TestFilesAreListed holds what the API lists of files of interfaces: rows by name, of which the members named here are compared.
func TestFilesAreListed(t *testing.T) {
	t.Parallel()
	cluster := pvesimtest.Start(t, pvesim.Options{Bare: true})
	w := as(t, cluster, cluster.AddToken("root@pam!test", false))
	for name, c := range map[string]struct {
		text  string
		links map[string][]string
		want  map[string]row
	}{
		"older words": {"allow-hotplug eth0 vmbr1\niface vmbr1 inet static\n  address 10.1.0.2\n  netmask 255.255.254.0\n  gateway  10.1.0.1\n" +
			"  bridge_ports eth1 eth0\n  bridge_stp yes\n  bridge_fd 4\n  # ours\n\n# not ours\niface eth0 inet manual\n  mtu 9000\n",
			nil, map[string]row{
				"vmbr1": {"type": "bridge", "cidr": "10.1.0.2/23", "address": "10.1.0.2", "netmask": "23", "gateway": "10.1.0.1", "autostart": 1.0,
					"bridge_ports": "eth0 eth1", "bridge_stp": "on", "bridge_fd": "4", "comments": " ours\n", "method": "static", "priority": 2.0},
				"eth0": {"type": "eth", "mtu": "9000", "method": "manual", "method6": "manual", "priority": 3.0, "cidr": nil}}},
		"no families": {"auto vmbr1\niface vmbr1\n\taddress 10.1.0.2/24\n\taddress fd01::2/64\n\tgateway fd01::1\n\tbridge-ports none\n" +
			"\tbridge-vlan-aware yes\n", nil, map[string]row{
			"vmbr1": {"type": "bridge", "cidr": "10.1.0.2/24", "cidr6": "fd01::2/64", "gateway6": "fd01::1", "gateway": nil, "bridge_ports": "",
				"bridge_vlan_aware": 1.0, "method": "manual"}}},
		"a bond by number": {"iface bond1 inet6 static\n\taddress fd01::2\n\tnetmask 64\n\tslaves eno2 eno1\n\tbond_mode 4\n" +
			"\tbond-lacp-rate 1\n", nil, map[string]row{
			"bond1": {"type": "bond", "bond_mode": "802.3ad", "slaves": "eno1 eno2", "cidr6": "fd01::2/64", "method6": "static",
				"options6": []any{"bond-lacp-rate 1"}, "families": []any{"inet6"}}}},
		"VLANs and an alias": {"iface vlan7 inet manual\n\tvlan-raw-device eno1\niface own inet dhcp\n\tvlan-raw-device eno1\n\tvlan-id 8\n" +
			"iface eno1.9 inet manual\niface eno1:1 inet static\n\taddress 10.1.0.3\n", nil, map[string]row{
			"vlan7":  {"type": "vlan", "vlan-id": "7", "vlan-raw-device": "eno1", "exists": 0.0},
			"own":    {"type": "vlan", "vlan-id": "8", "method": "dhcp"},
			"eno1.9": {"type": "vlan", "vlan-id": "9", "vlan-raw-device": "eno1"},
			"eno1:1": {"type": "alias", "cidr": "10.1.0.3/32"}}},
		"Open vSwitch": {"allow-ovs vmbr1\niface vmbr1 inet manual\n\tovs_type OVSBridge\n\tovs_ports bond1 mgmt\n\tovs_mtu 9000\n" +
			"allow-vmbr1 bond1\niface bond1 inet manual\n\tovs_bonds eno1 eno2\n\tovs_type OVSBond\n\tovs_bridge vmbr1\n" +
			"\tovs_options bond_mode=balance-slb lacp=active tag=5 other_config:x=y\nallow-vmbr1 mgmt\niface mgmt inet static\n" +
			"\taddress 10.1.0.2/24\n\tovs_type OVSIntPort\n\tovs_bridge vmbr1\n\tovs_options tag=60\n", nil, map[string]row{
			"vmbr1": {"type": "OVSBridge", "ovs_ports": "bond1 mgmt", "mtu": "9000", "autostart": 1.0},
			"bond1": {"type": "OVSBond", "bond_mode": "lacp-balance-slb", "ovs_tag": "5", "ovs_bonds": "eno1 eno2",
				"ovs_options": "other_config:x=y", "autostart": nil},
			"mgmt": {"type": "OVSIntPort", "ovs_tag": "60", "ovs_options": nil, "ovs_bridge": "vmbr1"}}},
		"other names": {"iface enp3s0 inet manual\niface vmbr1 inet manual\n\tbridge-ports enp3s0\n",
			map[string][]string{"nicluster": {"enx001122334455", "enp3s0"}, "wan": {}}, map[string]row{
				"enp3s0": {"type": "eth", "exists": 1.0, "altnames": []any{"enx001122334455", "nicluster"}},
				"wan":    {"type": "eth", "exists": 1.0, "active": 1.0, "priority": nil}, "nicluster": nil}},
	} {
		if err := cluster.SetNodeFiles("pve1", pvesim.NodeFiles{Interfaces: c.text, Links: c.links}); err != nil {
			t.Fatal(err)
		}
		var list []row
		w.get("/nodes/pve1/network", &list)
		rows := map[string]row{}
		for _, r := range list {
			rows[r["iface"].(string)] = r
		}
		for iface, want := range c.want {
			if (rows[iface] == nil) != (want == nil) {
				t.Errorf("%s: %s is %v", name, iface, rows[iface])
			}
			for key, value := range want {
				if !reflect.DeepEqual(rows[iface][key], value) {
					t.Errorf("%s: %s of %s is %v, want %v", name, key, iface, rows[iface][key], value)
				}
			}
		}
		if rows["lo"] != nil {
			t.Errorf("%s: lo is listed", name)
		}
	}
}

// A file that the hypervisor has written changes by what is staged alone, and what does not fit together is refused.
func TestFilesAreWritten(t *testing.T) {
	t.Parallel()
	cluster := pvesimtest.Start(t, pvesim.Options{Bare: true})
	w := as(t, cluster, cluster.AddToken("root@pam!test", false))
	stage := func(form url.Values, status int, contains string) {
		t.Helper()
		got := w.raw("POST", "/nodes/pve1/network", form.Encode())
		if text := got.reason + string(got.body); got.status != status || !strings.Contains(text, contains) {
			t.Errorf("staging %v: %d %s", form, got.status, text)
		}
	}
	stage(url.Values{"iface": {"bond3"}, "type": {"bond"}, "slaves": {"eno2"}, "bond_mode": {"active-backup"}, "bond-primary": {"eno2"}},
		200, "")
	stage(url.Values{"iface": {"own"}, "type": {"vlan"}, "vlan-raw-device": {"bond3"}, "vlan-id": {"7"}, "cidr6": {"fd00::1/64"}}, 200, "")
	stage(url.Values{"iface": {"vmbr3"}, "type": {"OVSBridge"}, "mtu": {"1500"}}, 200, "")
	stage(url.Values{"iface": {"mgmt"}, "type": {"OVSIntPort"}, "ovs_bridge": {"vmbr3"}, "ovs_tag": {"9"}}, 200, "")
	w.raw("PUT", "/nodes/pve1/network", "")
	cluster.Advance(time.Minute)
	before, err := cluster.NodeFiles("pve1")
	if err != nil || before.Staged != "" || !strings.Contains(before.Interfaces, "auto mgmt\niface mgmt inet manual\n\tovs_type OVSIntPort\n"+
		"\tovs_bridge vmbr3\n\tovs_options tag=9\n") {
		t.Fatalf("%v: in force:\n%s", err, before.Interfaces)
	}
	stage(url.Values{"iface": {"vmbr4"}, "type": {"bridge"}, "comments": {"last"}}, 200, "")
	after, err := cluster.NodeFiles("pve1")
	made := "iface vmbr4 inet manual\n\tbridge-ports none\n\tbridge-stp off\n\tbridge-fd 0\n#last\n\n"
	if err != nil || strings.Replace(after.Staged, made, "", 1) != before.Interfaces {
		t.Errorf("%v: staged:\n%s\nin force:\n%s", err, after.Staged, before.Interfaces)
	}
	for text, form := range map[string]url.Values{
		"unable to find slave 'eno7'":     {"iface": {"bond4"}, "type": {"bond"}, "slaves": {"eno7"}},
		"wrong interface type on slave":   {"iface": {"bond4"}, "type": {"bond"}, "slaves": {"vmbr4"}},
		"bond-primary interface is not a": {"iface": {"bond4"}, "type": {"bond"}, "slaves": {"eno1x"}, "bond-primary": {"eno2"}},
		"is already used on interface":    {"iface": {"bond4"}, "type": {"bond"}, "slaves": {"eno2"}},
		"ip address can't be set":         {"iface": {"vmbr5"}, "type": {"bridge"}, "bridge_ports": {"own"}},
		"unable to find bridge port":      {"iface": {"vmbr5"}, "type": {"bridge"}, "bridge_ports": {"eno7"}},
		"unable to find parent 'eno7'":    {"iface": {"eno7.5"}, "type": {"vlan"}},
		"wrong interface type on parent":  {"iface": {"v5"}, "type": {"vlan"}, "vlan-raw-device": {"vmbr3"}, "vlan-id": {"5"}},
		"mtu 1500 is lower than":          {"iface": {"vmbr4.5"}, "type": {"vlan"}, "mtu": {"9000"}},
		"bridge 'vmbr9' does not exist":   {"iface": {"int9"}, "type": {"OVSIntPort"}, "ovs_bridge": {"vmbr9"}},
		"interface 'vmbr0' is no OVS":     {"iface": {"int9"}, "type": {"OVSIntPort"}, "ovs_bridge": {"vmbr0"}},
		"interface already exists":        {"iface": {"vmbr4"}, "type": {"bridge"}},
		"Default gateway already exists":  {"iface": {"vmbr5"}, "type": {"bridge"}, "cidr": {"10.5.0.2/24"}, "gateway": {"10.5.0.1"}},
		"unable to find port 'eno7'":      {"iface": {"vmbr5"}, "type": {"OVSBridge"}, "ovs_ports": {"eno7"}},
		"is not defined as OVS port/bond": {"iface": {"vmbr5"}, "type": {"OVSBridge"}, "ovs_ports": {"vmbr4"}},
		"parameter is required":           {"iface": {"int9"}, "type": {"OVSIntPort"}},
	} {
		status := 500
		for _, parameter := range []string{"already", "required", "does not exist", "is no OVS"} {
			if strings.Contains(text, parameter) {
				status = 400
			}
		}
		if strings.Contains(text, "primary") {
			form["slaves"] = []string{"eno3"}
			w.raw("POST", "/nodes/pve1/network", url.Values{"iface": {"eno3"}, "type": {"eth"}}.Encode())
		}
		stage(form, status, text)
	}
}
