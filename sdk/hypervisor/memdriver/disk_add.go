package memdriver

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// newKeys are the keys that a new disk can have, by the kind of guest.
var newKeys = map[hypervisor.GuestKind]*regexp.Regexp{
	hypervisor.VM: regexp.MustCompile(`^scsi[0-9]$`), hypervisor.Container: regexp.MustCompile(`^mp[0-9]$`),
}

// AddDisk implements hypervisor.DiskAdder.
func (h *Host) AddDisk(ctx context.Context, ref hypervisor.GuestRef, disk hypervisor.NewDisk) error {
	return h.edit(ctx, "adddisk", ref, disk.Digest, func(c *Cluster, g *guest) error {
		taken := slices.ContainsFunc(g.config.Disks, func(d hypervisor.Disk) bool { return d.Key == disk.Key })
		s := c.storage(disk.Storage)
		switch {
		case taken || !newKeys[g.Kind].MatchString(disk.Key):
			return invalid("key", "%.40q is not a free key", disk.Key)
		case g.Kind == hypervisor.Container && !strings.HasPrefix(disk.Path, "/"), g.Kind == hypervisor.VM && disk.Path != "":
			return invalid("path", "%.80q is not a mount point of a %s", disk.Path, g.Kind)
		case s == nil:
			return invalid("storage", "storage %.80q not found", disk.Storage)
		case disk.SizeGB < 1:
			return invalid("size_gb", "a disk must have at least 1 GiB")
		}
		if err := s.take(disk.SizeGB); err != nil {
			return err
		}
		g.config.Disks = append(slices.Clone(g.config.Disks), hypervisor.Disk{
			Key: disk.Key, Storage: disk.Storage, Volume: disk.Storage + ":" + string(ref.ID) + "-" + disk.Key, SizeGB: &disk.SizeGB,
			Path: disk.Path,
		})
		return nil
	})
}
