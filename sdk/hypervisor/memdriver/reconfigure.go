package memdriver

import (
	"context"
	"slices"
	"strconv"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// optionKeys are the options of every guest.
var optionKeys = []hypervisor.OptionKey{
	{Name: "boot", Type: "string", MaxLength: 100},
	{Name: "onboot", Type: "boolean", Autostart: true},
	{Name: "protection", Type: "boolean"},
	{Name: "startup", Type: "string", MaxLength: 100},
	{Name: "weight", Type: "integer", Min: ptr(1.0), Max: ptr(500.0)},
}

// OptionKeys implements hypervisor.ConfigEditor. Containers have no boot order.
func (h *Host) OptionKeys(ctx context.Context, kind hypervisor.GuestKind) ([]hypervisor.OptionKey, error) {
	if _, _, err := h.begin(ctx, "optionkeys"); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(optionKeys), func(k hypervisor.OptionKey) bool {
		return kind == hypervisor.Container && k.Name == "boot"
	}), nil
}

// Reconfigure implements hypervisor.ConfigEditor. Changes of cores, sockets and
// memory of a running VM wait for its next start.
func (h *Host) Reconfigure(ctx context.Context, ref hypervisor.GuestRef, change hypervisor.ConfigChange) error {
	return h.edit(ctx, "reconfigure", ref, change.Digest, func(_ *Cluster, g *guest) error {
		if err := g.refuse(change); err != nil {
			return err
		}
		if g.Kind == hypervisor.VM && g.Status != hypervisor.GuestStopped {
			g.pending.Cores, change.Cores = latest(g.pending.Cores, change.Cores), nil
			g.pending.Sockets, change.Sockets = latest(g.pending.Sockets, change.Sockets), nil
			g.pending.MemoryMB, change.MemoryMB = latest(g.pending.MemoryMB, change.MemoryMB), nil
		}
		g.apply(change)
		return nil
	})
}

// latest returns the new number, or the old one if there is none.
func latest(old, now *int64) *int64 {
	if now != nil {
		return now
	}
	return old
}

// refuse returns Invalid for values that the guest does not accept.
func (g *guest) refuse(change hypervisor.ConfigChange) error {
	for field, number := range map[string]*int64{"cores": change.Cores, "sockets": change.Sockets, "memory_mb": change.MemoryMB} {
		if number != nil && (*number < 1 || *number > limits.MemoryMB) {
			return invalid(field, "%d is out of bounds", *number)
		}
	}
	if g.Kind == hypervisor.Container && (change.Sockets != nil || change.BalloonMB != nil || change.CPUType != nil) {
		return invalid("sockets", "a container has none")
	}
	if g.Kind == hypervisor.VM && change.SwapMB != nil {
		return invalid("swap_mb", "a VM has none")
	}
	for key, value := range change.Options {
		i := slices.IndexFunc(optionKeys, func(k hypervisor.OptionKey) bool { return k.Name == key })
		if i < 0 {
			return invalid(key, "unknown option")
		}
		if n, err := strconv.Atoi(deref(value)); value != nil && optionKeys[i].Type == "integer" && (err != nil || n < 1 || n > 500) {
			return invalid(key, "must be a number from 1 to 500")
		}
	}
	return nil
}

// apply puts a change into force. The caller holds the lock.
func (g *guest) apply(change hypervisor.ConfigChange) {
	set := func(to **int64, value *int64) {
		if value != nil {
			*to = value
		}
	}
	set(&g.config.Cores, change.Cores)
	set(&g.config.Sockets, change.Sockets)
	set(&g.config.MemoryMB, change.MemoryMB)
	set(&g.config.BalloonMB, change.BalloonMB)
	set(&g.config.SwapMB, change.SwapMB)
	if change.Cores != nil {
		g.CPUs = ptr(float64(*change.Cores))
	}
	if change.MemoryMB != nil {
		g.MemoryTotal = ptr(*change.MemoryMB << 20)
	}
	if change.CPUType != nil {
		g.config.CPUType = *change.CPUType
	}
	if change.Description != nil {
		g.config.Description = *change.Description
	}
	if change.Name != nil && g.UID == "" { // where names are ids they stay
		g.Name = *change.Name
	}
	if change.TagsSet {
		g.Tags = slices.Clone(change.Tags)
	}
	for key, value := range change.Options {
		if value == nil {
			delete(g.config.Options, key)
		} else {
			g.config.Options[key] = *value
		}
		if key == "protection" {
			g.config.Protected = deref(value) == "1"
		}
	}
}

// deref returns the text, empty for nil.
func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// GrowDisk implements hypervisor.ConfigEditor.
func (h *Host) GrowDisk(ctx context.Context, ref hypervisor.GuestRef, growth hypervisor.DiskGrowth) error {
	return h.edit(ctx, "growdisk", ref, growth.Digest, func(c *Cluster, g *guest) error {
		i := slices.IndexFunc(g.config.Disks, func(d hypervisor.Disk) bool { return d.Key == growth.Key && !d.Removable && d.SizeGB != nil })
		if i < 0 {
			return invalid("key", "disk not found")
		}
		disk := &g.config.Disks[i]
		if growth.SizeGB <= *disk.SizeGB {
			return invalid("size_gb", "the disk has %d GiB and grows only", *disk.SizeGB)
		}
		if err := c.storage(disk.Storage).take(growth.SizeGB - *disk.SizeGB); err != nil {
			return err
		}
		disk.SizeGB, g.DiskTotal = &growth.SizeGB, ptr(growth.SizeGB<<30)
		return nil
	})
}
