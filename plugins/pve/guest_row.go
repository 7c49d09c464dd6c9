package pve

import (
	"strconv"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// tagSeparators are the separators of tags: Proxmox VE writes `;` and reads the
// others too.
const tagSeparators = ";, "

// shaper converts rows into values of the inventory. It belongs to one
// inventory.
type shaper struct {
	in   *intern
	ints slab[int64]
	nums slab[float64]
}

// newShaper returns a shaper for one inventory.
func newShaper() *shaper { return &shaper{in: newIntern()} }

// figure and share return pointers into slabs. Ten thousand guests would
// otherwise need hundreds of thousands of allocations.
func (s *shaper) figure(f figure) *int64 { return s.ints.ptr(f.n, f.set) }
func (s *shaper) share(f share) *float64 { return s.nums.ptr(f.f, f.set) }

// guest fills g from a row; ok is false for a row without a guest. away means
// that the node does not answer: the list still contains the guest, with its
// last known values.
func (s *shaper) guest(g *hypervisor.Guest, r *resourceRow, kind hypervisor.GuestKind, node string, away bool) (ok bool) {
	id := r.guestID()
	if id < 1 {
		return false
	}
	*g = hypervisor.Guest{
		GuestRef: hypervisor.GuestRef{Kind: kind, Node: node, ID: hypervisor.GuestID(strconv.FormatInt(id, 10))},
		Number:   s.ints.ptr(id, true),
		Name:     r.name.Text(),
		Template: r.template,
		Lock:     s.in.text(r.lock),
		Pool:     s.in.text(r.pool),
		Tags:     s.in.list(r.tags, tagSeparators),
	}
	g.Status = guestState(string(r.status.Bytes()), string(r.qmp.Bytes()), g.Lock, r.uptime.n > 0)
	if away {
		g.Status = hypervisor.GuestUnknown
	}
	if g.Status == hypervisor.GuestUnknown {
		// The figures of such a guest are zeros, which would look measured.
		return true
	}
	g.CPU, g.CPUs = s.share(r.cpu), s.share(r.cpus)
	g.Memory, g.MemoryTotal = s.figure(r.mem), s.figure(r.maxmem)
	g.Disk, g.DiskTotal = s.figure(r.disk), s.figure(r.maxdisk)
	g.NetIn, g.NetOut = s.figure(r.netin), s.figure(r.netout)
	g.DiskRead, g.DiskWrite = s.figure(r.diskread), s.figure(r.diskwrite)
	g.Uptime = s.figure(r.uptime)
	return true
}

// storage converts the row of a storage.
func (s *shaper) storage(r *resourceRow, node string, away bool) hypervisor.Storage {
	st := hypervisor.Storage{
		Name: s.in.text(r.storage), Node: node, Type: s.in.text(r.plugin), Shared: r.shared,
		Status: "unknown", Content: s.in.list(r.content, ", "),
	}
	if st.Name == "" {
		st.Name = lastPart(string(r.id.Bytes()))
	}
	if string(r.status.Bytes()) == "available" && !away {
		st.Status = "available"
		st.Used, st.Total = s.figure(r.disk), s.figure(r.maxdisk)
	}
	return st
}

// node adds what the list knows about a node.
func (s *shaper) node(n *hypervisor.Node, r *resourceRow) {
	n.CPU, n.CPUs = s.share(r.cpu), s.share(r.cpus)
	n.Memory, n.MemoryTotal = s.figure(r.mem), s.figure(r.maxmem)
	n.Disk, n.DiskTotal = s.figure(r.disk), s.figure(r.maxdisk)
	n.Uptime = s.figure(r.uptime)
	if level := s.in.text(r.level); level != "" {
		n.Level = level
	}
	if n.Status == "" {
		n.Status = nodeState(string(r.status.Bytes()))
	}
}

// nodeState converts the hypervisor's word for the state of a node.
func nodeState(word string) string {
	switch word {
	case hypervisor.NodeOnline, hypervisor.NodeOffline:
		return word
	}
	return hypervisor.NodeUnknown
}
