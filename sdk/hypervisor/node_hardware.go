package hypervisor

import (
	"context"
	"time"
)

// HardwareSection is one part of what a node tells of its hardware; each is asked for by itself.
type HardwareSection string

// The sections.
const (
	HardwareDisks        HardwareSection = "disks"
	HardwareInterfaces   HardwareSection = "interfaces"
	HardwarePCI          HardwareSection = "pci"
	HardwareServices     HardwareSection = "services"
	HardwareSubscription HardwareSection = "subscription"
	HardwareSystem       HardwareSection = "system" // name servers and clock
)

// HardwareSections are all of them.
func HardwareSections() []HardwareSection {
	return []HardwareSection{HardwareDisks, HardwareInterfaces, HardwarePCI, HardwareServices, HardwareSubscription, HardwareSystem}
}

// HardwareQuery asks for one section of one node.
type HardwareQuery struct {
	Node    string // the exact name, as in an inventory
	Section HardwareSection
	// Health asks the disks themselves for health and wear, which wakes those that sleep. Only HardwareDisks heeds it.
	Health bool
}

// NodeHardware is the section that was asked for; all others are empty. A figure that the hypervisor did not give is nil, a text
// empty.
type NodeHardware struct {
	Disks        []NodeDisk
	Interfaces   []NodeInterface
	PCI          []PCIDevice
	Services     []NodeService
	Subscription *Subscription
	System       *NodeSystem
}

// The kinds of disks.
const (
	DiskHDD  = "hdd"
	DiskSSD  = "ssd"
	DiskNVMe = "nvme"
	DiskUSB  = "usb"
)

// The healths of a disk.
const (
	HealthPassed = "passed"
	HealthFailed = "failed"
)

// NodeDisk is a disk of a node.
type NodeDisk struct {
	Path   string // such as "/dev/sda"
	Kind   string // one of the kinds, or empty
	Model  string
	Vendor string
	Serial string
	WWN    string
	Size   *int64 // bytes
	// RPM is how fast it turns; nil for one that does not.
	RPM *int64
	// Use is what is on it in the hypervisor's words, such as "LVM"; empty for a disk that is free.
	Use string
	// Health is HealthPassed, HealthFailed, or empty when the disk was not asked or does not tell.
	Health string
	// Wear is how much of an SSD's life is used up, 0 to 100; nil like Health.
	Wear *int64
	// Wakes is true for a disk that may sleep and would be woken by asking for its health.
	Wakes bool
}

// NodeInterface is a network interface of a node, physical or not, as it is in force.
type NodeInterface struct {
	Name string
	// Type is one of the types of Interface.
	Type      string
	Active    *bool
	Autostart *bool
	Addresses []string // with the length of the prefix
	Gateways  []string
	Ports     []string // of a bridge or a bond
	Comment   string
}

// PCIDevice is a device on a node's PCI bus. Its numbers are hexadecimal, such as "0x10de".
type PCIDevice struct {
	Address    string // such as "0000:01:00.0"
	Class      string
	Vendor     string
	VendorName string
	Device     string
	DeviceName string
	IOMMUGroup *int64 // nil without an IOMMU
	Mediated   bool   // it can be divided into mediated devices
}

// NodeService is one of the services that the hypervisor watches on a node.
type NodeService struct {
	Name        string
	Description string
	State       string // of its process, such as "running" or "dead"
	Active      string // such as "active" or "failed"
	Enabled     string // such as "enabled" or "masked"
}

// Subscription is what the node's maker is paid for.
type Subscription struct {
	Status  string // such as "active", "expired" or "notfound"
	Product string
	Level   string
	Message string
	// Key is masked: no more than the prefix that names the product.
	Key     string
	Sockets *int64
	Due     string // a date, such as "2027-01-31"
	Checked time.Time
}

// NodeSystem is how a node finds names and what its clock says.
type NodeSystem struct {
	Nameservers  []string
	SearchDomain string
	Timezone     string
	Clock        time.Time
}

// HardwareReader is satisfied by hosts that tell of a node's hardware. Needs the Monitoring capability.
type HardwareReader interface {
	// NodeHardware asks the node for one section; it is called for a user who waits and never by the poll loop. Names of nodes
	// and nodes that are off are as for NodeReader. A section that the hypervisor does not have, or does not know the name of, is
	// Unsupported. One that the token may not read, or that would show less than there is for want of a privilege, is Denied.
	// Nothing of a section is a secret.
	NodeHardware(ctx context.Context, query HardwareQuery) (NodeHardware, error)
}
