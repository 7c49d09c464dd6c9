package pvesim

import (
	"net/netip"
	"slices"
	"strings"
)

// networkEndpoints serves the networks of nodes.
func networkEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/nodes/{node}/network", listNetworks),
		serve("POST", "/nodes/{node}/network", createInterface),
		serve("PUT", "/nodes/{node}/network", applyNetwork),
		serve("DELETE", "/nodes/{node}/network", revertNetwork),
		serve("GET", "/nodes/{node}/network/{iface}", readInterface),
		serve("PUT", "/nodes/{node}/network/{iface}", updateInterface),
		serve("DELETE", "/nodes/{node}/network/{iface}", deleteInterface),
	}
}

// listNetworks lists the node's interfaces with what is staged. A bridge shows
// to who may audit or use it.
func listNetworks(r *request) (result, *apiError) {
	rows, kind := []map[string]any{}, r.values.text("type")
	for _, i := range r.node.pending().all {
		bridge := i.kind == "bridge" || i.kind == "OVSBridge"
		switch {
		case i.name == "lo":
		case bridge && !r.c.allowed(r.who, "/sdn/zones/localnetwork/"+i.name, "SDN.Audit", "SDN.Use") && r.c.release.major >= 8:
		case kind == "", kind == i.kind, bridge && slices.Contains([]string{"any_bridge", "any_local_bridge"}, kind), kind == "include_sdn":
			rows = append(rows, r.node.row(i))
		}
	}
	return result{data: rows, changes: r.node.changes(r.now)}, nil
}

// noInterface is the error of an unknown interface.
var noInterface = badParameter("iface", "interface does not exist")

// readInterface returns one interface as it is staged.
func readInterface(r *request) (result, *apiError) {
	i := r.node.pending().named(r.values.text("iface"))
	if i == nil {
		return fail(noInterface)
	}
	row := r.node.row(i)
	delete(row, "iface")
	return ok(row)
}

// keep writes what is to be staged.
func (r *request) keep(f *interfaces) (result, *apiError) {
	text, err := f.write()
	if err != nil {
		return fail(err)
	}
	r.node.staged = &text
	r.c.generation++
	return ok(nil)
}

// createInterface stages a new interface.
func createInterface(r *request) (result, *apiError) {
	f, name := r.node.pending(), r.values.text("iface")
	if f.named(name) != nil {
		return fail(badParameter("iface", "interface already exists"))
	}
	made := newIface(name)
	made.kind = r.values.text("type")
	if err := made.take(r.values, f); err != nil {
		return fail(err)
	}
	if made.kind == "OVSIntPort" || made.kind == "OVSBond" {
		bridge := f.named(made.options["ovs_bridge"])
		switch {
		case made.options["ovs_bridge"] == "":
			return fail(badParameter("ovs_bridge", "parameter is required"))
		case bridge == nil:
			return fail(badParameter("ovs_bridge", "bridge '"+made.options["ovs_bridge"]+"' does not exist"))
		case bridge.kind != "OVSBridge":
			return fail(badParameter("ovs_bridge", "interface '"+bridge.name+"' is no OVS bridge"))
		}
		if ports := strings.Fields(bridge.options["ovs_ports"]); !slices.Contains(ports, name) {
			bridge.options["ovs_ports"] = strings.Join(append(ports, name), " ")
		}
	}
	f.all = append(f.all, made)
	return r.keep(f)
}

// updateInterface stages a change of an interface.
func updateInterface(r *request) (result, *apiError) {
	f, name := r.node.pending(), r.values.text("iface")
	i := f.named(name)
	if i == nil {
		return fail(noInterface)
	}
	for _, key := range r.values.listOf("delete") {
		switch delete(i.options, key); key {
		case "autostart":
			i.autostart = false
		case "cidr", "cidr6":
			suffix := strings.TrimPrefix(key, "cidr")
			delete(i.options, "address"+suffix)
			delete(i.options, "netmask"+suffix)
		}
	}
	i.kind = r.values.text("type")
	if err := i.take(r.values, f); err != nil {
		return fail(err)
	}
	return r.keep(f)
}

// deleteInterface stages the removal of an interface.
func deleteInterface(r *request) (result, *apiError) {
	f, name := r.node.pending(), r.values.text("iface")
	i := f.named(name)
	if i == nil {
		return fail(noInterface)
	}
	if on := f.named(i.options["ovs_bridge"]); on != nil && (i.kind == "OVSIntPort" || i.kind == "OVSBond") {
		ports := slices.DeleteFunc(strings.Fields(on.options["ovs_ports"]), func(p string) bool { return p == name })
		on.options["ovs_ports"] = strings.Join(ports, " ")
	}
	f.drop(name)
	return r.keep(f)
}

// take takes the parameters of a request over. An interface gets its addresses
// by them alone: what the file said of DHCP, and addresses that the request
// does not name, are gone.
func (i *iface) take(v values, f *interfaces) *apiError {
	i.families = nil
	for _, family := range []string{"", "6"} {
		if err := i.checkAddress(v, family, f); err != nil {
			return err
		}
		for _, key := range []string{"cidr", "address", "netmask"} {
			delete(i.options, key+family)
		}
		i.options["method"+family] = "manual"
		if !v.has("cidr" + family) {
			delete(i.options, "gateway"+family)
			continue
		}
		address, bits, _ := strings.Cut(v.text("cidr"+family), "/")
		i.options["cidr"+family], i.options["address"+family], i.options["netmask"+family] = v.text("cidr"+family), address, bits
		i.options["method"+family] = "static"
		i.families = append(i.families, "inet"+family)
	}
	if len(i.families) == 0 {
		i.families = []string{"inet"}
	}
	for key := range v {
		switch key {
		case "iface", "type", "node", "delete", "address", "netmask", "address6", "netmask6", "cidr", "cidr6":
		case "autostart":
			i.autostart = v.boolean(key, false)
		case "comments":
			i.options[key] = strings.TrimRight(v.text(key), "\n") + "\n"
		default:
			i.options[key] = v.text(key)
		}
	}
	for _, key := range []string{"bridge_ports", "slaves", "ovs_ports", "ovs_bonds"} {
		if !v.has(key) {
			continue
		}
		for _, port := range i.ports(key) {
			if user := portUser(f, port, i.name); user != "" {
				return badParameter(key, port+" is already used on interface '"+user+"'.")
			}
		}
	}
	return nil
}

// portUser is who has a port, other than the interface of a name.
func portUser(f *interfaces, port, name string) string {
	for _, o := range f.all {
		for _, key := range []string{"bridge_ports", "slaves", "ovs_ports", "ovs_bonds"} {
			if o.name != name && slices.Contains(o.ports(key), port) {
				return o.name
			}
		}
	}
	return ""
}

// checkAddress refuses a second default gateway of an IP version.
func (i *iface) checkAddress(v values, family string, f *interfaces) *apiError {
	if v.has("gateway" + family) {
		for _, o := range f.all {
			if o.name != i.name && o.options["gateway"+family] != "" {
				return badParameter("gateway"+family, "Default gateway already exists on interface '"+o.name+"'.")
			}
		}
	}
	p, err := netip.ParsePrefix(v.text("cidr" + family))
	if err == nil && family == "6" && netip.MustParsePrefix("2001:db8::/32").Contains(p.Addr()) {
		return badParameter("address", p.Addr().String()+" with type 'DOCUMENTATION', cannot be used as host IPv6 address.")
	}
	return nil
}

// revertNetwork drops what is staged.
func revertNetwork(r *request) (result, *apiError) {
	r.node.staged = nil
	r.c.generation++
	return ok(nil)
}
