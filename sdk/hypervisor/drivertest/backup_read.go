package drivertest

import (
	"context"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// backupRead tests BackupReader: which volumes a backup contains, and which it
// leaves out. After a restore over the guest, a volume that was left out is
// either kept as unused or destroyed; the driver must announce which in Keeps,
// because the plan of a restore warns about data loss.
func (s *suite) backupRead(t *testing.T) {
	need[hypervisor.BackupReader](t, s)
	need[hypervisor.BackupManager](t, s)
	need[hypervisor.ConfigReader](t, s)
	if s.BackupStorage == "" {
		t.Skip("no storage for backups")
	}
	for _, kind := range s.kinds() {
		s.run(t, "volumes that a backup has and lacks, of a "+string(kind), func(t *testing.T, ctx context.Context) {
			hook(t, "SnapshotGuest", s.SnapshotGuest != nil)
			hook(t, "LeaveOut", s.LeaveOut != nil)
			ref := s.SnapshotGuest(t, kind, hypervisor.GuestStopped)
			key := s.LeaveOut(t, ref)
			before := s.configOf(t, ctx, ref).Disks
			left := diskUnder(before, key)
			if left == nil || !left.LeftOut || left.Unused || left.Volume == "" {
				t.Fatalf("the configuration has the disks %+v, and %s is left out", before, key)
			}
			at := s.host(t, endpoint.Backup)
			id, err := as[hypervisor.BackupManager](t, at).RunBackup(ctx, ref, hypervisor.BackupSpec{Storage: s.BackupStorage})
			if !s.ends(t, ctx, id, err) {
				t.Fatal("the backup failed:", err)
			}
			made := s.backupsOf(t, ctx, ref)[0]
			content, err := as[hypervisor.BackupReader](t, at).BackupContent(ctx, made)
			must(t, "reading the backup", err)
			for _, d := range before {
				if in := diskUnder(content.Disks, d.Key); in == nil || in.LeftOut != d.LeftOut || in.Path != d.Path {
					t.Errorf("the guest has %+v, the backup %+v", d, in)
				}
			}
			id, err = as[hypervisor.BackupManager](t, at).Restore(ctx, hypervisor.RestoreSpec{Backup: made, ID: ref.ID, Node: ref.Node, Over: true})
			if !s.ends(t, ctx, id, err) {
				t.Fatal("restoring over the guest failed:", err)
			}
			after := s.configOf(t, ctx, ref).Disks
			kept := slices.ContainsFunc(after, func(d hypervisor.Disk) bool { return d.Unused && d.LeftOut && d.Volume == left.Volume })
			if named := slices.ContainsFunc(after, func(d hypervisor.Disk) bool { return d.Volume == left.Volume }); kept != content.Keeps ||
				named != content.Keeps {
				t.Errorf("the volume %s is kept: %t, and the guest has the disks %+v", left.Volume, content.Keeps, after)
			}
			id, err = as[hypervisor.BackupManager](t, at).DeleteBackup(ctx, made)
			if !s.ends(t, ctx, id, err) {
				t.Fatal("deleting the backup failed:", err)
			}
			content, err = as[hypervisor.BackupReader](t, at).BackupContent(ctx, made)
			if plugin.KindOf(err) != plugin.NotFound {
				t.Errorf("a deleted backup has %+v, %v, want not found", content, err)
			}
		})
	}
	s.run(t, "what is not a backup", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		at := as[hypervisor.BackupReader](t, s.host(t, endpoint.Backup))
		for _, id := range []string{"", "none", "../" + s.BackupStorage} {
			none := hypervisor.Backup{ID: id, Storage: s.BackupStorage, Node: ref.Node, Kind: ref.Kind, Guest: ref.ID}
			content, err := at.BackupContent(ctx, none)
			if plugin.KindOf(err) != plugin.NotFound {
				t.Errorf("%q: %+v, %v, want not found", id, content, err)
			}
		}
	})
}

// diskUnder returns the disk with a key, or nil.
func diskUnder(disks []hypervisor.Disk, key string) *hypervisor.Disk {
	if i := slices.IndexFunc(disks, func(d hypervisor.Disk) bool { return d.Key == key }); i >= 0 {
		return &disks[i]
	}
	return nil
}
