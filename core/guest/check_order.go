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

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }

// checkOrder refuses an order that the guest cannot be brought to, with all its faults at once, and gives the keys of the disks that
// become larger, in order. A disk that has its new size already is none of them.
func (a *Actor) checkOrder(ctx context.Context, on Subject, o ConfigOrder, now hypervisor.Config) (grown []string, err error) {
	p := &place{}
	sized := o.Cores != nil || o.Sockets != nil || o.MemoryMB != nil || o.BalloonMB != nil || o.SwapMB != nil || len(o.DisksGB) > 0
	if sized {
		room := hypervisor.PlacementQuery{Storages: len(o.DisksGB) > 0}
		if p.Placement, _, err = a.roomFor(ctx, on.Guest, room); err != nil {
			return nil, err
		}
	}
	p.checkConfig(on.Guest, o, now)
	grown = p.checkDisks(o, now)
	if err := p.err(); err != nil {
		return nil, err
	}
	if len(grown) > 0 && on.Guest.Template {
		return nil, problem.New(problem.CodeInvalidState, "%s is a template; its disks stay as they are", on.Guest.Name)
	}
	return grown, nil
}

// roomFor asks what the guest's node has of what the query wants; known is false where the driver cannot tell.
func (a *Actor) roomFor(ctx context.Context, g *Guest, query hypervisor.PlacementQuery) (
	room hypervisor.Placement, known bool, err error) {
	room, err = host.AskWithin(ctx, a.Hosts, lookLimit, g.HostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Provisioner) (hypervisor.Placement, error) {
			return Follow(ctx, a.Hosts, g, func(ref hypervisor.GuestRef) (hypervisor.Placement, error) {
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

// checkConfig refuses figures and texts that the guest cannot have.
func (p *place) checkConfig(g *Guest, o ConfigOrder, now hypervisor.Config) {
	only := func(field string, given bool, kind string) {
		if given && g.Kind != kind {
			p.refuse(field, "value_error", "a %s has none", g.Kind)
		}
	}
	only("sockets", o.Sockets != nil, VM)
	only("balloon_mb", o.BalloonMB != nil, VM)
	only("cpu_type", o.CPUType != nil, VM)
	only("swap_mb", o.SwapMB != nil, Container)
	if o.Name != nil && g.VMID == nil {
		p.refuse("name", "value_error", "the hypervisor knows its guests by their names; this one keeps its own")
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
		p.refuse("balloon_mb", "less_than_equal", "must be at most the memory")
	}
}

// checkDisks refuses sizes that disks cannot have, and gives those that become larger.
func (p *place) checkDisks(o ConfigOrder, now hypervisor.Config) (grown []string) {
	needed := map[string]int64{} // bytes by storage
	for _, key := range slices.Sorted(maps.Keys(o.DisksGB)) {
		size := o.DisksGB[key]
		refuse := func(kind, msg string) {
			p.faults = append(p.faults, problem.Fault{Loc: []any{"body", "disks", key, "size_gb"}, Msg: msg, Type: kind})
		}
		i := slices.IndexFunc(now.Disks, func(d hypervisor.Disk) bool { return d.Key == key })
		switch {
		case i < 0:
			p.faults = append(p.faults, problem.Fault{Loc: []any{"body", "disks", key}, Msg: "the guest has no such disk", Type: "value_error"})
			continue
		case now.Disks[i].Removable || now.Disks[i].Local || now.Disks[i].Unused || now.Disks[i].Pending || now.Disks[i].SizeGB == nil:
			refuse("value_error", "this one has no size that can be changed")
			continue
		}
		is := *now.Disks[i].SizeGB
		switch {
		case size < is:
			refuse("greater_than_equal", "disks grow only; it has "+formatInt(is)+" GiB")
		case size == is:
		case p.Limits.DiskGB > 0 && size > p.Limits.DiskGB:
			refuse("less_than_equal", "must be at most "+formatInt(p.Limits.DiskGB))
		default:
			needed[now.Disks[i].Storage] += (size - is) << 30
			s := p.storage(now.Disks[i].Storage)
			if s != nil && !s.Thin && s.Free != nil && *s.Free < needed[s.Name] {
				refuse("value_error", "its storage has room for "+formatInt(*s.Free>>30)+" GiB more")
			}
			grown = append(grown, key)
		}
	}
	return grown
}

// storage is a storage of the node; nil where it is not known.
func (p *place) storage(name string) *hypervisor.PlacementStorage {
	if i := slices.IndexFunc(p.Storages, func(s hypervisor.PlacementStorage) bool { return s.Name == name }); i >= 0 {
		return &p.Storages[i]
	}
	return nil
}
