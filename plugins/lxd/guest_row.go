package lxd

import (
	"cmp"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// alone is what a server that is in no cluster gives as the place of its guests.
const alone = "none"

// kinds are the kinds of guests by the server's word.
var kinds = map[string]hypervisor.GuestKind{"container": hypervisor.Container, "virtual-machine": hypervisor.VM}

// statuses are the lasting states, and of those on the way the one that the guest is still in or is in already.
var statuses = map[string]string{
	"Running": hypervisor.GuestRunning, "Ready": hypervisor.GuestRunning, "Stopped": hypervisor.GuestStopped,
	"Frozen": hypervisor.GuestPaused,
	// It runs until it has stopped, and stands still until it has thawed.
	"Stopping": hypervisor.GuestRunning, "Aborting": hypervisor.GuestRunning, "Freezing": hypervisor.GuestRunning,
	"Thawed": hypervisor.GuestRunning, "Starting": hypervisor.GuestStopped,
}

// statusOf is the state in the driver's terms. Error is a guest whose member of the cluster is away.
func statusOf(i *lxdapi.Instance) string {
	if i.Status == "Stopped" && i.Stateful {
		return hypervisor.GuestSuspended
	}
	return cmp.Or(statuses[i.Status], hypervisor.GuestUnknown)
}

// place is where guests are: the server that answered, and how much the nodes have where that is known.
type place struct {
	server string
	nodes  map[string]*hypervisor.Node
}

// nodeOf is the node of an instance.
func (p place) nodeOf(i *lxdapi.Instance) string {
	if i.Location == "" || i.Location == alone {
		return p.server
	}
	return i.Location
}

// ref names an instance. ok is false for one that is of no kind that is known.
func (p place) ref(i *lxdapi.Instance) (ref hypervisor.GuestRef, ok bool) {
	ref = hypervisor.GuestRef{Kind: kinds[i.Type], Node: p.nodeOf(i), ID: guestID(i.Project, i.Name), UID: i.UUID()}
	if !hypervisor.ValidUID(ref.UID) {
		ref.UID = ""
	}
	return ref, ref.Kind != "" && ref.ID.Valid()
}

// guest is what an instance's definition tells of it. now is the server's clock, zero when it is not known.
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

// cpus are those that the guest may use; all of the node's for a container without a limit.
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

// memory is what the guest may use; all of the node's for a container without a limit.
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

// uptime is the time since the last start in seconds.
func uptime(started, now time.Time) *int64 {
	if now.IsZero() || started.Unix() <= 0 {
		return nil
	}
	seconds := max(int64(now.Sub(started)/time.Second), 0)
	return &seconds
}
