package memdriver

import (
	"context"
	"fmt"
	"slices"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// BackupContent implements hypervisor.BackupReader. A restore over a VM keeps
// volumes that are not in the backup; one over a container destroys them.
func (h *Host) BackupContent(ctx context.Context, b hypervisor.Backup) (hypervisor.BackupContent, error) {
	c, a, err := h.begun(ctx, "backupcontent", b.Storage)
	if err != nil {
		return hypervisor.BackupContent{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	i := a.find(b)
	if i < 0 {
		return hypervisor.BackupContent{}, plugin.Errorf(plugin.NotFound, "backup %.200q not found", b.ID)
	}
	of, err := c.madeOf(a, a.kept[i])
	if err != nil {
		return hypervisor.BackupContent{}, err
	}
	return hypervisor.BackupContent{Disks: slices.Clone(of.config.Disks), Keeps: keeps(of.Kind), Refused: unmountable(of)}, nil
}

// unmountable returns why a container cannot be restored; empty if it can. The
// reason is a mounted directory of the node.
func unmountable(of guest) string {
	i := slices.IndexFunc(of.config.Disks, func(d hypervisor.Disk) bool { return d.Local })
	if i < 0 || of.Kind != hypervisor.Container {
		return ""
	}
	return "it has " + of.config.Disks[i].Key + ", a directory of the node"
}

// keeps reports whether a restore over a guest of this kind keeps volumes that
// are not in the backup.
func keeps(kind hypervisor.GuestKind) bool { return kind == hypervisor.VM }

// restoredDisks returns the disks after a restore: those in the backup, and for
// volumes that are not in it either the old ones as unused disks, or new empty
// ones.
func restoredDisks(kind hypervisor.GuestKind, of, before []hypervisor.Disk) (all []hypervisor.Disk) {
	for _, d := range of {
		switch {
		case d.Unused, d.LeftOut && keeps(kind) && !d.Local:
			continue
		case d.LeftOut && !d.Local:
			d.Volume += "-empty"
		}
		all = append(all, d)
	}
	n := 0
	for _, d := range before {
		if !keeps(kind) || d.Removable || d.Local || d.Kept || slices.ContainsFunc(all, func(o hypervisor.Disk) bool { return o.Key == d.Key }) {
			continue
		}
		all = append(all, hypervisor.Disk{Key: fmt.Sprint("unused", n), Storage: d.Storage, Volume: d.Volume, SizeGB: d.SizeGB, Owner: d.Owner,
			Unused: true, LeftOut: true})
		n++
	}
	return all
}
