package memdriver

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// guest is one guest. The cluster's lock protects it.
type guest struct {
	hypervisor.Guest
	// number counts all guests that there ever were.
	number int64
	began  time.Time // when it was started
	// counted says that CPU time is counted. CPUSeconds is then what the guest
	// used besides an even half of one core.
	counted bool
	// snapshots are the oldest first, and origin is the one that the present state follows.
	snapshots []hypervisor.Snapshot
	origin    string
	// config is what is in force, without what the guest itself says; pending
	// and pendingNICs wait for a start.
	config      hypervisor.Config
	pending     hypervisor.ConfigChange
	pendingNICs map[string]hypervisor.NIC
	// serial is true for a VM with a serial port.
	serial bool
	// files are those that were copied into a container, and sockets where it listens.
	files   map[string]nodeFile
	sockets []hypervisor.Socket
	// managed is true for a guest that the cluster's own manager moves.
	managed bool
}

// NewGuest makes a guest in one of the states, and returns its reference. It
// leaves the ended task "guest_create", which is no action of the API. The
// guests of a Spec have no task.
func (c *Cluster) NewGuest(kind hypervisor.GuestKind, status string) hypervisor.GuestRef {
	return c.NewGuestAs(kind, status, "")
}

// NewGuestAs is NewGuest with a free id, such as that of a removed guest; empty
// takes a new one.
func (c *Cluster) NewGuestAs(kind hypervisor.GuestKind, status string, id hypervisor.GuestID) hypervisor.GuestRef {
	c.mu.Lock()
	defer c.mu.Unlock()
	ref := c.newGuest(kind, status, id).GuestRef
	c.newTask(ref.Node, "guest_create", ref, endpoint.Credential{ID: "root@mem"}).end(hypervisor.TaskOK, "OK")
	return ref
}

// Change edits a guest, for example its name, node or lock, and reports whether
// it exists. Rename changes the id. CPUSeconds that edit adds to a guest of a
// CertificateDriver are added to what the guest uses anyway.
func (c *Cluster) Change(id hypervisor.GuestID, edit func(*hypervisor.Guest)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, ok := c.guests[id]
	if ok {
		edit(&g.Guest)
		c.hangUp()
	}
	return ok
}

// Rename gives a guest of a CertificateDriver another name, which is also its id. It
// reports whether the guest exists and the name was free.
func (c *Cluster) Rename(id hypervisor.GuestID, name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, ok := c.guests[id]
	if _, taken := c.guests[hypervisor.GuestID(name)]; !ok || taken || !c.certified {
		return false
	}
	delete(c.guests, id)
	g.ID, g.Name = hypervisor.GuestID(name), name
	c.guests[g.ID] = g
	return true
}

// Remove removes a guest.
func (c *Cluster) Remove(id hypervisor.GuestID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.guests, id)
	c.hangUp()
}

// Guests returns all guests in the order of their creation.
func (c *Cluster) Guests() []hypervisor.GuestRef {
	c.mu.Lock()
	defer c.mu.Unlock()
	var refs []hypervisor.GuestRef
	for _, g := range c.inOrder() {
		refs = append(refs, g.GuestRef)
	}
	return refs
}

// inOrder returns all guests in the order of their creation. The caller holds
// the lock.
func (c *Cluster) inOrder() []*guest {
	return slices.SortedFunc(maps.Values(c.guests), func(a, b *guest) int { return cmp.Compare(a.number, b.number) })
}

// newGuest makes a guest. The caller holds the lock.
func (c *Cluster) newGuest(kind hypervisor.GuestKind, status string, id hypervisor.GuestID) *guest {
	c.made++
	n := c.made
	g := &guest{number: n, began: time.Now().Add(-time.Hour), Guest: hypervisor.Guest{ // long before any test
		GuestRef:    hypervisor.GuestRef{Kind: kind, Node: c.nodes[int(n)%len(c.nodes)], ID: id},
		Name:        fmt.Sprintf("%s%s-%d", c.prefix, kind, n),
		Tags:        []string{"mem"},
		CPUs:        ptr(2.0),
		MemoryTotal: ptr(int64(2 << 30)),
		DiskTotal:   ptr(int64(32 << 30)),
	}}
	if c.certified {
		g.counted = true
		g.ID = cmp.Or(id, hypervisor.GuestID(g.Name))
		g.Name = string(g.ID)
		g.UID = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %d", c.address, n)))[:32]
	} else {
		g.ID = cmp.Or(id, hypervisor.GuestID(strconv.FormatInt(n, 10)))
		if number, err := strconv.ParseInt(string(g.ID), 10, 64); err == nil {
			g.Number = &number
		}
	}
	g.configure(n)
	g.setStatus(status)
	c.guests[g.ID] = g
	return g
}

// setStatus sets the state, and the figures that only a running guest has. The
// caller holds the lock.
func (g *guest) setStatus(status string) {
	g.Status = status
	g.CPU, g.CPUSeconds, g.Memory, g.Uptime = nil, nil, nil, nil
	g.NetIn, g.NetOut, g.DiskRead, g.DiskWrite = nil, nil, nil, nil
	if status == hypervisor.GuestRunning || status == hypervisor.GuestPaused {
		g.Memory, g.Uptime = ptr(int64(1<<30)), ptr(int64(1))
		if g.counted {
			g.CPUSeconds = ptr(0.0)
		} else {
			g.CPU = ptr(0.25)
		}
		g.NetIn, g.NetOut = ptr(int64(1000)), ptr(int64(2000))
		g.DiskRead, g.DiskWrite = ptr(int64(3000)), ptr(int64(4000))
	}
}

// present returns the guest as it is now. The caller holds the lock.
func (g *guest) present() hypervisor.Guest {
	now := g.Guest
	up := time.Since(g.began).Seconds()
	if g.Uptime != nil {
		now.Uptime = ptr(int64(up))
	}
	if g.CPUSeconds != nil {
		now.CPUSeconds = ptr(*g.CPUSeconds + up/2)
	}
	return now
}

// stateOnly removes the figures that the list of a CertificateDriver does not have
// without detail.
func stateOnly(g hypervisor.Guest) hypervisor.Guest {
	g.CPUSeconds, g.Memory, g.Disk, g.DiskTotal = nil, nil, nil, nil
	g.NetIn, g.NetOut, g.DiskRead, g.DiskWrite = nil, nil, nil, nil
	return g
}
