package pve_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

const netinst = "local:iso/debian-13.1.0-amd64-netinst.iso"

// driveOf returns a change of a drive, as the configuration has it now.
func (w *fixture) driveOf(t *testing.T, ref hypervisor.GuestRef, key, image string) hypervisor.DriveChange {
	t.Helper()
	config, err := w.host(t, endpoint.Monitoring).Config(t.Context(), ref)
	must(t, "reading", err)
	i := slices.IndexFunc(config.Disks, func(d hypervisor.Disk) bool { return d.Key == key })
	if i < 0 {
		t.Fatalf("%s not found in %+v", key, config.Disks)
	}
	return hypervisor.DriveChange{Key: key, Image: image, Digest: config.Digest, Raw: config.Disks[i].Raw}
}

// The other settings of a drive stay. A running VM has the image at once.
func TestChangeDrive(t *testing.T) {
	t.Parallel()
	w, host := configFixture(t)
	at := host.(hypervisor.DriveChanger)
	for _, status := range []string{pvesim.StatusStopped, pvesim.StatusRunning} {
		ref := w.guest(t, pvesim.GuestSpec{Status: status, Config: map[string]any{
			"ide2": "file=" + netinst + ",aio=native,media=cdrom,size=790M", "sata0": "none,media=cdrom",
		}})
		for _, step := range []struct{ key, image, want string }{
			{"ide2", "", "none,aio=native,media=cdrom"},
			{"ide2", "", "none,aio=native,media=cdrom"},
			{"ide2", netinst, netinst + ",aio=native,media=cdrom,size=790M"},
			{"sata0", netinst, netinst + ",media=cdrom,size=790M"},
			{"sata0", "", "none,media=cdrom"},
		} {
			must(t, "changing", at.ChangeDrive(t.Context(), ref, w.driveOf(t, ref, step.key, step.image)))
			if now := w.driveOf(t, ref, step.key, ""); now.Raw != step.want {
				t.Errorf("%s of a %s VM is %q, want %q", step.key, status, now.Raw, step.want)
			}
		}
		config, err := w.host(t, endpoint.Monitoring).Config(t.Context(), ref)
		must(t, "reading", err)
		if len(config.Pending) != 0 {
			t.Errorf("of a %s VM waits %v", status, config.Pending)
		}
	}
}

// Nothing is sent for what is not a drive for images, and an image that does not exist is refused.
func TestChangeDrive_Refuses(t *testing.T) {
	t.Parallel()
	w, host := configFixture(t)
	at := host.(hypervisor.DriveChanger)
	vm := w.guest(t, pvesim.GuestSpec{VMID: 100, Config: map[string]any{
		"ide2": "none,media=cdrom", "ide0": "local-lvm:vm-100-cloudinit,media=cdrom,size=4M",
	}})
	ct := w.guest(t, pvesim.GuestSpec{Type: pvesim.LXC})
	drive := w.driveOf(t, vm, "ide2", netinst)
	with := func(change func(*hypervisor.DriveChange)) hypervisor.DriveChange {
		changed := drive
		change(&changed)
		return changed
	}
	before := w.puts()
	for name, c := range map[string]struct {
		ref    hypervisor.GuestRef
		change hypervisor.DriveChange
		field  string
	}{
		"a disk":          {vm, w.driveOf(t, vm, "scsi0", ""), "key"},
		"Cloud-Init":      {vm, w.driveOf(t, vm, "ide0", ""), "key"},
		"a container":     {ct, drive, "key"},
		"another key":     {vm, with(func(c *hypervisor.DriveChange) { c.Key = "boot" }), "key"},
		"no digest":       {vm, with(func(c *hypervisor.DriveChange) { c.Digest = "" }), "digest"},
		"another volume":  {vm, with(func(c *hypervisor.DriveChange) { c.Image = "local-lvm:vm-100-disk-0" }), "image"},
		"another setting": {vm, with(func(c *hypervisor.DriveChange) { c.Image += ",media=disk" }), "image"},
	} {
		if e := wantKind(t, at.ChangeDrive(t.Context(), c.ref, c.change), plugin.Invalid); e.Field != c.field {
			t.Errorf("%s: the error names %q: %v", name, e.Field, e)
		}
	}
	if n := w.puts(); n != before {
		t.Errorf("%d refused changes were sent", n-before)
	}
	for _, image := range []string{"local:iso/none.iso", "nowhere:iso/none.iso"} {
		e := wantKind(t, at.ChangeDrive(t.Context(), vm, with(func(c *hypervisor.DriveChange) { c.Image = image })), plugin.Invalid)
		if e.Field != "image" {
			t.Errorf("%s: the error names %q: %v", image, e.Field, e)
		}
	}
	stale := with(func(c *hypervisor.DriveChange) { c.Digest = strings.Repeat("0", 40) })
	if e := wantKind(t, at.ChangeDrive(t.Context(), vm, stale), plugin.Conflict); e.Field != "digest" {
		t.Errorf("a stale digest: the error names %q", e.Field)
	}
	token := w.token("/", true, "VM.Config.Disk", "VM.Config.Options")
	limited := w.open(t, w.target(endpoint.Lifecycle, token))
	e := wantKind(t, limited.ChangeDrive(t.Context(), vm, drive), plugin.Denied)
	if !slices.Equal(e.Missing, []string{"VM.Config.CDROM"}) || !grantsRole(e.Remedy, "ServiceLifecycle", token) {
		t.Errorf("without the privilege: %v, %q", e.Missing, e.Remedy)
	}
}
