package drivertest

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// configOf reads the configuration of a guest with the token for monitoring.
func (s *suite) configOf(t *testing.T, ctx context.Context, ref hypervisor.GuestRef) hypervisor.Config {
	t.Helper()
	config, err := as[hypervisor.ConfigReader](t, s.host(t, endpoint.Monitoring)).Config(ctx, ref)
	must(t, "reading the configuration", err)
	return config
}

// config tests ConfigReader and ConfigEditor. A change with a stale digest must
// be refused with Conflict and the field "digest", which protects changes that
// somebody else made in between. An empty description and TagsSet without tags
// clear the values. Unknown options and sizes that would shrink a disk are
// Invalid, with the field.
func (s *suite) config(t *testing.T) {
	need[hypervisor.ConfigReader](t, s)
	s.run(t, "of a guest that is not there", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		ref.ID, ref.UID = "999999998", ""
		_, err := as[hypervisor.ConfigReader](t, s.host(t, endpoint.Monitoring)).Config(ctx, ref)
		wantKind(t, err, plugin.NotFound)
	})
	s.run(t, "reconfigure", func(t *testing.T, ctx context.Context) {
		need[hypervisor.ConfigEditor](t, s)
		hook(t, "NewGuest", s.NewGuest != nil)
		for _, kind := range s.kinds() {
			ref := s.NewGuest(t, kind, hypervisor.GuestStopped)
			at := as[hypervisor.ConfigEditor](t, s.host(t, endpoint.Lifecycle))
			before := s.configOf(t, ctx, ref)
			three, memory, text := int64(3), int64(1536), "first\nsecond: äöü"
			must(t, "reconfiguring", at.Reconfigure(ctx, ref, hypervisor.ConfigChange{
				Digest: before.Digest, Cores: &three, MemoryMB: &memory, Description: &text, Tags: []string{"one", "two"}, TagsSet: true,
			}))
			after := s.configOf(t, ctx, ref)
			if after.Cores == nil || *after.Cores != 3 || after.MemoryMB == nil || *after.MemoryMB != memory || after.Description != text ||
				!slices.Equal(slices.Sorted(slices.Values(after.Tags)), []string{"one", "two"}) || len(after.Pending) != 0 {
				t.Errorf("a %s is %+v", kind, after)
			}
			if before.Digest == "" {
				continue
			}
			err := at.Reconfigure(ctx, ref, hypervisor.ConfigChange{Digest: before.Digest, Cores: &three})
			if e := wantKind(t, err, plugin.Conflict); e.Field != "digest" {
				t.Errorf("a stale digest: the error names the field %q", e.Field)
			}
			must(t, "clearing", at.Reconfigure(ctx, ref, hypervisor.ConfigChange{Description: new(string), TagsSet: true}))
			if after = s.configOf(t, ctx, ref); after.Description != "" || len(after.Tags) != 0 {
				t.Errorf("a cleared %s is %+v", kind, after)
			}
		}
	})
	s.run(t, "options", func(t *testing.T, ctx context.Context) {
		need[hypervisor.ConfigEditor](t, s)
		hook(t, "NewGuest", s.NewGuest != nil)
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		keys, err := as[hypervisor.ConfigEditor](t, s.host(t, endpoint.Monitoring)).OptionKeys(ctx, s.kind())
		must(t, "listing the options", err)
		i := slices.IndexFunc(keys, func(k hypervisor.OptionKey) bool { return k.Autostart })
		if i < 0 {
			t.Skip("no option starts guests automatically")
		}
		at := as[hypervisor.ConfigEditor](t, s.host(t, endpoint.Lifecycle))
		one := "1"
		must(t, "setting", at.Reconfigure(ctx, ref, hypervisor.ConfigChange{Options: map[string]*string{keys[i].Name: &one}}))
		if got := s.configOf(t, ctx, ref).Options[keys[i].Name]; got != "1" {
			t.Errorf("%s is %q", keys[i].Name, got)
		}
		must(t, "removing", at.Reconfigure(ctx, ref, hypervisor.ConfigChange{Options: map[string]*string{keys[i].Name: nil}}))
		if got, there := s.configOf(t, ctx, ref).Options[keys[i].Name]; there {
			t.Errorf("%s is %q", keys[i].Name, got)
		}
		err = at.Reconfigure(ctx, ref, hypervisor.ConfigChange{Options: map[string]*string{"no_such_option": &one}})
		if e := wantKind(t, err, plugin.Invalid); e.Field != "no_such_option" {
			t.Errorf("an unknown option: the error names the field %q", e.Field)
		}
	})
	s.run(t, "adding a disk", func(t *testing.T, ctx context.Context) {
		need[hypervisor.DiskAdder](t, s)
		hook(t, "NewGuest", s.NewGuest != nil)
		for _, kind := range s.kinds() {
			ref := s.NewGuest(t, kind, hypervisor.GuestStopped)
			before := s.configOf(t, ctx, ref)
			i := slices.IndexFunc(before.Disks, func(d hypervisor.Disk) bool { return d.SizeGB != nil && !d.Removable && !d.Unused })
			if i < 0 {
				t.Fatalf("no disk among %+v", before.Disks)
			}
			disk := hypervisor.NewDisk{Key: "scsi7", Storage: before.Disks[i].Storage, SizeGB: 3, Digest: before.Digest}
			if kind == hypervisor.Container {
				disk.Key, disk.Path = "mp7", "/data"
			}
			at := as[hypervisor.DiskAdder](t, s.host(t, endpoint.Lifecycle))
			must(t, "adding", at.AddDisk(ctx, ref, disk))
			after := s.configOf(t, ctx, ref).Disks
			j := slices.IndexFunc(after, func(d hypervisor.Disk) bool { return d.Key == disk.Key })
			if j < 0 || after[j].SizeGB == nil || *after[j].SizeGB != 3 || after[j].Storage != disk.Storage || after[j].Path != disk.Path ||
				len(after) != len(before.Disks)+1 {
				t.Errorf("a %s has the disks %+v", kind, after)
			}
			now, other := s.configOf(t, ctx, ref).Digest, disk.Key[:len(disk.Key)-1]+"6"
			for field, wrong := range map[string]hypervisor.NewDisk{
				"digest":  {Key: other, Storage: disk.Storage, SizeGB: 1, Path: disk.Path, Digest: disk.Digest},
				"key":     {Key: "bogus1", Storage: disk.Storage, SizeGB: 4, Path: disk.Path, Digest: now},
				"storage": {Key: other, Storage: "not-there", SizeGB: 1, Path: disk.Path, Digest: now},
			} {
				err := at.AddDisk(ctx, ref, wrong)
				want := plugin.Invalid
				if field == "digest" {
					if want = plugin.Conflict; disk.Digest == "" {
						continue
					}
				}
				if e := wantKind(t, err, want); e.Field != field {
					t.Errorf("a %s with a wrong %s: the error names the field %q", kind, field, e.Field)
				}
			}
			if disks := s.configOf(t, ctx, ref).Disks; len(disks) != len(after) {
				t.Errorf("after refused requests a %s has %+v", kind, disks)
			}
		}
	})
	s.run(t, "changing the image in a drive", func(t *testing.T, ctx context.Context) {
		need[hypervisor.DriveChanger](t, s)
		need[hypervisor.Provisioner](t, s)
		ref, spec, _ := s.newVM(t, ctx, "7a1d2b30-91c4-4e5f-8a66-0c2f5d9b1e77")
		drive := func() (hypervisor.Disk, string) {
			config := s.configOf(t, ctx, ref)
			i := slices.IndexFunc(config.Disks, func(d hypervisor.Disk) bool { return d.Removable })
			if i < 0 {
				t.Fatalf("no drive among %+v", config.Disks)
			}
			return config.Disks[i], config.Digest
		}
		at := as[hypervisor.DriveChanger](t, s.host(t, endpoint.Lifecycle))
		before, stale := drive()
		for _, image := range []string{"", "", spec.Image} {
			now, digest := drive()
			must(t, "changing", at.ChangeDrive(ctx, ref, hypervisor.DriveChange{Key: now.Key, Image: image, Digest: digest, Raw: now.Raw}))
			if after, _ := drive(); after.Key != before.Key || after.Volume != image || (after.Storage != "") != (image != "") || after.Pending {
				t.Errorf("with the image %q the drive is %+v", image, after)
			}
		}
		now, digest := drive()
		// Another image gives the configuration another digest.
		must(t, "ejecting", at.ChangeDrive(ctx, ref, hypervisor.DriveChange{Key: now.Key, Digest: digest, Raw: now.Raw}))
		now, digest = drive()
		disks := s.configOf(t, ctx, ref).Disks
		disk := disks[slices.IndexFunc(disks, func(d hypervisor.Disk) bool { return !d.Removable })]
		for field, wrong := range map[string]hypervisor.DriveChange{
			"digest": {Key: now.Key, Digest: stale, Raw: before.Raw},
			"key":    {Key: disk.Key, Digest: digest, Raw: disk.Raw},
			"image":  {Key: now.Key, Image: spec.Image + "-none", Digest: digest, Raw: now.Raw},
		} {
			want := plugin.Invalid
			if field == "digest" {
				if want = plugin.Conflict; stale == "" {
					continue
				}
			}
			if e := wantKind(t, at.ChangeDrive(ctx, ref, wrong), want); e.Field != field {
				t.Errorf("a wrong %s: the error names the field %q", field, e.Field)
			}
		}
		if after := s.configOf(t, ctx, ref).Disks; !reflect.DeepEqual(after, disks) {
			t.Errorf("after refused requests the disks are %+v, and were %+v", after, disks)
		}
		s.destroy(t, ctx, ref)
	})
	s.run(t, "growing a disk", func(t *testing.T, ctx context.Context) {
		need[hypervisor.ConfigEditor](t, s)
		hook(t, "NewGuest", s.NewGuest != nil)
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		disks := s.configOf(t, ctx, ref).Disks
		i := slices.IndexFunc(disks, func(d hypervisor.Disk) bool { return d.SizeGB != nil && !d.Removable })
		if i < 0 {
			t.Fatalf("no disk among %+v", disks)
		}
		at := as[hypervisor.ConfigEditor](t, s.host(t, endpoint.Lifecycle))
		larger := hypervisor.DiskGrowth{Key: disks[i].Key, SizeGB: *disks[i].SizeGB + 2}
		must(t, "growing", at.GrowDisk(ctx, ref, larger))
		if now := s.configOf(t, ctx, ref).Disks[i].SizeGB; now == nil || *now != larger.SizeGB {
			t.Errorf("the disk has %v GiB, want %d", now, larger.SizeGB)
		}
		if e := wantKind(t, at.GrowDisk(ctx, ref, hypervisor.DiskGrowth{Key: larger.Key, SizeGB: 1}), plugin.Invalid); e.Field != "size_gb" {
			t.Errorf("a smaller size: the error names the field %q", e.Field)
		}
		if err := at.GrowDisk(ctx, ref, larger); err != nil && plugin.KindOf(err) != plugin.Invalid {
			t.Errorf("growing to the current size: %v", err)
		}
		if now := s.configOf(t, ctx, ref).Disks[i].SizeGB; now == nil || *now != larger.SizeGB {
			t.Errorf("the disk has %v GiB, want the unchanged %d", now, larger.SizeGB)
		}
		if e := wantKind(t, at.GrowDisk(ctx, ref, hypervisor.DiskGrowth{Key: "scsi99", SizeGB: 4096}), plugin.Invalid); e.Field != "key" {
			t.Errorf("an unknown disk: the error names the field %q", e.Field)
		}
	})
}
