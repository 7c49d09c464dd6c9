package guest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// untold is a host whose tasks do not tell which backup they have made.
type untold struct {
	hypervisor.Host
	hypervisor.BackupManager
}

func (h untold) WaitTask(ctx context.Context, id string, from int, line func(hypervisor.LogLine) error) (hypervisor.TaskResult, error) {
	result, err := h.Host.WaitTask(ctx, id, from, line)
	result.Backup = ""
	return result, err
}

// What a schedule's job has made is entered into the record, whatever the hypervisor makes of the notes of a backup and whether its task
// tells what it has made or not. What is deleted is taken out of the record.
func TestWhatASchedulesJobHasMade(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{true, false} {
		t.Run(fmt.Sprintf("told: %t", told), func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) { whatASchedulesJobHasMade(t, b, told) })
		})
	}
}

func whatASchedulesJobHasMade(t *testing.T, b *lifecycleFixture, told bool) {
	if !told {
		b.wrapBackups = func(h hypervisor.Host) hypervisor.Host { return untold{h, h.(hypervisor.BackupManager)} }
	}
	archive := b.shelf()
	ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
	b.saved(archive, ref) // another's
	b.worker.List = func(ctx context.Context, _ int64, _, _ string) error {
		if told { // what others make at the same time then makes no doubt
			archive.Put(b.cluster, ref, time.Now())
			archive.Change(func(k *hypervisor.Backup) { k.Notes = "for" })
		}
		for _, k := range archive.Backups() {
			_, err := b.db.Pool.Exec(ctx, `WITH s AS (INSERT INTO backup_storages (cluster_id, host_id, node, name)
					SELECT cluster_id, id, '', 'nas' FROM hosts ON CONFLICT (cluster_id, node, name) DO UPDATE SET name = 'nas' RETURNING *)
					INSERT INTO backups (cluster_id, storage_id, ref, node, kind, guest_ref, guest_id, taken_at,
						notes)
					SELECT s.cluster_id, s.id, $1, 'n', 'vm', $2, $3, $4, $5 FROM s ON CONFLICT DO NOTHING`, "nas:"+k.ID, string(ref.ID),
				p.GuestID, k.TakenAt, k.Notes)
			if err != nil {
				return err
			}
		}
		return nil
	}
	of := dbtest.Value[int64](t, b.db, "SELECT id FROM schedules ORDER BY id LIMIT 1")
	b.start(t)
	run := func(spec job.Spec) {
		t.Helper()
		var id int64
		err := b.db.Tx(t.Context(), func(tx *db.Tx) error {
			j, err := b.queue.Enqueue(job.WithSchedule(t.Context(), of), tx, spec)
			if err == nil {
				id = j.ID
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		b.ended(t, id, job.Succeeded)
	}
	run(guest.BackupJob(b.hostID, p, hypervisor.BackupSpec{Storage: "nas", Notes: "for {{you}}\n\nand me"}))
	target := job.Target{Kind: "vm", ID: p.GuestID, Name: p.Name}
	run(guest.TakeSnapshot.Spec(target, 1, b.hostID, guest.Params[hypervisor.SnapshotSpec]{RequestedGuest: p,
		Spec: hypervisor.SnapshotSpec{Name: "nightly"}}))
	const record = "SELECT coalesce(string_agg(kind || ' ' || name, ', ' ORDER BY kind), '') FROM schedule_made"
	want := "backup nas:" + archive.Backups()[1].ID + ", snapshot nightly"
	if got := dbtest.Value[string](t, b.db, record); got != want {
		t.Errorf("the record has %s, want %s", got, want)
	}
	run(guest.DeleteSnapshot.Spec(target, 1, b.hostID, guest.Params[string]{RequestedGuest: p, Spec: "nightly"}))
	if got := dbtest.Value[string](t, b.db, record); got != "backup nas:"+archive.Backups()[1].ID {
		t.Errorf("then the record has %s", got)
	}
}
