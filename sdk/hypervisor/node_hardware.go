package hypervisor

import (
	"context"
	"time"
)

// HardwareSection is one part of a node's hardware information. Each part is read
// separately, because some are slow.
type HardwareSection string

// The sections of a node's hardware information.
const (
	HardwareDisks        HardwareSection = "disks"
	HardwareInterfaces   HardwareSection = "interfaces"
	HardwarePCI          HardwareSection = "pci"
	HardwareServices     HardwareSection = "services"
	HardwareSubscription HardwareSection = "subscription"
	HardwareSystem       HardwareSection = "system" // name servers and clock
)

// HardwareSections returns all sections.
func HardwareSections() []HardwareSection {
	return []HardwareSection{HardwareDisks, HardwareInterfaces, HardwarePCI, HardwareServices, HardwareSubscription, HardwareSystem}
}

// HardwareQuery selects one section of one node.
type HardwareQuery struct {
	Node    string // the exact name, as in an inventory
	Section HardwareSection
	// Health also reads health and wear from the disks themselves. That wakes disks
	// that are asleep. Only HardwareDisks uses it.
	Health bool
}

// NodeHardware is the result of HardwareReader.NodeHardware. Only the requested
// section is set. A figure that the hypervisor did not report is nil, a text is
// empty.
type NodeHardware struct {
	Disks        []NodeDisk
	Interfaces   []NodeInterface
	PCI          []PCIDevice
	Services     []NodeService
	Subscription *Subscription
	System       *NodeSystem
}

// Kinds of disks, for NodeDisk.Kind.
const (
	DiskHDD  = "hdd"
	DiskSSD  = "ssd"
	DiskNVMe = "nvme"
	DiskUSB  = "usb"
)

// Health of a disk, for NodeDisk.Health.
const (
	HealthPassed = "passed"
	HealthFailed = "failed"
)

// NodeDisk is a physical disk of a node.
type NodeDisk struct {
	Path   string // such as "/dev/sda"
	Kind   string // one of the kinds, or empty
	Model  string
	Vendor string
	Serial string
	WWN    string
	Size   *int64 // bytes
	// RPM is the rotational speed. It is nil for a disk that does not rotate.
	RPM *int64
	// Use says what is on the disk, in the hypervisor's words, such as "LVM". It is
	// empty for an unused disk.
	Use string
	// Health is HealthPassed, HealthFailed, or empty if it was not read or the disk
	// does not report it.
	Health string
	// Wear is the used part of an SSD's life, 0 to 100 percent. It is nil under the
	// same conditions as Health.
	Wear *int64
	// Wakes is true for a disk that may be asleep and would wake up if its health
	// were read.
	Wakes bool
}

// NodeInterface is a network interface of a node, physical or virtual, in its
// present state.
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

// PCIDevice is a device on a node's PCI bus. IDs are hexadecimal, such as "0x10de".
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

// NodeService is one of the system services that the hypervisor watches on a node.
type NodeService struct {
	Name        string
	Description string
	State       string // of its process, such as "running" or "dead"
	Active      string // such as "active" or "failed"
	Enabled     string // such as "enabled" or "masked"
}

// Subscription is the support subscription of a node.
type Subscription struct {
	Status  string // such as "active", "expired" or "notfound"
	Product string
	Level   string
	Message string
	// Key is masked: it contains at most the prefix that names the product.
	Key     string
	Sockets *int64
	Due     string // a date, such as "2027-01-31"
	Checked time.Time
}

// NodeSystem contains the name servers and the clock of a node.
type NodeSystem struct {
	Nameservers  []string
	SearchDomain string
	Timezone     string
	Clock        time.Time
}

// HardwareReader is implemented by hosts that report the hardware of their nodes.
// It needs the Monitoring capability.
type HardwareReader interface {
	// NodeHardware reads one section from a node. The service calls it for a user
	// who waits, never in the poll loop. Node names and offline nodes follow the
	// rules of NodeReader. A section that the hypervisor does not have is
	// Unsupported. A section that the credential may not read, or only in part, is
	// Denied. No section contains secrets.
	NodeHardware(ctx context.Context, query HardwareQuery) (NodeHardware, error)
}
