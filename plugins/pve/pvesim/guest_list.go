package pvesim

import (
	"fmt"
	"slices"
	"strconv"
)

// guestEndpoints serves lists and states of guests.
func guestEndpoints() []*endpoint {
	return slices.Concat(
		[]*endpoint{serve("GET", "/nodes/{node}/qemu", listGuests), serve("GET", "/nodes/{node}/lxc", listGuests)},
		serveGuests("GET", "/status/current", readGuestStatus),
		serveGuests("GET", "/config", readGuestConfig),
		serveGuests("GET", "/pending", readPending),
	)
}

// vmid is the guest id of the path; it has been checked.
func (r *request) vmid() int { return int(r.values.integer("vmid", 0)) }

// guestOf finds the guest of the path on the node, or says that its
// configuration file does not exist.
func (r *request) guestOf() (*guest, *apiError) {
	g := r.c.guestOn(r.node.name, r.kind, r.vmid())
	if g == nil {
		return nil, failure("%s", noConfig(r.node.name, r.kind, r.vmid()))
	}
	return g, nil
}

// listGuests lists the guests of a node that the caller may see.
func listGuests(r *request) (result, *apiError) {
	rows := []map[string]any{}
	full := r.values.boolean("full", false)
	for _, vmid := range r.c.sortedVMIDs() {
		g := r.c.guestOn(r.node.name, r.kind, vmid)
		if g == nil || !r.c.allowed(r.who, "/vms/"+strconv.Itoa(vmid), "VM.Audit") {
			continue
		}
		row := r.statusRow(g)
		if r.kind == QEMU && full {
			addMonitorFields(g, row)
		}
		rows = append(rows, row)
	}
	return ok(rows)
}

// pressureFields stay null for containers and are numbers for virtual machines.
var pressureFields = []string{
	"pressurecpusome", "pressurecpufull", "pressureiosome", "pressureiofull", "pressurememorysome", "pressurememoryfull",
}

// statusRow is a guest as lists and status/current share it. A stopped guest lacks most counters.
func (r *request) statusRow(g *guest) map[string]any {
	f := g.figures(r.now)
	row := map[string]any{
		"vmid": g.VMID, "name": g.Name, "status": StatusStopped, "cpu": f.cpu, "cpus": g.Cores, "mem": f.mem, "maxmem": g.Memory,
		"disk": f.disk, "maxdisk": g.Disk, "netin": f.netIn, "netout": f.netOut, "uptime": f.uptime,
	}
	if g.Type == LXC {
		row["type"] = LXC
		row["swap"], row["maxswap"] = 0, g.Swap
		row["diskread"], row["diskwrite"] = f.diskRead, f.diskWrite
	} else {
		if r.c.release.major >= 9 {
			row["memhost"] = f.memHost
		}
		if g.Serial {
			row["serial"] = 1
		}
	}
	if g.running() {
		row["status"] = StatusRunning
		row["pid"] = g.pid
		for _, p := range pressureFields {
			if r.c.release.major < 9 {
				break
			}
			row[p] = 0
			if g.Type == LXC {
				row[p] = nil
			}
		}
	}
	if g.Template {
		row["template"] = 1
	}
	if g.Tags != "" {
		row["tags"] = g.Tags
	}
	if g.Lock != "" {
		row["lock"] = g.Lock
	}
	return row
}

// addMonitorFields adds what a virtual machine's monitor knows.
func addMonitorFields(g *guest, row map[string]any) {
	row["qmpstatus"] = g.qmpStatus()
	if g.running() && !g.NoNIC {
		row["nics"] = map[string]any{fmt.Sprintf("tap%di0", g.VMID): map[string]any{"netin": row["netin"], "netout": row["netout"]}}
	}
}

// qmpStatus is the state as the monitor and the broadcast have it: running, paused or stopped.
func (g *guest) qmpStatus() string {
	if g.Status == StatusSuspended {
		return StatusStopped
	}
	return g.Status
}

// readGuestStatus returns the present state of a guest, without the lag of the
// cluster's list.
func readGuestStatus(r *request) (result, *apiError) {
	g, err := r.guestOf()
	if err != nil {
		return fail(err)
	}
	row := r.statusRow(g)
	ha := map[string]any{"managed": 0}
	if g.HAManaged {
		ha = map[string]any{"managed": 1, "state": nil}
	}
	row["ha"] = ha
	if r.kind == QEMU {
		addMonitorFields(g, row)
		if g.Agent {
			row["agent"] = 1
		}
		if g.Serial {
			row["clipboard"] = nil
		}
	}
	return ok(row)
}
