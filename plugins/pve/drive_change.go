package pve

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

var (
	// driveKey is the form of the keys that a drive for images can have.
	driveKey = regexp.MustCompile(`^(ide|sata|scsi)\d+$`)
	// noImage finds the errors about an image or storage that does not exist.
	noImage = regexp.MustCompile(`volume .+ does not exist|no such volume|storage '[^']*' does not exist|no such storage`)
)

// ChangeDrive sends the whole value of the drive, which Proxmox VE puts into
// force at once, also in a VM that is running. If the key were that of a disk by
// now, the request would detach the disk, so the digest is necessary.
func (h *Host) ChangeDrive(ctx context.Context, ref hypervisor.GuestRef, change hypervisor.DriveChange) error {
	path, err := guestPath(ref, "config")
	if err != nil {
		return err
	}
	drive := diskOf(change.Key, change.Raw)
	switch {
	case ref.Kind != hypervisor.VM || !driveKey.MatchString(change.Key) || !drive.Removable:
		return invalid("key", "%.80q is not a CD/DVD drive of the guest", change.Key)
	case cloudInit.MatchString(drive.Volume):
		return invalid("key", "the drive %s has the Cloud-Init settings of the VM", change.Key)
	case change.Digest == "":
		return invalid("digest", "without a digest, a disk with this key could be detached")
	case change.Image != "" && (!imageName.MatchString(change.Image) || !utf8.ValidString(change.Image)):
		return invalid("image", "%.80q is not an installation image", change.Image)
	}
	form := url.Values{change.Key: {withImage(change.Raw, change.Image)}}
	return driveError(h.changeConfig(ctx, ref, path, change.Digest, form), change.Key)
}

// withImage returns the value of a drive with another image, or with none if the
// image is empty. The size is that of the former image; Proxmox VE adds the new
// one.
func withImage(value, image string) string {
	parts := []string{image}
	if image == "" {
		parts[0] = "none"
	}
	for part := range strings.SplitSeq(value, ",") {
		key, _, found := strings.Cut(part, "=")
		if found && !slices.Contains([]string{"file", "volume", "size"}, key) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ",")
}

// driveError names the field of a drive in an error, where Proxmox VE names the
// drive or the image.
func driveError(err error, key string) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	switch {
	case noImage.MatchString(strings.ToLower(e.Message)) && e.Kind != plugin.Denied:
		wrongParameter(e, "image")
	case e.Field == key:
		e.Field = "image"
	}
	return e
}
