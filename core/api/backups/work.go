package backups

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/idempotency"
)

type runInput struct {
	op.PlanParams
	Body struct {
		Targets   []guest.NamedTarget `json:"targets" minItems:"1" maxItems:"500" doc:"VMs and apps to back up"`
		Storage   *string             `json:"storage,omitempty" nullable:"true" minLength:"1" maxLength:"100" example:"nas" doc:"Backup storage; the only one of the node if absent"`
		Mode      *string             `json:"mode,omitempty" nullable:"true" enum:"snapshot,suspend,stop" doc:"Mode of the backup; null for the usual one"`
		Compress  *string             `json:"compress,omitempty" nullable:"true" enum:"0,gzip,lzo,zstd" doc:"Compression; 0 disables it; the hypervisor's usual method if absent"`
		Notes     *string             `json:"notes,omitempty" nullable:"true" maxLength:"250" doc:"Notes of the backup"`
		Protected bool                `json:"protected,omitempty" doc:"Protect the backup from deletion"`
		Confirm   *string             `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"Name of the service's own guest"`
	}
}

func (h handlers) run(ctx context.Context, in *runInput) (*op.Body[guest.BulkResult], error) {
	b := &in.Body
	all, err := guest.Targets(b.Targets)
	if err != nil {
		return nil, err
	}
	order := guest.BackupRequest{Storage: b.Storage, Mode: b.Mode, Compress: b.Compress, Notes: b.Notes, Protected: b.Protected}
	done, err := h.guests.BackUpAll(ctx, h.actor, order, all, b.Confirm)
	return &op.Body[guest.BulkResult]{Body: done}, err
}

// ran rebuilds the answer of run for a repeated Idempotency-Key.
func (h handlers) ran(ctx context.Context, made idempotency.Result) (any, error) {
	return h.actor.ReplayActOnAll(ctx, made)
}

type restoreInput struct {
	op.PlanParams
	Body *struct {
		Over        bool    `json:"over,omitempty" doc:"Restore over the original guest of the backup"`
		NewID       *int64  `json:"newid,omitempty" nullable:"true" minimum:"1" maximum:"999999999" doc:"VMID of the new guest"`
		Name        *string `json:"name,omitempty" nullable:"true" minLength:"1" maxLength:"63" example:"web2" doc:"Name of the restored guest"`
		Node        *string `json:"node,omitempty" nullable:"true" minLength:"1" maxLength:"253" doc:"Node of the new guest"`
		Storage     *string `json:"storage,omitempty" nullable:"true" minLength:"1" maxLength:"100" doc:"Storage for its disks"`
		NewIdentity *bool   `json:"new_identity,omitempty" nullable:"true" doc:"Give the new guest new MAC addresses; if absent, only if the original guest still exists"`
		Start       bool    `json:"start,omitempty" doc:"Start the guest afterwards"`
		Confirm     *string `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"Name of the guest; required with over"`
	}
}

func (h handlers) restore(ctx context.Context, in *restoreInput) (*op.Body[guest.CreateResult], error) {
	var order guest.RestoreRequest
	var confirm *string
	if b := in.Body; b != nil {
		order = guest.RestoreRequest{NewID: b.NewID, Name: b.Name, Node: b.Node, Storage: b.Storage, Over: b.Over, Start: b.Start,
			NewIdentity: b.NewIdentity}
		confirm = b.Confirm
	}
	done, err := h.backups.Restore(ctx, op.ResourceOf(ctx).ID, order, confirm)
	return &op.Body[guest.CreateResult]{Body: done}, err
}

// restored rebuilds the answer of restore for a repeated Idempotency-Key.
func (h handlers) restored(ctx context.Context, made idempotency.Result) (any, error) {
	return h.actor.ReplayCreate(ctx, made, false)
}

type removeInput struct {
	op.PlanParams
	Body *struct {
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"Name of the backed-up guest"`
	}
}

func (h handlers) remove(ctx context.Context, in *removeInput) (*op.Body[guest.StartResult], error) {
	var confirm *string
	if in.Body != nil {
		confirm = in.Body.Confirm
	}
	done, err := h.backups.Delete(ctx, op.ResourceOf(ctx).ID, confirm)
	return &op.Body[guest.StartResult]{Body: done}, err
}
