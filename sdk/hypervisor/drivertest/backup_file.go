package drivertest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// backupFile tests BackupFileLocator: where a backup is stored as a file, and
// that a file copied there appears as a backup. IDs from another storage must
// be mapped by their file name only. IDs with path elements, NUL bytes or a
// wrong prefix must be NotFound, because the path is later used as root on the
// node.
func (s *suite) backupFile(t *testing.T) {
	need[hypervisor.BackupFileLocator](t, s)
	if s.FileStorage == "" {
		t.Skip("no storage that stores backups as files")
	}
	s.run(t, "where a backup lies", func(t *testing.T, ctx context.Context) {
		at := as[hypervisor.BackupFileLocator](t, s.host(t, endpoint.Backup))
		made := s.fileBackup(t, ctx)
		query := hypervisor.BackupQuery{Storage: s.FileStorage, Node: made.Node}
		none, err := at.BackupFile(ctx, query, hypervisor.Backup{})
		must(t, "asking about the storage", err)
		file, err := at.BackupFile(ctx, query, made)
		must(t, "asking about the backup", err)
		if none != (hypervisor.BackupFile{}) || file.ID != made.ID || hypervisor.CheckNodePath(file.Path) != nil {
			t.Errorf("the storage is %+v, and the file %+v of %s", none, file, made.ID)
		}
		foreign := made
		foreign.Storage = "elsewhere"
		foreign.ID = "elsewhere:" + strings.TrimPrefix(made.ID, made.Storage+":")
		if there, err := at.BackupFile(ctx, query, foreign); err != nil || there != file {
			t.Errorf("a backup of the storage elsewhere is %+v, %v, want %+v", there, err, file)
		}
		for _, id := range []string{"elsewhere:", "elsewhere:../" + made.ID, "elsewhere:backup/../../../etc/passwd", "elsewhere:backup/a\x00b",
			"another" + strings.TrimPrefix(made.ID, made.Storage), "elsewhere:/etc/passwd"} {
			foreign.ID = id
			if there, err := at.BackupFile(ctx, query, foreign); plugin.KindOf(err) != plugin.NotFound {
				t.Errorf("the backup %q is %+v, %v, want not found", id, there, err)
			}
		}
		query.Storage = "no-such-storage"
		_, err = at.BackupFile(ctx, query, hypervisor.Backup{})
		wantKind(t, err, plugin.NotFound)
	})
	s.run(t, "a file that is put there", func(t *testing.T, ctx context.Context) {
		hook(t, "BackupMachine", s.BackupMachine != nil)
		at := s.host(t, endpoint.Backup)
		machine := as[hypervisor.NodeExecutor](t, s.open(t, s.BackupMachine(t)))
		made := s.fileBackup(t, ctx)
		query := hypervisor.BackupQuery{Storage: s.FileStorage, Node: made.Node}
		file, err := as[hypervisor.BackupFileLocator](t, at).BackupFile(ctx, query, made)
		must(t, "asking about the backup", err)
		var content bytes.Buffer
		read, err := machine.CopyFromNode(ctx, file.Path, 1<<30, &content)
		must(t, "reading its file", err)
		if made.SizeBytes == nil || *made.SizeBytes != read.Size {
			t.Errorf("the file has %d bytes, and the backup is %+v", read.Size, made)
		}
		listed := func() bool {
			all, err := as[hypervisor.BackupManager](t, at).Backups(ctx, query)
			must(t, "listing the backups", err)
			return slices.ContainsFunc(all, func(b hypervisor.Backup) bool {
				return b.ID == file.ID && b.Guest == made.Guest && b.Kind == made.Kind && b.SizeBytes != nil && *b.SizeBytes == read.Size
			})
		}
		id, err := as[hypervisor.BackupManager](t, at).DeleteBackup(ctx, made)
		if !s.ends(t, ctx, id, err) || listed() {
			t.Fatal("the backup was not deleted:", err)
		}
		if _, err := machine.CopyFromNode(ctx, file.Path, 1<<30, &bytes.Buffer{}); plugin.KindOf(err) != plugin.NotFound {
			t.Errorf("its file still exists: %v", err)
		}
		_, err = machine.CopyToNode(ctx, read, &content)
		must(t, "putting the file back", err)
		if !listed() {
			t.Errorf("the file %s is not listed as a backup", file.Path)
		}
		id, err = as[hypervisor.BackupManager](t, at).DeleteBackup(ctx, made)
		if !s.ends(t, ctx, id, err) || listed() {
			t.Error("deleting it again failed:", err)
		}
	})
}

// fileBackup makes a backup of a guest on the storage for files.
func (s *suite) fileBackup(t *testing.T, ctx context.Context) hypervisor.Backup {
	t.Helper()
	need[hypervisor.BackupManager](t, s)
	hook(t, "SnapshotGuest", s.SnapshotGuest != nil)
	ref := s.SnapshotGuest(t, s.kind(), hypervisor.GuestStopped)
	at := as[hypervisor.BackupManager](t, s.host(t, endpoint.Backup))
	id, err := at.RunBackup(ctx, ref, hypervisor.BackupSpec{Storage: s.FileStorage})
	if !s.ends(t, ctx, id, err) {
		t.Fatal("the backup failed:", err)
	}
	all, err := at.Backups(ctx, hypervisor.BackupQuery{Storage: s.FileStorage, Node: ref.Node})
	must(t, "listing the backups", err)
	i := slices.IndexFunc(all, func(b hypervisor.Backup) bool { return b.Guest == ref.ID && b.Kind == ref.Kind })
	if i < 0 {
		t.Fatalf("the storage lists %+v, but not %s", all, ref.ID)
	}
	return all[i]
}
