package guest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// A guest of which backups leave a volume out does not move by a backup, and its job finds that out anew. Unused volumes stay with the
// guest that is kept.
func TestMigrationOfWhatABackupLeavesOut(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.withOther(t, true)
		b.start(t)
		ref, p := b.starting(t, hypervisor.VM, hypervisor.GuestStopped)
		finding := func(findings []guest.MigrationFinding, code string) string {
			if i := slices.IndexFunc(findings, func(f guest.MigrationFinding) bool { return f.Code == code }); i >= 0 {
				return findings[i].Message
			}
			return ""
		}
		size := int64(200)
		b.cluster.ChangeConfig(ref.ID, func(c *hypervisor.Config) {
			c.Disks = append(c.Disks, hypervisor.Disk{Key: "unused0", Storage: "local", Volume: "local:old", Unused: true, LeftOut: true})
		})
		order := guest.MigrationRequest{TargetHostID: b.otherID}
		found := b.preflight(t, p, order)
		if says := finding(found.Warnings, "unused_volumes"); !found.Possible || !strings.Contains(says, "original guest: unused0.") ||
			len(found.Disks) != 1 {
			t.Errorf("with an unused disk: %+v", found)
		}
		b.cluster.ChangeConfig(ref.ID, func(c *hypervisor.Config) {
			c.Disks = append(c.Disks, hypervisor.Disk{Key: "scsi1", Storage: "local", Volume: "local:scratch", SizeGB: &size, LeftOut: true})
		})
		found = b.preflight(t, p, order)
		if says := finding(found.Blockers, "volumes_not_in_backup"); found.Possible || !strings.Contains(says, "not include scsi1 (200 GiB)") ||
			len(found.Disks) != 1 {
			t.Errorf("with a disk that backups leave out: %+v", found)
		}
		// Nobody is told to include what cannot be included.
		b.cluster.ChangeConfig(ref.ID, func(c *hypervisor.Config) { c.Disks[len(c.Disks)-1].LeftOutReason = "no firmware uses it; remove it" })
		says := finding(b.preflight(t, p, order).Blockers, "volumes_not_in_backup")
		if !strings.HasSuffix(says, "not include scsi1 (200 GiB). scsi1: no firmware uses it; remove it.") {
			t.Errorf("with a disk that cannot be included: %s", says)
		}
		j, transcript := b.ended(t, b.add(t, guest.MigrateJob(vmTarget(p), b.hostID, p, order, true)), job.Failed)
		if n := operations(b.cluster) + operations(b.other); !strings.Contains(j.Error, "do not include scsi1 (200 GiB)") || n != "" {
			t.Errorf("the error is %q, and it did %q\n%s", j.Error, n, transcript)
		}
	})
}

// A guest that has another volume than those that a restore was judged by is not replaced.
func TestRestoreOverAVolumeThatCameLater(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.start(t)
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
		saved := b.saved(b.shelf(), ref)
		root := b.cluster.ConfigOf(ref.ID).Disks[0].Volume
		b.cluster.ChangeConfig(ref.ID, func(c *hypervisor.Config) {
			c.Disks = append(c.Disks, hypervisor.Disk{Key: "scsi1", Storage: "local", Volume: "local:new"},
				hypervisor.Disk{Key: "scsi2", Storage: "local", Volume: "local:foreign", Owner: "999", Kept: true})
		})
		j, transcript := b.ended(t, b.add(t, guest.Judged(guest.RestoreOverJob(b.hostID, p, saved), root)), job.Failed)
		want := "the guest has the volume local:new, which did not exist when the restore was requested; nothing was done"
		if j.Error != want || operations(b.cluster) != "" {
			t.Errorf("the error is %q, and it did %q\n%s", j.Error, operations(b.cluster), transcript)
		}
		_, transcript = b.ended(t, b.add(t, guest.Judged(guest.RestoreOverJob(b.hostID, p, saved), root, "local:new")), job.Succeeded)
		if operations(b.cluster) != "restore" {
			t.Errorf("it did %q\n%s", operations(b.cluster), transcript)
		}
	})
}

// able is what a host of a driver that takes no snapshots can do.
type able struct {
	hypervisor.Host
	hypervisor.LifecycleManager
	hypervisor.BackupManager
	hypervisor.Provisioner
}

// unsnapped are hosts of such a driver.
type unsnapped struct{ capable }

func (unsnapped) Require(_ context.Context, _ int64, _ endpoint.Capability, check func(hypervisor.Host) error) error {
	return plugin.Problem(check(able{}))
}

// A backup is no way back from a change of a guest where a restore would destroy volumes that backups leave out.
func TestReversible_NotByABackupThatLeavesVolumesOut(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		ref, p := b.guest(t, hypervisor.Container, hypervisor.GuestRunning)
		dbtest.Exec(t, b.db, `INSERT INTO storages (cluster_id, host_id, node, name, status, content, seen_at)
			SELECT cluster_id, host_id, node, 'nas', 'available', '{backup}', now() FROM guests WHERE id = $1`, p.GuestID)
		g, err := (&guest.Store{DB: b.db, Self: &guest.Self{DB: b.db}}).Get(t.Context(), guest.Container, p.GuestID)
		if err != nil {
			t.Fatal(err)
		}
		actor := &guest.Actor{DB: b.db, Queue: b.queue, Hosts: unsnapped{capable{b}}}
		check := func(wantStorage string, code problem.Code) {
			t.Helper()
			snapshot, storage, err := actor.Reversible(t.Context(), g)
			if snapshot || storage != wantStorage || (err != nil) != (code != "") || err != nil && problem.CodeOf(err) != code {
				t.Errorf("by a snapshot: %t, by a backup to %q, %v", snapshot, storage, err)
			}
		}
		check("nas", "")
		for _, left := range []hypervisor.Disk{{Key: "mp1", Path: "/media", Local: true, LeftOut: true},
			{Key: "mp2", Storage: "local", Volume: "local:foreign", LeftOut: true, Kept: true, Owner: "999"}} {
			b.cluster.ChangeConfig(ref.ID, func(c *hypervisor.Config) { c.Disks = append(c.Disks, left) })
			b.readConfig(t, g)
			check("nas", "")
		}
		b.cluster.ChangeConfig(ref.ID, func(c *hypervisor.Config) {
			c.Disks = append(c.Disks, hypervisor.Disk{Key: "mp0", Path: "/srv/data", Storage: "local", Volume: "local:data", LeftOut: true})
		})
		b.readConfig(t, g)
		check("", problem.CodeVolumesNotInBackup)
	})
}

// readConfig has the service read a guest's configuration.
func (b *lifecycleFixture) readConfig(t *testing.T, g *guest.Guest) {
	t.Helper()
	if _, err := (&guest.Actor{DB: b.db, Hosts: capable{b}}).ReadConfig(t.Context(), g); err != nil {
		t.Fatal(err)
	}
}
