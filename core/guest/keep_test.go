package guest_test

import (
	"context"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// What a schedule's job has made is entered into the record, and what is deleted is taken out of it.
func TestWhatASchedulesJobHasMade(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		archive := b.shelf()
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
		b.saved(archive, ref) // another's
		b.worker.List = func(ctx context.Context, _ int64, _, _ string) error {
			for _, k := range archive.Backups() {
				_, err := b.db.Pool.Exec(ctx, `WITH s AS (INSERT INTO backup_storages (cluster_id, host_id, node, name)
					SELECT cluster_id, id, '', 'nas' FROM hosts ON CONFLICT (cluster_id, node, name) DO UPDATE SET name = 'nas' RETURNING *)
					INSERT INTO backups (cluster_id, storage_id, ref, node, kind, guest_ref, guest_id, taken_at)
					SELECT s.cluster_id, s.id, $1, 'n', 'vm', $2, $3, $4 FROM s ON CONFLICT DO NOTHING`, k.ID, string(ref.ID), p.GuestID, k.TakenAt)
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
		run(guest.BackupJob(b.hostID, p, hypervisor.BackupSpec{Storage: "nas"}))
		target := job.Target{Kind: "vm", ID: p.GuestID, Name: p.Name}
		run(guest.TakeSnapshot.Spec(target, 1, b.hostID, guest.Params[hypervisor.SnapshotSpec]{Asked: p,
			Spec: hypervisor.SnapshotSpec{Name: "nightly"}}))
		const record = "SELECT coalesce(string_agg(kind || ' ' || name, ', ' ORDER BY kind), '') FROM schedule_made"
		want := "backup " + archive.Backups()[1].ID + ", snapshot nightly"
		if got := dbtest.Value[string](t, b.db, record); got != want {
			t.Errorf("the record has %s, want %s", got, want)
		}
		run(guest.DeleteSnapshot.Spec(target, 1, b.hostID, guest.Params[string]{Asked: p, Spec: "nightly"}))
		if got := dbtest.Value[string](t, b.db, record); got != "backup "+archive.Backups()[1].ID {
			t.Errorf("then the record has %s", got)
		}
	})
}
