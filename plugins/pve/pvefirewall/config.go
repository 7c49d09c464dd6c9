package pvefirewall

import (
	"net/netip"
	"time"
)

// Limits of a configuration. More is refused by Compile with a LimitError: far
// above what Proxmox itself could hold.
const (
	MaxNodes   = 1024
	MaxGuests  = 100_000
	MaxNICs    = 32        // of one guest
	MaxRules   = 500_000   // of all scopes and groups together, where those of the cluster count for each node
	MaxMembers = 2_000_000 // of all IP sets together
	MaxField   = 64 << 10  // bytes of one field of a rule
)

// Config is everything that decides about packets in one cluster. Names are
// those of the API.
type Config struct {
	Cluster Cluster
	Nodes   []Node
	// Corosync is nil where the cluster has no corosync configuration.
	Corosync *Corosync
	// Now is the time at which Cluster.Options.Enable is judged when it holds
	// an epoch. The zero time counts as before it.
	Now time.Time
}

// Cluster is the scope that all nodes and guests share.
type Cluster struct {
	Options ClusterOptions
	Aliases []Alias
	IPSets  []IPSet
	// SDN are the sets that the software-defined network brings; rules name them +sdn/NAME.
	SDN    []IPSet
	Groups []Group
	Rules  []Rule
}

// Node is a host with its rules, and the guests that are on it now: Proxmox VE
// makes rules for a guest only on the guest's node.
type Node struct {
	Name    string
	Options NodeOptions
	Rules   []Rule
	// Addresses are those of the node's interfaces, with the length of their
	// networks. They say what is a broadcast.
	Addresses []netip.Prefix
	// LocalNetwork is the network of the node's cluster address. It may always
	// manage the node. Without one Proxmox takes 127.0.0.0/8.
	LocalNetwork netip.Prefix
	// AltNames are other names of interfaces, with the name that the kernel uses.
	AltNames map[string]string
	Guests   []Guest
}

// Guest is a virtual machine or a container with its own scope.
type Guest struct {
	ID        int
	Container bool
	NICs      []NIC
	Options   GuestOptions
	Aliases   []Alias
	IPSets    []IPSet
	Rules     []Rule
}

// NIC is a network interface of a guest.
type NIC struct {
	Name     string // net0
	Bridge   string // the device of the node that it hangs on
	MAC      MAC    // zero when it is not known: then there is no filter of MAC addresses
	Firewall bool   // the flag firewall=1
	// Addresses are those that are configured on the NIC of a container. They
	// count for the filter of addresses; what a virtual machine has is not
	// configured, so Proxmox does not know it.
	Addresses []netip.Addr
}

// Alias is a name for one address or network.
type Alias struct {
	Name string
	CIDR string
}

// IPSet is a named list of addresses, networks and aliases.
type IPSet struct {
	Name    string
	Members []Member
}

// Member is an entry of an IP set. NoMatch excludes it from a larger network in
// the same set.
type Member struct {
	CIDR    string
	NoMatch bool
}

// Group is a security group: rules into which other rules jump.
type Group struct {
	Name  string
	Rules []Rule
}

// Rule is a rule of a scope, with the fields of the API; empty fields are
// absent. Its position is its index in the list.
type Rule struct {
	Type     string // in, out, forward, group
	Action   string // ACCEPT, DROP, REJECT, or the name of a group
	Disabled bool
	Macro    string
	Iface    string
	Proto    string
	Source   string
	Dest     string
	SPort    string
	DPort    string
	ICMPType string
}

// Corosync holds the addresses through which the nodes of a cluster
// communicate.
type Corosync struct {
	Transport string // knet, udp, udpu
	Nodes     []CorosyncNode
}

// CorosyncNode holds the addresses of one node, by ring. The zero address
// stands for a ring on which it is not.
type CorosyncNode struct {
	Name  string
	Rings []netip.Addr
}

// MAC is a hardware address.
type MAC [6]byte

// ParseMAC reads the form 0E:0B:38:B8:B3:21.
func ParseMAC(s string) (MAC, error) {
	var mac MAC
	if len(s) != 17 {
		return MAC{}, &TextError{What: "MAC address", Text: s}
	}
	for i := range mac {
		high, low := hexDigit(s[3*i]), hexDigit(s[3*i+1])
		if high < 0 || low < 0 || i < 5 && s[3*i+2] != ':' {
			return MAC{}, &TextError{What: "MAC address", Text: s}
		}
		mac[i] = byte(high<<4 | low)
	}
	return mac, nil
}

// hexDigit returns the value of a hexadecimal digit, or -1.
func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// linkLocal returns the IPv6 address that a NIC assigns itself (modified
// EUI-64, RFC 4291, appendix A).
func (m MAC) linkLocal() netip.Addr {
	return netip.AddrFrom16([16]byte{0: 0xfe, 1: 0x80, 8: m[0] ^ 2, 9: m[1], 10: m[2], 11: 0xff, 12: 0xfe, 13: m[3], 14: m[4], 15: m[5]})
}
