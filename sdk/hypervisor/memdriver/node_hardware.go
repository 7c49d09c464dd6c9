package memdriver

import (
	"context"
	"slices"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// NodeHardware implements hypervisor.HardwareReader. Each section is a separate
// method for SetFault. All nodes are equal.
func (h *Host) NodeHardware(ctx context.Context, query hypervisor.HardwareQuery) (hypervisor.NodeHardware, error) {
	var none hypervisor.NodeHardware
	if !slices.Contains(hypervisor.HardwareSections(), query.Section) {
		return none, plugin.Errorf(plugin.Unsupported, "unknown section %.80q", query.Section)
	}
	c, privileges, err := h.begin(ctx, string(query.Section))
	if err != nil {
		return none, err
	}
	if !slices.Contains(c.nodes, query.Node) {
		return none, plugin.Errorf(plugin.NotFound, "node %.80q not found", query.Node)
	}
	if err := require(privileges, NodeAudit, "/nodes/"+query.Node); err != nil {
		return none, err
	}
	switch query.Section {
	case hypervisor.HardwareDisks:
		disk := hypervisor.NodeDisk{Path: "/dev/mem0", Kind: hypervisor.DiskHDD, Model: "Memory Disk", Vendor: "Memory", Serial: "M0",
			WWN: "0x5000000000000001", Size: ptr(int64(4 << 40)), RPM: ptr(int64(7200)), Wakes: true}
		flash := hypervisor.NodeDisk{Path: "/dev/mem1", Kind: hypervisor.DiskSSD, Size: ptr(int64(1 << 40)), Use: "partitions"}
		if query.Health {
			disk.Health, flash.Health, flash.Wear = hypervisor.HealthPassed, hypervisor.HealthFailed, ptr(int64(97))
		}
		return hypervisor.NodeHardware{Disks: []hypervisor.NodeDisk{disk, flash}}, nil
	case hypervisor.HardwareInterfaces:
		return hypervisor.NodeHardware{Interfaces: []hypervisor.NodeInterface{
			{Name: "bridge0", Type: hypervisor.InterfaceBridge, Active: ptr(true), Autostart: ptr(true),
				Addresses: []string{"192.0.2.10/24", "2001:db8::a/64"},
				Gateways:  []string{"192.0.2.1"}, Ports: []string{"eth0"}, Comment: "guests"},
			{Name: "eth0", Type: hypervisor.InterfaceNIC, Active: ptr(true)},
		}}, nil
	case hypervisor.HardwarePCI:
		return hypervisor.NodeHardware{PCI: []hypervisor.PCIDevice{{Address: "0000:01:00.0", Class: "0x030000", Vendor: "0x0001",
			VendorName: "Memory", Device: "0x0002", DeviceName: "Graphics", IOMMUGroup: ptr(int64(3)), Mediated: true}}}, nil
	case hypervisor.HardwareServices:
		return hypervisor.NodeHardware{Services: []hypervisor.NodeService{
			{Name: "apid", Description: "API", State: "running", Active: "active", Enabled: "enabled"}}}, nil
	case hypervisor.HardwareSubscription:
		return hypervisor.NodeHardware{Subscription: &hypervisor.Subscription{Status: "active", Product: "Memory", Level: "b", Key: "mem-…",
			Sockets: ptr(int64(1)), Due: "2030-01-31", Checked: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}}, nil
	default:
		return hypervisor.NodeHardware{System: &hypervisor.NodeSystem{Nameservers: []string{"192.0.2.53"}, SearchDomain: "example.com",
			Timezone: "Etc/UTC", Clock: time.Now().UTC()}}, nil
	}
}
