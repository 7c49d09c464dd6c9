package hypervisor

import "context"

// OperationClone is the operation of copying a guest. The hypervisor's task belongs
// to the guest that is copied, not to the copy.
const OperationClone Operation = "clone"

// CloneSpec describes a copy of a guest.
type CloneSpec struct {
	// ID is the ID of the copy, from a Placement.
	ID GuestID
	// Name is the name of the copy.
	Name string
	// Node is the node of the copy. An empty value keeps it on the node of the
	// guest.
	Node string
	// Storage is the storage for the disks of a full copy. An empty value keeps
	// each disk on its storage. A linked copy does not accept one.
	Storage string
	// Full requests a copy that shares no disks with the original. A container must
	// be stopped for that. A linked copy (Full is false) can only be made of a
	// template.
	Full bool
}

// Cloner is implemented by hosts that can copy guests. It needs the Lifecycle
// capability.
type Cloner interface {
	// Clone creates a stopped copy of a guest. It sends its request once, as the
	// methods of Snapshotter do. A linked copy of a guest that is not a template is
	// Conflict. A full copy of a running container is Refused, at once or in the
	// task. A storage or node that cannot be used is Invalid with the field
	// "storage" or "node". An ID that is taken is Conflict.
	Clone(ctx context.Context, guest GuestRef, spec CloneSpec) (taskID string, err error)
}
