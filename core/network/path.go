package network

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// verdict is the effect of an apply on the path by which the service reaches a
// node.
type verdict struct {
	// touched says that the path is affected, unclear that nobody can tell.
	// Both require the same confirmation.
	touched, unclear bool
	// why has the reasons, as sentences without a full stop.
	why []string
}

// asks reports whether the service may be cut off.
func (v *verdict) asks() bool { return v.touched || v.unclear }

// touch records that the change affects the path by which the service reaches
// the node.
func (v *verdict) touch(format string, args ...any) {
	v.touched, v.why = true, append(v.why, fmt.Sprintf(format, args...))
}

// doubt records that nobody can tell whether the change affects the path.
// Callers treat that as a danger.
func (v *verdict) doubt(format string, args ...any) {
	v.unclear, v.why = true, append(v.why, fmt.Sprintf(format, args...))
}

// ownPath judges the staged configuration by the addresses at which the service
// reaches the node, and by the bridges of the service's own guest. The path
// consists of the interface with such an address, the one with the gateway of
// its family, and everything below these.
func ownPath(n hypervisor.NodeNetwork, dialled []netip.Addr, own []string) *verdict {
	v := &verdict{}
	if n.Diff == "" {
		return v
	}
	if n.Unclear {
		v.doubt("the staged changes could not be fully told apart from the active configuration")
	}
	if len(dialled) == 0 {
		v.doubt("the address at which the service reaches the node is unknown")
	}
	roots := map[string]bool{}
	for _, name := range own {
		roots[name] = true
	}
	for _, address := range dialled {
		address = address.Unmap().WithZone("")
		carrier := carrierOf(n.Current, address)
		if carrier == nil {
			v.doubt("no interface has the address %s, at which the service reaches the node", address)
			continue
		}
		roots[carrier.Name] = true
		family := address.Is6()
		for _, i := range n.Current {
			if gatewayOf(i, family) != "" {
				roots[i.Name] = true
			}
		}
		if was, is := gateways(n.Current, family), gateways(n.Interfaces, family); !slices.Equal(was, is) {
			v.touch("the gateway changes from %s to %s", words(was), words(is))
		}
		v.claimed(n, *carrier, address)
	}
	path := below(n.Current, roots)
	for _, name := range slices.Sorted(maps.Keys(path)) {
		was, is := byAnyName(n.Current, name), byAnyName(n.Interfaces, name)
		switch {
		case was == nil && is == nil: // the configuration does not name it
		case is == nil:
			v.touch("%s is removed", name)
		case was == nil:
			v.touch("%s gets a new configuration", name)
		case !passes(*was, *is):
			v.touch("%s is changed", name)
		}
	}
	v.taken(n, path)
	v.drawn(n, path)
	return v
}

// passes reports whether traffic through an interface passes as before. The
// setting to come up by itself does not matter: an interface with traffic is up
// already.
func passes(was, is hypervisor.Interface) bool {
	was.Autostart = was.Autostart || is.Autostart
	return alike(was, is)
}

// drawn looks for other interfaces that will get their addresses from the
// network: a gateway may come with them.
func (v *verdict) drawn(n hypervisor.NodeNetwork, path map[string]bool) {
	for _, i := range n.Interfaces {
		was := named(n.Current, i.Name)
		if was == nil {
			was = &hypervisor.Interface{}
		}
		if !path[i.Name] && (i.Dynamic && !was.Dynamic || i.Dynamic6 && !was.Dynamic6) {
			v.doubt("%s gets its address from the network, and maybe a gateway", i.Name)
		}
	}
}

// carrierOf returns the interface with an address.
func carrierOf(all []hypervisor.Interface, address netip.Addr) *hypervisor.Interface {
	for i := range all {
		for _, cidr := range []string{all[i].CIDR, all[i].CIDR6} {
			if p, err := netip.ParsePrefix(cidr); err == nil && p.Addr().Unmap() == address {
				return &all[i]
			}
		}
	}
	return nil
}

// gatewayOf gives the IPv4 or the IPv6 gateway.
func gatewayOf(i hypervisor.Interface, six bool) string {
	if six {
		return i.Gateway6
	}
	return i.Gateway
}

// gateways lists the default gateways, each with its interface.
func gateways(all []hypervisor.Interface, six bool) (found []string) {
	for _, i := range all {
		if g := gatewayOf(i, six); g != "" {
			found = append(found, g+" on "+i.Name)
		}
	}
	slices.Sort(found)
	return found
}

// words joins texts for a sentence.
func words(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, " and ")
}

// claimed looks for interfaces that get an address in the network of the
// carrier: answers may leave through them. An alias of the carrier leads the
// same way.
func (v *verdict) claimed(n hypervisor.NodeNetwork, carrier hypervisor.Interface, address netip.Addr) {
	for _, i := range n.Interfaces {
		if was := named(n.Current, i.Name); i.Name == carrier.Name || i.Type == hypervisor.InterfaceAlias && i.Device == carrier.Name ||
			was != nil && was.CIDR == i.CIDR && was.CIDR6 == i.CIDR6 {
			continue
		}
		for _, cidr := range []string{i.CIDR, i.CIDR6} {
			p, err := netip.ParsePrefix(cidr)
			if err != nil {
				continue
			}
			gateway, err := netip.ParseAddr(gatewayOf(carrier, address.Is6()))
			if p.Contains(address) || err == nil && p.Contains(gateway) {
				v.touch("%s gets an address in the network of %s, at which the service reaches the node", i.Name, address)
			}
		}
	}
}

// byAnyName returns an interface by its name or an alternative name.
func byAnyName(all []hypervisor.Interface, name string) *hypervisor.Interface {
	if i := named(all, name); i != nil {
		return i
	}
	if i := slices.IndexFunc(all, func(i hypervisor.Interface) bool { return slices.Contains(i.AltNames, name) }); i >= 0 {
		return &all[i]
	}
	return nil
}

// below returns interfaces with everything that carries them, by their proper
// names.
func below(all []hypervisor.Interface, roots map[string]bool) map[string]bool {
	found := map[string]bool{}
	todo := slices.Sorted(maps.Keys(roots))
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		i := byAnyName(all, name)
		if i != nil {
			name = i.Name
		}
		if found[name] {
			continue
		}
		found[name] = true
		if i == nil {
			continue
		}
		todo = append(todo, i.Ports...)
		if i.Device != "" {
			todo = append(todo, i.Device)
		}
		for _, o := range all {
			// A bond or a port of Open vSwitch names its switch, and not the
			// other way round.
			if o.Device == i.Name && slices.Contains([]string{hypervisor.InterfaceOVSBond, hypervisor.InterfaceOVSPort}, o.Type) {
				todo = append(todo, o.Name)
			}
		}
	}
	return found
}

// taken looks for interfaces that take one of the path as their port.
func (v *verdict) taken(n hypervisor.NodeNetwork, path map[string]bool) {
	for _, i := range n.Interfaces {
		if path[i.Name] {
			continue // it was looked at as a part of the path
		}
		was := named(n.Current, i.Name)
		for _, port := range i.Ports {
			if p := byAnyName(n.Current, port); p != nil {
				port = p.Name
			}
			if path[port] && (was == nil || !slices.ContainsFunc(was.Ports, func(o string) bool {
				same := byAnyName(n.Current, o)
				return o == port || same != nil && same.Name == port
			})) {
				v.touch("%s becomes a port of %s", port, i.Name)
			}
		}
	}
}

// alike reports whether two interfaces are the same for the traffic that passes
// through them.
func alike(a, b hypervisor.Interface) bool {
	number := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	ports := func(i hypervisor.Interface) []string { return slices.Sorted(slices.Values(i.Ports)) }
	return a.Type == b.Type && a.Autostart == b.Autostart && a.CIDR == b.CIDR && a.CIDR6 == b.CIDR6 && a.Gateway == b.Gateway &&
		a.Gateway6 == b.Gateway6 && a.Dynamic == b.Dynamic && a.Dynamic6 == b.Dynamic6 && slices.Equal(ports(a), ports(b)) &&
		a.Device == b.Device && number(a.VLAN) == number(b.VLAN) && a.VLANAware == b.VLANAware && a.VLANs == b.VLANs &&
		a.BondMode == b.BondMode && a.BondPrimary == b.BondPrimary && a.BondHash == b.BondHash && number(a.MTU) == number(b.MTU) &&
		maps.Equal(a.Options, b.Options)
}
