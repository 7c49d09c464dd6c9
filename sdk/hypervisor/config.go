package hypervisor

import "context"

// Config is the configuration of a guest. A number that the hypervisor did not
// report is nil. If a change waits for a restart, the fields have the values in
// effect and Pending has the new ones.
type Config struct {
	// Digest identifies this state of the configuration. A change that sends it is
	// refused if the configuration has changed in between. It is empty if the
	// hypervisor has no digests.
	Digest string
	// Name, Description and Tags are free text of the owners.
	Name        string
	Description string
	Tags        []string
	// Protected is true if the hypervisor refuses to destroy the guest.
	Protected bool
	// Mark is the mark of VMSpec or its ShortMark. It is empty for a guest that was
	// created without one. See HasMark.
	Mark string
	// OSType and CPUType are the hypervisor's identifiers. Cores counts per socket.
	OSType  string
	CPUType string
	Cores   *int64
	Sockets *int64
	// MemoryMB, BalloonMB and SwapMB are in MiB. BalloonMB is the memory that a VM
	// keeps at least when the hypervisor reclaims some; 0 disables ballooning.
	MemoryMB  *int64
	BalloonMB *int64
	SwapMB    *int64
	Disks     []Disk
	NICs      []NIC
	// Files are other volumes that the configuration refers to. The guest may not
	// start without them.
	Files []File
	// Options are the remaining keys that ConfigEditor.OptionKeys names, with the
	// hypervisor's own names and values.
	Options map[string]string
	// Pending are the changes that wait for a restart, with the hypervisor's keys.
	// A nil value means that the key will be removed.
	Pending map[string]*string
}

// Disk is one disk or drive of a guest.
type Disk struct {
	// Key is the hypervisor's name of the slot, such as "scsi0" or "rootfs".
	Key string
	// Storage and Volume locate the disk. Both are empty if it is not on a storage,
	// such as a directory or a device of the node.
	Storage string
	Volume  string
	// SizeGB is the size in GiB, rounded up. It is nil if the hypervisor does not
	// report it.
	SizeGB *int64
	// Removable is true for a drive for images. Image is true for such a drive that
	// has an image in it.
	Removable bool
	// Local is true for a directory or a device of the node, which stays behind
	// when the guest moves. The service does not request a copy of a guest that has
	// one.
	Local bool
	// Shared is true for a directory or a device that all nodes have, according to
	// the guest's configuration.
	Shared bool
	// Path is the mount point inside a container.
	Path string
	// Unused is true for a volume that the guest owns but does not use, such as a
	// detached disk. It is destroyed with the guest.
	Unused bool
	// Pending is true for a disk that will be attached at the next restart.
	Pending bool
	// Owner is the ID of the guest that the volume belongs to. It is empty if there
	// is none or if the driver does not know it.
	Owner GuestID
	// Kept is true for a volume that stays when the guest is destroyed, because it
	// belongs to another guest or to none.
	Kept bool
	// LeftOut is true for a volume, directory or device that backups of the guest
	// do not contain. It is never set for images in drives.
	LeftOut bool
	// LeftOutReason explains why backups leave it out and what to do about it, if
	// that is not a setting of the volume itself. It is written to fit into the
	// middle of a sentence.
	LeftOutReason string
	// Raw is the driver's own encoding of a drive, including pending changes. The
	// service passes it back in DriveChange. It is empty for disks, and if the driver
	// does not need it.
	Raw string
}

// File is a volume that is neither a disk nor a drive, such as a hook script.
type File struct {
	// Key is the hypervisor's key, followed by the part of the value if one key
	// names several volumes, such as "hookscript" or "cicustom.user".
	Key string
	// Storage and Volume locate the file.
	Storage string
	Volume  string
}

// ConfigReader is implemented by hosts that can read the configuration of a guest.
// It needs the Monitoring capability.
type ConfigReader interface {
	// Config reads the configuration and bypasses any cache. An unknown guest is
	// NotFound. The service calls it for all guests in the background, with a
	// budget of requests, and marks these calls with plugin.Once.
	Config(ctx context.Context, guest GuestRef) (Config, error)
}

// OptionKey describes a key of a guest's configuration that people may set
// themselves.
type OptionKey struct {
	// Name is the hypervisor's name of the key.
	Name string
	// Type is "string", "boolean", "integer" or "number".
	Type string
	// Values are the allowed values; nil allows every value of the type.
	Values []string
	// Min and Max bound numbers, inclusive; nil means no bound.
	Min, Max *float64
	// MaxLength bounds strings, in characters; zero means no bound.
	MaxLength int64
	// Autostart is true for the key that makes the hypervisor start the guest when
	// the node boots.
	Autostart bool
}

// ConfigChange is a change of a guest's configuration. A nil field keeps the
// present value.
type ConfigChange struct {
	// Digest is the Config.Digest that the change is based on. If the configuration
	// has another digest, the driver returns Conflict with the field "digest". An
	// empty value skips the check.
	Digest string
	// Name and Description replace the present text; an empty string removes it.
	Name        *string
	Description *string
	// Tags replace all tags if TagsSet is true.
	Tags    []string
	TagsSet bool
	// CPUType and the numbers have the units of Config.
	CPUType   *string
	Cores     *int64
	Sockets   *int64
	MemoryMB  *int64
	BalloonMB *int64
	SwapMB    *int64
	// Options are new values of option keys, in the hypervisor's own form. A nil
	// value removes the key.
	Options map[string]*string
}

// DiskGrowth is a request to enlarge a disk.
type DiskGrowth struct {
	// Key is Disk.Key.
	Key string
	// SizeGB is the new total size in GiB, not the difference.
	SizeGB int64
	// Digest is checked as in ConfigChange.
	Digest string
}

// ConfigEditor is implemented by hosts that can change a guest's configuration.
// OptionKeys needs the Monitoring capability, the other methods need Lifecycle.
type ConfigEditor interface {
	// OptionKeys returns the options that guests of a kind have on the release that
	// the endpoint runs.
	OptionKeys(ctx context.Context, kind GuestKind) ([]OptionKey, error)
	// Reconfigure applies the whole change in one request, sent once. A value that
	// is not accepted is Invalid with its field, which is the name in ConfigChange
	// in snake case or the key of the option. A change that a running guest cannot
	// take waits for a restart; Config.Pending then lists it.
	Reconfigure(ctx context.Context, guest GuestRef, change ConfigChange) error
	// GrowDisk enlarges a disk and returns when that is complete. A smaller size is
	// Invalid with the field "size_gb", an unknown disk is Invalid with the field
	// "key". The present size changes nothing, or is Invalid as well.
	GrowDisk(ctx context.Context, guest GuestRef, growth DiskGrowth) error
}
