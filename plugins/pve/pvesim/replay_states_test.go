package pvesim_test

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

const (
	recordedDestroy  = "UPID:pve1:00001D3E:00055749:6B00EBE4:qmdestroy:206:root@pam!test:"
	recordedShutdown = "UPID:pve1:00001D6A:000557F1:6B00EBE5:qmshutdown:100:root@pam!test:"
)

// preparations bring the server into the state that the recorded server had when it was asked.
func (w *recordedServer) preparations() []preparation {
	c := w.cluster
	return slices.Concat(w.subjectPreparations(), []preparation{
		{"lxc__after_all cluster_resources__with_pool lxc_110_status_start__locked", func() {
			w.guest(pvesim.GuestSpec{VMID: 110, Type: pvesim.LXC, Name: "web-1", Tags: "z;b;a"})
		}},
		{"lxc__after_all cluster_resources__with_pool lxc_112_status_start__template", func() {
			w.guest(pvesim.GuestSpec{VMID: 112, Type: pvesim.LXC, Name: "jsonct", Cores: 2, Template: true})
		}},
		{"lxc__after_all lxc_110_status_start__locked", func() { w.change(110, func(s *pvesim.GuestSpec) { s.Lock = "backup" }) }},
		{"lxc_116_status_start__bridge_missing", func() {
			w.guest(pvesim.GuestSpec{VMID: 116, Type: pvesim.LXC, BridgeMissing: "vmbr77"})
		}},
		{"qemu__after qemu__with_locked cluster_resources__with_pool qemu_200_status_start__template", func() {
			w.guest(pvesim.GuestSpec{VMID: 200, Name: "tmpl-1", Template: true, Serial: true})
		}},
		{"qemu__after qemu__with_locked qemu_202_status_current__locked qemu_202_status_start__locked", func() {
			w.guest(pvesim.GuestSpec{VMID: 202, Name: "min", Lock: "backup", Disk: -1, NoNIC: true})
		}},
		{"qemu_204_status_current__started qemu_204_status_stop__ok", func() {
			w.guest(pvesim.GuestSpec{VMID: 204, Name: "onoff", Disk: -1, Status: pvesim.StatusRunning})
		}},
		{"qemu_205_status_start__bridge_missing", func() { w.guest(pvesim.GuestSpec{VMID: 205, BridgeMissing: "vmbr77"}) }},
		{"qemu_202_vncproxy__stopped", func() { w.guest(pvesim.GuestSpec{VMID: 202, Disk: -1, NoNIC: true}) }},
		{"status_current__dc_param", func() { w.change(101, func(s *pvesim.GuestSpec) { s.Tags = "b,a" }) }},
		{"status_current__ha_managed", func() { w.change(101, func(s *pvesim.GuestSpec) { s.HAManaged = true }) }},
		{"resources__with_pool", func() {
			c.AddPool("p1", "")
			for _, id := range []int{100, 101} {
				w.change(id, func(s *pvesim.GuestSpec) { s.Pool = "p1" })
			}
		}},
		{"qemu_210_status_current__running qemu_210_status_start__already_running qemu_210_status_stop__stop qemu_210_status_suspend__suspend " +
			"qemu_210_status_shutdown__timeout qemu_210_status_reset__reset qemu_210_status_resume__resume qemu_210_status_reboot__timeout " +
			"qemu_210_status_reboot__reboot", func() {
			w.guest(pvesim.GuestSpec{VMID: 210, Name: "full-clone", Agent: true, Serial: true, Status: pvesim.StatusRunning, IgnoreShutdown: true})
		}},
		{"qemu_210_status_current__stopped qemu_210_status_start__start qemu_210_status_start__start_again " +
			"qemu_210_status_stop__already_stopped qemu_210_status_shutdown__already_stopped qemu_210_status_reboot__stopped " +
			"qemu_210_status_suspend__stopped", func() {
			w.guest(pvesim.GuestSpec{VMID: 210, Name: "full-clone", Agent: true, Serial: true})
		}},
		{"lxc_114_status_current__running lxc_114_status_start__already_running lxc_114_status_stop__stop lxc_114_status_shutdown__shutdown " +
			"lxc_114_status_reboot__reboot", func() {
			w.guest(pvesim.GuestSpec{VMID: 114, Type: pvesim.LXC, Name: "snapct", Status: pvesim.StatusRunning})
		}},
		{"lxc_114_status_current__stopped lxc_114_status_start__start lxc_114_status_start__start2 lxc_114_status_stop__already_stopped " +
			"lxc_114_termproxy__stopped_ct",
			func() {
				w.guest(pvesim.GuestSpec{VMID: 114, Type: pvesim.LXC, Name: "snapct"})
			}},
	})
}

func (w *recordedServer) subjectPreparations() []preparation {
	return slices.Concat(w.accessPreparations(), w.configPreparations(), w.snapshotPreparations(),
		w.provisionPreparations(), w.backupPreparations(), w.networkPreparations())
}

func (w *recordedServer) accessPreparations() []preparation {
	c := w.cluster
	return []preparation{
		{"old__unknown version__deleted_token", func() { w.must(c.RevokeToken("drv@pve!old")) }},
		{"version__expired_token", func() { w.must(c.ExpireToken("drv@pve!old")) }},
		{"version__disabled_user access_ticket__disabled_user", func() { w.must(c.EnableUser("drv@pve", false)) }},
		{"acl__with_entries permissions__noprivsep permissions__path permissions__privsep_acl permissions__other_token resources__vmadmin " +
			"lxc__privsep_acl", func() {
			c.Grant("/vms", "drv@pve", "PVEVMAdmin", true)
			c.Grant("/vms/101", "drv@pve!t1", "PVEVMUser", true)
		}},
		{"access_ticket__login POST__nodes_pve1_qemu_100_x", func() { c.Grant("/vms", "drv@pve", "PVEVMAdmin", true) }},
		{"groups_ops__ok groups_ops__nonempty drv_pve__add_group", func() { w.do("POST", "/access/groups", "groupid=ops&comment=g") }},
		{"groups_ops__nonempty", func() { w.do("PUT", "/access/users/drv@pve", "groups=ops") }},
		{"access_users__ok access_users__create", func() { w.do("DELETE", "/access/users/drv@pve", "") }},
		{"token_t1__create_privsep", func() { w.must(c.RevokeToken("drv@pve!t1")) }},
		{"token_t1__ok", func() { w.do("PUT", "/access/users/drv@pve/token/t1", "comment=privsep") }},
		{"roles_DriverRole__ok roles_DriverRole__append roles__duplicate", func() {
			c.SetRole("DriverRole", "VM.Audit", "VM.Allocate", "Datastore.AllocateSpace")
		}},
		{"version__cookie cookie_with_csrf_forbidden cookie_without_csrf", func() {
			data := w.do("POST", "/access/ticket", url.Values{"username": {"drv@pve"}, "password": {"secret1234"}}.Encode()).(map[string]any)
			w.ticket, w.csrf = data["ticket"].(string), data["CSRFPreventionToken"].(string)
		}},
		{"tasks_upid__index log__finished log__past_end log__start1_limit1 status__finished upid_log__other_user_forbidden " +
			"upid_status__other_user_forbidden", func() {
			w.finished(recordedDestroy, "root@pam!test", "qmdestroy", "206", "OK")
		}},
		{"upid_log__running tasks_upid__running status__aborted tasks__active_running cluster_tasks__with_running", func() {
			w.task(recordedShutdown, "root@pam!test", "qmshutdown", "100", time.Hour, "OK")
		}},
		{"status__aborted", func() { w.do("DELETE", "/nodes/pve1/tasks/"+url.PathEscape(w.upids[recordedShutdown]), "") }},
		{"cluster_tasks__ok cluster_tasks__with_running tasks__errors tasks__limit3 tasks__typefilter tasks__vmid tasks__active tasks__lowpriv",
			func() {
				for _, t := range []string{"vzstart 101 OK root@pam", "vzstart 101 WARNINGS: 1", "vzstart 116 bridge 'vmbr77' does not exist",
					"qmreset 210 VM is locked"} {
					f := strings.SplitN(t, " ", 3)
					exit, user := f[2], "root@pam!test"
					if rest, own := strings.CutSuffix(exit, " root@pam"); own {
						exit, user = rest, "root@pam"
					}
					w.finished("", user, f[0], f[1], exit)
				}
			}},
		{"upid_log__srvreload", func() {
			upid, err := c.StartTask("pve1", "root@pam!test", "srvreload", "networking", 0, "command 'ifreload -a' failed: exit code 1",
				"vmbr0 : error")
			w.must(err)
			w.upids["srvreload"] = upid
		}},
	}
}

// configPreparations give guests the configurations that were recorded.
func (w *recordedServer) configPreparations() []preparation {
	type config = map[string]any
	web := func(more config) func() {
		return func() {
			cfg := config{"cores": 1, "onboot": 1, "startup": "order=2,up=5", "searchdomain": "example.test", "description": "d1\n"}
			for k, v := range more {
				cfg[k] = v
			}
			w.guest(pvesim.GuestSpec{VMID: 110, Type: pvesim.LXC, Name: "web-1", Tags: "z;b;a", Config: cfg})
		}
	}
	disk := "btr:110/vm-110-disk-1.raw"
	ct := func(vmid int, cfg config) func() {
		return func() { w.guest(pvesim.GuestSpec{VMID: vmid, Type: pvesim.LXC, Config: cfg}) }
	}
	vm := func(vmid int, more config) func() {
		return func() {
			cfg := config{
				"cores": 1, "cpu": "host", "ciuser": "u", "cipassword": "**********", "ide2": "data1:cloudinit,media=cdrom", "ipconfig0": "ip=dhcp",
				"ostype": "l26", "scsihw": "virtio-scsi-single", "sshkeys": "ssh-ed25519%20AAAA", "vga": "serial0",
			}
			for k, v := range more {
				cfg[k] = v
			}
			w.guest(pvesim.GuestSpec{VMID: vmid, Agent: true, Serial: true, Config: cfg})
		}
	}
	return []preparation{
		{"qemu_200_snapshot__create qemu_200_snapshot__ok qemu_200_snapshot_s1_config__ok qemu_200_snapshot_s1__ok " +
			"qemu_200_snapshot_s1__unknown qemu_200_snapshot_s1_rollback__ok qemu_200_snapshot_zz_rollback__unknown", vm(200, nil)},
		{"lxc_101_config__ok lxc_101_config__trailing_slash", func() {
			w.change(101, func(s *pvesim.GuestSpec) { s.Config = config{"cores": nil} })
		}},
		{"lxc_101_config__form_specials_after", func() {
			w.change(101, func(s *pvesim.GuestSpec) {
				s.Tags, s.Config = "a;b", config{"cores": nil, "onboot": 1, "description": "a=b&c+d %41\n"}
			})
		}},
		{"lxc_110_config__ok", web(config{"nameserver": "10.99.0.1"})},
		{"lxc_110_config__after_move", web(config{"protection": 0, "mp0": "data1:x,mp=/data", "unused0": disk})},
		{"lxc_110_config__after lxc_110_config__current", func() {
			web(config{"protection": 0, "mp0": disk + ",mp=/data,size=1G", "net1": "name=eth0,bridge=vmbr0"})()
			w.change(110, func(s *pvesim.GuestSpec) { s.Lock = "backup" })
		}},
		{"lxc_110_config__unknown_snapshot", web(nil)},
		{"lxc_112_config__created_via_json", ct(112, config{"net0": nil, "features": nil})},
		{"lxc_114_config__with_pending", ct(114, config{"cores": 1})},
		{"lxc_123_config__cloned", ct(123, config{"cores": 1, "description": "new\n"})},
		{"qemu_200_config__ok", func() {
			vm(200, config{"description": "desc"})()
			w.change(200, func(s *pvesim.GuestSpec) { s.Tags = "x" })
		}},
		{"qemu_200_config__with_unused", vm(200, config{"unused0": "data1:200/vm-200-disk-1.raw"})},
		{"qemu_202_config__ok", func() { w.guest(pvesim.GuestSpec{VMID: 202, Disk: -1, NoNIC: true}) }},
		{"qemu_210_config__current qemu_210_config__with_pending", vm(210, config{"description": "c"})},
		{"qemu_212_config__linked", vm(212, nil)},
	}
}

// snapshotPreparations make containers and take the snapshots that the recorded server had.
func (w *recordedServer) snapshotPreparations() []preparation {
	taken := time.Unix(1795222189, 0)
	snapshot := func(vmid int, name, description string) func() {
		return func() {
			taken = taken.Add(time.Second)
			w.must(w.cluster.AddSnapshot(vmid, pvesim.SnapshotSpec{Name: name, Description: description, Taken: taken}))
		}
	}
	return []preparation{
		{"lxc_114_snapshot__none lxc_114_snapshot__ok lxc_114_snapshot__two lxc_114_snapshot_none_config__unknown lxc_114_snapshot_s1__ok " +
			"lxc_114_snapshot_s1_config__ok lxc_114_snapshot__bad_name lxc_114_snapshot__create lxc_114_snapshot__create2 " +
			"lxc_114_snapshot__current lxc_114_snapshot__duplicate lxc_114_snapshot_none_rollback__unknown lxc_114_snapshot_none__unknown " +
			"lxc_114_snapshot_s2__ok", func() {
			w.guest(pvesim.GuestSpec{VMID: 114, Type: pvesim.LXC, Storage: "btr", Config: map[string]any{"cores": 1}})
		}},
		{"lxc_114_snapshot__ok lxc_114_snapshot__two lxc_114_snapshot_s1__ok lxc_114_snapshot_s1_config__ok lxc_114_snapshot__create2 " +
			"lxc_114_snapshot__duplicate lxc_114_snapshot_s2__ok", snapshot(114, "s1", "first\nsnap")},
		{"lxc_114_snapshot__two lxc_114_snapshot_s2__ok", snapshot(114, "s2", "")},
		{"qemu_200_snapshot__ok qemu_200_snapshot_s1_config__ok qemu_200_snapshot_s1__ok qemu_200_snapshot_s1_rollback__ok",
			snapshot(200, "s1", "d")},
	}
}
