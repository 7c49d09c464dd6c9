package hypervisor

import "context"

// NIC is a network interface of a guest, as it is configured.
type NIC struct {
	// Key is the hypervisor's, such as "net0".
	Key string
	// Name is the interface's inside a container, such as "eth0"; empty for VMs.
	Name     string
	Model    string
	MAC      string
	Bridge   string
	VLAN     *int64
	Rate     *float64 // MB per second; nil for no limit
	MTU      *int64
	Firewall bool
	LinkDown bool
	// IP, Gateway, IP6 and Gateway6 are what a container is configured with: an address with its prefix, "dhcp", "auto" or "manual".
	IP, Gateway, IP6, Gateway6 string
	// Pending is true when a change of it waits for a restart.
	Pending bool
	// Raw is the driver's own form of the NIC with what waits, which a change of it brings back; empty where the driver needs none.
	Raw string
}

// NICList is the answer of NICEditor.NICs.
type NICList struct {
	// Digest is Config.Digest.
	Digest string
	NICs   []NIC
}

// NICAddresses are the addresses that the guest itself tells of one of its interfaces.
type NICAddresses struct {
	// Name is the guest's word for the interface, and MAC says which NIC it is.
	Name string
	MAC  string
	// Addresses are with their prefix, such as "10.0.0.5/24".
	Addresses []string
}

// The fields of a NIC that a change can name.
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

// NICChange is a change of a NIC. What is not named stays to the byte, options that the driver does not know included.
type NICChange struct {
	// Digest is that of the NICList that the change was made from; another one by now is Conflict with the
	// field "digest". Empty takes any.
	Digest string
	// Raw is that of the NIC in the NICList that the change was made from.
	Raw string
	// Set has the new values; of it only the fields that Fields names count.
	Set NIC
	// Fields are those that get the values of Set, and Clear those that are removed.
	Fields []string
	Clear  []string
}

// NICEditor is satisfied by hosts that can tell and change a guest's network interfaces. ChangeNIC needs the Lifecycle capability, all
// else the Monitoring one.
type NICEditor interface {
	// NICs reads them past any cache, sorted by key. An unknown guest is NotFound.
	NICs(ctx context.Context, guest GuestRef) (NICList, error)
	// Addresses asks the guest itself. One that cannot tell, because it does not run or has no agent, is Conflict or Unsupported.
	Addresses(ctx context.Context, guest GuestRef) ([]NICAddresses, error)
	// ChangeNIC changes one NIC in one request, sent once. An unknown NIC is NotFound; a value that does not do is Invalid with the
	// field as it is named here, and one whose Raw is not that of the NIC is Conflict with the field "digest".
	ChangeNIC(ctx context.Context, guest GuestRef, key string, change NICChange) error
}
