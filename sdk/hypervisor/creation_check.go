package hypervisor

import "context"

// CreationChecker is satisfied by hosts that can tell, before a request that makes a guest, whether the credential may make it. The calls
// change nothing. Each returns Denied with the missing privileges, their path and, where the driver knows it, the command that grants
// them. Nil promises nothing: what the driver cannot know comes out in the request or its task. CheckRestore needs the Backup capability,
// the others need the Lifecycle capability.
type CreationChecker interface {
	// CheckVM is about Provisioner.CreateVM.
	CheckVM(ctx context.Context, spec VMSpec) error
	// CheckClone is about Cloner.Clone.
	CheckClone(ctx context.Context, guest GuestRef, spec CloneSpec) error
	// CheckRestore is about Backuper.Restore.
	CheckRestore(ctx context.Context, spec RestoreSpec) error
}
