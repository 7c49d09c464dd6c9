package pvesim

import (
	"fmt"
	"strings"
)

// nodeEndpoints serves lists and states of nodes.
func nodeEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/nodes", listNodes),
		serve("GET", "/nodes/{node}/status", readNodeStatus),
		serve("POST", "/nodes/{node}/status", powerNode),
	}
}

// nodeRow is a node as lists show it; without Sys.Audit the figures are left out, not the row.
func (r *request) nodeRow(n *node) map[string]any {
	row := map[string]any{"id": "node/" + n.name, "node": n.name, "type": "node", "status": "online"}
	if !n.online.Load() {
		row["status"] = "offline"
		return row
	}
	row["level"] = ""
	if r.c.allowed(r.who, "/nodes/"+n.name, "Sys.Audit") {
		f := n.figures(r.now)
		row["cpu"], row["maxcpu"] = f.cpu, n.cores
		row["mem"], row["maxmem"] = f.mem, n.memory
		row["disk"], row["maxdisk"] = f.disk, n.disk
		row["uptime"] = f.uptime
	}
	return row
}

// listNodes lists all nodes; figures are only for those who may see them.
func listNodes(r *request) (result, *apiError) {
	rows := make([]map[string]any, 0, len(r.c.nodes))
	for _, n := range r.c.nodes {
		row := r.nodeRow(n)
		row["ssl_fingerprint"] = n.cert.fingerprint()
		rows = append(rows, row)
	}
	return ok(rows)
}

// readNodeStatus returns the present state of a node.
func readNodeStatus(r *request) (result, *apiError) {
	n := r.node
	f := n.figures(r.now)
	load := make([]string, len(f.load))
	for i, l := range f.load {
		load[i] = fmt.Sprintf("%.2f", l)
	}
	const kernel, built = "6.17.13-2-pve", "#1 SMP PREEMPT_DYNAMIC PMX 6.17.13-2"
	avail := n.disk - f.disk - n.disk/20 // a twentieth is reserved
	return ok(map[string]any{
		"cpu": f.cpu, "wait": f.wait, "idle": 0, "uptime": f.uptime, "loadavg": load,
		"pveversion":     "pve-manager/" + r.c.opts.Version + "/5b0f2c1d9a3e4f67",
		"kversion":       "Linux " + kernel + " " + built,
		"current-kernel": map[string]any{"sysname": "Linux", "machine": "x86_64", "release": kernel, "version": built},
		"boot-info":      map[string]any{"mode": "legacy-bios"},
		"cpuinfo": map[string]any{
			"model": "AMD EPYC 7302P 16-Core Processor", "vendor": "AuthenticAMD", "family": "23", "cores": n.cores, "cpus": n.cores,
			"sockets": 1, "mhz": "2994.374", "flags": strings.Join([]string{"fpu", "vme", "aes", "svm"}, " "), "hvm": "1", "user_hz": 100,
		},
		"memory": map[string]any{"total": n.memory, "used": f.mem, "free": n.memory - f.mem - n.memory/10, "available": n.memory - f.mem},
		"swap":   map[string]any{"total": 8 * gibibyte, "used": 0, "free": 8 * gibibyte},
		"rootfs": map[string]any{"total": n.disk, "used": f.disk, "free": n.disk - f.disk, "avail": max(avail, 0)},
		"ksm":    map[string]any{"shared": 0},
	})
}
