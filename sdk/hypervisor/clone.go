package hypervisor

import "context"

// OperationClone is the operation of copying a guest. Its task is of the guest that is copied.
const OperationClone Operation = "clone"

// CloneSpec is a copy to make of a guest.
type CloneSpec struct {
	// ID is the copy's id, the one of a Placement.
	ID   GuestID
	Name string
	// Node is where the copy shall be; empty for where the guest is.
	Node string
	// Storage is where its disks shall be; empty for where the guest's are. A linked copy takes none.
	Storage string
	// Full asks for a copy that stands for itself, for which a container must be stopped. A linked one can be made of a template only.
	Full bool
}

// Cloner is satisfied by hosts that can copy guests. Needs the Lifecycle capability.
type Cloner interface {
	// Clone makes a stopped copy and sends its request once, as the methods of Snapshotter do. A linked copy of what is no template is
	// Conflict; a full copy of a running container is Refused, at once or in the task; a storage or node that does not do is Invalid with
	// the field "storage" or "node"; an id that is taken is Conflict.
	Clone(ctx context.Context, guest GuestRef, spec CloneSpec) (taskID string, err error)
}
