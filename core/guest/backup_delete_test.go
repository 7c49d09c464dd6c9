package guest_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/backup"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// capable is hosts that can do everything; jobs do not ask for that.
type capable struct{ host.Opener }

func (capable) Require(context.Context, int64, endpoint.Capability, func(hypervisor.Host) error) error {
	return nil
}

func (capable) RequireAction(context.Context, int64, hypervisor.GuestKind, hypervisor.Action) error {
	return nil
}

// backups is the worker of the jobs that delete backups, which are on no guest and stand still as those on guests do.
func backups(d *db.DB, q *job.Queue, hosts host.Opener) *backup.Store {
	return &backup.Store{DB: d, Actor: &guest.Actor{DB: d, Queue: q, Hosts: capable{hosts}}, Guests: &guest.Store{DB: d}}
}

// deleteBackup is the job that deletes a backup.
func (b *lifecycleFixture) deleteBackup(t *testing.T, saved hypervisor.Backup) int64 {
	t.Helper()
	return b.add(t, job.Spec{Kind: "backup.delete", Target: job.Target{Kind: "backup", ID: 1, Name: "web"}, TeamID: 1, HostID: b.hostID,
		Exclusive: "backup:1", Params: map[string]any{"host_id": b.hostID, "backup": saved}})
}

// A service that is killed around the request to delete a backup deletes it once and no other, or says that it does not know.
func TestKilledAroundTheDeletionOfABackup(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				backups(b.db, b.queue, b).Register(b.queue)
				archive := b.shelf()
				ref, _ := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
				kept, goes := b.saved(archive, ref), b.saved(archive, ref)
				b.meanwhile = func() { b.idleNow(t) }
				want, left := job.Succeeded, []string{kept.ID}
				if b.Forgets && when == "before" {
					want, left = job.Unknown, []string{kept.ID, goes.ID}
				}
				j, transcript := b.killed(t, when, "deletebackup", want, func() int64 { return b.deleteBackup(t, goes) })
				var there []string
				for _, k := range archive.Backups() {
					there = append(there, "nas:"+k.ID)
				}
				if !slices.Equal(there, left) || want == job.Unknown && !strings.Contains(j.Error, "still exists") {
					t.Errorf("the backups %v are left, want %v; error %q\n%s", there, left, j.Error, transcript)
				}
				if when == "after" && strings.Contains(transcript, "sending it again") {
					t.Errorf("nothing was sent a second time\n%s", transcript)
				}
			})
		})
	}
}

// What is protected or gone by the time of the job, or another backup of the same name, is left alone.
func TestDeletionOfABackupIsCheckedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(k *hypervisor.Backup)
		ends   job.Status
		says   string
		left   int
	}{
		"protected":    {func(k *hypervisor.Backup) { k.Protected = true }, job.Failed, "is protected; nothing was done", 1},
		"another one":  {func(k *hypervisor.Backup) { k.TakenAt = k.TakenAt.Add(time.Minute) }, job.Failed, "nothing was done", 1},
		"gone already": {func(k *hypervisor.Backup) { k.ID = "elsewhere" }, job.Succeeded, "", 1},
		"as it was":    {func(*hypervisor.Backup) {}, job.Succeeded, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				backups(b.db, b.queue, b).Register(b.queue)
				archive := b.shelf()
				ref, _ := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
				saved := b.saved(archive, ref)
				archive.Change(c.change)
				b.start(t)
				j, transcript := b.ended(t, b.deleteBackup(t, saved), c.ends)
				if !strings.Contains(j.Error, c.says) || len(archive.Backups()) != c.left {
					t.Errorf("error %q, %d backups are left\n%s", j.Error, len(archive.Backups()), transcript)
				}
			})
		})
	}
}
