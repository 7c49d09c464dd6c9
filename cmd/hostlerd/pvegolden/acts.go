package pvegolden

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
)

var (
	lifecycle = []endpoint.Capability{endpoint.Lifecycle}
	backups   = []endpoint.Capability{endpoint.Backup}
	consoles  = []endpoint.Capability{endpoint.Console}
)

// task leaves a task at the hypervisor.
func (w *World) task() {
	w.t.Helper()
	id, err := w.StartTask("pve1", "root@pam", "vzdump", "", 0, "OK", "a line")
	if err != nil {
		w.t.Fatal(err)
	}
	w.vars["task"] = id
}

// unenrolled removes the host.
func (w *World) unenrolled() {
	w.t.Helper()
	w.want(http.MethodDelete, "/hosts/{host}", `{"confirm":"lab","forget_apps":true}`, http.StatusOK)
}

// mispasted makes a paste in which the token for backups is wrong.
func (w *World) mispasted() {
	w.t.Helper()
	secret := w.Tokens()[string(endpoint.Backup)].Secret
	w.vars["wrong_paste"] = strings.ReplaceAll(w.vars["paste"], secret, "00000000-0000-4000-8000-000000000000")
}

// failedJob leaves a job that failed, and what it failed for is no longer so.
func (w *World) failedJob() {
	w.t.Helper()
	w.Change("vm", func(g *pvesim.GuestSpec) { g.Lock = "backup" })
	w.vars["job"] = fmt.Sprint(w.ended(w.want(http.MethodPost, "/vms/{vm}/start", "", http.StatusAccepted))[0].ID)
	w.Change("vm", func(g *pvesim.GuestSpec) { g.Lock = "" })
}

// drive gives the VM an empty CD/DVD drive.
func (w *World) drive() {
	w.Change("vm", func(g *pvesim.GuestSpec) { g.Config = map[string]any{"ide2": "none,media=cdrom"} })
}

// failedInstall leaves a job that has failed, and the container that its scripts have made.
func (w *World) failedInstall() {
	w.t.Helper()
	const mark = "hostler-job-0123456789abcdef"
	w.want(http.MethodDelete, "/apps/{app}", `{"confirm":"app","keep_ct":true}`, http.StatusOK)
	w.Change("app", func(g *pvesim.GuestSpec) { g.Tags = mark })
	w.Exec(`INSERT INTO jobs (kind, status, team_id, host_id, target_kind, target_id, target_name, params, finished_at)
		SELECT 'app.install', 'failed', 1, id, 'host', id, name, jsonb_build_object('host_id', id, 'cluster_id', cluster_id, 'mark', $1::text),
		now() FROM hosts ORDER BY id LIMIT 1`, mark)
	w.vars["job"] = w.Value("SELECT max(id) FROM jobs")
}

// longJob leaves a job whose task runs until it is stopped.
func (w *World) longJob() {
	w.t.Helper()
	w.SetTaskDuration(time.Hour)
	w.begin(http.MethodPost, "/vms/{vm}/start", "")
	waittest.Until(w.t, "the job's task is known", func() bool {
		return w.Value("SELECT task_id FROM jobs WHERE id = $1", w.vars["job"]) != ""
	})
}

// begin asks for a job, whose id stands in braces from now on.
func (w *World) begin(method, path, body string) {
	w.t.Helper()
	var told struct{ Job job.View }
	if err := json.Unmarshal(w.want(method, path, body, http.StatusAccepted).Body, &told); err != nil {
		w.t.Fatal(err)
	}
	w.vars["job"] = fmt.Sprint(told.Job.ID)
}

// schedule leaves a schedule that starts the VM.
func (w *World) schedule() {
	w.t.Helper()
	w.Exec("DELETE FROM schedules WHERE name = 'start'")
	w.want(http.MethodPost, "/schedules", `{"name":"start","cron":"0 1 1 1 *","job_kind":"vm.start","params":{"vm_id":{vm}}}`,
		http.StatusCreated)
	w.vars["schedule"] = w.Value("SELECT id FROM schedules WHERE name = 'start'")
}

// shells switches node shells on.
func (w *World) shells() {
	w.t.Helper()
	w.want(http.MethodPatch, "/hosts/{host}", `{"node_shell_enabled":true}`, http.StatusOK)
	w.grant("ServiceConsole", "Sys.Console") // who opts in grants it
}

// backup leaves a backup of the VM that the service knows.
func (w *World) backup() { w.backupOf("vm") }

// backupOf does that for a guest.
func (w *World) backupOf(name string) {
	w.t.Helper()
	w.backups++ // each at a second of its own, so that plans always list them in the same order
	taken := time.Now().Add(-24*time.Hour + time.Duration(w.backups)*time.Second)
	id, err := w.AddBackup(pvesim.BackupSpec{VMID: w.VMID(name), Taken: taken})
	if err != nil {
		w.t.Fatal(err)
	}
	w.Exec("UPDATE backup_storages SET tried_at = NULL") // else it is listed once an hour
	if err := w.Service.Backups.Turn(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.vars["backup_storage"] = strings.Split(id, ":")[0]
	w.vars["backup"] = w.Value("SELECT id FROM backups WHERE ref = $1", id)
}

// leaves brings a guest to where it can go to another cluster: it runs, and both clusters list a backup.
func (w *World) leaves(name string) {
	w.t.Helper()
	w.far()
	w.Running(name)
	if _, err := w.AddBackup(pvesim.BackupSpec{Storage: "archive", VMID: 900}); err != nil {
		w.t.Fatal(err)
	}
}

// undefined makes sure that there is no storage named made, and defined that there is one as it comes.
func (w *World) undefined() {
	w.t.Helper()
	w.DropStorage("made")
	w.Sync()
}

// defined makes sure that a storage named made exists.
func (w *World) defined() {
	w.t.Helper()
	w.storage("made", "iso")
}

// storage gives the world a shared storage as it comes.
func (w *World) storage(name, content string) {
	w.t.Helper()
	w.DropStorage(name)
	w.AddStorage(pvesim.StorageSpec{ID: name, Plugin: "nfs", Shared: true, Content: content})
	w.Sync()
}

// staged stages bridges on the first node, and nothing else, before an act.
func staged(bridges ...string) func(*World) {
	return func(w *World) {
		if err := w.StageInterfaces("pve1", bridges...); err != nil {
			w.t.Fatal(err)
		}
	}
}

// withSnapshot gives a guest a snapshot before an act.
func withSnapshot(name string) func(*World) { return func(w *World) { w.Snapshot(name, "before") } }

// powerStates are the lifecycle actions by the state that they need, for VMs and then for containers.
var powerStates = []struct {
	action string
	status string
	vmOnly bool
}{
	{"start", pvesim.StatusStopped, false}, {"stop", pvesim.StatusRunning, false}, {"shutdown", pvesim.StatusRunning, false},
	{"restart", pvesim.StatusRunning, false}, {"pause", pvesim.StatusRunning, true}, {"resume", pvesim.StatusPaused, true},
	{"reset", pvesim.StatusRunning, true},
}

// disks are the keys of the guests' first disks.
var disks = map[string]string{"vm": "scsi0", "app": "rootfs"}

// newDisks are bodies that add a disk.
var newDisks = map[string]string{
	"vm":  `{"disks":{"scsi5":{"size_gb":4,"storage":"local-lvm"}}}`,
	"app": `{"disks":{"mp5":{"size_gb":4,"storage":"local-lvm","path":"/data"}}}`,
}

// Acts returns an act for every operation that sends requests to the
// hypervisor. A test fails if an operation has none.
func Acts() []Act {
	acts := []Act{
		{Operation: "create_vm", Tokens: lifecycle, Method: "POST", Path: "/vms",
			Body: `{"host_id":{host},"name":"made","iso":"local:iso/installer.iso"}`, Most: 8},
		{Operation: "reconfigure_vm", Case: "all there is", Tokens: lifecycle, Method: "PATCH", Path: "/vms/{vm}",
			Body: `{"cores":4,"sockets":2,"memory_mb":4096,"balloon_mb":1024,"cpu_type":"host","name":"renamed","description":"text",
				"tags":["web"]}`},
		{Operation: "set_vm_drive", Tokens: lifecycle, Method: "PUT", Path: "/vms/{vm}/drives/ide2",
			Body: `{"image":"local:iso/installer.iso"}`, Before: (*World).drive},
		{Operation: "set_vm_drive", Case: "eject", Tokens: lifecycle, Method: "PUT", Path: "/vms/{vm}/drives/ide2",
			Body: `{"image":null}`, Before: (*World).drive},
		{Operation: "create_vm", Case: "and start it", Tokens: lifecycle, Method: "POST", Path: "/vms",
			Body: `{"host_id":{host},"name":"made","start":true}`},
		{Operation: "delete_vm", Tokens: lifecycle, Method: "DELETE", Path: "/vms/{vm}", Body: `{"confirm":"vm"}`},
		{Operation: "discard_install", Tokens: lifecycle, Method: "DELETE", Path: "/catalog/installs/{job}", Body: `{"confirm":"app"}`,
			Before: (*World).failedInstall},
		{Operation: "uninstall_app", Tokens: lifecycle, Method: "DELETE", Path: "/apps/{app}", Body: `{"confirm":"app"}`},
		{Operation: "act_on_guests", Tokens: lifecycle, Method: "POST", Path: "/guests/actions",
			Body: `{"action":"start","targets":[{"vm":{vm}},{"app":{app}}]}`},
		{Operation: "create_vm_console_ticket", Tokens: consoles, Method: "POST", Path: "/vms/{vm}/console/tickets",
			Before: func(w *World) { w.Running("vm") }},
		{Operation: "create_app_console_ticket", Tokens: consoles, Method: "POST", Path: "/apps/{app}/console/tickets",
			Before: func(w *World) { w.Running("app") }},
		{Operation: "create_node_shell_ticket", Tokens: consoles, Method: "POST", Path: "/hosts/{host}/shell/tickets",
			Before: (*World).shells},
		{Operation: "sync_host", Method: "POST", Path: "/hosts/{host}/sync"},
		{Operation: "test_host", Method: "POST", Path: "/hosts/{host}/test"},
		{Operation: "list_host_tasks", Method: "GET", Path: "/hosts/{host}/tasks", Most: 1, First: true},
		{Operation: "get_host_task_log", Method: "GET", Path: "/hosts/{host}/tasks/{task}/log", Before: (*World).task},
		{Operation: "probe_host", Method: "POST", Path: "/hosts/probe",
			Body: `{"address":"{address}","tls_fingerprint":"{fingerprint}","token_id":"{token}","token_secret":"{secret}"}`},
		{Operation: "create_host", Method: "POST", Path: "/hosts", Before: (*World).unenrolled,
			Body: `{"name":"lab","address":"{address}","tls_fingerprint":"{fingerprint}","token_id":"{token}","token_secret":"{secret}"}`},
		{Operation: "probe_host", Case: "a paste of all tokens", Method: "POST", Path: "/hosts/probe",
			Body: `{"address":"{address}","tls_fingerprint":"{fingerprint}","paste":"{paste}"}`, Most: 17},
		{Operation: "create_host", Case: "by a paste of all tokens", Method: "POST", Path: "/hosts", Before: (*World).unenrolled,
			Body: `{"name":"lab","address":"{address}","tls_fingerprint":"{fingerprint}","paste":"{paste}"}`},
		{Operation: "rotate_host_credentials", Case: "by a paste of all tokens", Method: "POST", Path: "/hosts/{host}/credentials",
			Body: `{"paste":"{paste}"}`},
		{Operation: "patch_host", Method: "PATCH", Path: "/hosts/{host}", Body: `{"tls_fingerprint":"{fingerprint}"}`},
		{Operation: "rotate_host_credentials", Method: "POST", Path: "/hosts/{host}/credentials",
			Body: `{"capability":"monitoring","token_id":"{token}","token_secret":"{secret}"}`},
		{Operation: "retry_job", Tokens: lifecycle, Method: "POST", Path: "/jobs/{job}/retry", Before: (*World).failedJob},
		{Operation: "cancel_job", Tokens: lifecycle, Method: "POST", Path: "/jobs/{job}/cancel", Before: (*World).longJob, Ends: job.Canceled,
			Long: true},
		{Operation: "run_schedule", Tokens: lifecycle, Method: "POST", Path: "/schedules/{schedule}/run", Before: (*World).schedule},
		{Operation: "run_backups", Tokens: backups, Method: "POST", Path: "/backups/run", Before: (*World).backup,
			Body: `{"targets":[{"vm":{vm}},{"app":{app}}],"storage":"{backup_storage}"}`},
		{Operation: "restore_backup", Tokens: backups, Method: "POST", Path: "/backups/{backup}/restore", Body: `{"name":"restored"}`,
			Before: (*World).backup},
		{Operation: "restore_backup", Case: "over the guest", Tokens: backups, Method: "POST", Path: "/backups/{backup}/restore",
			Body: `{"over":true,"confirm":"vm"}`, Before: (*World).backup},
		{Operation: "delete_backup", Tokens: backups, Method: "DELETE", Path: "/backups/{backup}", Body: `{"confirm":"vm"}`,
			Before: (*World).backup},
		{Operation: "get_vm_options", Method: "GET", Path: "/vms/{vm}/options"},
		{Operation: "change_vm_options", Tokens: lifecycle, Method: "PUT", Path: "/vms/{vm}/options",
			Body: `{"enable":1,"onboot":true}`},
		{Operation: "change_vm_options", Case: "cloud-init", Tokens: lifecycle, Method: "PUT", Path: "/vms/{vm}/options",
			Body: `{"ciuser":"admin","nameserver":"192.0.2.53"}`},
		{Operation: "update_backup", Tokens: backups, Method: "PATCH", Path: "/backups/{backup}",
			Body: `{"protected":true}`, Before: (*World).backup, Most: 1},
		{Operation: "get_storage", Method: "GET", Path: "/storage/{host}/nas", Most: 1},
		{Operation: "list_storage_types", Method: "GET", Path: "/storage/{host}/types"},
		{Operation: "attach_storage", Tokens: lifecycle, Method: "POST", Path: "/storage", Before: (*World).undefined,
			Body: `{"host_id":{host},"storage":"made","type":"nfs","config":{"server":"192.0.2.30","export":"/srv","content":["iso"]}}`, Most: 2},
		{Operation: "edit_storage", Tokens: lifecycle, Method: "PATCH", Path: "/storage/{host}/made", Before: (*World).defined,
			Body: `{"config":{"content":["iso","images"]}}`, Most: 4},
		{Operation: "detach_storage", Tokens: lifecycle, Method: "DELETE", Path: "/storage/{host}/made", Before: (*World).defined,
			Body: `{"confirm":"made"}`, Most: 3},
		{Operation: "list_storage_content", Tokens: lifecycle, Method: "GET", Path: "/storage/{host}/nas/content", Most: 2,
			Why: "of disks and backups the list leaves out, without a word, what the token may not use: only its rights tell that"},
		{Operation: "list_storage_content", Case: "images, without lifecycle", Method: "GET", Path: "/storage/{host}/local/content?content=iso",
			Most: 1},
		{Operation: "delete_storage_volume", Tokens: lifecycle, Method: "DELETE", Body: `{"confirm":"deleted.iso"}`,
			Path: "/storage/{host}/nas/content/nas:iso/deleted.iso", Before: func(w *World) { w.AddImage("nas", "iso", "deleted.iso", 1<<20) }},
		{Operation: "download_storage_content", Tokens: lifecycle, Method: "POST", Path: "/storage/{host}/made/content/download",
			Body: `{"url":"https://files.example.com/new.iso","content":"iso"}`, Before: (*World).defined},
		{Operation: "list_storage_templates", Tokens: lifecycle, Method: "GET", Path: "/storage/{host}/nas/templates", Most: 2,
			Why: "one list has what can be fetched, the other what is there already"},
		{Operation: "fetch_storage_template", Tokens: lifecycle, Method: "POST", Path: "/storage/{host}/templated/templates",
			Body:   `{"template":"alpine-3.22-default_20250617_amd64.tar.xz"}`,
			Before: func(w *World) { w.storage("templated", "vztmpl") }},
		{Operation: "upload_content", Tokens: lifecycle, Method: "POST", Path: "/storage/{host}/local/content", Media: formMedia,
			Body: form("small.iso", "overwrite", "true")},
		{Operation: "list_peers", Method: "GET", Path: "/hosts/{host}/peers", Most: 5,
			Why: "besides the nodes it tells whether their host can be enrolled with this token: its release, rights and end, and each node's " +
				"address and certificate"},
		{Operation: "enrol_peers", Method: "POST", Path: "/hosts/{host}/peers", Body: `{"nodes":["{other_node}"]}`},
		{Operation: "power_node", Tokens: []endpoint.Capability{endpoint.NodePower}, Method: "POST", Path: "/hosts/{host}/nodes/pve2/power",
			Body: `{"command":"shutdown","confirm":"pve2"}`, Before: func(w *World) { w.Service.Power.OffTime = time.Millisecond }},
		// Nothing is dialled of what does not run.
		{Operation: "resolve_app_web_url", Method: "GET", Path: "/apps/{app}/web-url", Most: 2, Before: func(w *World) {
			w.Change("app", func(g *pvesim.GuestSpec) { g.Status = pvesim.StatusStopped })
			w.Exec("UPDATE apps SET web_port = 8080")
		}},
		{Operation: "get_node_hardware", Method: "GET", Path: "/hosts/{host}/nodes/pve1/hardware", Most: 7},
		{Operation: "get_node_status", Method: "GET", Path: "/hosts/{host}/nodes/pve1/status"},
		{Operation: "get_placement", Method: "GET", Path: "/hosts/{host}/nodes/pve1/placement", Most: 3},
		{Operation: "list_bridges", Method: "GET", Path: "/network/bridges", Before: staged(), Most: 2,
			Why: "one for each of two nodes: the hypervisor has no list of the networks of all, and none is kept of what is staged"},
		{Operation: "create_bridge", Tokens: lifecycle, Method: "POST", Path: "/network/bridges", Before: staged(), Most: 3,
			Body: `{"host_id":{host},"node":"pve1","iface":"vmbr5","config":{"cidr":"10.5.0.1/24","autostart":true}}`},
		{Operation: "edit_bridge", Tokens: lifecycle, Method: "PUT", Path: "/network/bridges/{host}/pve1/vmbr5",
			Body: `{"config":{"mtu":1400,"comment":"changed"}}`, Before: staged("vmbr5"), Most: 3},
		{Operation: "delete_bridge", Tokens: lifecycle, Method: "DELETE", Path: "/network/bridges/{host}/pve1/vmbr5",
			Before: staged("vmbr5"), Most: 3},
		{Operation: "apply_network", Tokens: lifecycle, Method: "POST", Path: "/network/{host}/pve1/apply", Before: staged("vmbr5"),
			Body: `{"confirm":"pve1"}`},
		{Operation: "revert_network", Tokens: lifecycle, Method: "POST", Path: "/network/{host}/pve1/revert", Before: staged("vmbr5"), Most: 2},
	}
	for _, on := range []string{"vm", "app"} {
		path := "/" + on + "s/{" + on + "}"
		for _, s := range powerStates {
			if s.vmOnly && on == "app" {
				continue
			}
			acts = append(acts, Act{Operation: "act_on_" + on, Case: s.action, Tokens: lifecycle, Method: "POST", Path: path + "/" + s.action,
				Most:   3,
				Before: func(w *World) { w.Change(on, func(g *pvesim.GuestSpec) { g.Status = s.status }) }})
		}
		acts = append(acts,
			Act{Operation: "clone_" + on, Tokens: lifecycle, Method: "POST", Path: path + "/clone", Body: `{"name":"copy"}`},
			Act{Operation: "reconfigure_" + on, Tokens: lifecycle, Method: "PATCH", Path: path, Body: `{"cores":4,"memory_mb":4096}`},
			Act{Operation: "reconfigure_" + on, Case: "a disk", Tokens: lifecycle, Method: "PATCH", Path: path,
				Body: `{"disks":{"` + disks[on] + `":{"size_gb":40}}}`},
			Act{Operation: "reconfigure_" + on, Case: "a new disk", Tokens: lifecycle, Method: "PATCH", Path: path, Body: newDisks[on]},
			Act{Operation: "list_" + on + "_nics", Method: "GET", Path: path + "/network", Most: 2,
				Why: "the configuration has the NICs, and only the inside of a guest that runs their addresses", Before: func(w *World) {
					w.Change(on, func(g *pvesim.GuestSpec) { g.Status, g.Agent = pvesim.StatusRunning, on == "vm" })
				}},
			Act{Operation: "change_" + on + "_nic", Tokens: lifecycle, Method: "PUT", Path: path + "/network/net0",
				Body: `{"tag":20,"firewall":true}`},
			Act{Operation: "change_" + on + "_nic", Case: "a new NIC", Tokens: lifecycle, Method: "PUT", Path: path + "/network/net5",
				Body: `{"bridge":"vmbr0","tag":20,"firewall":true}`},
			Act{Operation: "check_" + on + "_migration", Tokens: lifecycle, Method: "POST", Path: path + "/migrate/preflight",
				Body: `{"target_host_id":{host},"node":"{other_node}"}`},
			Act{Operation: "migrate_" + on, Case: "to another cluster", First: true,
				Tokens: []endpoint.Capability{endpoint.Lifecycle, endpoint.Backup},
				Method: "POST", Path: path + "/migrate", Body: `{"target_host_id":{far},"node":"pve2","confirm":"` + on + `"}`,
				Before: func(w *World) { w.leaves(on) }},
			Act{Operation: "migrate_" + on, Tokens: lifecycle, Method: "POST", Path: path + "/migrate",
				Body: `{"target_host_id":{host},"node":"{other_node}"}`},
			Act{Operation: "get_" + on + "_config", Method: "GET", Path: path + "/config", Most: 1},
			Act{Operation: "list_" + on + "_snapshots", Method: "GET", Path: path + "/snapshots", Before: withSnapshot(on), Most: 1},
			Act{Operation: "create_" + on + "_snapshot", Tokens: lifecycle, Method: "POST", Path: path + "/snapshots", Body: `{"name":"now"}`},
			Act{Operation: "delete_" + on + "_snapshot", Tokens: lifecycle, Method: "DELETE", Path: path + "/snapshots/before",
				Before: withSnapshot(on)},
			Act{Operation: "rollback_" + on + "_snapshot", Tokens: lifecycle, Method: "POST", Path: path + "/snapshots/before/rollback",
				Body: `{"confirm":"` + on + `"}`, Before: withSnapshot(on)},
		)
	}
	return append(acts, firewallActs()...)
}

// formMedia is the media type of what form gives.
const formMedia = "multipart/form-data; boundary=edge"

// form is a form with fields, by name and value, and then a small file of a name.
func form(file string, fields ...string) string {
	const edge = "--edge\r\nContent-Disposition: form-data; name="
	var text strings.Builder
	for i := 0; i+1 < len(fields); i += 2 {
		fmt.Fprintf(&text, "%s%q\r\n\r\n%s\r\n", edge, fields[i], fields[i+1])
	}
	fmt.Fprintf(&text, "%s%q; filename=%q\r\n\r\nabc\r\n--edge--\r\n", edge, "file", file)
	return text.String()
}
