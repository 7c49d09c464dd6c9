package pve

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// TestInForce tells what is in force from diffs of which a part is missing.
func TestInForce(t *testing.T) {
	t.Parallel()
	bridge := func(change func(*hypervisor.Interface)) hypervisor.Interface {
		i := hypervisor.Interface{Name: "vmbr0", Type: hypervisor.InterfaceBridge, Active: true, Autostart: true, CIDR: "10.0.0.2/24",
			Gateway: "10.0.0.1", Ports: []string{"eno1"}, Options: map[string]string{"bridge_stp": "off", "bridge_fd": "0"}}
		change(&i)
		return i
	}
	inet := []string{"inet"}
	nic := hypervisor.Interface{Name: "eno1", Type: hypervisor.InterfaceNIC, Active: true}
	for name, c := range map[string]struct {
		pending hypervisor.Interface
		diff    string
		want    func(*hypervisor.Interface)
		unclear bool
	}{
		"with its name": {
			pending: bridge(func(i *hypervisor.Interface) { i.CIDR = "10.0.1.2/24" }),
			diff:    " auto vmbr0\n iface vmbr0 inet static\n-\taddress 10.0.0.2/24\n+\taddress 10.0.1.2/24\n \tgateway 10.0.0.1\n",
			want:    func(i *hypervisor.Interface) { i.CIDR = "10.0.0.2/24" },
		},
		"without its name": {
			pending: bridge(func(i *hypervisor.Interface) { n := int64(1400); i.MTU = &n }),
			diff:    " \tbridge-ports eno1\n \tbridge-stp off\n \tbridge-fd 0\n+\tmtu 1400\n \n",
			want:    func(*hypervisor.Interface) {},
		},
		"without its name, of what only a bridge has": {
			pending: bridge(func(*hypervisor.Interface) {}),
			diff:    " \tbridge-stp off\n \tbridge-fd 0\n-\tmtu 1400\n \n",
			want:    func(i *hypervisor.Interface) { n := int64(1400); i.MTU = &n },
		},
		"of nobody": {
			pending: bridge(func(*hypervisor.Interface) {}),
			diff:    " \tbond-miimon 100\n-\tmtu 1400\n \n",
			want:    func(*hypervisor.Interface) {}, unclear: true,
		},
		"old words": {
			pending: bridge(func(i *hypervisor.Interface) { i.Ports = []string{"eno1", "eno2"} }),
			diff: " iface vmbr0 inet static\n-\taddress 10.0.0.2\n-\tnetmask 255.255.255.0\n+\taddress 10.0.0.2/24\n \tgateway 10.0.0.1\n" +
				"-\tbridge_ports eno1\n+\tbridge-ports eno1 eno2\n",
			want: func(i *hypervisor.Interface) { i.Ports = []string{"eno1"} },
		},
		"no start any more": {
			pending: bridge(func(i *hypervisor.Interface) { i.Autostart = false }),
			diff:    "-auto vmbr0\n iface vmbr0 inet static\n",
			want:    func(i *hypervisor.Interface) { i.Autostart = true },
		},
		"a command that is added": {
			pending: bridge(func(i *hypervisor.Interface) { i.Options["post-up"] = "true" }),
			diff:    " iface vmbr0 inet static\n+\tpost-up true\n",
			want:    func(*hypervisor.Interface) {}, unclear: true,
		},
		"DHCP": {
			pending: bridge(func(i *hypervisor.Interface) { i.CIDR, i.Gateway, i.Dynamic = "", "", true }),
			diff:    "-iface vmbr0 inet static\n-\taddress 10.0.0.2/24\n-\tgateway 10.0.0.1\n+iface vmbr0 inet dhcp\n \tbridge-ports eno1\n",
			want:    func(*hypervisor.Interface) {},
		},
		"no family": {
			pending: bridge(func(i *hypervisor.Interface) { i.CIDR6, i.Gateway6 = "fd00::9/64", "" }),
			diff:    " auto vmbr0\n iface vmbr0\n \taddress 10.0.0.2/24\n-\taddress fd00::2/64\n-\tgateway fe80::1\n+\taddress fd00::9/64\n",
			want:    func(i *hypervisor.Interface) { i.CIDR6, i.Gateway6 = "fd00::2/64", "fe80::1" },
		},
		"another order": {
			pending: bridge(func(*hypervisor.Interface) {}),
			diff: "-auto vmbr0\n-iface vmbr0 inet static\n-\taddress 10.0.0.2\n-\tnetmask 255.255.255.0\n-\tbroadcast 10.0.0.255\n" +
				"-\tgateway 10.0.0.1\n-\tbridge_ports eno1\n-\t# ours\n-\n iface eno1 inet manual\n \n+auto vmbr0\n+iface vmbr0 inet static\n" +
				"+\taddress 10.0.0.2/24\n+\tgateway 10.0.0.1\n+\tbridge-ports eno1\n+\tbridge-stp off\n+\tbridge-fd 0\n",
			want: func(*hypervisor.Interface) {},
		},
		"spanning tree": {
			pending: bridge(func(*hypervisor.Interface) {}),
			diff:    " iface vmbr0 inet static\n \tbridge-ports eno1\n-\tbridge-stp on\n+\tbridge-stp off\n",
			want:    func(i *hypervisor.Interface) { i.Options["bridge_stp"] = "on" },
		},
		"the address of the other family": {
			pending: bridge(func(i *hypervisor.Interface) { i.CIDR6 = "fd00::2/64" }),
			diff:    "+iface vmbr0 inet6 static\n+\taddress fd00::2/64\n",
			want:    func(*hypervisor.Interface) {},
		},
		"a file of others": {
			pending: bridge(func(*hypervisor.Interface) {}),
			diff:    "-source /etc/network/interfaces.d/*\n",
			want:    func(*hypervisor.Interface) {}, unclear: true,
		},
	} {
		got, unclear := inForce([]configured{{nic, 3, inet}, {c.pending, 4, inet}}, "--- a\n+++ b\n@@ -9,9 +9,9 @@\n"+c.diff)
		want := bridge(c.want)
		if unclear != c.unclear || len(got) != 2 || !equalInterfaces(got[1], want) || got[1].Autostart != want.Autostart {
			t.Errorf("%s: unclear %v, in force %+v, want %+v", name, unclear, got, want)
		}
	}
	gone, unclear := inForce([]configured{{nic, 3, inet}}, "--- a\n+++ b\n@@ -1,9 +1,0 @@\n-auto vmbr9\n-iface vmbr9 inet static\n"+
		"-\taddress 10.9.0.1/24\n-\tbridge-ports none\n")
	if unclear || len(gone) != 2 || gone[1].Type != hypervisor.InterfaceBridge || gone[1].CIDR != "10.9.0.1/24" || len(gone[1].Ports) != 0 ||
		!gone[1].Autostart {
		t.Errorf("one that is gone: %+v, unclear %v", gone, unclear)
	}
	if text := restoring("--- a\n+++ b\n"); !strings.HasPrefix(text, "patch -R -l /etc/network/interfaces") {
		t.Error(text)
	}
}
