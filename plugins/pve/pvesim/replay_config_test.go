package pvesim_test

import (
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// changePreparations are for the recordings of changing configurations and disks, and of what guests tell of themselves.
func (w *recordedServer) changePreparations() []preparation {
	c := w.cluster
	ct := func(spec pvesim.GuestSpec) func() {
		spec.Type = pvesim.LXC
		return func() { w.guest(spec) }
	}
	vm200 := func() {
		w.guest(pvesim.GuestSpec{VMID: 200, Storage: "data1", Config: map[string]any{"scsi1": "data1:200/vm-200-disk-1.raw,size=1G"}})
	}
	return []preparation{
		{"PUT__nodes_pve1_lxc_101_config__allowed_for_low_priv_features PUT__nodes_pve1_lxc_101_config__forbidden_bindmount " +
			"PUT__nodes_pve1_lxc_101_config__forbidden_net0_sdn_use", func() { c.Grant("/vms", "drv@pve", "PVEVMAdmin", true) }},
		{"PUT__nodes_pve1_lxc_110_config__add_mp PUT__nodes_pve1_lxc_110_config__arch PUT__nodes_pve1_lxc_110_config__delete_lock " +
			"PUT__nodes_pve1_lxc_110_config__delete_rootfs PUT__nodes_pve1_lxc_110_config__description " +
			"PUT__nodes_pve1_lxc_110_config__dup_ifname PUT__nodes_pve1_lxc_110_config__lock PUT__nodes_pve1_lxc_110_config__locked " +
			"PUT__nodes_pve1_lxc_110_config__ostype PUT__nodes_pve1_lxc_110_config__protection " +
			"PUT__nodes_pve1_lxc_110_config__stale_digest PUT__nodes_pve1_lxc_110_config__tags " +
			"PUT__nodes_pve1_lxc_110_config__unprotect PUT__nodes_pve1_lxc_110_config__with_digest", ct(pvesim.GuestSpec{VMID: 110})},
		{"PUT__nodes_pve1_lxc_110_config__delete_lock PUT__nodes_pve1_lxc_110_config__locked", func() {
			w.change(110, func(s *pvesim.GuestSpec) { s.Lock = "backup" })
		}},
		{"PUT__nodes_pve1_lxc_110_config__with_digest", func() { w.digest = w.digestOf("/nodes/pve1/lxc/110/config") }},
		{"PUT__nodes_pve1_lxc_112_resize__grow PUT__nodes_pve1_lxc_112_resize__unknown_disk", ct(pvesim.GuestSpec{VMID: 112})},
		{"PUT__nodes_pve1_lxc_114_config__pending_change PUT__nodes_pve1_lxc_114_config__revert lxc_114_interfaces__running",
			ct(pvesim.GuestSpec{VMID: 114, Status: pvesim.StatusRunning})},
		{"PUT__nodes_pve1_lxc_114_config__revert", func() { w.do("PUT", "/nodes/pve1/lxc/114/config", "features=nesting=0") }},
		{"lxc_114_interfaces__stopped", ct(pvesim.GuestSpec{VMID: 114})},
		{"PUT__nodes_pve1_qemu_100_config__while_shutdown_task", func() {
			w.do("POST", "/nodes/pve1/qemu/100/status/shutdown", "timeout=60")
			c.Advance(time.Second)
		}},
		{"PUT__nodes_pve1_qemu_200_config__add_disk PUT__nodes_pve1_qemu_200_config__boot_missing_dev " +
			"PUT__nodes_pve1_qemu_200_config__detach_disk PUT__nodes_pve1_qemu_200_config__digest_mismatch " +
			"PUT__nodes_pve1_qemu_200_config__with_digest", vm200},
		{"PUT__nodes_pve1_qemu_200_config__with_digest", func() { w.digest = w.digestOf("/nodes/pve1/qemu/200/config") }},
		{"PUT__nodes_pve1_qemu_210_config__pending PUT__nodes_pve1_qemu_210_config__revert " +
			"qemu_210_agent_network-get-interfaces__agent_not_running", func() {
			w.guest(pvesim.GuestSpec{VMID: 210, Agent: true, Status: pvesim.StatusRunning})
		}},
		{"PUT__nodes_pve1_qemu_210_config__revert", func() { w.do("PUT", "/nodes/pve1/qemu/210/config", "memory=512&cores=2") }},
	}
}

// digestOf is the digest of a guest's configuration.
func (w *recordedServer) digestOf(path string) string {
	w.t.Helper()
	return w.do("GET", path, "").(map[string]any)["digest"].(string)
}
