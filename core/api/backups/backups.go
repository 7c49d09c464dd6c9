// Package backups is the HTTP resource of backups.
package backups

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/backup"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Deps is what the resource works with.
type Deps struct {
	Backups *backup.Store
	Guests  *guest.Store
	Actor   *guest.Actor
}

type handlers struct {
	backups *backup.Store
	guests  *guest.Store
	actor   *guest.Actor
}

const tag = "Backups"

// Register declares the operations.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Backups, deps.Guests, deps.Actor}
	op.Get(a, "/api/v1/backups", h.list, op.Spec{
		ID: "list_backups", Summary: "List backups", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Newest first, as each storage was last listed (`as_of`): that is done once an hour, and after each job on " +
			"backups. Why a " +
			"storage could not be listed is told by /backups/storages. Where the guest is gone, or its id is another guest's by " +
			"now, `vm_id` and " +
			"`app_id` are null.",
	})
	op.Get(a, "/api/v1/backups/storages", h.storages, op.Spec{
		ID: "list_backup_storages", Summary: "List the storages of backups", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "With the time at which each was last listed, and the reason where the last try failed or no host of its " +
			"cluster has a " +
			"token for backups. What was known before a failure stays listed. The list is not paged.",
	})
	op.Get(a, "/api/v1/backups/coverage", h.coverage, op.Spec{
		ID: "list_backup_coverage", Summary: "List guests by the age of their newest backup", Tag: tag, Role: identity.Viewer,
		On: op.Anywhere,
		Description: "Each VM and container with its newest backup that was not found damaged and is not suspicious, and whether that is " +
			"older than promised: by the guest's tag `backup-<n>d`, such as `backup-1d`, or else the setting `backup.max_age_days`. The " +
			"setting is not for templates, which schedules do not select either: a template needs the tag. The tag `backup-none` promises " +
			"nothing. " +
			"Guests without a backup come first, then the oldest backup. `left_out` lists what the newest backup does not contain, " +
			"such as mount points that were not marked for backup. If it lists a volume, the state is `partial` instead of `covered`.",
	})
	op.Post(a, "/api/v1/backups/run", h.run, op.Spec{
		ID: "run_backups", Summary: "Back up guests", Tag: tag, Role: identity.Operator, On: op.Anywhere, Status: http.StatusAccepted,
		Plan: true, Confirm: op.Confirm{When: op.ConfirmSelf, Field: "name"}, Audit: op.Audit{Action: "backup.run"},
		Recall: h.ran,
		Description: "At most 500 VMs and apps, each by a job of its own. Each is checked as if it were asked for alone; what is " +
			"refused is in " +
			"`skipped` with the reason. Without `storage` each goes to the only storage of its node that holds backups; where the " +
			"storage does " +
			"for none of the guests the request is 422. In the mode `stop` a guest is stopped meanwhile; the guest that the service " +
			"itself runs " +
			"in is then skipped (`self_target`) unless `confirm` holds its name. The plan lists volumes that the backups do not include.",
	})
	op.Post(a, "/api/v1/backups/:backup_id/restore", h.restore, op.Spec{
		ID: "restore_backup", Summary: "Restore a guest from a backup", Tag: tag, Role: identity.Admin, On: op.Backup, Calls: true,
		Plan: true, Needs: endpoint.Backup, Status: http.StatusAccepted, Audit: op.Audit{Action: "backup.restore"}, Recall: h.restored,
		Confirm: op.Confirm{When: op.ConfirmAlways, Field: "name"},
		Description: "To a new guest under a free id, or under `newid`; or with `over` in the place of the guest that the backup is " +
			"of, which " +
			"must be stopped (409 `guest_running`) and not protected (409 `protected`). Only that replaces something, so only that " +
			"is 409 " +
			"`confirm_required` until `confirm` holds the guest's name. A restore over a guest is 409 `volumes_not_in_backup` if it " +
			"would destroy volumes that are not in the backup. Such a backup can be restored to a new guest; the plan lists what is missing. " +
			"A new guest gets new MAC addresses as long as the one that " +
			"was backed " +
			"up is there, unless `new_identity` says otherwise. Without `name` it is called as the backup has it.",
	})
	op.Delete(a, "/api/v1/backups/:backup_id", h.remove, op.Spec{
		ID: "delete_backup", Summary: "Delete a backup", Tag: tag, Role: identity.Admin, On: op.Backup, Calls: true, Plan: true,
		Needs: endpoint.Backup, Status: http.StatusAccepted, Audit: op.Audit{Action: "backup.delete"},
		Confirm: op.Confirm{When: op.ConfirmAlways, Field: "name"},
		Description: "Answers with the job that does it. A protected one is 409 `protected`. It is confirmed by the name of the " +
			"guest that it is " +
			"of, or by `guest_ref` where no name is known.",
	})
	op.Patch(a, "/api/v1/backups/:backup_id", h.patch, op.Spec{
		ID: "update_backup", Summary: "Protect a backup, or end that", Tag: tag, Role: identity.Operator, On: op.Backup,
		Calls: true, Needs: endpoint.Backup, Audit: op.Audit{Action: "backup.update"},
		Description: "A protected backup is deleted neither by this service nor by the hypervisor. Done when it is answered.",
	})
}

type listInput struct {
	op.Page
	Host     int64  `query:"host" minimum:"1" doc:"Only backups on storages of this host"`
	VM       int64  `query:"vm" minimum:"1" doc:"Only backups of this VM"`
	App      int64  `query:"app" minimum:"1" doc:"Only backups of this app"`
	Storage  string `query:"storage" maxLength:"255" doc:"Only backups on storages of this name"`
	GuestRef string `query:"guest_ref" maxLength:"255" doc:"Only backups of guests that had this id at the hypervisor"`
	Orphaned bool   `query:"orphaned" doc:"Only backups whose guest does not exist any more"`
}

func (h handlers) list(ctx context.Context, in *listInput) (*op.List[backup.Backup], error) {
	filter := backup.Filter{HostID: in.Host, VM: in.VM, App: in.App, Storage: in.Storage, GuestRef: in.GuestRef, Orphaned: in.Orphaned}
	found, total, err := h.backups.List(ctx, filter, identity.FromContext(ctx).Visible(), in.Offset(), in.Limit())
	return &op.List[backup.Backup]{Total: total, Body: found}, err
}

func (h handlers) storages(ctx context.Context, _ *struct{}) (*op.List[backup.Storage], error) {
	all, err := h.backups.Storages(ctx, identity.FromContext(ctx).Visible())
	return &op.List[backup.Storage]{Total: len(all), Body: all}, err
}

type coverageInput struct {
	op.Page
	Stale bool `query:"stale" doc:"Only guests whose newest backup is older than promised"`
}

func (h handlers) coverage(ctx context.Context, in *coverageInput) (*op.List[backup.Coverage], error) {
	found, total, err := h.backups.Coverage(ctx, backup.CoverageFilter{Stale: in.Stale}, identity.FromContext(ctx).Visible(), in.Offset(),
		in.Limit())
	return &op.List[backup.Coverage]{Total: total, Body: found}, err
}

type patchInput struct {
	Body struct {
		Protected bool `json:"protected" example:"true"`
	}
}

func (h handlers) patch(ctx context.Context, in *patchInput) (*op.Body[backup.Backup], error) {
	b, err := h.backups.Protect(ctx, op.Found(ctx).ID, in.Body.Protected)
	return &op.Body[backup.Backup]{Body: b}, err
}
