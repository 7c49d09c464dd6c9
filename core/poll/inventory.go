package poll

import (
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// inventory takes the pages of one poll, and keeps of each row only what the
// database gets.
type inventory struct {
	cluster hypervisor.Cluster
	told    bool // the cluster was in a page
	// at is when the first page came, and counters how many guests were told
	// with a counter of CPU time.
	at       time.Time
	counters int
	nodes    []hypervisor.Node
	guests   copyRows
	storages copyRows
	samples  copyRows

	seenNodes  map[string]bool
	seenGuests map[guestKey]struct{}
	// seenUIDs are those of the guests, and bare is how many have none.
	seenUIDs     map[string]struct{}
	bare         int
	seenStorages map[storageKey]struct{}
	gap          gap
	// dropped counts samples that were beyond what one poll may bring.
	dropped int
	// restart empties the inventory again for the same poll.
	restart func()
}

// guestKey identifies a guest within an inventory. It is small, because there
// are many.
type guestKey struct {
	id        hypervisor.GuestID
	container bool
}

// storageKey identifies a storage as a node sees it.
type storageKey struct{ node, name string }

// newInventory returns an empty inventory.
func newInventory() *inventory {
	return &inventory{
		seenNodes: map[string]bool{}, seenGuests: map[guestKey]struct{}{}, seenUIDs: map[string]struct{}{},
		seenStorages: map[storageKey]struct{}{},
	}
}

// begin empties the inventory for another poll. since is the time of the last
// good poll of the cluster, zero for none. Samples of guests are needed only
// for the time since then that polls did not see.
func (v *inventory) begin(since, now time.Time, interval time.Duration) {
	v.cluster, v.told, v.nodes, v.bare, v.dropped = hypervisor.Cluster{}, false, v.nodes[:0], 0, 0
	v.at, v.counters = time.Time{}, 0
	v.guests.reset()
	v.storages.reset()
	v.samples.reset()
	clear(v.seenNodes)
	clear(v.seenGuests)
	clear(v.seenUIDs)
	clear(v.seenStorages)
	v.gap = newGap(since, now, interval)
	v.restart = func() { v.begin(since, now, interval) }
}

// page takes one page of the driver.
func (v *inventory) page(page hypervisor.Page) error {
	if page.Restart {
		v.restart()
		return nil
	}
	if v.at.IsZero() {
		v.at = time.Now()
	}
	if page.Cluster != nil {
		v.cluster, v.told = *page.Cluster, true
		v.cluster.Name = clean(v.cluster.Name, maxName)
		// An id that was shortened or cleaned could be that of another cluster.
		if v.cluster.ID != "" && !hypervisor.ValidUID(v.cluster.ID) {
			v.cluster.ID = ""
		}
		v.cluster.Entry = clean(v.cluster.Entry, maxName)
	}
	for i := range page.Nodes {
		v.node(&page.Nodes[i])
	}
	for i := range page.Guests {
		v.guest(&page.Guests[i])
	}
	for i := range page.Storages {
		v.storage(&page.Storages[i])
	}
	v.sample(page.Samples)
	if len(v.seenGuests) > maxGuests || len(v.seenStorages) > maxStorages || len(v.nodes) > maxNodes {
		return plugin.Errorf(plugin.Protocol, "the inventory has more than %d guests, %d storages or %d nodes", maxGuests, maxStorages, maxNodes)
	}
	return nil
}

// check refuses an inventory without nodes: everything stored would be taken
// for gone.
func (v *inventory) check() error {
	if !v.told || len(v.nodes) == 0 {
		return plugin.Errorf(plugin.Protocol, "the inventory contains no cluster or no node")
	}
	return nil
}

// unnamed reports whether the answer does not contain the cluster's name.
func (v *inventory) unnamed() bool { return v.cluster.Partial && v.cluster.Name == "" }

// anonymous reports whether the answer does not identify its cluster.
func (v *inventory) anonymous() bool { return v.unnamed() && v.cluster.ID == "" }

// node adds a node. One without a name, or one that was listed already, is
// dropped.
func (v *inventory) node(n *hypervisor.Node) {
	name := clean(n.Name, maxName)
	if name == "" || v.seenNodes[name] {
		return
	}
	v.seenNodes[name] = true
	kept := *n
	kept.Name, kept.Status = name, nodeStatus(n.Status)
	kept.Address, kept.Level = clean(n.Address, maxName), clean(n.Level, maxWord)
	if kept.Fingerprint = ""; n.Fingerprint != "" {
		if parsed, err := endpoint.ParseFingerprint(n.Fingerprint); err == nil {
			kept.Fingerprint = parsed
		}
	}
	v.nodes = append(v.nodes, kept)
}

// entryAddress returns the address of the node that answered; empty if it is
// unknown.
func (v *inventory) entryAddress() string {
	for i := range v.nodes {
		if v.nodes[i].Name == v.cluster.Entry {
			return v.nodes[i].Address
		}
	}
	return ""
}

// guestColumns are the columns of the staging table, in the order in which
// guest writes them.
const guestColumns = "kind, ref, uid, identity, vmid, node, name, status, template, lock, pool, tags, cpu, cpus, memory, " +
	"memory_total, disk, disk_total, net_in, net_out, disk_read, disk_write, uptime, cpu_seconds"

// guest adds a guest.
func (v *inventory) guest(g *hypervisor.Guest) {
	key := guestKey{g.ID, g.Kind == hypervisor.Container}
	if !g.ID.Valid() || g.Node == "" || !key.container && g.Kind != hypervisor.VM {
		return
	}
	// A guest that moves between nodes may be listed twice; the first row
	// counts.
	if _, twice := v.seenGuests[key]; twice {
		return
	}
	v.seenGuests[key] = struct{}{}
	status := guestStatus(g.Status)
	if status == hypervisor.GuestUnknown {
		// Figures of a state that is not known are of another time.
		g = &hypervisor.Guest{GuestRef: g.GuestRef, Number: g.Number, Name: g.Name, Template: g.Template, Lock: g.Lock, Pool: g.Pool,
			Tags: g.Tags}
	}
	ref := g.GuestRef
	ref.UID = v.uid(ref.UID)
	r := &v.guests
	r.row(24)
	r.text(string(ref.Kind))
	r.text(string(ref.ID))
	r.optional(ref.UID)
	r.joined(identity(ref))
	r.count(g.Number)
	r.text(clean(g.Node, maxName))
	r.text(clean(g.Name, maxName)) // empty for a guest that is new to the hypervisor, or on a node that is away
	r.text(status)
	r.bool(g.Template)
	r.text(clean(g.Lock, maxWord))
	r.text(clean(g.Pool, maxName))
	r.texts(cleanAll(g.Tags, maxTags, maxWord))
	v.figures(r, g)
}

// figures writes the figures of a guest. If the answer contains only states,
// used figures are not trusted.
func (v *inventory) figures(r *copyRows, g *hypervisor.Guest) {
	used := *g
	if v.cluster.StatesOnly {
		used = hypervisor.Guest{}
	}
	r.gauge(used.CPU)
	r.gauge(g.CPUs)
	for _, figure := range [...]*int64{used.Memory, g.MemoryTotal, used.Disk, g.DiskTotal, used.NetIn, used.NetOut, used.DiskRead,
		used.DiskWrite, g.Uptime} {
		r.count(figure)
	}
	// A measured value is better than one computed from a counter.
	if used.CPU != nil || used.CPUSeconds == nil || !countable(*used.CPUSeconds) {
		r.null()
		return
	}
	v.counters++
	r.float(*used.CPUSeconds)
}

// countable reports whether a counter of seconds can be true: no machine has
// worked for thirty million years.
func countable(seconds float64) bool { return seconds >= 0 && seconds <= 1e15 }

// uid returns the UID under which a guest is stored. The first guest with a UID
// keeps it; of another one with the same UID only the id is trusted.
func (v *inventory) uid(told string) string {
	if told != "" && hypervisor.ValidUID(told) {
		if _, twice := v.seenUIDs[told]; !twice {
			v.seenUIDs[told] = struct{}{}
			return told
		}
	}
	v.bare++
	return ""
}

// identity returns the value of the column identity for a guest, in two parts.
func identity(ref hypervisor.GuestRef) (prefix, rest string) {
	switch {
	case ref.UID != "":
		return "uid:", ref.UID
	case ref.Kind == hypervisor.Container:
		return "container:", string(ref.ID)
	}
	return "vm:", string(ref.ID)
}

// storageColumns are the columns of storages.
const storageColumns = "node, name, type, shared, status, content, used, total"

// storage adds a storage as a node sees it.
func (v *inventory) storage(s *hypervisor.Storage) {
	key := storageKey{clean(s.Node, maxName), clean(s.Name, maxName)}
	if key.node == "" || key.name == "" {
		return
	}
	if _, twice := v.seenStorages[key]; twice {
		return
	}
	v.seenStorages[key] = struct{}{}
	status := "unknown"
	if s.Status == "available" {
		status = s.Status
	}
	r := &v.storages
	r.row(8)
	r.text(key.node)
	r.text(key.name)
	r.text(clean(s.Type, maxWord))
	r.bool(s.Shared)
	r.text(status)
	r.texts(cleanAll(s.Content, maxTags, maxWord))
	if v.cluster.StatesOnly {
		r.null()
	} else {
		r.count(s.Used)
	}
	r.count(s.Total)
}
