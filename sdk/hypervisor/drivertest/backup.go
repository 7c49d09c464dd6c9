package drivertest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// backupsOf returns the backups of a guest on BackupStorage, oldest first, as
// the token for backups sees them.
func (s *suite) backupsOf(t *testing.T, ctx context.Context, ref hypervisor.GuestRef) []hypervisor.Backup {
	t.Helper()
	query := hypervisor.BackupQuery{Storage: s.BackupStorage, Node: ref.Node}
	all, err := as[hypervisor.BackupManager](t, s.host(t, endpoint.Backup)).Backups(ctx, query)
	must(t, "listing the backups", err)
	all = slices.DeleteFunc(all, func(b hypervisor.Backup) bool { return b.Guest != ref.ID || b.Kind != ref.Kind })
	slices.SortFunc(all, func(a, b hypervisor.Backup) int { return a.TakenAt.Compare(b.TakenAt) })
	return all
}

// backup tests BackupManager: a backup with notes and protection, its place in
// the list, a restore beside the guest and over it, and deletion. A protected
// backup must not be deleted, and restoring over a guest requires Over. The
// notes contain braces, backslashes and line ends, because hypervisors use
// templates in notes.
func (s *suite) backup(t *testing.T) {
	need[hypervisor.BackupManager](t, s)
	if s.BackupStorage == "" {
		t.Skip("no storage for backups")
	}
	for _, kind := range s.kinds() {
		s.run(t, "the life of one of a "+string(kind), func(t *testing.T, ctx context.Context) {
			need[hypervisor.Provisioner](t, s)
			hook(t, "SnapshotGuest", s.SnapshotGuest != nil)
			ref := s.SnapshotGuest(t, kind, hypervisor.GuestStopped)
			at := as[hypervisor.BackupManager](t, s.host(t, endpoint.Backup))
			spec := hypervisor.BackupSpec{Storage: s.BackupStorage, Notes: "before: äöü {{{it}}\\n\n\nand more", Protected: true}
			id, err := at.RunBackup(ctx, ref, spec)
			if !s.ends(t, ctx, id, err) {
				t.Fatal("the backup failed:", err)
			}
			made := s.madeBy(t, ctx, id)
			s.wantOperation(t, ctx, ref, id, hypervisor.OperationBackup)
			all := s.backupsOf(t, ctx, ref)
			if len(all) != 1 || !all[0].Protected || !spec.NotesMatch(all[0]) || all[0].TakenAt.IsZero() ||
				all[0].Storage != s.BackupStorage {
				t.Fatalf("backups are %+v", all)
			}
			if made != "" && made != all[0].ID {
				t.Errorf("the task reports that it created %q, but the list has %q", made, all[0].ID)
			}
			id, err = at.DeleteBackup(ctx, all[0])
			if s.ends(t, ctx, id, err, plugin.Conflict) {
				t.Fatal("a protected backup was deleted")
			}
			must(t, "ending the protection", at.ProtectBackup(ctx, all[0], false))
			s.restore(t, ctx, all[0], ref)
			id, err = at.DeleteBackup(ctx, all[0])
			if !s.ends(t, ctx, id, err) {
				t.Fatal("deleting failed:", err)
			}
			if all = s.backupsOf(t, ctx, ref); len(all) != 0 {
				t.Errorf("backups are %+v", all)
			}
		})
	}
	s.run(t, "a storage that is not there", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		at := as[hypervisor.BackupManager](t, s.host(t, endpoint.Backup))
		if all, err := at.Backups(ctx, hypervisor.BackupQuery{Storage: "no-such-storage", Node: ref.Node}); err == nil {
			t.Errorf("its list is %+v", all)
		}
		id, err := at.RunBackup(ctx, ref, hypervisor.BackupSpec{Storage: "no-such-storage"})
		if s.ends(t, ctx, id, err, plugin.Invalid, plugin.NotFound, plugin.Refused, plugin.Denied) {
			t.Error("a backup was created")
		}
	})
}

// madeBy returns the ID of the backup that a task reports to have created, or
// "" if the driver cannot tell. The result must not depend on the line from
// which the log is read, because the service resumes reading after a restart.
func (s *suite) madeBy(t *testing.T, ctx context.Context, id string) string {
	t.Helper()
	if id == "" {
		return ""
	}
	host := s.host(t, endpoint.Monitoring)
	lines, whole := wait(t, ctx, host, id, 0)
	for _, from := range []int{1, len(lines)} {
		if _, rest := wait(t, ctx, host, id, from); rest.Backup != whole.Backup {
			t.Errorf("the task reports %q for its whole log, and %q from line %d on", whole.Backup, rest.Backup, from)
		}
	}
	return whole.Backup
}

// restore restores a backup to a new guest, which it destroys, and then over
// the original guest. Without Over the latter must be refused with Conflict.
func (s *suite) restore(t *testing.T, ctx context.Context, b hypervisor.Backup, ref hypervisor.GuestRef) {
	t.Helper()
	made := s.restored(t, ctx, b, ref)
	s.destroy(t, ctx, made)
	at := as[hypervisor.BackupManager](t, s.host(t, endpoint.Backup))
	id, err := at.Restore(ctx, hypervisor.RestoreSpec{Backup: b, ID: ref.ID, Node: ref.Node})
	if s.ends(t, ctx, id, err, plugin.Conflict) {
		t.Error("a guest was replaced without an error")
	}
	id, err = at.Restore(ctx, hypervisor.RestoreSpec{Backup: b, ID: ref.ID, Node: ref.Node, Over: true})
	if !s.ends(t, ctx, id, err, plugin.Conflict) {
		t.Error("restoring over the guest failed:", err)
	}
}

// restored restores a backup under a free ID and returns the new guest. Cases
// run in parallel and share the hypervisor, so another case can take the ID
// between the placement and the restore. Then it tries again, at most 50 times.
func (s *suite) restored(t *testing.T, ctx context.Context, b hypervisor.Backup, ref hypervisor.GuestRef) hypervisor.GuestRef {
	t.Helper()
	at := as[hypervisor.BackupManager](t, s.host(t, endpoint.Backup))
	var err error
	for try := range 50 {
		name := fmt.Sprintf("restored-%s-%d", ref.ID, try)
		spec := hypervisor.RestoreSpec{Backup: b, Node: ref.Node, Name: name, NewIdentity: true}
		spec.ID = s.placement(t, ctx, hypervisor.PlacementQuery{Kind: ref.Kind, Node: ref.Node, Name: name}).ID
		var id string
		if id, err = at.Restore(ctx, spec); plugin.KindOf(err) == plugin.Conflict || !s.ends(t, ctx, id, err, plugin.Conflict) {
			continue // another was faster
		}
		made, err := s.host(t, endpoint.Monitoring).Guest(ctx, hypervisor.GuestRef{Kind: ref.Kind, Node: ref.Node, ID: spec.ID})
		must(t, "reading the restored guest", err)
		if made.Name != name {
			t.Errorf("the restored guest has the name %q, want %q", made.Name, name)
		}
		s.wantOperation(t, ctx, made.GuestRef, id, hypervisor.OperationRestore)
		return made.GuestRef
	}
	t.Fatal("restoring to a free ID failed:", err)
	return hypervisor.GuestRef{}
}
