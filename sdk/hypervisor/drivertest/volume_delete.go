package drivertest

import (
	"bytes"
	"context"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// uploaded puts an image on the storage for uploads and returns it as it is
// listed.
func (s *suite) uploaded(t *testing.T, ctx context.Context) hypervisor.Volume {
	t.Helper()
	need[hypervisor.Uploader](t, s)
	need[hypervisor.ContentLister](t, s)
	if s.UploadStorage == "" {
		t.Skip("no storage for uploads")
	}
	spec, content := s.image(t, ctx)
	uploader := as[hypervisor.Uploader](t, s.host(t, endpoint.Lifecycle))
	check, err := uploader.CheckUpload(ctx, spec)
	must(t, "checking", err)
	id, err := uploader.Upload(ctx, spec, bytes.NewReader(content))
	if !s.ends(t, ctx, id, err) {
		t.Fatal("the upload failed:", err)
	}
	v, listed := volume(s.contentOf(t, ctx, hypervisor.ContentQuery{Storage: spec.Storage, Node: spec.Node}), check.Volume)
	if !listed || v.Kind != hypervisor.VolumeImage || v.Guest != "" || v.Name != check.Name || v.SizeBytes == nil ||
		*v.SizeBytes != spec.Size {
		t.Fatalf("the image of %+v is listed (%t) as %+v", check, listed, v)
	}
	return v
}

// volumeDelete tests VolumeDeleter. An ID that is not exactly the one in the
// list must delete nothing, and a protected backup must be refused with
// Conflict.
func (s *suite) volumeDelete(t *testing.T) {
	need[hypervisor.VolumeDeleter](t, s)
	deleter := func(t *testing.T) hypervisor.VolumeDeleter {
		return as[hypervisor.VolumeDeleter](t, s.host(t, endpoint.Lifecycle))
	}
	s.run(t, "an image", func(t *testing.T, ctx context.Context) {
		kept, v := s.uploaded(t, ctx), s.uploaded(t, ctx)
		id, err := deleter(t).DeleteVolume(ctx, v)
		if !s.ends(t, ctx, id, err) {
			t.Fatal("the deletion failed:", err)
		}
		s.wantNodeOperation(t, ctx, v.Node, id, hypervisor.OperationVolumeDelete)
		all := s.contentOf(t, ctx, hypervisor.ContentQuery{Storage: v.Storage, Node: v.Node, Content: v.Content})
		if _, listed := volume(all, v.ID); listed {
			t.Error("it still exists")
		}
		if _, listed := volume(all, kept.ID); !listed {
			t.Error("another one was deleted too")
		}
		id, err = deleter(t).DeleteVolume(ctx, v) // it may count as deleted
		s.ends(t, ctx, id, err, plugin.NotFound, plugin.Refused)
	})
	s.run(t, "ids of no volume", func(t *testing.T, ctx context.Context) {
		v := s.uploaded(t, ctx)
		for _, id := range []string{"", v.Storage, v.Storage + ":", v.Storage + ":..", v.Storage + ":../" + v.Name,
			v.Storage + ":iso/../" + v.Name, "no-such-storage:iso/" + v.Name, v.ID + "/", v.ID + "\x00", v.ID + "\n", "/etc/passwd"} {
			other := v
			other.ID = id
			task, err := deleter(t).DeleteVolume(ctx, other)
			if s.ends(t, ctx, task, err, unlisted...) && task == "" {
				t.Errorf("%q was deleted at once", id)
			}
		}
		if _, listed := volume(s.contentOf(t, ctx, hypervisor.ContentQuery{Storage: v.Storage, Node: v.Node}), v.ID); !listed {
			t.Error("the volume is gone")
		}
	})
	s.run(t, "a protected backup", func(t *testing.T, ctx context.Context) {
		need[hypervisor.BackupManager](t, s)
		need[hypervisor.ContentLister](t, s)
		hook(t, "SnapshotGuest", s.SnapshotGuest != nil)
		if s.BackupStorage == "" {
			t.Skip("no storage for backups")
		}
		ref := s.SnapshotGuest(t, s.kind(), hypervisor.GuestStopped)
		at := s.host(t, endpoint.Backup)
		backuper := as[hypervisor.BackupManager](t, at)
		id, err := backuper.RunBackup(ctx, ref, hypervisor.BackupSpec{Storage: s.BackupStorage, Protected: true})
		if !s.ends(t, ctx, id, err) {
			t.Fatal("the backup failed:", err)
		}
		find := func() (found []hypervisor.Volume) {
			for _, v := range s.contentOf(t, ctx, hypervisor.ContentQuery{Storage: s.BackupStorage, Node: ref.Node}) {
				if v.Kind == hypervisor.VolumeBackup && v.Guest == ref.ID {
					found = append(found, v)
				}
			}
			return found
		}
		found := find()
		if len(found) != 1 || !found[0].Protected || found[0].CreatedAt.IsZero() {
			t.Fatalf("its backup is listed as %+v", found)
		}
		id, err = as[hypervisor.VolumeDeleter](t, at).DeleteVolume(ctx, found[0])
		if s.ends(t, ctx, id, err, plugin.Conflict) || len(find()) != 1 {
			t.Fatal("it was deleted")
		}
		must(t, "ending the protection", backuper.ProtectBackup(ctx, s.backupsOf(t, ctx, ref)[0], false))
		id, err = as[hypervisor.VolumeDeleter](t, at).DeleteVolume(ctx, found[0])
		if !s.ends(t, ctx, id, err) || len(find()) != 0 {
			t.Errorf("without the protection: %v, left are %+v", err, find())
		}
	})
	s.run(t, "a token that only reads", func(t *testing.T, ctx context.Context) {
		if s.Alike {
			t.Skip("rights cannot be limited by capability")
		}
		v := s.uploaded(t, ctx)
		_, err := as[hypervisor.VolumeDeleter](t, s.host(t, endpoint.Monitoring)).DeleteVolume(ctx, v)
		wantKind(t, err, plugin.Denied)
		if _, listed := volume(s.contentOf(t, ctx, hypervisor.ContentQuery{Storage: v.Storage, Node: v.Node}), v.ID); !listed {
			t.Error("the volume is gone")
		}
	})
}
