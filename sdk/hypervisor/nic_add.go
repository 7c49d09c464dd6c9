package hypervisor

import "context"

// NICAdder is implemented by hosts that can add network interfaces to existing
// guests. It needs the Lifecycle capability.
type NICAdder interface {
	// AddNIC attaches a new interface in one request, sent once. Key and Bridge
	// are always set; MAC, Raw and Pending are ignored, and the hypervisor chooses
	// the address. An empty Model is the driver's default, and an empty Name of a
	// container's interface is chosen from the key.
	//
	// Digest is that of a NICList without the key. If the configuration has
	// another digest by now, the result is Conflict with the field "digest". It is
	// empty only for a driver whose configurations have no digest. A key that the
	// kind of guest cannot have is Invalid with the field "key", and another value
	// that is not accepted is Invalid with its field, as in NICEditor.ChangeNIC. A
	// running guest that cannot take it at once gets it at its next restart; until
	// then NICs lists it with NIC.Pending.
	AddNIC(ctx context.Context, guest GuestRef, nic NIC, digest string) error
}
