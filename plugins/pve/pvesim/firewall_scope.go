package pvesim

// The paths at which the API serves firewall configurations. Nodes have rules, options and a log only.
var (
	firewallGuestPaths  = []string{"/nodes/{node}/qemu/{vmid}/firewall", "/nodes/{node}/lxc/{vmid}/firewall"}
	firewallObjectPaths = append([]string{"/cluster/firewall"}, firewallGuestPaths...)
	firewallPaths       = append([]string{"/nodes/{node}/firewall"}, firewallObjectPaths...)
)

// firewallScope is the scope that the path names and the kind of it in error texts. Nobody looks whether the guest exists.
func (r *request) firewallScope() (scope FirewallScope, environment string) {
	switch {
	case r.kind == QEMU:
		return FirewallGuest(r.vmid()), "vm"
	case r.kind == LXC:
		return FirewallGuest(r.vmid()), "ct"
	case r.values.has("node"):
		return FirewallNode(r.node.name), "host"
	case r.values.has("group"):
		return FirewallScope("group/" + r.values.text("group")), "group"
	}
	return FirewallCluster, "cluster"
}

// firewall is the configuration that the path names, to be read.
func (r *request) firewall() *firewall {
	scope, _ := r.firewallScope()
	return r.c.firewallOf(scope)
}

// changeFirewall is the configuration that the path names, to be written.
func (r *request) changeFirewall() *firewall {
	scope, _ := r.firewallScope()
	return r.c.changeFirewall(scope)
}

// unmodified refuses a request that was made of another state than digest is of.
func (r *request) unmodified(digest string) *apiError {
	if sent := r.values.text("digest"); sent != "" && sent != digest {
		return failure(textModified)
	}
	return nil
}
