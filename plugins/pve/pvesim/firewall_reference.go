package pvesim

import (
	"maps"
	"slices"
)

// firewallReferenceEndpoints serves what rules may refer to.
func firewallReferenceEndpoints() []*endpoint {
	all := []*endpoint{serve("GET", "/cluster/firewall/macros", listMacros)}
	for _, at := range firewallObjectPaths {
		all = append(all, serve("GET", at+"/refs", listReferences))
	}
	return all
}

// listReferences names what rules of the scope may have as source and dest:
// what the cluster has, then what the guest has, each under its name in lower
// case. A guest's alias that hides one of the cluster does not take that off
// the list.
func listReferences(r *request) (result, *apiError) {
	rows := r.c.firewallOf(FirewallCluster).references("dc", r.values.text("type"))
	if r.kind != "" {
		rows = append(rows, r.firewall().references("guest", r.values.text("type"))...)
	}
	return ok(rows)
}

// references lists sets and aliases, or those of one kind.
func (f *firewall) references(scope, kind string) []map[string]any {
	rows := []map[string]any{}
	add := func(of, name, ref, comment string) {
		if kind != "" && kind != of {
			return
		}
		row := map[string]any{"type": of, "name": name, "ref": ref, "scope": scope}
		if comment != "" {
			row["comment"] = comment
		}
		rows = append(rows, row)
	}
	for _, name := range slices.Sorted(maps.Keys(f.ipsets)) {
		add("ipset", name, "+"+name, f.ipsets[name].comment)
	}
	for _, name := range slices.Sorted(maps.Keys(f.aliases)) {
		add("alias", name, name, f.aliases[name].Comment)
	}
	return rows
}
