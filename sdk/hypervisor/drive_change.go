package hypervisor

import "context"

// DriveChange is a request to change the image in a drive of a guest.
type DriveChange struct {
	// Key is the Disk.Key of the drive, such as "ide2".
	Key string
	// Image is the ID of an installation image, as in VMSpec.Image. An empty text
	// ejects the present image.
	Image string
	// Digest and Raw are Config.Digest and Disk.Raw of the configuration that the
	// change is based on. If the configuration has another digest by now, the
	// driver returns Conflict with the field "digest". Digest is empty only for a
	// driver whose configurations have no digest.
	Digest string
	Raw    string
}

// DriveChanger is implemented by hosts that can change the images in the drives
// of existing guests. It needs the Lifecycle capability.
type DriveChanger interface {
	// ChangeDrive inserts an image into a drive, or ejects the present one, in one
	// request, sent once. It keeps the other settings of the drive. A running guest
	// sees the change at once, even if it has locked the drive. The image may be the
	// present one.
	//
	// A key that is not a drive for images is Invalid with the field "key": a
	// disk, or a drive whose image the hypervisor creates for the guest. An image that
	// the guest's node does not have is Invalid with the field "image".
	ChangeDrive(ctx context.Context, guest GuestRef, change DriveChange) error
}
