package memdriver

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// limits are the limits of every cluster.
var limits = hypervisor.GuestLimits{Cores: 128, MemoryMB: 4 << 20, DiskGB: 128 << 10, MTU: 65520, MinNumber: 100, MaxNumber: 999_999_999}

// osTypes are the words for guest operating systems.
var osTypes = []string{"l26", "win11", "other"}

// Placement implements hypervisor.Provisioner.
func (h *Host) Placement(ctx context.Context, query hypervisor.PlacementQuery) (hypervisor.Placement, error) {
	c, privileges, err := h.begin(ctx, "placement")
	if err != nil {
		return hypervisor.Placement{}, err
	}
	if err := require(privileges, NodeAudit, "/nodes/"+query.Node); err != nil {
		return hypervisor.Placement{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.nodes, query.Node) {
		return hypervisor.Placement{}, plugin.Errorf(plugin.NotFound, "node %.80q not found", query.Node)
	}
	p := hypervisor.Placement{
		ImageFound: slices.Contains(c.images, query.Image), OSTypes: slices.Clone(osTypes), Limits: limits,
	}
	if query.ID {
		p.ID, p.Number = c.freeID(query)
	}
	if query.Bridges {
		p.Bridges = slices.Clone(c.bridges)
	}
	if !query.Storages {
		return p, nil
	}
	for _, s := range c.storages {
		p.Storages = append(p.Storages, hypervisor.PlacementStorage{
			Name: s.Name, VMs: s.VMs, Containers: s.Containers, Backups: s.Archive != nil,
			Shared: s.Archive != nil && s.Archive.Folder == "", Available: !s.Away, Free: ptr(s.FreeGB << 30), Thin: s.Thin,
			Templates: s.Type == "dir" || slices.Contains(s.Content, "templates"),
		})
	}
	return p, nil
}

// freeID returns a free id for a new guest; empty if the wanted one is in use.
// The caller holds the lock.
func (c *Cluster) freeID(query hypervisor.PlacementQuery) (hypervisor.GuestID, *int64) {
	if c.certified {
		id := hypervisor.GuestID(query.Name)
		if _, taken := c.guests[id]; taken || query.Number != nil {
			return "", nil
		}
		return id, nil
	}
	number := c.made + 1
	if query.Number != nil {
		number = *query.Number
	}
	for {
		id := hypervisor.GuestID(strconv.FormatInt(number, 10))
		switch _, taken := c.guests[id]; {
		case !taken:
			return id, &number
		case query.Number != nil:
			return "", nil
		}
		number++
	}
}

// CreateVM implements hypervisor.Provisioner. The VM exists from the beginning
// of the task, and is locked until its end.
func (h *Host) CreateVM(ctx context.Context, spec hypervisor.VMSpec) (string, error) {
	c, privileges, err := h.begin(ctx, "createvm")
	if err != nil {
		return "", err
	}
	if err := require(privileges, GuestPower, guestPath(spec.ID)); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.checkVM(spec); err != nil {
		return "", err
	}
	g := c.newGuestOn(spec.Node, hypervisor.VM, spec.ID)
	g.Name, g.Tags, g.Lock = spec.Name, nil, "create"
	if c.certified {
		g.Name = string(spec.ID)
	}
	g.MemoryTotal, g.DiskTotal, g.CPUs = ptr(spec.MemoryMB<<20), ptr(spec.DiskGB<<30), ptr(float64(spec.Cores))
	g.config.Cores, g.config.MemoryMB, g.config.OSType, g.config.Mark = &spec.Cores, &spec.MemoryMB, spec.OSType, spec.Mark
	volume := spec.Storage + ":" + string(spec.ID)
	g.config.Disks = []hypervisor.Disk{{Key: "scsi0", Storage: spec.Storage, Volume: volume, SizeGB: &spec.DiskGB}}
	if spec.Image != "" {
		g.config.Disks = append(g.config.Disks, hypervisor.Disk{Key: "ide2", Storage: "local", Volume: spec.Image, Removable: true})
	}
	if g.config.NICs[0].Bridge, g.config.NICs[0].VLAN = spec.Bridge, spec.VLAN; spec.Bridge == "" {
		g.config.NICs = nil
	}
	return h.run(c, g, work{hypervisor.OperationCreate, func() error {
		if err := c.storage(spec.Storage).take(spec.DiskGB); err != nil {
			delete(c.guests, g.ID)
			return err
		}
		g.Lock = ""
		return nil
	}}), nil
}

// checkVM refuses a VM that cannot be made. The caller holds the lock.
func (c *Cluster) checkVM(spec hypervisor.VMSpec) error {
	_, taken := c.guests[spec.ID]
	switch {
	case !spec.ID.Valid():
		return invalid("id", "an id is needed")
	case taken:
		return plugin.Errorf(plugin.Conflict, "guest %s exists already", spec.ID)
	case !slices.Contains(c.nodes, spec.Node):
		return plugin.Errorf(plugin.NotFound, "node %.80q not found", spec.Node)
	case !c.storage(spec.Storage).holds(hypervisor.VM):
		return invalid("storage", "storage %.80q does not store VM disks", spec.Storage)
	case spec.Bridge != "" && !slices.Contains(c.bridges, spec.Bridge):
		return invalid("bridge", "bridge %.80q not found", spec.Bridge)
	case spec.Image != "" && !slices.Contains(c.images, spec.Image):
		return invalid("image", "image %.80q not found", spec.Image)
	case !slices.Contains(osTypes, spec.OSType):
		return invalid("os_type", "%.80q is not an operating system", spec.OSType)
	case spec.Cores < 1 || spec.MemoryMB < 1 || spec.DiskGB < 1:
		return plugin.Errorf(plugin.Invalid, "a VM needs a core, memory and a disk")
	}
	return nil
}

// newGuestOn makes a stopped guest on a node. The caller holds the lock.
func (c *Cluster) newGuestOn(node string, kind hypervisor.GuestKind, id hypervisor.GuestID) *guest {
	g := c.newGuest(kind, hypervisor.GuestStopped, id)
	g.Node = node
	return g
}

// Destroy implements hypervisor.Provisioner.
func (h *Host) Destroy(ctx context.Context, ref hypervisor.GuestRef, _ hypervisor.DestroySpec) (string, error) {
	return h.change(ctx, "destroy", GuestPower, ref, func(guest *guest) (work, error) {
		switch {
		case guest.Status != hypervisor.GuestStopped:
			return work{}, plugin.Errorf(plugin.Conflict, "guest %s is %s", ref.ID, guest.Status)
		case guest.config.Protected:
			return work{}, plugin.Errorf(plugin.Conflict, "guest %s is protected", ref.ID)
		}
		return work{hypervisor.OperationDestroy, func() error {
			if guest.Status != hypervisor.GuestStopped {
				return errors.New("the guest was started meanwhile")
			}
			c, err := h.driver.cluster(h.target)
			if err != nil {
				return err
			}
			for _, disk := range guest.config.Disks {
				if s := c.storage(disk.Storage); s != nil && !disk.Removable && !disk.Kept && disk.SizeGB != nil {
					s.FreeGB += *disk.SizeGB
				}
			}
			delete(c.guests, guest.ID)
			return nil
		}}, nil
	})
}
