package hypervisor

import "context"

// CreationChecker is implemented by hosts that can check, before a request that
// creates a guest, whether the credential may make it. The methods change nothing.
//
// Each returns Denied with the missing privileges, their path and, if the driver
// knows it, the command that grants them. Nil is not a promise: what the driver
// cannot know in advance fails in the request or its task. CheckRestore needs the
// Backup capability, the others need Lifecycle.
type CreationChecker interface {
	// CheckVM checks Provisioner.CreateVM.
	CheckVM(ctx context.Context, spec VMSpec) error
	// CheckClone checks Cloner.Clone.
	CheckClone(ctx context.Context, guest GuestRef, spec CloneSpec) error
	// CheckRestore checks BackupManager.Restore.
	CheckRestore(ctx context.Context, spec RestoreSpec) error
}
