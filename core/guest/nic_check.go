package guest

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// checkNIC returns invalid with all faults of a change that the NIC cannot
// have.
func (a *Actor) checkNIC(ctx context.Context, g *Guest, now hypervisor.NIC, change hypervisor.NICChange) (err error) {
	p := &place{}
	bridge, mtu := slices.Contains(change.Fields, hypervisor.NICBridge), slices.Contains(change.Fields, hypervisor.NICMTU)
	// The node is only asked if the change needs it: that costs a request and a
	// privilege.
	if bridge || mtu {
		known := false
		if p.Placement, known, err = a.roomFor(ctx, g, hypervisor.PlacementQuery{Bridges: bridge}); err != nil {
			return err
		}
		if known && bridge && !slices.Contains(p.Bridges, change.Set.Bridge) {
			p.refuse(hypervisor.NICBridge, "value_error", "the node does not have this bridge, or the monitoring token cannot see it")
		}
	}
	if mtu && change.Set.MTU != nil {
		p.checkMost(hypervisor.NICMTU, *change.Set.MTU, p.Limits.MTU)
	}
	if g.Kind == Container {
		next := nicWith(now, change)
		p.checkFamily(change, family{4, hypervisor.NICIP, hypervisor.NICGateway, next.ip, next.gateway, []string{"dhcp", "manual"}})
		p.checkFamily(change, family{6, hypervisor.NICIP6, hypervisor.NICGateway6, next.ip6, next.gateway6,
			[]string{"dhcp", "auto", "manual"}})
	}
	return p.err()
}

// family is the addressing of one IP version as it would be after the change.
type family struct {
	version            int
	field, gatewayName string
	ip, gateway        string
	words              []string
}

// checkFamily records faults of addresses, and of a gateway that the address
// cannot reach. It checks the result of the change, so that a new address which
// does not fit the present gateway is found too.
func (p *place) checkFamily(change hypervisor.NICChange, f family) {
	named := slices.Concat(change.Fields, change.Clear)
	setsIP, setsGateway := slices.Contains(named, f.field), slices.Contains(named, f.gatewayName)
	if !setsIP && !setsGateway {
		return
	}
	own, fixed := f.prefix()
	fits := true
	if slices.Contains(change.Fields, f.field) && !fixed && !slices.Contains(f.words, f.ip) {
		p.refuse(f.field, "value_error", "must be an IPv%d address with a prefix length, or one of %s",
			f.version, strings.Join(f.words, ", "))
		fits = false
	}
	gateway, err := netip.ParseAddr(f.gateway)
	is := err == nil && gateway.Zone() == "" && (f.version == 4) == gateway.Is4() && !gateway.Is4In6() && !gateway.IsMulticast() &&
		!gateway.IsUnspecified()
	if slices.Contains(change.Fields, f.gatewayName) && !is {
		p.refuse(f.gatewayName, "value_error", "must be an IPv%d address without a prefix length", f.version)
		fits = false
	}
	if !fits || f.gateway == "" || !is {
		return
	}
	// The fault is reported at a field that the request contains.
	at := f.gatewayName
	if !setsGateway {
		at = f.field
	}
	switch {
	case !fixed:
		p.refuse(at, "value_error", "a gateway requires a fixed address; send null for %s to remove it", f.gatewayName)
	case gateway == own.Addr():
		p.refuse(at, "value_error", "the gateway must differ from the address")
	// A link-local gateway is valid in every network (RFC 4861 section 6.3.4
	// uses such addresses for routers).
	case !own.IsSingleIP() && !own.Contains(gateway) && !gateway.IsLinkLocalUnicast():
		p.refuse(at, "value_error", "the gateway must be in the network of the address")
	}
}

// prefix returns the fixed address, and false if the setting is a word such as
// dhcp or is not a usable address.
func (f family) prefix() (netip.Prefix, bool) {
	own, err := netip.ParsePrefix(f.ip)
	if err != nil || own.Bits() == 0 || (f.version == 4) != own.Addr().Is4() || own.Addr().Is4In6() || own.Addr().IsMulticast() ||
		own.Addr().IsUnspecified() {
		return netip.Prefix{}, false
	}
	return own, true
}

// values are the fields of a NIC that a change can name, in comparable form. A
// missing number is zero.
type values struct {
	bridge, ip, gateway, ip6, gateway6 string
	vlan, mtu                          int64
	rate                               float64
	firewall, linkDown                 bool
}

// nicComparable returns the values of a NIC.
func nicComparable(n *hypervisor.NIC) *values {
	v := &values{bridge: n.Bridge, ip: n.IP, gateway: n.Gateway, ip6: n.IP6, gateway6: n.Gateway6, firewall: n.Firewall, linkDown: n.LinkDown}
	if n.VLAN != nil {
		v.vlan = *n.VLAN
	}
	if n.MTU != nil {
		v.mtu = *n.MTU
	}
	if n.Rate != nil {
		v.rate = *n.Rate
	}
	return v
}

// nicWith returns the values that a NIC would have after a change.
func nicWith(now hypervisor.NIC, change hypervisor.NICChange) values {
	v, set := *nicComparable(&now), *nicComparable(&change.Set)
	for _, field := range change.Clear {
		v.take(values{}, field)
	}
	for _, field := range change.Fields {
		v.take(set, field)
	}
	return v
}

// take copies one field from other values.
func (v *values) take(from values, field string) {
	switch field {
	case hypervisor.NICBridge:
		v.bridge = from.bridge
	case hypervisor.NICVLAN:
		v.vlan = from.vlan
	case hypervisor.NICRate:
		v.rate = from.rate
	case hypervisor.NICMTU:
		v.mtu = from.mtu
	case hypervisor.NICFirewall:
		v.firewall = from.firewall
	case hypervisor.NICLinkDown:
		v.linkDown = from.linkDown
	case hypervisor.NICIP:
		v.ip = from.ip
	case hypervisor.NICGateway:
		v.gateway = from.gateway
	case hypervisor.NICIP6:
		v.ip6 = from.ip6
	case hypervisor.NICGateway6:
		v.gateway6 = from.gateway6
	}
}
