package lxd

import (
	"cmp"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// alone is the location of guests on a server that is not in a cluster.
const alone = "none"

// kinds maps the server's types of instances to kinds of guests.
var kinds = map[string]hypervisor.GuestKind{"container": hypervisor.Container, "virtual-machine": hypervisor.VM}

// statuses maps the server's states. A transitional state becomes the lasting
// state that fits best: a guest that is stopping still runs, and one that is
// starting does not run yet.
var statuses = map[string]string{
	"Running": hypervisor.GuestRunning, "Ready": hypervisor.GuestRunning, "Stopped": hypervisor.GuestStopped,
	"Frozen": hypervisor.GuestPaused,
	// It runs until it has stopped, and stands still until it has thawed.
	"Stopping": hypervisor.GuestRunning, "Aborting": hypervisor.GuestRunning, "Freezing": hypervisor.GuestRunning,
	"Thawed": hypervisor.GuestRunning, "Starting": hypervisor.GuestStopped,
}

// statusOf returns the status of an instance. A stopped instance with its
// memory on disk is suspended. The state Error, of a guest whose member is
// away, is unknown.
func statusOf(i *lxdapi.Instance) string {
	if i.Status == "Stopped" && i.Stateful {
		return hypervisor.GuestSuspended
	}
	return cmp.Or(statuses[i.Status], hypervisor.GuestUnknown)
}

// place says where guests are: the server that answered, and the nodes with
// their sizes where these are known.
type place struct {
	server string
	nodes  map[string]*hypervisor.Node
}

// nodeOf returns the node of an instance.
func (p place) nodeOf(i *lxdapi.Instance) string {
	if i.Location == "" || i.Location == alone {
		return p.server
	}
	return i.Location
}

// ref returns the reference of an instance. ok is false for an unknown type or
// an invalid name, which the inventory leaves out.
func (p place) ref(i *lxdapi.Instance) (ref hypervisor.GuestRef, ok bool) {
	ref = hypervisor.GuestRef{Kind: kinds[i.Type], Node: p.nodeOf(i), ID: guestID(i.Project, i.Name), UID: i.UUID()}
	if !hypervisor.ValidUID(ref.UID) {
		ref.UID = ""
	}
	return ref, ref.Kind != "" && ref.ID.Valid()
}

// guest returns what the definition of an instance says about it. now is the
// server's clock, or zero if it is unknown; then there is no uptime.
func (p place) guest(i *lxdapi.Instance, now time.Time) (g hypervisor.Guest, ok bool) {
	ref, ok := p.ref(i)
	g = hypervisor.Guest{GuestRef: ref, Name: i.Name, Status: statusOf(i), Pool: cmp.Or(i.Project, defaultProject)}
	if g.Status == hypervisor.GuestRunning || g.Status == hypervisor.GuestPaused {
		g.Uptime = uptime(i.LastUsed, now)
	}
	var node hypervisor.Node
	if known := p.nodes[ref.Node]; known != nil {
		node = *known
	}
	g.CPUs, g.MemoryTotal = cpus(i, node.CPUs), memory(i, node.MemoryTotal)
	for _, device := range i.Devices {
		if device["type"] == "disk" && device["path"] == "/" {
			if bytes, given := size(device["size"]); given {
				g.DiskTotal = &bytes
			}
		}
	}
	return g, ok
}

// cpus returns the number of CPUs that a guest may use. A container without a
// limit may use all of the node's, and a limit above these has no effect. A VM
// without a limit has one CPU.
func cpus(i *lxdapi.Instance, node *float64) *float64 {
	if count, limited := cpuCount(i.Config["limits.cpu"]); limited {
		all := float64(count)
		if node != nil { // a limit above what there is limits nothing
			all = min(all, max(*node, 1))
		}
		return &all
	}
	if i.Type == "virtual-machine" {
		all := float64(machineCPUs)
		return &all
	}
	return node
}

// memory returns the bytes of memory that a guest may use. A limit can be a
// percentage of the node's memory. Without a limit it is the node's memory for
// a container, and 1 GiB for a VM.
func memory(i *lxdapi.Instance, node *int64) *int64 {
	limit := i.Config["limits.memory"]
	bytes, limited := size(limit)
	if !limited {
		bytes, limited = share(limit, node)
	}
	switch {
	case limited && limit != "":
		return &bytes
	case limit == "" && i.Type == "virtual-machine":
		bytes = machineMemory
		return &bytes
	case limit == "":
		return node
	}
	return nil
}

// uptime returns the seconds since the last start. The server reports 1970 for
// a guest that was never started.
func uptime(started, now time.Time) *int64 {
	if now.IsZero() || started.Unix() <= 0 {
		return nil
	}
	seconds := max(int64(now.Sub(started)/time.Second), 0)
	return &seconds
}
