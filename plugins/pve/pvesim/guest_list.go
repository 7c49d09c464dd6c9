package pvesim

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func guestEndpoints() []*endpoint {
	return slices.Concat(
		[]*endpoint{serve("GET", "/nodes/{node}/qemu", listGuests), serve("GET", "/nodes/{node}/lxc", listGuests)},
		serveGuests("GET", "/status/current", readGuestStatus),
		serveGuests("GET", "/config", readGuestConfig),
	)
}

// vmid is the guest id of the path; it has been checked.
func (r *request) vmid() int { return int(r.values.integer("vmid", 0)) }

// guestOf finds the guest of the path on the node, or says that its configuration file does not exist.
func (r *request) guestOf() (*guest, *apiError) {
	g := r.c.guestOn(r.node.name, r.kind, r.vmid())
	if g == nil {
		return nil, failure("%s", noConfig(r.node.name, r.kind, r.vmid()))
	}
	return g, nil
}

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

// readGuestConfig shows the configuration that the simulated figures imply, with its digest.
func readGuestConfig(r *request) (result, *apiError) {
	g, err := r.guestOf()
	if err != nil {
		return fail(err)
	}
	if snap := r.values.text("snapshot"); snap != "" {
		return fail(failure("snapshot '%s' does not exist", snap))
	}
	return ok(g.config())
}

// bootOrder names what there is to boot from; without anything it is a blank.
func (g *guest) bootOrder() string {
	var devices []string
	if g.Disk > 0 {
		devices = append(devices, "scsi0")
	}
	if !g.NoNIC {
		devices = append(devices, "net0")
	}
	if len(devices) == 0 {
		return " "
	}
	return "order=" + strings.Join(devices, ";")
}

// config is the configuration that the guest's description implies, with its digest.
func (g *guest) config() map[string]any {
	mac := fmt.Sprintf("BC:24:11:%02X:%02X:%02X", byte(g.seed), byte(g.seed>>8), byte(g.seed>>16))
	bridge := g.BridgeMissing
	if bridge == "" {
		bridge = "vmbr0"
	}
	cfg := map[string]any{}
	size := fmt.Sprintf("%dG", max(g.Disk/gibibyte, 1))
	if g.Type == LXC {
		cfg["hostname"], cfg["arch"], cfg["ostype"], cfg["unprivileged"] = g.Name, "amd64", "debian", 1
		cfg["memory"], cfg["swap"] = g.Memory/mebibyte, g.Swap/mebibyte
		cfg["rootfs"] = fmt.Sprintf("local-lvm:vm-%d-disk-0,size=%s", g.VMID, size)
		cfg["features"] = "nesting=1"
		if !g.NoNIC {
			cfg["net0"] = "name=eth0,bridge=" + bridge + ",hwaddr=" + mac + ",ip=dhcp,type=veth"
		}
	} else {
		cfg["name"], cfg["boot"] = g.Name, g.bootOrder()
		cfg["memory"] = strconv.FormatInt(g.Memory/mebibyte, 10) // text since qemu-server 8.0.8
		cfg["smbios1"], cfg["vmgenid"], cfg["meta"] = "uuid="+g.uuid, g.uuid, "creation-qemu=10.1.2,ctime=1795221157"
		if !g.NoNIC {
			cfg["net0"] = "virtio=" + mac + ",bridge=" + bridge
		}
		if g.Disk > 0 {
			cfg["scsi0"] = fmt.Sprintf("local-lvm:vm-%d-disk-0,size=%s", g.VMID, size)
		}
		if g.Agent {
			cfg["agent"] = "1"
		}
		if g.Serial {
			cfg["serial0"] = "socket"
		}
	}
	if g.Cores > 1 {
		cfg["cores"] = g.Cores
	}
	if g.Tags != "" {
		cfg["tags"] = g.Tags
	}
	if g.Lock != "" {
		cfg["lock"] = g.Lock
	}
	if g.Template {
		cfg["template"] = 1
	}
	for k, v := range g.Config {
		if v == nil {
			delete(cfg, k)
		} else {
			cfg[k] = v
		}
	}
	sum := sha1.Sum(fmt.Append(nil, cfg)) // maps print in the order of their keys
	cfg["digest"] = hex.EncodeToString(sum[:])
	return cfg
}
