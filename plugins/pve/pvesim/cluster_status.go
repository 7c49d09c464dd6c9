package pvesim

import "strconv"

// clusterEndpoints serves the state of the cluster.
func clusterEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/cluster/status", readClusterStatus),
		serve("GET", "/cluster/config/nodes", listClusterNodes),
		serve("GET", "/cluster/config/totem", readTotem),
		serve("GET", "/cluster/nextid", nextID),
		serve("GET", "/cluster/resources", listResources),
	}
}

// readClusterStatus has a row for the cluster only when there is one; a
// standalone host's node id is 0.
func readClusterStatus(r *request) (result, *apiError) {
	rows := []map[string]any{}
	if r.c.opts.Scenario == ScenarioCluster {
		rows = append(rows, map[string]any{
			"type": "cluster", "id": "cluster", "name": r.c.opts.ClusterName, "version": len(r.c.nodes), "nodes": len(r.c.nodes),
			"quorate": oneOrZero(r.c.quorate()),
		})
	}
	for _, n := range r.c.nodes {
		rows = append(rows, map[string]any{
			"type": "node", "id": "node/" + n.name, "name": n.name, "ip": n.ip, "level": "", "nodeid": n.id,
			"local": oneOrZero(n == r.entry), "online": oneOrZero(n.online.Load()),
		})
	}
	return ok(rows)
}

// listClusterNodes has the nodes as corosync knows them, with the one ring that
// they talk on; a standalone host has none.
func listClusterNodes(r *request) (result, *apiError) {
	rows := []map[string]any{}
	if r.c.opts.Scenario == ScenarioCluster {
		for _, n := range r.c.nodes {
			rows = append(rows, map[string]any{
				"node": n.name, "name": n.name, "nodeid": strconv.Itoa(n.id), "quorum_votes": "1", "ring0_addr": n.ip,
			})
		}
	}
	return ok(rows)
}

// readTotem has what the nodes agreed on; a standalone host has nothing of it.
func readTotem(r *request) (result, *apiError) {
	if r.c.opts.Scenario != ScenarioCluster {
		return ok(map[string]any{})
	}
	return ok(map[string]any{
		"cluster_name": r.c.opts.ClusterName, "config_version": strconv.Itoa(len(r.c.nodes)), "ip_version": "ipv4-6", "link_mode": "passive",
		"secauth": "on", "version": "2", "interface": map[string]any{"0": map[string]any{"linknumber": "0"}},
	})
}

// nextID names a free guest id, as text. It reserves nothing.
func nextID(r *request) (result, *apiError) {
	if r.values.has("vmid") {
		vmid := r.values.integer("vmid", 0)
		if r.c.guests[int(vmid)] != nil {
			return fail(badParameter("vmid", "VM "+strconv.FormatInt(vmid, 10)+" already exists"))
		}
		return ok(strconv.FormatInt(vmid, 10))
	}
	id := 100
	for r.c.guests[id] != nil {
		id++
	}
	return ok(strconv.Itoa(id))
}

// oneOrZero is a truth value as the API writes it.
func oneOrZero(b bool) int {
	if b {
		return 1
	}
	return 0
}
