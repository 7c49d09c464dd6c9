package pvesim

import (
	"encoding/json"
	"strconv"
)

// listResources returns the rows that the caller may see, as the last broadcast
// had them. The body is built by hand and kept per caller, because polls of
// large clusters would otherwise measure the simulator instead of the service.
func listResources(r *request) (result, *apiError) {
	c := r.c
	c.refreshBroadcast(r.now)
	kind := r.values.text("type")
	key := bodyKey{r.who.id(), kind}
	if kind == "" || kind == "vm" {
		if ready, found := c.broadcast.bodies[key]; found && ready.generation == c.generation {
			return result{raw: ready.body, ready: ready}, nil
		}
	}
	b := append(make([]byte, 0, 420*len(c.guests)+4096), `{"data":[`...)
	if kind == "" || kind == "vm" {
		b = r.appendGuestRows(b)
	}
	if kind == "" || kind == "node" {
		for _, n := range c.nodes {
			row := r.nodeRow(n)
			if n.online.Load() {
				row["cgroup-mode"] = 2
			}
			b = appendRow(b, row)
		}
	}
	if kind == "" || kind == "storage" {
		b = r.appendStorageRows(b)
	}
	if kind == "" {
		b = r.appendZoneRows(b)
		b = r.appendPoolRows(b)
	}
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	b = append(b, "]}"...)
	ready := &readyBody{generation: c.generation, body: b}
	c.broadcast.bodies[key] = ready
	return result{raw: b, ready: ready}, nil
}

// appendRow appends a row as JSON.
func appendRow(b []byte, row map[string]any) []byte {
	enc, err := json.Marshal(row)
	if err != nil { // rows hold numbers and strings
		return b
	}
	return append(append(b, enc...), ',')
}

// appendGuestRows appends the guests that the caller may audit. The existence
// of a guest, its node, pool, tags and lock come from the cluster's file system
// and are current; the figures are those of the last broadcast. A guest that is
// newer than the broadcast, or whose node is offline, has the status unknown.
func (r *request) appendGuestRows(b []byte) []byte {
	c := r.c
	write := func(vmid int, kind, node string, known *broadcastRow) {
		id := strconv.Itoa(vmid)
		if !c.allowed(r.who, "/vms/"+id, "VM.Audit") {
			return
		}
		b = append(b, `{"id":"`...)
		b = append(b, kind...)
		b = append(b, '/')
		b = append(b, id...)
		b = append(b, `","vmid":`...)
		b = append(b, id...)
		b = append(b, `,"type":"`...)
		b = append(b, kind...)
		b = append(b, `","node":"`...)
		b = append(b, node...)
		b = append(b, '"')
		g := c.guests[vmid]
		if g != nil && g.pool != "" {
			b = append(b, `,"pool":"`...)
			b = append(b, g.pool...)
			b = append(b, '"')
		}
		if g != nil && g.HAManaged {
			b = append(b, `,"hastate":"started"`...)
		}
		if g != nil && g.Lock != "" {
			b = append(b, `,"lock":"`...)
			b = append(b, g.Lock...)
			b = append(b, '"')
		}
		if g != nil && g.Tags != "" {
			b = append(b, `,"tags":"`...)
			b = append(b, g.Tags...)
			b = append(b, '"')
		}
		if known == nil || known.offline {
			b = append(b, `,"status":"unknown"`...)
		} else {
			b = append(b, known.encoded...)
		}
		b = append(b, "},"...)
	}
	for i := range c.broadcast.rows {
		row := &c.broadcast.rows[i]
		if g := c.guests[row.vmid]; g != nil {
			write(row.vmid, g.Type, g.node, row) // the node comes from the cluster's file system, which does not lag
		} else {
			write(row.vmid, row.kind, row.node, row)
		}
	}
	for _, vmid := range c.newSinceBroadcast() {
		g := c.guests[vmid]
		write(vmid, g.Type, g.node, nil)
	}
	return b
}

// appendStorageRows repeats a shared storage for each node.
func (r *request) appendStorageRows(b []byte) []byte {
	for _, n := range r.c.nodes {
		for _, s := range r.c.storages {
			if !s.on(n.name) || !r.c.allowed(r.who, "/storage/"+s.id, "Datastore.Audit", "Datastore.AllocateSpace") {
				continue
			}
			row := map[string]any{
				"id": "storage/" + n.name + "/" + s.id, "type": "storage", "node": n.name, "storage": s.id, "plugintype": s.plugin,
				"content": s.content, "shared": oneOrZero(s.shared), "status": "unknown",
			}
			if n.online.Load() {
				row["status"], row["disk"], row["maxdisk"] = "available", s.usedAt(r.now), s.size
			}
			b = appendRow(b, row)
		}
	}
	return b
}

// appendZoneRows writes the built-in zone of bridges, once per node.
func (r *request) appendZoneRows(b []byte) []byte {
	if !r.c.allowed(r.who, "/sdn/zones/localnetwork", "SDN.Audit", "SDN.Use") {
		return b
	}
	for _, n := range r.c.nodes {
		if n.online.Load() && !r.c.release.atLeast(9, 1, 0) {
			b = appendRow(b, map[string]any{
				"id": "sdn/" + n.name + "/localnetwork", "type": "sdn", "sdn": "localnetwork", "node": n.name, "status": "ok",
			})
		} else if n.online.Load() {
			b = appendRow(b, map[string]any{
				"id": "network/" + n.name + "/zone/localnetwork", "type": "network", "network": "localnetwork", "network-type": "zone",
				"node": n.name, "status": "ok",
			})
		}
	}
	return b
}

// appendPoolRows adds up the running members of each pool.
func (r *request) appendPoolRows(b []byte) []byte {
	for name := range r.c.pools {
		if !r.c.allowed(r.who, "/pool/"+name, "Pool.Audit") {
			continue
		}
		row := map[string]any{"id": "/pool/" + name, "type": "pool", "pool": name}
		var cpu float64
		var cores int
		var mem, maxMem, uptime int64
		for _, g := range r.c.guests {
			if g.pool == name {
				f := g.figures(r.now)
				cpu += f.cpu * float64(g.Cores)
				mem, maxMem, cores = mem+f.mem, maxMem+g.Memory, cores+g.Cores
				uptime = max(uptime, f.uptime)
			}
		}
		if cores > 0 {
			row["cpu"], row["maxcpu"], row["mem"], row["maxmem"], row["uptime"] = cpu/float64(cores), cores, mem, maxMem, uptime
		}
		b = appendRow(b, row)
	}
	return b
}
