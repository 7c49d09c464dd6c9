package guest

import (
	"fmt"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// CloneJob is the job that copies a guest.
func CloneJob(hostID int64, asked RequestedGuest, spec hypervisor.CloneSpec) job.Spec {
	return clone.Spec(job.Target{Kind: "vm", ID: asked.GuestID, Name: asked.Name}, 1, hostID,
		Params[cloneSpec]{RequestedGuest: asked, Spec: cloneSpec{CloneSpec: spec}})
}

// CreateJob is the job that makes a VM; wanted says that no other id will do.
func CreateJob(hostID int64, spec hypervisor.VMSpec, start, wanted bool) job.Spec {
	return job.Spec{Kind: createKind, Target: job.Target{Kind: "host", ID: hostID}, TeamID: 1, HostID: hostID,
		Exclusive: fmt.Sprintf("id:1:%s", spec.ID), Params: createParams{HostID: hostID, Spec: spec, Start: start, Wanted: wanted}}
}

// BackupJob is the job that backs a VM up.
func BackupJob(hostID int64, asked RequestedGuest, spec hypervisor.BackupSpec) job.Spec {
	return RunBackup.Spec(job.Target{Kind: "vm", ID: asked.GuestID, Name: asked.Name}, 1, hostID,
		Params[backupSpec]{RequestedGuest: asked, Spec: backupSpec{BackupSpec: spec, Target: BulkTarget{VM: &asked.GuestID}}})
}

// RestoreJob is the job that makes a guest of a backup; wanted says that no other id will do.
func RestoreJob(hostID int64, name string, spec hypervisor.RestoreSpec, wanted bool) job.Spec {
	return job.Spec{Kind: restoreKind, Target: job.Target{Kind: "backup", ID: 1}, TeamID: 1, HostID: hostID,
		Exclusive: fmt.Sprintf("id:1:%s", spec.ID), Params: restoreParams{HostID: hostID, Name: name, Spec: spec, Wanted: wanted}}
}

// RestoreOverJob is the job that sets a VM back to a backup.
func RestoreOverJob(hostID int64, asked RequestedGuest, backup hypervisor.Backup) job.Spec {
	spec := overSpec{Of: job.Target{Kind: "backup", ID: 1}, RestoreSpec: hypervisor.RestoreSpec{Backup: backup, ID: asked.Ref, Over: true}}
	return restoreOver(false).Spec(job.Target{Kind: "vm", ID: asked.GuestID, Name: asked.Name}, 1, hostID,
		Params[overSpec]{RequestedGuest: asked, Spec: spec})
}

// Judged is the job of a restore over a guest that was judged by the guest's volumes.
func Judged(restore job.Spec, volumes ...string) job.Spec {
	p := restore.Params.(Params[overSpec])
	p.Spec.Judged = &judged{Volumes: volumes}
	restore.Params = p
	return restore
}

// Starting is the job of a restore that starts the guest as well.
func Starting(restore job.Spec) job.Spec {
	switch p := restore.Params.(type) {
	case restoreParams:
		p.Start = true
		restore.Params = p
	case Params[overSpec]:
		p.Spec.Order.Start = true
		restore.Params = p
	}
	return restore
}

// MigrateJob is the job that moves a guest; target names it in the words of the API.
func MigrateJob(target job.Target, hostID int64, asked RequestedGuest, order MigrationRequest, confirmed bool) job.Spec {
	return migrate.Spec(target, 1, hostID, Params[migrationSpec]{RequestedGuest: asked, Spec: migrationSpec{Order: order,
		Confirmed: confirmed}})
}
