package hypervisor

import (
	"context"
	"io"
)

// UploadSpec is a file to store.
type UploadSpec struct {
	// Node has the storage, whose name is Storage.
	Node, Storage string
	// Content is what the file is to the storage, in the words of
	// Storage.Content; empty for what its name tells.
	Content string
	// Name is the file's name, without any path.
	Name string
	// Size is in bytes. In a check it may be 0 for one that is not known.
	Size int64
	// SHA256 is the file's checksum in small hexadecimal digits, which the
	// hypervisor is to compare where it can; empty when it is not known.
	SHA256 string
}

// UploadCheck is what a hypervisor tells of a file before it is sent.
type UploadCheck struct {
	// Content is what the file will be, also where that was left to its name.
	Content string
	// Name is the file's name on the storage: a hypervisor may take fewer
	// characters than the sender has.
	Name string
	// Volume is the id that the file will have.
	Volume string
	// Present is true when there is a file of that id, which the upload would
	// replace. PresentSize is its size in bytes, where known.
	Present     bool
	PresentSize *int64
	// Free is the room on the storage in bytes; nil where the hypervisor does not say.
	Free *int64
}

// Uploader is satisfied by hosts that store files that are sent to them, such
// as installation images. Both calls need the Lifecycle capability.
type Uploader interface {
	// CheckUpload finds out before anything is sent whether the hypervisor
	// would take a file. It is Invalid with the field node, storage, content or
	// name, NotFound for a storage that is not on the node, Refused for one
	// that is out of use or has too little room, Denied where the token may
	// not. What nobody can know before, such as a file that is not what it
	// claims to be, comes out in Upload or its task.
	CheckUpload(ctx context.Context, spec UploadSpec) (UploadCheck, error)
	// Upload stores the file that it reads, once, to its end: Size bytes. It
	// replaces a file of the same id. It keeps no more than some MiB in memory.
	// The request is made once and never repeated. A file that ends early, or
	// whose reader fails, is not stored. An error after the last byte was read
	// leaves open whether it was; CheckUpload tells what is there.
	Upload(ctx context.Context, spec UploadSpec, file io.Reader) (taskID string, err error)
}
