package pvesim_test

import (
	"strings"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// recordedBackup is the name of the backup that was recorded, and recordedAt when it was taken.
const recordedBackup = "backup/vzdump-lxc-114-2026_11_21-00_59_10.tar.zst"

var recordedAt = time.Unix(1795222750, 0)

// backupPreparations are for the recordings of backups and of what is made of them.
func (w *recordedServer) backupPreparations() []preparation {
	backup := func(notes string) func() {
		return func() {
			_, err := w.cluster.AddBackup(pvesim.BackupSpec{Storage: "data1", VMID: 114, Type: pvesim.LXC, Name: recordedBackup,
				Taken: recordedAt, Size: 35933924, Notes: notes})
			w.must(err)
		}
	}
	of114 := strings.ReplaceAll("_data1_3A"+recordedBackup, "/", "_2F")
	of114 = strings.TrimSuffix(of114, "st") // the recordings' names are cut
	return []preparation{
		{"data1_content__backup", backup("newname")},
		{"data1_content__backup_notes " + of114 + "__backup " + of114 + "__protected " + of114 + "__protect_backup " +
			of114 + "__unprotect_backup vzdump_extractconfig__ct lxc__restore lxc__restore_overwrite", backup("note\nx")},
		{"vm-777-disk-0.qcow2__volume_disk", func() {
			w.guest(pvesim.GuestSpec{VMID: 777, Storage: "data1", Disk: 64 * mib})
		}},
		{"POST__nodes_pve1_lxc__vmid_exists", func() { w.guest(pvesim.GuestSpec{VMID: 110, Type: pvesim.LXC}) }},
		{"GET__storage__initial POST__storage__create_lvmthin_no_vg", func() { w.do("DELETE", "/storage/local-lvm", "") }},
		{"POST__storage__create_dir", func() { w.do("DELETE", "/storage/data1", "") }},
		{"POST__storage__create_btrfs", func() { w.do("DELETE", "/storage/btr", "") }},
		{"PUT__storage_data1__update_with_digest", func() { w.digest = w.digestOf("/storage/data1") }},
		{"lxc__restore_overwrite", func() { w.guest(pvesim.GuestSpec{VMID: 130, Type: pvesim.LXC, Storage: "data1"}) }},
	}
}
