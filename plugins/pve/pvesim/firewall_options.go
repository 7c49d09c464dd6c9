package pvesim

import (
	"maps"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim/schema"
)

// firewallOptionEndpoints serves the options of all scopes.
func firewallOptionEndpoints() []*endpoint {
	var all []*endpoint
	for _, at := range firewallPaths {
		path := at + "/options"
		all = append(all, serve("GET", path, readFirewallOptions), serve("PUT", path, changeFirewallOptions(path)))
	}
	return all
}

// setOptions are the options of a configuration that are set. The cluster's
// firewall may be on for a minute only: then enable is the time at which that
// began, and 0 when the minute is over.
func (f *firewall) setOptions(now time.Time) map[string]any {
	set := map[string]any{}
	maps.Copy(set, f.options)
	if since, isNumber := set["enable"].(int64); isNumber && since > 1 && now.Unix()-since > 60 {
		set["enable"] = int64(0)
	}
	return set
}

// readFirewallOptions answers what is set, with the digest of just that. Nobody
// looks whether the guest exists.
func readFirewallOptions(r *request) (result, *apiError) {
	shown := r.firewall().setOptions(r.now)
	shown["digest"] = digestOf(shown)
	return ok(shown)
}

// changeFirewallOptions sets and deletes options: those that are parameters of
// the path. What is in the list of deletions and is set too is set.
func changeFirewallOptions(path string) handlerFunc {
	return func(r *request) (result, *apiError) {
		next := r.firewall().setOptions(r.now)
		if err := r.unmodified(digestOf(next)); err != nil {
			return fail(err)
		}
		known := map[string]*schema.Parameter{}
		for _, p := range schema.Find("PUT", path).Parameters() {
			switch p.Name {
			case "node", "vmid", "digest", "delete":
			default:
				known[p.Name] = p
			}
		}
		for _, name := range r.values.listOf("delete") {
			if known[name] == nil {
				return fail(badParameter("delete", "no such option '"+name+"'"))
			}
			delete(next, name)
		}
		for name, p := range known {
			switch {
			case !r.values.has(name):
			case p.Type == schema.Boolean:
				next[name] = oneOrZero(r.values.boolean(name, false))
			case p.Type == schema.Integer:
				next[name] = r.values.integer(name, 0)
			default:
				next[name] = r.values.text(name)
			}
		}
		if scope, _ := r.firewallScope(); scope == FirewallCluster && r.values.integer("enable", 0) > 1 {
			next["enable"] = r.now.Unix()
			defer r.c.compileFirewall(r.now) // in force at once, whatever the delay
		}
		r.changeFirewall().options = next
		return ok(nil)
	}
}

// SetFirewallOptions replaces the options of a firewall that are set.
func (c *Cluster) SetFirewallOptions(scope FirewallScope, options map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changeFirewall(scope).options = maps.Clone(options)
}
