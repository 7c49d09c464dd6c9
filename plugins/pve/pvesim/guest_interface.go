package pvesim

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// interfaceEndpoints serves what guests report about their interfaces.
func interfaceEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/nodes/{node}/qemu/{vmid}/agent/network-get-interfaces", readAgentInterfaces),
		serve("GET", "/nodes/{node}/lxc/{vmid}/interfaces", readInterfaces),
	}
}

// GuestInterface is a network interface as the guest itself tells it.
type GuestInterface struct {
	Name string `json:"name"`
	MAC  string `json:"mac"`
	// Addresses are with their prefix, such as 10.0.0.5/24.
	Addresses []string `json:"addresses"`
}

// readAgentInterfaces asks the agent inside of a VM.
func readAgentInterfaces(r *request) (result, *apiError) {
	g, err := r.guestOf()
	switch {
	case err != nil:
		return fail(err)
	case !agentEnabled(fmt.Sprint(g.config()["agent"])):
		return fail(failure("No QEMU guest agent configured"))
	case !g.running():
		return fail(failure("VM %d is not running", g.VMID))
	case len(g.Interfaces) == 0:
		return fail(failure("QEMU guest agent is not running"))
	}
	rows := []map[string]any{}
	for _, i := range g.Interfaces {
		addresses := []map[string]any{}
		for _, p := range i.prefixes() {
			family := "ipv4"
			if p.Addr().Is6() {
				family = "ipv6"
			}
			addresses = append(addresses, map[string]any{"ip-address": p.Addr().String(), "ip-address-type": family, "prefix": p.Bits()})
		}
		rows = append(rows, map[string]any{"name": i.Name, "hardware-address": strings.ToLower(i.MAC), "ip-addresses": addresses})
	}
	return ok(map[string]any{"result": rows})
}

// readInterfaces has nothing to say of a container that does not run, or that there is not.
func readInterfaces(r *request) (result, *apiError) {
	g := r.c.guestOn(r.node.name, LXC, r.vmid())
	if g == nil || !g.running() {
		return ok(nil)
	}
	told := g.Interfaces
	if len(told) == 0 {
		told = g.configuredInterfaces()
	}
	rows := []map[string]any{}
	for _, i := range told {
		addresses := []map[string]any{}
		mac := strings.ToLower(i.MAC)
		row := map[string]any{"name": i.Name, "hwaddr": mac, "hardware-address": mac}
		for _, p := range i.prefixes() {
			family := "inet"
			if p.Addr().Is6() {
				family = "inet6"
			}
			row[family] = p.String()
			addresses = append(addresses, map[string]any{
				"ip-address": p.Addr().String(), "ip-address-type": family, "prefix": strconv.Itoa(p.Bits()),
			})
		}
		row["ip-addresses"] = addresses
		rows = append(rows, row)
	}
	return ok(rows)
}

// prefixes are the addresses that are some.
func (i GuestInterface) prefixes() (all []netip.Prefix) {
	for _, text := range i.Addresses {
		if p, err := netip.ParsePrefix(text); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// configuredInterfaces are those of a container's configuration. What DHCP
// would give is made up of its number.
func (g *guest) configuredInterfaces() []GuestInterface {
	all := []GuestInterface{{Name: "lo", MAC: "00:00:00:00:00:00", Addresses: []string{"127.0.0.1/8", "::1/128"}}}
	config := g.config()
	for _, key := range slices.Sorted(maps.Keys(config)) {
		value, isText := config[key].(string)
		if !isText || !networkCard.MatchString(key) {
			continue
		}
		parts := map[string]string{}
		for part := range strings.SplitSeq(value, ",") {
			name, text, _ := strings.Cut(part, "=")
			parts[name] = text
		}
		i := GuestInterface{Name: parts["name"], MAC: parts["hwaddr"], Addresses: []string{parts["ip"], parts["ip6"]}}
		if _, err := netip.ParsePrefix(parts["ip"]); err != nil {
			i.Addresses[0] = fmt.Sprintf("10.99.%d.%d/16", byte(g.VMID>>8), byte(g.VMID))
		}
		if o := strings.Split(strings.ToLower(i.MAC), ":"); len(o) == 6 {
			first, _ := strconv.ParseUint(o[0], 16, 8)
			i.Addresses = append(i.Addresses, fmt.Sprintf("fe80::%x%s:%sff:fe%s:%s%s/64", first^2, o[1], o[2], o[3], o[4], o[5]))
		}
		all = append(all, i)
	}
	return all
}
