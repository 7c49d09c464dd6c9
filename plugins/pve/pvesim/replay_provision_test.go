package pvesim_test

import (
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// provisionPreparations are for the recordings of making, copying and destroying guests, and of what they are made of.
func (w *recordedServer) provisionPreparations() []preparation {
	c := w.cluster
	stopped := func(kind string, ids ...int) func() {
		return func() {
			for _, id := range ids {
				w.guest(pvesim.GuestSpec{VMID: id, Type: kind, Storage: "data1"})
			}
		}
	}
	running := func(kind string, id int) func() {
		return func() { w.guest(pvesim.GuestSpec{VMID: id, Type: kind, Status: pvesim.StatusRunning}) }
	}
	return []preparation{
		{"DELETE__nodes_pve1_lxc_110__protected", func() {
			w.guest(pvesim.GuestSpec{VMID: 110, Type: pvesim.LXC, Config: map[string]any{"protection": 1}})
		}},
		{"DELETE__nodes_pve1_lxc_114__running", running(pvesim.LXC, 114)},
		{"DELETE__nodes_pve1_lxc_115__force DELETE__nodes_pve1_lxc_115__running_noforce", running(pvesim.LXC, 115)},
		{"DELETE__nodes_pve1_lxc_116__ok DELETE__nodes_pve1_lxc_117__purge DELETE__nodes_pve1_lxc_120__ok DELETE__nodes_pve1_lxc_130__ok",
			stopped(pvesim.LXC, 116, 117, 120, 130)},
		{"DELETE__nodes_pve1_qemu_200__has_linked_clone DELETE__nodes_pve1_qemu_203__ok DELETE__nodes_pve1_qemu_204__ok " +
			"DELETE__nodes_pve1_qemu_206__ok DELETE__nodes_pve1_qemu_212__purge", stopped(pvesim.QEMU, 200, 203, 204, 206, 212)},
		{"DELETE__nodes_pve1_qemu_202__locked", func() { w.guest(pvesim.GuestSpec{VMID: 202, Lock: "backup"}) }},
		{"DELETE__nodes_pve1_qemu_204__running", running(pvesim.QEMU, 204)},

		{"lxc_112_clone__full lxc_112_clone__linked_dir lxc_112_clone__newid_exists lxc_112_clone__unknown_snapshot lxc_112_template__again",
			func() { w.guest(pvesim.GuestSpec{VMID: 112, Type: pvesim.LXC, Template: true, Storage: "data1"}) }},
		{"lxc_112_clone__linked_dir", func() { c.RenameVolume(112, "data1:112/base-112-disk-0.raw") }},
		{"lxc_112_clone__newid_exists", stopped(pvesim.LXC, 110)},
		{"lxc_114_clone__from_snapshot", func() {
			w.guest(pvesim.GuestSpec{VMID: 114, Type: pvesim.LXC, Storage: "btr"})
			w.do("POST", "/nodes/pve1/lxc/114/snapshot", "snapname=s1")
			c.Advance(2 * time.Hour)
		}},
		{"qemu_200_clone__full qemu_200_clone__linked_not_template qemu_200_clone__missing_newid qemu_200_clone__newid_exists " +
			"qemu_200_clone__newid_exists_ct qemu_200_clone__unknown_target qemu_200_template__ok qemu_200_template__has_snapshot " +
			"POST__nodes_pve1_qemu__vmid_exists", stopped(pvesim.QEMU, 200)},
		{"qemu_200_clone__newid_exists", stopped(pvesim.QEMU, 210)},
		{"qemu_200_clone__linked", func() { w.guest(pvesim.GuestSpec{VMID: 200, Template: true, Storage: "data1"}) }},
		{"qemu_200_template__has_snapshot", func() {
			w.do("POST", "/nodes/pve1/qemu/200/snapshot", "snapname=s1")
			c.Advance(2 * time.Hour)
		}},
		{"POST__nodes_pve1_qemu__forbidden_args POST__nodes_pve1_qemu__forbidden_datastore POST__nodes_pve1_lxc__forbidden_datastore", func() {
			c.Grant("/vms", "drv@pve", "PVEVMAdmin", true)
		}},

		{"GET__nodes_pve1_lxc_101_pending__ok", func() {
			w.change(101, func(s *pvesim.GuestSpec) {
				s.Config, s.Pending = map[string]any{"features": nil}, map[string]any{"features": "nesting=1"}
			})
		}},
		{"GET__nodes_pve1_lxc_114_pending__after_revert", func() {
			w.guest(pvesim.GuestSpec{VMID: 114, Type: pvesim.LXC, Config: map[string]any{"cores": 1}})
		}},
		{"GET__nodes_pve1_storage_data1_content__after_upload", func() { c.AddImage("data1", "iso", "tiny.iso", 1000) }},
		{"GET__nodes_pve1_storage_local_content__vztmpl", func() { c.AddImage("local", "vztmpl", "debian-12.tar.gz", 39687048) }},
		{"GET__nodes_pve1_storage_data1_content__disabled", func() { c.AddStorage(pvesim.StorageSpec{ID: "data1", Disabled: true}) }},
		{"GET__nodes_pve1_storage_local_content__vmid", func() { w.change(101, func(s *pvesim.GuestSpec) { s.Storage = "local" }) }},
	}
}
