// Package backups is the HTTP resource of backups. Its operations list backups,
// backup storages and the coverage of guests, back up guests, restore a guest,
// and protect or delete a backup. The operations that work on the hypervisor
// start jobs and are in work.go.
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

// Deps has what the operations of this package need.
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

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Backups, deps.Guests, deps.Actor}
	op.Get(a, "/api/v1/backups", h.list, op.Spec{
		ID: "list_backups", Summary: "List backups", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists backups, newest first, as of the last listing of each storage (`as_of`). Storages are " +
			"listed once an hour and after each backup job. GET /backups/storages shows why a storage could not be " +
			"listed. `vm_id` and `app_id` are null if the guest was deleted or its VMID now belongs to another guest.",
	})
	op.Get(a, "/api/v1/backups/storages", h.storages, op.Spec{
		ID: "list_backup_storages", Summary: "List backup storages", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists the storages with the time of their last listing, and with the reason if the last attempt " +
			"failed or no host of the cluster has a backup token. Backups that were known before a failure stay " +
			"listed. The list is not paged.",
	})
	op.Get(a, "/api/v1/backups/coverage", h.coverage, op.Spec{
		ID: "list_backup_coverage", Summary: "List the backup coverage of guests", Tag: tag, Role: identity.Viewer,
		On: op.Anywhere,
		Description: "Lists each VM and container with its newest backup that is neither damaged nor suspicious, and " +
			"whether it is older than promised. The promise is the guest's tag `backup-<n>d`, such as `backup-1d`, or " +
			"else the setting `backup.max_age_days`. The setting does not apply to templates, which schedules do not " +
			"select either: a template needs the tag. The tag `backup-none` promises no backup. Guests without a " +
			"backup come first, then the oldest backup. `left_out` lists data that the newest backup does not contain, " +
			"such as mount points that were not marked for backup. If it lists a volume, the state is `partial` " +
			"instead of `covered`.",
	})
	op.Post(a, "/api/v1/backups/run", h.run, op.Spec{
		ID: "run_backups", Summary: "Back up guests", Tag: tag, Role: identity.Operator, On: op.Anywhere, Status: http.StatusAccepted,
		Plan: true, Confirm: op.Confirm{When: op.ConfirmSelf, Field: "name"}, Audit: op.Audit{Action: "backup.run"},
		Replay: h.ran,
		Description: "Starts one backup job for each of at most 500 VMs and apps. Each guest is checked like a single " +
			"request; refused guests are in `skipped` with the reason. Without `storage`, each backup goes to the only " +
			"backup storage of the guest's node; if the given storage fits none of the guests, the request is 422. The " +
			"mode `stop` stops a guest during its backup; the guest that the service runs in is then skipped " +
			"(`self_target`) unless `confirm` is its name. The plan lists volumes that the backups do not include.",
	})
	op.Post(a, "/api/v1/backups/:backup_id/restore", h.restore, op.Spec{
		ID: "restore_backup", Summary: "Restore a guest from a backup", Tag: tag, Role: identity.Admin, On: op.Backup, Calls: true,
		Plan: true, Needs: endpoint.Backup, Status: http.StatusAccepted, Audit: op.Audit{Action: "backup.restore"}, Replay: h.restored,
		Confirm: op.Confirm{When: op.ConfirmAlways, Field: "name"},
		Description: "Restores to a new guest with an unused VMID, or with `newid`. With `over`, restores over the " +
			"original guest of the backup, which must be stopped (409 `guest_running`) and not protected (409 " +
			"`protected`). Only `over` replaces data, so only `over` is 409 `confirm_required` until `confirm` is the " +
			"name of the guest. A restore over a guest is 409 `volumes_not_in_backup` if it would destroy volumes that " +
			"are not in the backup. Such a backup can be restored to a new guest; the plan lists what is missing. A " +
			"new guest gets new MAC addresses while the original guest exists, unless `new_identity` says otherwise. " +
			"Without `name`, the guest gets the name in the backup.",
	})
	op.Delete(a, "/api/v1/backups/:backup_id", h.remove, op.Spec{
		ID: "delete_backup", Summary: "Delete a backup", Tag: tag, Role: identity.Admin, On: op.Backup, Calls: true, Plan: true,
		Needs: endpoint.Backup, Status: http.StatusAccepted, Audit: op.Audit{Action: "backup.delete"},
		Confirm: op.Confirm{When: op.ConfirmAlways, Field: "name"},
		Description: "Starts a job that deletes the backup. A protected backup is 409 `protected`. `confirm` must be " +
			"the name of the backed-up guest, or `guest_ref` if the name is not known.",
	})
	op.Patch(a, "/api/v1/backups/:backup_id", h.patch, op.Spec{
		ID: "update_backup", Summary: "Protect or unprotect a backup", Tag: tag, Role: identity.Operator, On: op.Backup,
		Calls: true, Needs: endpoint.Backup, Audit: op.Audit{Action: "backup.update"},
		Description: "A protected backup cannot be deleted, neither by this service nor by the hypervisor. The change " +
			"is complete when the response arrives.",
	})
}

type listInput struct {
	op.Page
	Host     int64  `query:"host" minimum:"1" doc:"Only backups on storages of this host"`
	VM       int64  `query:"vm" minimum:"1" doc:"Only backups of this VM"`
	App      int64  `query:"app" minimum:"1" doc:"Only backups of this app"`
	Storage  string `query:"storage" maxLength:"255" doc:"Only backups on storages with this name"`
	GuestRef string `query:"guest_ref" maxLength:"255" doc:"Only backups of guests that had this ID on the hypervisor"`
	Orphaned bool   `query:"orphaned" doc:"Only backups whose guest no longer exists"`
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
	b, err := h.backups.Protect(ctx, op.ResourceOf(ctx).ID, in.Body.Protected)
	return &op.Body[backup.Backup]{Body: b}, err
}
