package pvesim

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"
)

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

// listNetworks lists the node's interfaces with what is staged. A bridge shows to who may audit or use it.
func listNetworks(r *request) (result, *apiError) {
	rows, kind := []map[string]any{}, r.values.text("type")
	for _, i := range r.node.pending() {
		bridge := i.kind == "bridge" || i.kind == "OVSBridge"
		switch {
		case bridge && !r.c.allowed(r.who, "/sdn/zones/localnetwork/"+i.name, "SDN.Audit", "SDN.Use") && r.c.release.major >= 8:
		case kind == "", kind == i.kind, bridge && slices.Contains([]string{"any_bridge", "any_local_bridge"}, kind), kind == "include_sdn":
			rows = append(rows, r.node.row(i))
		}
	}
	return result{data: rows, changes: r.node.changes(r.now)}, nil
}

var noInterface = badParameter("iface", "interface does not exist")

func readInterface(r *request) (result, *apiError) {
	i := ifaceNamed(r.node.pending(), r.values.text("iface"))
	if i == nil {
		return fail(noInterface)
	}
	row := r.node.row(i)
	delete(row, "iface")
	return ok(row)
}

// stage begins a change of a copy of what is staged.
func (r *request) stage() []*iface { return cloneNetwork(r.node.pending()) }

// keep takes a change over.
func (r *request) keep(all []*iface) (result, *apiError) {
	r.node.staged = all
	r.c.generation++
	return ok(nil)
}

func createInterface(r *request) (result, *apiError) {
	all, name := r.stage(), r.values.text("iface")
	if ifaceNamed(all, name) != nil {
		return fail(badParameter("iface", "interface already exists"))
	}
	made := &iface{name: name, kind: r.values.text("type"), options: map[string]string{}}
	for _, i := range all {
		made.priority = max(made.priority, i.priority+1)
	}
	if err := made.take(r.values, all); err != nil {
		return fail(err)
	}
	return r.keep(append(all, made))
}

func updateInterface(r *request) (result, *apiError) {
	all, name := r.stage(), r.values.text("iface")
	i := ifaceNamed(all, name)
	if i == nil {
		return fail(noInterface)
	}
	for _, key := range r.values.listOf("delete") {
		delete(i.options, key)
	}
	i.kind = r.values.text("type")
	if err := i.take(r.values, all); err != nil {
		return fail(err)
	}
	return r.keep(all)
}

func deleteInterface(r *request) (result, *apiError) {
	all, name := r.stage(), r.values.text("iface")
	if ifaceNamed(all, name) == nil {
		return fail(noInterface)
	}
	return r.keep(slices.DeleteFunc(all, func(i *iface) bool { return i.name == name }))
}

// take takes the parameters of a request over. Addresses that it does not name are gone.
func (i *iface) take(v values, all []*iface) *apiError {
	for _, family := range []string{"", "6"} {
		if !v.has("cidr" + family) {
			delete(i.options, "cidr"+family)
			delete(i.options, "gateway"+family)
		}
		if err := i.checkAddress(v, family, all); err != nil {
			return err
		}
	}
	for key := range v {
		switch key {
		case "iface", "type", "node", "delete", "address", "netmask", "address6", "netmask6":
		case "comments":
			i.options[key] = strings.TrimRight(v.text(key), "\n") + "\n"
		default:
			i.options[key] = v.text(key)
		}
	}
	for _, key := range []string{"bridge_ports", "slaves"} {
		for _, port := range strings.Fields(strings.NewReplacer(",", " ", ";", " ").Replace(v.text(key))) {
			if user := portUser(all, port, i.name); user != "" {
				return badParameter(key, port+" is already used on interface '"+user+"'.")
			}
			if ifaceNamed(all, port) == nil && key == "bridge_ports" {
				return failure("bridge '%s' - unable to find bridge port '%s'", i.name, port)
			}
		}
	}
	if device, tag := vlanOf(i); i.kind == "vlan" && (device == "" || tag == "") {
		return failure("missing vlan-raw-device option at /usr/share/perl5/PVE/Network/Interfaces.pm line 954.")
	}
	return nil
}

// portUser is who has a port, other than the interface of a name.
func portUser(all []*iface, port, name string) string {
	for _, o := range all {
		if o.name != name && (slices.Contains(strings.Fields(o.options["bridge_ports"]), port) ||
			slices.Contains(strings.Fields(o.options["slaves"]), port)) {
			return o.name
		}
	}
	return ""
}

func (i *iface) checkAddress(v values, family string, all []*iface) *apiError {
	if v.has("gateway" + family) {
		for _, o := range all {
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

func revertNetwork(r *request) (result, *apiError) {
	r.node.staged = nil
	r.c.generation++
	return ok(nil)
}

// applyNetwork starts the task that puts the staged file into force. A node whose address leads nowhere afterwards refuses connections,
// until somebody restores its network at the console.
func applyNetwork(r *request) (result, *apiError) {
	n, c := r.node, r.c
	return ok(c.startTask(n, r.who, "srvreload", "networking", &task{
		begin: func(_ *task, _ time.Time) (time.Duration, error) {
			if n.staged != nil {
				n.before, n.network, n.staged = n.network, n.staged, nil
			}
			return c.taskDuration(), nil
		},
		finish: func(t *task, now time.Time) error {
			if n.reachable() {
				return nil
			}
			t.say(now, "error: %s: no way out", n.ip)
			go func() { _, _ = c.AddFault(Fault{Kind: FaultRefuse, Match: Match{Node: n.name}}) }()
			return errors.New("command 'ifreload -a' failed: exit code 1")
		},
	}))
}
