package pvegolden

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
)

// everything are the capabilities of the world in which refusals are tried, so
// that no refusal is about a missing token.
var everything = []endpoint.Capability{endpoint.Lifecycle, endpoint.Backup, endpoint.NodePower}

// Refusals returns acts that cannot be done: they are refused at once, or by a
// job that fails. Their texts are recorded, because they are what users read.
func Refusals() []Act {
	vm := func(change func(*pvesim.GuestSpec)) func(*World) { return func(w *World) { w.Change("vm", change) } }
	app := func(change func(*pvesim.GuestSpec)) func(*World) { return func(w *World) { w.Change("app", change) } }
	config := func(key string, value any) func(*pvesim.GuestSpec) {
		return func(s *pvesim.GuestSpec) { s.Config = map[string]any{key: value} }
	}
	running := func(s *pvesim.GuestSpec) { s.Status = pvesim.StatusRunning }
	migration := `{"target_host_id":{host},"node":"{other_node}"}`
	all := []Act{
		{Operation: "create_vm", Case: "everything wrong", Method: "POST", Path: "/vms", Body: `{"host_id":{host},"name":"-a_b","cores":900,
			"memory_mb":9000000,"disk_gb":900000,"storage":"none","bridge":"vmbr9","iso":"local:iso/none.iso","ostype":"dos","vmid":7}`},
		{Operation: "create_vm", Case: "numbers of nothing", Method: "POST", Path: "/vms",
			Body: `{"host_id":{host},"name":"a","cores":0,"memory_mb":-1,"disk_gb":0}`},
		{Operation: "create_vm", Case: "a node that is not there", Method: "POST", Path: "/vms",
			Body: `{"host_id":{host},"name":"a","node":"pve9"}`},
		{Operation: "create_vm", Case: "no room", Method: "POST", Path: "/vms",
			Body: `{"host_id":{host},"name":"a","disk_gb":100,"storage":"thick"}`, Before: (*World).thick},
		{Operation: "create_vm", Case: "a number that is taken", Method: "POST", Path: "/vms",
			Body: `{"host_id":{host},"name":"a","vmid":{vm_vmid}}`},
		{Operation: "create_vm", Case: "a host that is not there", Method: "POST", Path: "/vms", Body: `{"host_id":999,"name":"a"}`},
		{Operation: "upload_content", Case: "a name that is taken", Method: "POST", Path: "/storage/{host}/local/content", Media: formMedia,
			Body: form("installer.iso", "content", "iso")},
		{Operation: "upload_content", Case: "a wrong ending", Method: "POST", Path: "/storage/{host}/local/content", Media: formMedia,
			Body: form("a.exe")},
		{Operation: "upload_content", Case: "another content", Method: "POST", Path: "/storage/{host}/local/content", Media: formMedia,
			Body: form("a.iso", "content", "snippets")},
		{Operation: "upload_content", Case: "a storage for disks", Method: "POST", Path: "/storage/{host}/local-lvm/content", Media: formMedia,
			Body: form("a.iso", "content", "iso")},
		{Operation: "upload_content", Case: "a node that has it not", Method: "POST", Path: "/storage/{host}/local/content", Media: formMedia,
			Body: form("a.iso", "node", "pve9")},
		{Operation: "delete_vm", Case: "without confirmation", Method: "DELETE", Path: "/vms/{vm}"},
		{Operation: "delete_vm", Case: "another name", Method: "DELETE", Path: "/vms/{vm}", Body: `{"confirm":"app"}`},
		{Operation: "delete_vm", Case: "running", Method: "DELETE", Path: "/vms/{vm}", Body: `{"confirm":"vm"}`, Before: vm(running)},
		{Operation: "delete_vm", Case: "protected", Method: "DELETE", Path: "/vms/{vm}", Body: `{"confirm":"vm"}`,
			Before: vm(config("protection", 1))},
		{Operation: "delete_vm", Case: "locked", Method: "DELETE", Path: "/vms/{vm}", Body: `{"confirm":"vm"}`,
			Before: vm(func(s *pvesim.GuestSpec) { s.Lock = "backup" })},
		{Operation: "delete_vm", Case: "of high availability, which is not purged", Method: "DELETE", Path: "/vms/{vm}",
			Body: `{"confirm":"vm","purge":false}`, Before: vm(func(s *pvesim.GuestSpec) { s.HAManaged = true })},
		{Operation: "delete_vm", Case: "renamed meanwhile", Method: "DELETE", Path: "/vms/{vm}", Body: `{"confirm":"vm"}`,
			Before: vm(func(s *pvesim.GuestSpec) { s.Name = "other" })},
		{Operation: "delete_vm", Case: "another guest of its number", Method: "DELETE", Path: "/vms/{vm}", Body: `{"confirm":"vm"}`,
			Before: (*World).replaced},
		{Operation: "delete_vm", Case: "a plan of yesterday", Method: "DELETE", Path: "/vms/{vm}?plan_digest=0", Body: `{"confirm":"vm"}`},
		{Operation: "uninstall_app", Case: "without confirmation", Method: "DELETE", Path: "/apps/{app}"},
		{Operation: "uninstall_app", Case: "forget, without confirmation", Method: "DELETE", Path: "/apps/{app}", Body: `{"keep_ct":true}`},
		{Operation: "clone_vm", Case: "linked", Method: "POST", Path: "/vms/{vm}/clone", Body: `{"full":false}`},
		{Operation: "clone_vm", Case: "everything wrong", Method: "POST", Path: "/vms/{vm}/clone",
			Body: `{"name":"a_b","storage":"none","newid":7}`},
		{Operation: "clone_app", Case: "a node that is not there", Method: "POST", Path: "/apps/{app}/clone", Body: `{"target":"pve9"}`},
		{Operation: "reconfigure_vm", Case: "nothing", Method: "PATCH", Path: "/vms/{vm}", Body: `{}`},
		{Operation: "reconfigure_vm", Case: "everything wrong", Method: "PATCH", Path: "/vms/{vm}",
			Body: `{"cores":900,"balloon_mb":9000,"name":"a_b","disks":{"scsi0":{"size_gb":1},"scsi9":{"size_gb":9}}}`},
		{Operation: "reconfigure_vm", Case: "changed meanwhile", Method: "PATCH", Path: "/vms/{vm}",
			Body: `{"cores":2,"digest":"0123456789012345678901234567890123456789"}`},
		{Operation: "reconfigure_vm", Case: "locked", Method: "PATCH", Path: "/vms/{vm}", Body: `{"cores":2}`,
			Before: vm(func(s *pvesim.GuestSpec) { s.Lock = "backup" })},
		{Operation: "reconfigure_app", Case: "no room", Method: "PATCH", Path: "/apps/{app}", Body: `{"disks":{"rootfs":{"size_gb":100}}}`,
			Before: func(w *World) {
				w.thick()
				_ = w.RemoveGuest(w.VMID("app"))
				w.Exec("DELETE FROM apps")
				w.AddApp("app", pvesim.GuestSpec{Storage: "thick"})
			}},
		{Operation: "set_vm_drive", Case: "a disk", Method: "PUT", Path: "/vms/{vm}/drives/scsi0", Body: `{"image":null}`},
		{Operation: "set_vm_drive", Case: "one that is not there", Method: "PUT", Path: "/vms/{vm}/drives/ide3", Body: `{"image":null}`},
		{Operation: "set_vm_drive", Case: "an image that is not there", Method: "PUT", Path: "/vms/{vm}/drives/ide2",
			Body: `{"image":"local:iso/none.iso"}`, Before: (*World).drive},
		{Operation: "change_vm_nic", Case: "addresses", Method: "PUT", Path: "/vms/{vm}/network/net0", Body: `{"ip":"10.0.0.5/24"}`},
		{Operation: "change_vm_nic", Case: "one that is not there", Method: "PUT", Path: "/vms/{vm}/network/net7", Body: `{"tag":5}`},
		{Operation: "change_app_nic", Case: "everything wrong", Method: "PUT", Path: "/apps/{app}/network/net0",
			Body: `{"ip":"10.0.0.5/24","gw":"10.9.0.1","ip6":"10.0.0.1","bridge":"vmbr9"}`},
		{Operation: "change_vm_options", Case: "unknown", Method: "PUT", Path: "/vms/{vm}/options", Body: `{"onbot":true}`},
		{Operation: "get_app_logs", Case: "always", Method: "GET", Path: "/apps/{app}/logs"},
		{Operation: "list_app_ports", Case: "without consent to SSH", Method: "GET", Path: "/apps/{app}/ports"},
		{Operation: "migrate_vm", Case: "where it is", Method: "POST", Path: "/vms/{vm}/migrate",
			Body: `{"target_host_id":{host},"node":"{node}"}`},
		{Operation: "migrate_vm", Case: "an image of its node", Method: "POST", Path: "/vms/{vm}/migrate", Body: migration,
			Before: vm(config("ide2", "local:iso/installer.iso,media=cdrom"))},
		{Operation: "migrate_vm", Case: "a device of its node", Method: "POST", Path: "/vms/{vm}/migrate", Body: migration,
			Before: vm(config("hostpci0", "0000:01:00.0"))},
		{Operation: "migrate_app", Case: "a directory of its node", Method: "POST", Path: "/apps/{app}/migrate", Body: migration,
			Before: app(config("mp0", "/srv/share,mp=/share"))},
		{Operation: "run_backups", Case: "a storage without backups", Method: "POST", Path: "/backups/run",
			Body: `{"targets":[{"vm":{vm}}],"storage":"local-lvm"}`},
		{Operation: "run_backups", Case: "nobody", Method: "POST", Path: "/backups/run", Body: `{"targets":[{"vm":999}],"storage":"local"}`},
		{Operation: "restore_backup", Case: "over a running guest", Method: "POST", Path: "/backups/{backup}/restore",
			Body: `{"over":true,"confirm":"vm"}`, Before: func(w *World) { w.backup(); w.Running("vm") }},
		{Operation: "restore_backup", Case: "over, without confirmation", Method: "POST", Path: "/backups/{backup}/restore",
			Body: `{"over":true}`, Before: (*World).backup},
		{Operation: "delete_backup", Case: "without confirmation", Method: "DELETE", Path: "/backups/{backup}", Before: (*World).backup},
		{Operation: "attach_storage", Case: "keys that are wrong", Method: "POST", Path: "/storage",
			Body: `{"host_id":{host},"storage":"made","type":"nfs","config":{"path":"/x","port":5}}`, Before: (*World).undefined},
		{Operation: "attach_storage", Case: "a volume group that is not there", Method: "POST", Path: "/storage",
			Body: `{"host_id":{host},"storage":"made","type":"lvm","config":{"vgname":"none"}}`, Before: (*World).undefined},
		{Operation: "attach_storage", Case: "a name that is taken", Method: "POST", Path: "/storage",
			Body: `{"host_id":{host},"storage":"nas","type":"dir","config":{"path":"/x"}}`},
		{Operation: "edit_storage", Case: "stale", Method: "PATCH", Path: "/storage/{host}/made", Before: (*World).defined,
			Body: `{"config":{"disable":true},"digest":"0000000000000000000000000000000000000000"}`},
		{Operation: "edit_storage", Case: "one that is not there", Method: "PATCH", Path: "/storage/{host}/none",
			Body: `{"config":{"disable":true}}`},
		{Operation: "detach_storage", Case: "without confirmation", Method: "DELETE", Path: "/storage/{host}/made", Before: (*World).defined},
		{Operation: "create_bridge", Case: "settings that are wrong", Method: "POST", Path: "/network/bridges", Before: staged(),
			Body: `{"host_id":{host},"node":"pve1","iface":"vmbr5","config":{"cidr":"10.5.0.0/24","ports":["eno1","eno9"],"mtu":9,"x":1}}`},
		{Operation: "create_bridge", Case: "a name that is taken", Method: "POST", Path: "/network/bridges", Before: staged("vmbr5"),
			Body: `{"host_id":{host},"node":"pve1","iface":"vmbr5"}`},
		{Operation: "create_bridge", Case: "an address that the hypervisor does not take", Method: "POST", Path: "/network/bridges",
			Body:   `{"host_id":{host},"node":"pve1","iface":"vmbr5","config":{"cidr6":"2001:db8:1::1/64"}}`,
			Before: staged()},
		{Operation: "delete_bridge", Case: "a NIC", Method: "DELETE", Path: "/network/bridges/{host}/pve1/eno1", Before: staged()},
		{Operation: "apply_network", Case: "without confirmation", Method: "POST", Path: "/network/{host}/pve1/apply", Before: staged("vmbr5")},
		{Operation: "apply_network", Case: "nothing staged", Method: "POST", Path: "/network/{host}/pve1/apply", Before: staged(),
			Body: `{"confirm":"pve1"}`},
		{Operation: "enrol_peers", Case: "one that is away", Method: "POST", Path: "/hosts/{host}/peers", Body: `{"nodes":["{other_node}"]}`,
			Before: func(w *World) { w.off("pve2") }},
		{Operation: "enrol_peers", Case: "its own node, and none", Method: "POST", Path: "/hosts/{host}/peers",
			Body: `{"nodes":["{node}","pve9"]}`},
		{Operation: "power_node", Case: "without confirmation", Method: "POST", Path: "/hosts/{host}/nodes/pve2/power",
			Body: `{"command":"reboot"}`},
		{Operation: "power_node", Case: "a node that is away", Method: "POST", Path: "/hosts/{host}/nodes/pve2/power",
			Body: `{"command":"reboot","confirm":"pve2"}`, Before: func(w *World) { w.off("pve2") }},
		{Operation: "get_node_hardware", Case: "a node that is away", Method: "GET", Path: "/hosts/{host}/nodes/pve2/hardware",
			Before: func(w *World) { w.off("pve2") }},
		{Operation: "get_node_hardware", Case: "a node that is not there", Method: "GET", Path: "/hosts/{host}/nodes/pve9/hardware"},
		{Operation: "delete_storage_volume", Case: "a VM's disk", Method: "DELETE", Body: `{"confirm":"x"}`,
			Path: "/storage/{host}/local-lvm/content/local-lvm:vm-{vm_vmid}-disk-0?node={node}"},
		{Operation: "download_storage_content", Case: "a server that does not answer", Method: "POST",
			Path: "/storage/{host}/made/content/download", Body: `{"url":"https://files.invalid/new.iso","content":"iso"}`,
			Before: (*World).defined},
		{Operation: "delete_backup", Case: "protected", Method: "DELETE", Path: "/backups/{backup}", Body: `{"confirm":"vm"}`,
			Before: func(w *World) { w.backup(); w.want("PATCH", "/backups/{backup}", `{"protected":true}`, 200) }},
		{Operation: "act_on_guests", Case: "some of them", Method: "POST", Path: "/guests/actions",
			Body: `{"action":"pause","targets":[{"app":{app}},{"vm":999}]}`},
		{Operation: "act_on_vm", Case: "locked", Method: "POST", Path: "/vms/{vm}/start",
			Before: vm(func(s *pvesim.GuestSpec) { s.Lock = "migrate" })},
		{Operation: "act_on_vm", Case: "its bridge is gone", Method: "POST", Path: "/vms/{vm}/start",
			Before: vm(func(s *pvesim.GuestSpec) { s.BridgeMissing = "vmbr9" })},
		{Operation: "act_on_vm", Case: "moved meanwhile to a node that is off", Method: "POST", Path: "/vms/{vm}/start",
			Before: func(w *World) {
				w.moved("vm")
				w.off("pve2")
			}},
		{Operation: "migrate_vm", Case: "to a node that is off, without a quorum", Method: "POST", Path: "/vms/{vm}/migrate", Body: migration,
			Before: func(w *World) { w.off("pve2"); w.Sync() }},
		{Operation: "create_vm", Case: "on a node that is off", Method: "POST", Path: "/vms",
			Body: `{"host_id":{host},"name":"a","node":"pve2"}`, Before: func(w *World) { w.off("pve2"); w.Sync() }},
		{Operation: "create_vm_snapshot", Case: "its storage is full", Method: "POST", Path: "/vms/{vm}/snapshots", Body: `{"name":"now"}`,
			Before: vm(func(s *pvesim.GuestSpec) { s.SnapshotError = "out of space" })},
		{Operation: "rollback_vm_snapshot", Case: "without confirmation", Method: "POST", Path: "/vms/{vm}/snapshots/before/rollback",
			Before: withSnapshot("vm")},
		{Operation: "rollback_vm_snapshot", Case: "one that is not there", Method: "POST", Path: "/vms/{vm}/snapshots/never/rollback",
			Body: `{"confirm":"vm"}`},
		{Operation: "create_host", Case: "a paste of which one token is wrong", Method: "POST", Path: "/hosts",
			Before: func(w *World) { w.unenrolled(); w.mispasted() },
			Body:   `{"name":"lab","address":"{address}","tls_fingerprint":"{fingerprint}","paste":"{wrong_paste}"}`},
		{Operation: "create_host", Case: "a paste that is cut off", Method: "POST", Path: "/hosts", Before: (*World).unenrolled,
			Body: `{"name":"lab","address":"{address}","tls_fingerprint":"{fingerprint}","paste":"token id: service@pve!monitoring\n"}`},
		{Operation: "rotate_host_credentials", Case: "a paste of which one token is wrong", Method: "POST", Path: "/hosts/{host}/credentials",
			Before: (*World).mispasted, Body: `{"paste":"{wrong_paste}"}`},
		{Operation: "create_host", Case: "an SSH key without consent", Method: "POST", Path: "/hosts", Before: (*World).unenrolled,
			Body: `{"name":"lab","address":"{address}","tls_fingerprint":"{fingerprint}","token_id":"{token}","token_secret":"{secret}",
				"ssh_enroll":true}`},
		{Operation: "rotate_host_credentials", Case: "an SSH key without consent", Method: "POST", Path: "/hosts/{host}/credentials",
			Body: `{"rotate_ssh":true}`},
		{Operation: "verify_host_ssh", Case: "without consent", Method: "POST", Path: "/hosts/{host}/ssh/verify"},
		{Operation: "verify_host_ssh", Case: "without a key", Method: "POST", Path: "/hosts/{host}/ssh/verify", Before: func(w *World) {
			w.want(http.MethodPost, "/hosts/{host}/credentials", `{"rotate_ssh":true,"ssh_consent":true}`, http.StatusOK)
			w.Exec("DELETE FROM host_ssh_keys")
		}},
		{Operation: "probe_host", Case: "another certificate", Method: "POST", Path: "/hosts/probe",
			Body: `{"address":"{address}","token_id":"{token}","token_secret":"{secret}"}`},
	}
	all = slices.Concat(all, stateRefusals(), guestRefusals(), requestRefusals(), migrationRefusals())
	for i := range all {
		all[i].Tokens = everything
	}
	return all
}

// off switches a node off. With one of two nodes the cluster has no quorum.
func (w *World) off(node string) {
	w.t.Helper()
	if err := w.SetNodeOnline(node, false); err != nil {
		w.t.Fatal(err)
	}
}

// replaced puts another VM in the place of the VM, without the service having seen it.
func (w *World) replaced() {
	w.t.Helper()
	id := w.VMID("vm")
	if err := w.RemoveGuest(id); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.AddGuest(pvesim.GuestSpec{VMID: id, Name: "newcomer"}); err != nil {
		w.t.Fatal(err)
	}
}

// passing replaces the parts of responses that differ each time, such as times,
// IDs and fingerprints.
var passing = []struct {
	part *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`,"request_id":"[A-Z0-9]*"`), ""},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`), "TIME"},
	{regexp.MustCompile(`\d{4}_\d\d_\d\d-\d\d_\d\d_\d\d`), "TIME"}, // in the name of a backup
	{regexp.MustCompile(`(?:[0-9A-F]{2}:){31}[0-9A-F]{2}`), "SHA256"},
	{regexp.MustCompile(`"days_left":\d+`), `"days_left":DAYS`},
	// Whether the making of the guest counts is a question of the second.
	{regexp.MustCompile(`; at that time another task was working on the guest: \S+ by root@pam since \S+ UTC \(\S+\)`), ""},
	{regexp.MustCompile(`"digest":"[0-9a-f.]+"`), `"digest":"…"`},
	{regexp.MustCompile(`job \d+ (\(|has ended)`), "job N $1"},
	{regexp.MustCompile(`"target_host_id":\d+`), `"target_host_id":N`},
	{regexp.MustCompile(`"(job|vm|app)":\d+`), `"$1":N`},
	{regexp.MustCompile(`UPID:[^"\s)]*`), "UPID"},
}

// StableText is how an act ended, in words that are the same each time.
func (d Outcome) StableText() string {
	text := fmt.Sprintf("    %d %s\n", d.Status, bytes.TrimSpace(d.Body))
	if len(d.Jobs) > 0 {
		text = fmt.Sprintf("    %d\n", d.Status)
	}
	for _, j := range slices.Backward(d.Jobs) {
		text += fmt.Sprintf("    job %s %s: %s\n", j.Kind, j.Status, j.Error)
	}
	for _, p := range passing {
		text = p.part.ReplaceAllString(text, p.as)
	}
	return text
}

// thick gives the cluster a storage whose disks take all of their room at once.
func (w *World) thick() { w.AddStorage(pvesim.StorageSpec{ID: "thick", Plugin: "lvm", Size: 50 << 30}) }
