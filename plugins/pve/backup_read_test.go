package pve_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// A container that mounts a directory of its node can be backed up, and nobody but root can restore it.
func TestBackupContent_OfABindMount(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1, TaskDuration: -1})
	w.SetRole("ServiceBackup", append(pve.Privileges(endpoint.Backup), "VM.Allocate", "SDN.Use")...)
	w.AddStorage(pvesim.StorageSpec{ID: "nas", Content: "backup,rootdir", Size: 1 << 40})
	at := w.host(t, endpoint.Backup)
	for _, c := range []struct{ mount, refused string }{
		{"/mnt/media,mp=/media", "it contains mp0, a directory or device of the node"},
		{"/dev/sdz1,mp=/media", "it contains mp0, a directory or device"},
		{"local-lvm:vm-%-disk-1,mp=/media,size=1G", ""},
	} {
		ref := w.guest(t, pvesim.GuestSpec{Type: pvesim.LXC})
		must(t, "mounting", w.ChangeGuest(vmid(t, ref), func(s *pvesim.GuestSpec) {
			s.Config = map[string]any{"mp0": strings.ReplaceAll(c.mount, "%", string(ref.ID)), "description": "# a: b\n[x]"}
		}))
		_, err := at.RunBackup(t.Context(), ref, hypervisor.BackupSpec{Storage: "nas"})
		must(t, "backing up", err)
		var made hypervisor.Backup
		all, err := at.Backups(t.Context(), hypervisor.BackupQuery{Storage: "nas", Node: ref.Node})
		must(t, "listing", err)
		for _, b := range all {
			if b.Guest == ref.ID {
				made = b
			}
		}
		content, err := at.BackupContent(t.Context(), made)
		must(t, "reading", err)
		if content.Keeps || len(content.Disks) != 2 || !content.Disks[0].LeftOut || content.Disks[0].Path != "/media" ||
			content.Disks[1].LeftOut || strings.HasPrefix(content.Refused, c.refused) != true || (content.Refused == "") != (c.refused == "") {
			t.Errorf("%s: %+v", c.mount, content)
		}
		task, err := at.Restore(t.Context(), hypervisor.RestoreSpec{Backup: made, ID: ref.ID, Node: ref.Node, Over: true, Storage: "nas"})
		must(t, "restoring", err)
		result, err := w.host(t, endpoint.Monitoring).WaitTask(t.Context(), task, 0, func(hypervisor.LogLine) error { return nil })
		if err != nil || (result.Status == hypervisor.TaskOK) != (c.refused == "") {
			t.Errorf("%s: the restore ended %+v, %v", c.mount, result, err)
		}
	}
	_, err := w.open(t, w.target(endpoint.Backup, w.token("/", true, "VM.Backup"))).BackupContent(t.Context(),
		hypervisor.Backup{ID: "nas:backup/vzdump-lxc-100-2026_11_21-00_59_10.tar.zst", Storage: "nas", Node: "pve1", Kind: hypervisor.Container})
	if e := wantKind(t, err, plugin.Denied); len(e.Missing) != 1 || e.Missing[0] != "Datastore.AllocateSpace" {
		t.Errorf("%+v", e)
	}
}
