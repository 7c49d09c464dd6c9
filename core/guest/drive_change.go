package guest

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// ChangeDrive inserts an image into a drive of a VM, or ejects the present one
// if the image is nil, in one request that is sent once. It returns the
// configuration afterwards. Faults of the drive and of the image are one problem
// invalid. Other problems: not_found for the drive; digest_conflict;
// guest_busy; capability_missing; unsupported; those of host.Call and of
// Actor.Do.
func ChangeDrive(ctx context.Context, a *Actor, r Request, key string, image *string, digest string) (Config, error) {
	if err := a.Hosts.Require(ctx, r.Guest.HostID, endpoint.Lifecycle, func(at hypervisor.Host) error {
		_, err := host.AsAbility[hypervisor.DriveChanger](at)
		return err
	}); err != nil {
		return Config{}, err
	}
	on := Subject{Guest: r.Guest, hosts: a.Hosts, db: a.DB}
	now, err := on.readConfig(ctx)
	if err != nil {
		return Config{}, err
	}
	drive, err := driveIn(now, key)
	if err != nil {
		return Config{}, err
	}
	if err := CheckDigest(digest, now.Digest); err != nil {
		return Config{}, err
	}
	change := hypervisor.DriveChange{Key: drive.Key, Digest: now.Digest, Raw: drive.Raw}
	if image != nil {
		change.Image = *image
		if err := a.checkImage(ctx, r.Guest, change.Image); err != nil {
			return Config{}, err
		}
	}
	audit.Describe(ctx, func(e *audit.Entry) { e.Detail("image", image) })
	var after Config
	err = a.Do(ctx, r, func(ctx context.Context, c *Change) (err error) {
		after, err = c.changeDrive(ctx, on, change)
		// The stored configuration is outdated even after a failure, because a
		// failed request may have changed the drive.
		if stale := detailStale(ctx, a.DB, r.Guest.ID); err == nil {
			err = stale
		}
		return err
	})
	return after, err
}

// driveIn returns the drive with a key. A disk, whose data a change would lose,
// and a drive whose image the hypervisor creates for the guest are invalid.
func driveIn(config hypervisor.Config, key string) (hypervisor.Disk, error) {
	i := slices.IndexFunc(config.Disks, func(d hypervisor.Disk) bool { return d.Key == key })
	if i < 0 {
		return hypervisor.Disk{}, problem.New(problem.CodeNotFound, "the VM does not have this drive")
	}
	msg := ""
	switch drive := config.Disks[i]; {
	case !drive.Removable:
		msg = "this key holds a disk, not a CD/DVD drive; the VM would lose the disk"
	case drive.Owner != "":
		msg = "the hypervisor creates the image in this drive for the VM, such as one with Cloud-Init settings; it cannot be changed"
	default:
		return drive, nil
	}
	return hypervisor.Disk{}, problem.InvalidField(msg, "value_error", "path", "drive")
}

// checkImage returns invalid if the guest's node does not have an image. A
// driver that cannot report that refuses the change itself.
func (a *Actor) checkImage(ctx context.Context, g *Guest, image string) error {
	found, known, err := a.roomFor(ctx, g, hypervisor.PlacementQuery{Image: image})
	if err == nil && known && !found.ImageFound {
		return problem.InvalidField(noImage, "value_error", "body", "image")
	}
	return err
}

// changeDrive sends the change and returns the configuration afterwards.
func (c *Change) changeDrive(ctx context.Context, on Subject, change hypervisor.DriveChange) (Config, error) {
	err := SendTo(ctx, c, []string{"image"}, func(able hypervisor.DriveChanger, ctx context.Context, ref hypervisor.GuestRef) error {
		return able.ChangeDrive(ctx, ref, change)
	}, func(ctx context.Context) (bool, error) {
		now, err := on.readConfig(ctx)
		if err != nil {
			return false, err
		}
		drive, err := driveIn(now, change.Key)
		return err == nil && drive.Volume == change.Image, nil
	})
	if err != nil {
		return Config{}, keyFault(err, "drive")
	}
	now, err := on.readConfig(ctx)
	return showConfig(now), err
}
