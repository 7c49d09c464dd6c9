package memdriver

import (
	"context"

	"github.com/hostler/hostler/sdk/hypervisor"
)

var _ hypervisor.CreationChecker = (*Host)(nil)

// CheckVM implements hypervisor.CreationChecker.
func (h *Host) CheckVM(ctx context.Context, spec hypervisor.VMSpec) error {
	return h.require(ctx, "checkvm", GuestPower, guestPath(spec.ID))
}

// CheckClone implements hypervisor.CreationChecker.
func (h *Host) CheckClone(ctx context.Context, ref hypervisor.GuestRef, _ hypervisor.CloneSpec) error {
	return h.require(ctx, "checkclone", GuestPower, guestPath(ref.ID))
}

// CheckRestore implements hypervisor.CreationChecker.
func (h *Host) CheckRestore(ctx context.Context, spec hypervisor.RestoreSpec) error {
	return h.require(ctx, "checkrestore", GuestBackup, "/storages/"+spec.Backup.Storage)
}

// require returns Denied if the credential lacks the privilege.
func (h *Host) require(ctx context.Context, method, privilege, path string) error {
	_, privileges, err := h.begin(ctx, method)
	if err != nil {
		return err
	}
	return require(privileges, privilege, path)
}
