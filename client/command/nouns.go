package command

import "slices"

// nouns are the commands, in the order of the help.
var nouns = slices.Concat(guests, infrastructure, networking, administration)

// guests lists the nouns for guests and for what belongs to them: VMs, apps,
// snapshots, backups and jobs.
var guests = []noun{
	{
		name: "vm", aliases: []string{"vms"}, short: "Virtual machines", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_vms", columns: guestColumns, example: "--status running --columns id,name,addresses"},
			{name: "show", op: "get_vm", args: "vm_id:vm"},
			power("start", "vm"), power("stop", "vm"), power("shutdown", "vm"), power("reboot", "vm"),
			power("pause", "vm"), power("resume", "vm"), power("reset", "vm"),
			{name: "create", op: "create_vm", args: "+name", example: "shop --host lab --storage nas --disk-gb 8 --start --wait"},
			{name: "edit", op: "reconfigure_vm", args: "vm_id:vm", example: `shop --memory-mb 4096 --disks '{"virtio0":{"size_gb":10}}'`},
			{name: "clone", op: "clone_vm", args: "vm_id:vm", example: "shop --name shop2 --wait"},
			{name: "migrate", op: "migrate_vm", args: "vm_id:vm", example: "shop --target-host lab --node pve3 --wait"},
			{name: "delete", aliases: []string{"rm"}, op: "delete_vm", args: "vm_id:vm", example: "shop --confirm shop --wait"},
			{name: "config", op: "get_vm_config", args: "vm_id:vm"},
			{name: "set-drive", op: "set_vm_drive", args: "vm_id:vm drive",
				short: "Insert an ISO image into a CD/DVD drive of a VM", example: "shop ide2 --image local:iso/rescue.iso"},
			{name: "eject", op: "set_vm_drive", args: "vm_id:vm drive", body: map[string]any{"image": nil},
				short: "Eject the image in a CD/DVD drive of a VM", example: "shop ide2"},
			{name: "nics", op: "list_vm_nics", args: "vm_id:vm", columns: nicColumns},
		}, more: consoleOf("vm"),
	},
	{
		name: "app", aliases: []string{"apps"}, short: "Apps: containers that were adopted or installed", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_apps", columns: guestColumns},
			{name: "discovered", op: "list_discovered_apps", short: "List containers that are not apps",
				columns: "host_id host name vmid status node memory_bytes"},
			{name: "adopt", op: "adopt_apps", short: "Adopt containers as apps",
				columns: "id name slug vmid status host node", example: `--items '[{"host_id":1,"vmid":105}]'`},
			{name: "show", op: "get_app", args: "app_id:app"},
			power("start", "app"), power("stop", "app"), power("shutdown", "app"), power("reboot", "app"),
			{name: "edit", op: "reconfigure_app", args: "app_id:app"},
			{name: "clone", op: "clone_app", args: "app_id:app"},
			{name: "migrate", op: "migrate_app", args: "app_id:app"},
			{name: "delete", aliases: []string{"rm"}, op: "uninstall_app", args: "app_id:app", example: "wiki --confirm wiki --wait"},
			{name: "update", op: "update_app", args: "app_id:app"},
			{name: "updates", op: "list_app_updates", columns: "app_id app available reason version"},
			{name: "config", op: "get_app_config", args: "app_id:app"},
			{name: "nics", op: "list_app_nics", args: "app_id:app", columns: nicColumns},
			{name: "ports", op: "list_app_ports", args: "app_id:app", columns: "protocol address port program local"},
			{name: "logs", op: "get_app_logs", args: "app_id:app", columns: "line"},
			{name: "url", op: "resolve_app_web_url", args: "app_id:app"},
		}, more: consoleOf("app"),
	},
	{
		name: "guest", aliases: []string{"guests"}, short: "VMs and containers", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_guests",
				columns: "id kind name status host node vmid cpu memory_bytes team app backup_at"},
			powerAll("start"), powerAll("stop"), powerAll("shutdown"), powerAll("reboot"),
		},
	},
	{
		name: "snapshot", aliases: []string{"snapshots"}, short: "Snapshots of guests", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_vm_snapshots", appOp: "list_app_snapshots", args: "vm_id:guest",
				short:   "List the snapshots of a guest",
				columns: "name taken=snaptime vmstate parent description"},
			{name: "create", op: "create_vm_snapshot", appOp: "create_app_snapshot", args: "vm_id:guest +name",
				short: "Take a snapshot of a guest", example: "web-1 before-upgrade --wait"},
			{name: "delete", aliases: []string{"rm"}, op: "delete_vm_snapshot", appOp: "delete_app_snapshot", args: "vm_id:guest name",
				short: "Delete a snapshot of a guest"},
			{name: "rollback", op: "rollback_vm_snapshot", appOp: "rollback_app_snapshot", args: "vm_id:guest name",
				short: "Roll back a guest to a snapshot", example: "web-1 before-upgrade --plan"},
		},
	},
	{
		name: "backup", aliases: []string{"backups"}, short: "Backups of guests", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_backups",
				columns: "id name kind taken_at size_bytes storage host_id protected verified notes"},
			{name: "run", op: "run_backups", args: "+targets:guest...", short: "Back up guests now", example: "web-1 db-1 --storage nas --wait"},
			{name: "restore", op: "restore_backup", args: "backup_id:id", example: "12 --over --confirm web-1 --wait"},
			{name: "edit", op: "update_backup", args: "backup_id:id", example: "12 --protected"},
			{name: "delete", aliases: []string{"rm"}, op: "delete_backup", args: "backup_id:id"},
			{name: "coverage", op: "list_backup_coverage", columns: "name kind host state backup_at storage age_s max_age_days left_out"},
			{name: "storages", op: "list_backup_storages", columns: "host cluster node name backups as_of error"},
		},
	},
	{
		name: "job", aliases: []string{"jobs"}, short: "Jobs: operations that take time", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_jobs",
				columns: "id kind target.name status progress by=requested_by.email created_at duration_s error"},
			{name: "show", op: "get_job", args: "job_id:id"},
			{name: "events", op: "list_job_events", args: "job_id:id", columns: "seq at kind text", short: "Show the transcript of a job"},
			{name: "cancel", op: "cancel_job", args: "job_id:id"},
			{name: "retry", op: "retry_job", args: "job_id:id"},
		}, more: jobCommands,
	},
}

// guestColumns and nicColumns are the columns of tables that several commands
// show, as names of the API's fields.
const (
	guestColumns = "id name status host node vmid cpu cpus memory_bytes memory_total_bytes uptime_s tags"
	nicColumns   = "key name mac bridge model tag ip addresses firewall link_down"
)

// power returns a verb that changes the power state of one VM or app.
func power(name, kind string) verb {
	return verb{
		name: name, aliases: powerAliases[name], op: "act_on_" + kind, args: kind + "_id:" + kind,
		path:  map[string]string{"action": action(name)},
		short: powerWords[name] + map[string]string{"vm": " a VM", "app": " an app"}[kind], example: "web-1 --wait",
	}
}

// powerAll returns a verb that changes the power state of several guests, VMs
// and apps mixed, with one request.
func powerAll(name string) verb {
	return verb{
		name: name, aliases: powerAliases[name], op: "act_on_guests", args: "+targets:guest...", body: map[string]any{"action": action(name)},
		short: powerWords[name] + " guests", example: "web-1 vm:12 app:3 --wait",
	}
}

// action returns the API's word for the name of a power verb.
func action(name string) string {
	if name == "reboot" {
		return "restart"
	}
	return name
}

// powerAliases maps verbs to the API's words for them, which are accepted as
// well. The command line says reboot, like Proxmox VE and systemd.
var powerAliases = map[string][]string{"reboot": {"restart"}}

// powerWords are the beginnings of the short help of each power verb.
var powerWords = map[string]string{
	"start": "Start", "stop": "Power off", "shutdown": "Shut down", "reboot": "Reboot", "pause": "Pause", "resume": "Resume",
	"reset": "Reset",
}
