package guest

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// formatInt formats a number for an error text.
func formatInt(n int64) string { return strconv.FormatInt(n, 10) }

// checkOrder returns invalid with all faults of an order that the guest cannot
// be changed to. It returns the keys of the disks that will grow, sorted. A
// disk that already has the requested size is not among them.
func (a *Actor) checkOrder(ctx context.Context, on Subject, o ConfigRequest, now hypervisor.Config) (disks []string, err error) {
	p := &place{}
	sized := o.Cores != nil || o.Sockets != nil || o.MemoryMB != nil || o.BalloonMB != nil || o.SwapMB != nil || len(o.Disks) > 0
	// Limits and free space are only read if the order needs them: each costs a
	// request and a privilege.
	if sized {
		room := hypervisor.PlacementQuery{Storages: len(o.Disks) > 0}
		if p.Placement, _, err = a.roomFor(ctx, on.Guest, room); err != nil {
			return nil, err
		}
	}
	p.checkConfig(on.Guest, o, now)
	disks = p.checkDisks(hypervisor.GuestKind(on.Guest.Kind), o, now)
	if err := p.err(); err != nil {
		return nil, err
	}
	if len(disks) > 0 && on.Guest.Template {
		return nil, problem.New(problem.CodeInvalidState, "%s is a template; its disks cannot be changed", on.Guest.Name)
	}
	return disks, nil
}

// roomFor reads from the guest's node what the query asks for. It returns false
// if the driver cannot report it.
func (a *Actor) roomFor(ctx context.Context, g *Guest, query hypervisor.PlacementQuery) (
	room hypervisor.Placement, known bool, err error) {
	room, err = host.CallWithTimeout(ctx, a.Hosts, callLimit, g.HostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Provisioner) (hypervisor.Placement, error) {
			return CallAtNode(ctx, a.Hosts, g, func(ref hypervisor.GuestRef) (hypervisor.Placement, error) {
				query.Kind, query.Node, query.Name = ref.Kind, ref.Node, g.Name
				return at.Placement(ctx, query)
			})
		})
	err = plugin.Problem(err)
	if unsupported(err) {
		return hypervisor.Placement{}, false, nil
	}
	return room, true, err
}

// checkConfig records faults of numbers and texts that the guest cannot have.
func (p *place) checkConfig(g *Guest, o ConfigRequest, now hypervisor.Config) {
	only := func(field string, given bool, kind string) {
		if given && g.Kind != kind {
			p.refuse(field, "value_error", "not available for a %s", g.Kind)
		}
	}
	only("sockets", o.Sockets != nil, VM)
	only("balloon_mb", o.BalloonMB != nil, VM)
	only("cpu_type", o.CPUType != nil, VM)
	only("swap_mb", o.SwapMB != nil, Container)
	if o.Name != nil && g.VMID == nil {
		p.refuse("name", "value_error", "this hypervisor identifies guests by name; the name cannot be changed")
	} else if o.Name != nil {
		p.checkName(*o.Name)
	}
	most := func(field string, n *int64, most int64) {
		if n != nil {
			p.checkMost(field, *n, most)
		}
	}
	most("cores", o.Cores, p.Limits.Cores)
	most("memory_mb", o.MemoryMB, p.Limits.MemoryMB)
	most("swap_mb", o.SwapMB, p.Limits.MemoryMB)
	memory := now.MemoryMB
	if o.MemoryMB != nil {
		memory = o.MemoryMB
	}
	if o.BalloonMB != nil && memory != nil && *o.BalloonMB > *memory {
		p.refuse("balloon_mb", "less_than_equal", "must not exceed the memory")
	}
}

// checkDisks records faults of disks and returns those that will grow or be
// added.
func (p *place) checkDisks(kind hypervisor.GuestKind, o ConfigRequest, now hypervisor.Config) (disks []string) {
	needed := map[string]int64{} // bytes by storage
	for _, key := range slices.Sorted(maps.Keys(o.Disks)) {
		size := o.Disks[key].SizeGB
		refuse := func(kind, msg string) {
			p.faults = append(p.faults, problem.Fault{Loc: []any{"body", "disks", key, "size_gb"}, Msg: msg, Type: kind})
		}
		i := slices.IndexFunc(now.Disks, func(d hypervisor.Disk) bool { return d.Key == key })
		switch {
		case i < 0 && o.Disks[key].Storage != "":
			if p.checkNewDisk(kind, key, o.Disks[key], needed) {
				disks = append(disks, key)
			}
			continue
		case i < 0:
			p.faults = append(p.faults, problem.Fault{Loc: []any{"body", "disks", key},
				Msg: "the guest does not have this disk; to add it, name a storage", Type: "value_error"})
			continue
		case o.Disks[key].Storage != "":
			p.faults = append(p.faults, problem.Fault{Loc: []any{"body", "disks", key, "storage"},
				Msg: "the guest has this disk already; a new one needs another key", Type: "value_error"})
			continue
		case now.Disks[i].Removable || now.Disks[i].Local || now.Disks[i].Unused || now.Disks[i].Pending || now.Disks[i].SizeGB == nil:
			refuse("value_error", "the size of this disk cannot be changed")
			continue
		}
		is := *now.Disks[i].SizeGB
		switch {
		case size < is:
			refuse("greater_than_equal", "disks can only grow; the current size is "+formatInt(is)+" GiB")
		case size == is:
		case p.Limits.DiskGB > 0 && size > p.Limits.DiskGB:
			refuse("less_than_equal", "must be at most "+formatInt(p.Limits.DiskGB))
		default:
			needed[now.Disks[i].Storage] += (size - is) << 30
			s := p.storage(now.Disks[i].Storage)
			// Several disks may be on one storage, so the growth of all of them
			// is compared with its free space. A thin storage accepts more than
			// is free.
			if s != nil && !s.Thin && s.Free != nil && *s.Free < needed[s.Name] {
				refuse("value_error", "the storage has free space for only "+formatInt(*s.Free>>30)+" GiB more")
			}
			disks = append(disks, key)
		}
	}
	return disks
}

// checkNewDisk records faults of a new disk, and adds its size to what is
// needed of its storage.
func (p *place) checkNewDisk(kind hypervisor.GuestKind, key string, d DiskRequest, needed map[string]int64) bool {
	before := len(p.faults)
	refuse := func(field, msg string) {
		p.faults = append(p.faults, problem.Fault{Loc: []any{"body", "disks", key, field}, Msg: msg, Type: "value_error"})
	}
	s := p.storage(d.Storage)
	switch {
	case s == nil:
		refuse("storage", "the node does not have this storage")
	case kind == hypervisor.VM && !s.VMs, kind == hypervisor.Container && !s.Containers:
		refuse("storage", "this storage does not accept disks of a "+string(kind))
	case !s.Available:
		refuse("storage", "this storage is not available")
	default:
		if needed[s.Name] += d.SizeGB << 30; !s.Thin && s.Free != nil && *s.Free < needed[s.Name] {
			refuse("size_gb", "the storage has free space for only "+formatInt(*s.Free>>30)+" GiB more")
		}
	}
	if p.Limits.DiskGB > 0 && d.SizeGB > p.Limits.DiskGB {
		refuse("size_gb", "must be at most "+formatInt(p.Limits.DiskGB))
	}
	switch {
	case kind == hypervisor.VM && d.Path != "":
		refuse("path", "only disks of containers have a mount point")
	case kind == hypervisor.Container && d.Path == "":
		refuse("path", "a disk of a container needs a mount point")
	}
	return len(p.faults) == before
}

// storage returns the storage of the node with that name, or nil.
func (p *place) storage(name string) *hypervisor.PlacementStorage {
	if i := slices.IndexFunc(p.Storages, func(s hypervisor.PlacementStorage) bool { return s.Name == name }); i >= 0 {
		return &p.Storages[i]
	}
	return nil
}
