package pvesim

func networkEndpoints() []*endpoint {
	return []*endpoint{serve("GET", "/nodes/{node}/network", listNetworks)}
}

// bridges are those of every node.
var bridges = []string{"vmbr0"}

// listNetworks lists the node's interfaces. A bridge shows to who may audit or use it.
func listNetworks(r *request) (result, *apiError) {
	rows, kind := []map[string]any{}, r.values.text("type")
	if kind == "" || kind == "eth" {
		for i, name := range []string{"eno1", "eno2"} {
			rows = append(rows, map[string]any{"iface": name, "type": "eth", "method": "manual", "method6": "manual", "active": 1,
				"families": []string{"inet"}, "priority": 3 + i})
		}
	}
	if kind != "" && kind != "bridge" && kind != "any_bridge" && kind != "any_local_bridge" && kind != "include_sdn" {
		return ok(rows)
	}
	for i, name := range bridges {
		if !r.c.allowed(r.who, "/sdn/zones/localnetwork/"+name, "SDN.Audit", "SDN.Use") && r.c.release.major >= 8 {
			continue
		}
		rows = append(rows, map[string]any{"iface": name, "type": "bridge", "method": "static", "method6": "manual", "active": 1,
			"autostart": 1, "families": []string{"inet"}, "priority": 5 + i, "bridge_ports": "eno1", "bridge_stp": "off", "bridge_fd": "0",
			"address": "10.99.0.10", "netmask": "24", "cidr": "10.99.0.10/24", "gateway": "10.99.0.1"})
	}
	return ok(rows)
}
