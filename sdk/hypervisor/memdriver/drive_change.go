package memdriver

import (
	"context"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// ChangeDrive implements hypervisor.DriveChanger.
func (h *Host) ChangeDrive(ctx context.Context, ref hypervisor.GuestRef, change hypervisor.DriveChange) error {
	return h.edit(ctx, "changedrive", ref, change.Digest, func(c *Cluster, g *guest) error {
		i := slices.IndexFunc(g.config.Disks, func(d hypervisor.Disk) bool { return d.Key == change.Key })
		switch {
		case i < 0 || !g.config.Disks[i].Removable || g.config.Disks[i].Owner != "":
			return invalid("key", "%.40q is not a drive for images", change.Key)
		case change.Image != "" && !slices.Contains(c.images, change.Image):
			return invalid("image", "image %.80q not found", change.Image)
		}
		drive := hypervisor.Disk{Key: change.Key, Volume: change.Image, Removable: true}
		drive.Storage, _, _ = strings.Cut(change.Image, ":")
		g.config.Disks = slices.Clone(g.config.Disks)
		g.config.Disks[i] = drive
		return nil
	})
}
