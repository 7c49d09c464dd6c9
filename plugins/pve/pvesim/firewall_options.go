package pvesim

import (
	"maps"
	"slices"
)

func firewallOptionEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/nodes/{node}/qemu/{vmid}/firewall/options", readGuestFirewallOptions),
		serve("PUT", "/nodes/{node}/qemu/{vmid}/firewall/options", changeGuestFirewallOptions),
		serve("GET", "/nodes/{node}/lxc/{vmid}/firewall/options", readGuestFirewallOptions),
		serve("PUT", "/nodes/{node}/lxc/{vmid}/firewall/options", changeGuestFirewallOptions),
	}
}

// guestFirewallOptions are the options of a guest's firewall that the API knows; true marks those that are 0 or 1.
var guestFirewallOptions = map[string]bool{
	"dhcp": true, "enable": true, "ipfilter": true, "macfilter": true, "ndp": true, "radv": true,
	"log_level_in": false, "log_level_out": false, "policy_in": false, "policy_out": false,
}

// readGuestFirewallOptions answers what is set, with the digest of just that. Nobody looks whether the guest exists.
func readGuestFirewallOptions(r *request) (result, *apiError) {
	scope, _ := r.firewallScope()
	f := r.c.firewallOf(scope)
	shown := maps.Clone(f.options)
	if shown == nil {
		shown = map[string]any{}
	}
	shown["digest"] = rulesDigest([]map[string]any{f.options})
	return ok(shown)
}

// changeGuestFirewallOptions sets and deletes options. What is in the list of deletions and is set too is set.
func changeGuestFirewallOptions(r *request) (result, *apiError) {
	scope, _ := r.firewallScope()
	if sent := r.values.text("digest"); sent != "" && sent != rulesDigest([]map[string]any{r.c.firewallOf(scope).options}) {
		return fail(failure(textModified))
	}
	next := maps.Clone(r.c.firewallOf(scope).options)
	if next == nil {
		next = map[string]any{}
	}
	for _, name := range r.values.listOf("delete") {
		if _, known := guestFirewallOptions[name]; !known {
			return fail(badParameter("delete", "no such option '"+name+"'"))
		}
		delete(next, name)
	}
	for _, name := range slices.Sorted(maps.Keys(guestFirewallOptions)) {
		switch {
		case !r.values.has(name):
		case guestFirewallOptions[name]:
			next[name] = oneOrZero(r.values.boolean(name, false))
		default:
			next[name] = r.values.text(name)
		}
	}
	r.c.changeFirewall(scope).options = next
	return ok(nil)
}

// SetFirewallOptions replaces the options of a guest's firewall that are set.
func (c *Cluster) SetFirewallOptions(scope FirewallScope, options map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changeFirewall(scope).options = maps.Clone(options)
}
