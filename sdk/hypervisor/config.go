package hypervisor

import "context"

// Config is a guest's configuration. A figure that the hypervisor did not give is nil. Where a value waits for a restart, the value in
// force stands here and the other in Pending.
type Config struct {
	// Digest names this state of the configuration; a change that sends it is refused once it is another. Empty where the
	// hypervisor has none.
	Digest      string
	Name        string
	Description string
	Tags        []string
	// Protected guests are not destroyed by the hypervisor.
	Protected bool
	// Mark is that of VMSpec or its ShortMark; empty for guests that have none. See HasMark.
	Mark    string
	OSType  string
	CPUType string
	Cores   *int64
	Sockets *int64
	// MemoryMB, BalloonMB and SwapMB are in MiB. BalloonMB is what a VM keeps at least; 0 switches that off.
	MemoryMB  *int64
	BalloonMB *int64
	SwapMB    *int64
	Disks     []Disk
	NICs      []NIC
	// Files are the other volumes that the configuration names, and without which the guest may not start.
	Files []File
	// Options are the other keys that Reconfigurer.OptionKeys names, in the hypervisor's words.
	Options map[string]string
	// Pending are the changes that wait for a restart, by the hypervisor's keys; nil is a key that will be removed.
	Pending map[string]*string
}

// Disk is one disk or drive of a guest.
type Disk struct {
	// Key is the hypervisor's, such as "scsi0" or "rootfs".
	Key string
	// Storage and Volume are where it is; both are empty for what lies on no storage, such as a directory or a device of the node.
	Storage string
	Volume  string
	// SizeGB is in GiB, rounded up; nil where the hypervisor does not say.
	SizeGB *int64
	// Removable is true for drives of images, Image for a drive that has one.
	Removable bool
	// Local is true for a directory or a device of the node, which stays when the guest leaves.
	Local bool
	// Path is where a container has it mounted.
	Path string
	// Unused is true for a volume that the guest keeps and does not use, such as a disk that was detached. It is destroyed with the guest.
	Unused bool
	// Pending is true for a disk that is attached at the next restart.
	Pending bool
	// Owner is the guest that the volume belongs to; empty for none, or where the driver does not know.
	Owner GuestID
	// Kept is true for a volume that stays when the guest is destroyed, because it belongs to another guest or to none.
	Kept bool
	// LeftOut is true for a volume, directory or device that backups of the guest do not include. It is never set for images in drives.
	LeftOut bool
}

// File is a volume that is no disk and no drive, such as a hook script.
type File struct {
	// Key is the hypervisor's, with what tells several of one key apart, such as "hookscript" or "cicustom.user".
	Key     string
	Storage string
	Volume  string
}

// ConfigReader is satisfied by hosts that can tell a guest's configuration. Needs the Monitoring capability.
type ConfigReader interface {
	// Config reads it past any cache. An unknown guest is NotFound. The service asks for all guests so in the background, a budget of
	// requests at a time, and marks these calls with plugin.Once.
	Config(ctx context.Context, guest GuestRef) (Config, error)
}

// OptionKey is a key of a guest's configuration that people may set themselves.
type OptionKey struct {
	Name string
	// Type is "string", "boolean", "integer" or "number".
	Type string
	// Values are those that there may be; nil for any of the type.
	Values []string
	// Min and Max bound numbers; nil for no bound.
	Min, Max *float64
	// MaxLength bounds strings; zero for no bound.
	MaxLength int64
	// Autostart marks the key that makes the hypervisor start the guest by itself.
	Autostart bool
}

// ConfigChange is a change of a guest's configuration; nil keeps what is there.
type ConfigChange struct {
	// Digest is that of the Config that the change was made from; another one by now is Conflict with the
	// field "digest". Empty takes any.
	Digest      string
	Name        *string
	Description *string
	// Tags replace all when TagsSet is true.
	Tags      []string
	TagsSet   bool
	CPUType   *string
	Cores     *int64
	Sockets   *int64
	MemoryMB  *int64
	BalloonMB *int64
	SwapMB    *int64
	// Options are set to their values, in the hypervisor's words; nil removes the key.
	Options map[string]*string
}

// DiskGrowth makes a disk larger.
type DiskGrowth struct {
	// Key is Disk.Key.
	Key string
	// SizeGB is the new size in GiB.
	SizeGB int64
	// Digest as in ConfigChange.
	Digest string
}

// Reconfigurer is satisfied by hosts that can change a guest's configuration. OptionKeys needs the Monitoring capability, all else the
// Lifecycle one.
type Reconfigurer interface {
	// OptionKeys names the options that guests of a kind have at the release that the endpoint runs.
	OptionKeys(ctx context.Context, kind GuestKind) ([]OptionKey, error)
	// Reconfigure changes all that is given in one request, sent once. A value that does not do is Invalid with the field, named as
	// in ConfigChange in small letters and underscores, or with the option's key. What a running guest cannot take waits for a
	// restart: Config.Pending tells.
	Reconfigure(ctx context.Context, guest GuestRef, change ConfigChange) error
	// GrowDisk makes a disk larger, and returns when that is done. A smaller size is Invalid with the field "size_gb", an unknown disk with
	// the field "key". The size that the disk has already changes nothing, or is Invalid as well.
	GrowDisk(ctx context.Context, guest GuestRef, growth DiskGrowth) error
}
