package hypervisor

import "context"

// NIC is the configuration of a network interface of a guest.
type NIC struct {
	// Key is the hypervisor's name of the slot, such as "net0".
	Key string
	// Name is the name of the interface inside a container, such as "eth0". It is
	// empty for VMs.
	Name string
	// Model is the hardware model that a VM sees. MAC is the hardware address.
	// Bridge is the network of the node that the NIC is attached to. VLAN is its
	// tag, nil for none.
	Model    string
	MAC      string
	Bridge   string
	VLAN     *int64
	Rate     *float64 // MB per second; nil for no limit
	MTU      *int64
	Firewall bool
	LinkDown bool
	// IP, Gateway, IP6 and Gateway6 are the addresses that a container is
	// configured with: an address with its prefix length, "dhcp", "auto" or
	// "manual".
	IP, Gateway, IP6, Gateway6 string
	// Pending is true if a change of the NIC waits for a restart.
	Pending bool
	// Raw is the driver's own encoding of the NIC, including pending changes. The
	// service passes it back in NICChange. It is empty if the driver does not need
	// it.
	Raw string
}

// NICList is the result of NICEditor.NICs.
type NICList struct {
	// Digest is the Config.Digest of the configuration that was read.
	Digest string
	NICs   []NIC
}

// NICAddresses are the addresses that the guest itself reports for one of its
// interfaces.
type NICAddresses struct {
	// Name is the guest's name of the interface. MAC identifies the NIC.
	Name string
	MAC  string
	// Addresses have their prefix length, such as "10.0.0.5/24".
	Addresses []string
}

// The fields of a NIC that a change can contain, for NICChange.Fields and
// NICChange.Clear.
const (
	NICBridge   = "bridge"
	NICVLAN     = "tag"
	NICRate     = "rate"
	NICMTU      = "mtu"
	NICFirewall = "firewall"
	NICLinkDown = "link_down"
	NICIP       = "ip"
	NICGateway  = "gw"
	NICIP6      = "ip6"
	NICGateway6 = "gw6"
)

// NICChange is a change of a NIC. A field that is not named keeps its value
// exactly, and so do options that the driver does not know.
type NICChange struct {
	// Digest is the NICList.Digest that the change is based on. If the
	// configuration has another digest, the result is Conflict with the field
	// "digest". An empty value skips the check.
	Digest string
	// Raw is NIC.Raw from the NICList that the change is based on.
	Raw string
	// Set contains the new values. Only the fields that Fields names are used.
	Set NIC
	// Fields names the fields that get the values of Set. Clear names the fields to
	// remove.
	Fields []string
	Clear  []string
}

// NICEditor is implemented by hosts that can read and change the network interfaces
// of guests. ChangeNIC needs the Lifecycle capability, the other methods need
// Monitoring.
type NICEditor interface {
	// NICs reads the interfaces, sorted by key, and bypasses any cache. An unknown
	// guest is NotFound.
	NICs(ctx context.Context, guest GuestRef) (NICList, error)
	// Addresses reads the addresses from the guest itself. A guest that cannot
	// report them, because it is stopped or has no agent, is Conflict or
	// Unsupported.
	Addresses(ctx context.Context, guest GuestRef) ([]NICAddresses, error)
	// ChangeNIC changes one NIC in one request, sent once. An unknown NIC is
	// NotFound. A value that is not accepted is Invalid with the field, one of the
	// constants above. A Raw that does not match the NIC is Conflict with the field
	// "digest".
	ChangeNIC(ctx context.Context, guest GuestRef, key string, change NICChange) error
}
