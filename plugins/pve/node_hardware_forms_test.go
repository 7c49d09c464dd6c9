package pve

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// TestNodeHardwareForms: what nodes send that the simulator's does not.
func TestNodeHardwareForms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		section hypervisor.HardwareSection
		data    string
		good    func(h hypervisor.NodeHardware) bool // nil: the answer is refused
	}{
		"a device that can be divided": {hypervisor.HardwarePCI, `[{"id":"0000:01:00.0","mdev":1}]`,
			func(h hypervisor.NodeHardware) bool { return h.PCI[0].Mediated && h.PCI[0].IOMMUGroup == nil }},
		"a disk that tells nothing": {hypervisor.HardwareDisks, `[{"devpath":"/dev/sda","type":"unknown","vendor":"unknown ","wwn":"unknown",
			"health":"UNKNOWN","wearout":"N/A","rpm":-1,"size":"5"}]`, func(h hypervisor.NodeHardware) bool {
			d := h.Disks[0]
			return d.Kind == "" && d.Vendor == "" && d.WWN == "" && d.Health == "" && d.Wear == nil && d.RPM == nil && *d.Size == 5 && d.Wakes
		}},
		"more wear than there is": {hypervisor.HardwareDisks, `[{"devpath":"/dev/sda","wearout":-20},{"devpath":"/dev/sdb","wearout":0}]`,
			func(h hypervisor.NodeHardware) bool { return h.Disks[0].Wear == nil && *h.Disks[1].Wear == 100 }},
		"no disk":            {hypervisor.HardwareDisks, `[]`, func(h hypervisor.NodeHardware) bool { return len(h.Disks) == 0 }},
		"no list of disks":   {hypervisor.HardwareDisks, `null`, nil},
		"no list of daemons": {hypervisor.HardwareServices, `null`, nil},
		"a bond and a switch": {hypervisor.HardwareInterfaces, `[{"iface":"vmbr1","type":"OVSBridge","ovs_ports":"bond0 eno3"},
			{"iface":"bond0","type":"bond","slaves":"eno1 eno2","cidr6":"2001:db8::1/64","gateway6":"2001:db8::ff","comments":"up\n"},
			{"iface":"vmbr0","type":"bridge"}]`,
			func(h hypervisor.NodeHardware) bool {
				bond, bridge := h.Interfaces[0], h.Interfaces[2]
				return strings.Join(bond.Ports, " ") == "eno1 eno2" && strings.Join(bridge.Ports, " ") == "bond0 eno3" &&
					bond.Addresses[0] == "2001:db8::1/64" && bond.Gateways[0] == "2001:db8::ff" && bond.Comment == "up"
			}},
		"no subscription": {hypervisor.HardwareSubscription, `{"status":"NotFound","message":"There is no subscription key"}`,
			func(h hypervisor.NodeHardware) bool {
				return h.Subscription.Status == "notfound" && h.Subscription.Key == ""
			}},
		"a sentence with the key": {hypervisor.HardwareSubscription, `{"status":"invalid","key":"pve2b-0a1b2c3d4e",
			"message":"key pve2b-0a1b2c3d4e is not for this server","signature":"x","serverid":"y"}`,
			func(h hypervisor.NodeHardware) bool {
				return h.Subscription.Key == "pve2b-…" && h.Subscription.Message == "key pve2b-… is not for this server"
			}},
		"a key of another form": {hypervisor.HardwareSubscription, `{"status":"active","key":"0a1b2c3d4e5f"}`,
			func(h hypervisor.NodeHardware) bool { return h.Subscription.Key == "-…" }},
		"a subscription that says nothing": {hypervisor.HardwareSubscription, `{}`, nil},
		"a clock that says nothing":        {hypervisor.HardwareSystem, `{"dns1":"192.0.2.1"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := serveReply(t, reply{Status: 200, Reason: "OK", Response: json.RawMessage(`{"data":` + c.data + `}`)})
			h, err := host.NodeHardware(t.Context(), hypervisor.HardwareQuery{Node: "pve1", Section: c.section, Health: true})
			switch {
			case c.good == nil:
				if plugin.KindOf(err) != plugin.Protocol {
					t.Errorf("%+v, error %v, want %s", h, err, plugin.Protocol)
				}
			case err != nil || !c.good(h):
				t.Errorf("%+v, error %v", h, err)
			}
		})
	}
}
