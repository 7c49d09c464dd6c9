package pvegolden

import (
	"strings"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// requestRefusals are acts that are asked for wrongly: by the wrong user, with a plan that is another by now, with what does not go
// together, or about what cannot be asked for any more.
func requestRefusals() []Act {
	tooMany := `{"action":"start","targets":[` + strings.Repeat(`{"vm":{vm}},`, 500) + `{"app":{app}}]}`
	const seen = "?plan_digest=0"
	var (
		retry    = Act{Operation: "retry_job", Method: "POST", Path: "/jobs/{job}/retry"}
		cancel   = Act{Operation: "cancel_job", Method: "POST", Path: "/jobs/{job}/cancel"}
		schedule = Act{Operation: "create_schedule", Method: "POST", Path: "/schedules"}
		several  = Act{Operation: "act_on_guests", Method: "POST", Path: "/guests/actions"}
	)
	scheduled := func(name, params string) Act {
		a := schedule
		a.Case, a.Body = name, `{"name":"refused","cron":"0 1 * * *","job_kind":"backup.run","params":`+params+`}`
		return a
	}
	bulk := func(name, body string) Act {
		a := several
		a.Case, a.Body = name, body
		return a
	}
	return []Act{
		retry.when("not ended", (*World).busy),
		retry.when("nobody asks for such", func(w *World) {
			w.Exec(`INSERT INTO jobs (kind, status, target_kind, target_id, target_name) VALUES ('jobs.prune', 'succeeded', 'instance', 0, '')`)
			w.vars["job"] = w.Value("SELECT max(id) FROM jobs WHERE kind = 'jobs.prune'")
		}),
		cancel.when("it has ended", (*World).failedJob),
		bulk("more than 500", tooMany), bulk("one twice", `{"action":"start","targets":[{"vm":{vm}},{"vm":{vm}}]}`),
		bulk("nobody", `{"action":"start","targets":[]}`), bulk("an action that is none", `{"action":"hibernate","targets":[{"vm":{vm}}]}`),
		{Operation: "act_on_vm", Case: "an action that is none", Method: "POST", Path: "/vms/{vm}/hibernate"},
		{Operation: "act_on_app", Case: "an action of VMs", Method: "POST", Path: "/apps/{app}/pause"},
		scheduled("keeps nothing", `{"vm_id":{vm},"keep":0}`), scheduled("selects nothing", `{"select":{}}`),
		scheduled("selects in two ways", `{"select":{"tag":"prod","host_id":{host}}}`),
		scheduled("a target twice", `{"targets":[{"vm":{vm}},{"vm":{vm}}]}`),
		scheduled("targets and a selection", `{"targets":[{"vm":{vm}}],"select":{"tag":"prod"}}`),
		scheduled("a target that is not there", `{"targets":[{"vm":999}]}`),
		// A plan of yesterday.
		{Operation: "act_on_vm", Case: "a plan of yesterday", Method: "POST", Path: "/vms/{vm}/stop" + seen,
			Before: func(w *World) { w.Running("vm") }},
		{Operation: "act_on_guests", Case: "a plan of yesterday", Method: "POST", Path: "/guests/actions" + seen,
			Body: `{"action":"start","targets":[{"vm":{vm}}]}`},
		{Operation: "uninstall_app", Case: "a plan of yesterday", Method: "DELETE", Path: "/apps/{app}" + seen, Body: `{"confirm":"app"}`},
		{Operation: "clone_vm", Case: "a plan of yesterday", Method: "POST", Path: "/vms/{vm}/clone" + seen, Body: `{"name":"copy"}`},
		{Operation: "rollback_vm_snapshot", Case: "a plan of yesterday", Method: "POST", Path: "/vms/{vm}/snapshots/before/rollback" + seen,
			Body: `{"confirm":"vm"}`, Before: withSnapshot("vm")},
		{Operation: "delete_vm_snapshot", Case: "a plan of yesterday", Method: "DELETE", Path: "/vms/{vm}/snapshots/before" + seen,
			Before: withSnapshot("vm")},
		{Operation: "migrate_vm", Case: "a plan of yesterday", Method: "POST", Path: "/vms/{vm}/migrate" + seen,
			Body: `{"target_host_id":{host},"node":"pve2"}`},
		{Operation: "restore_backup", Case: "over, a plan of yesterday", Method: "POST", Path: "/backups/{backup}/restore" + seen,
			Body: `{"over":true,"confirm":"vm"}`, Before: (*World).backup},
		{Operation: "delete_backup", Case: "a plan of yesterday", Method: "DELETE", Path: "/backups/{backup}" + seen,
			Body: `{"confirm":"vm"}`, Before: (*World).backup},
		{Operation: "run_backups", Case: "a plan of yesterday", Method: "POST", Path: "/backups/run" + seen,
			Body: `{"targets":[{"vm":{vm}}],"storage":"local"}`},
		// Who may not.
		{Operation: "delete_vm", Case: "by an admin", Method: "DELETE", Path: "/vms/{vm}", Body: `{"confirm":"vm"}`, As: identity.Admin},
		{Operation: "create_vm", Case: "by an operator", Method: "POST", Path: "/vms", Body: `{"host_id":{host},"name":"a"}`,
			As: identity.Operator},
		{Operation: "act_on_vm", Case: "by a viewer", Method: "POST", Path: "/vms/{vm}/start", As: identity.Viewer},
		// What does not go together.
		{Operation: "create_vm", Case: "names that are none", Method: "POST", Path: "/vms",
			Body: `{"host_id":{host},"name":"a..b","node":"pve9"}`},
		{Operation: "clone_vm", Case: "linked, to another storage", Method: "POST", Path: "/vms/{vm}/clone",
			Body: `{"full":false,"storage":"local-lvm"}`},
		{Operation: "reconfigure_vm", Case: "disks of a template", Method: "PATCH", Path: "/vms/{vm}",
			Body:   `{"disks":{"scsi0":{"size_gb":40}}}`,
			Before: func(w *World) { w.Change("vm", func(s *pvesim.GuestSpec) { s.Template = true }) }},
		{Operation: "uninstall_app", Case: "its container is gone", Method: "DELETE", Path: "/apps/{app}", Body: `{"confirm":"app"}`,
			Before: func(w *World) { w.Exec("UPDATE apps SET guest_id = NULL") }},
		{Operation: "run_backups", Case: "stopping the service's own guest", Method: "POST", Path: "/backups/run",
			Body: `{"targets":[{"vm":{vm}}],"storage":"local","mode":"stop"}`, Before: func(w *World) { w.Running("vm"); w.own("vm") }},
		{Operation: "restore_backup", Case: "over, with what is for a new guest", Method: "POST", Path: "/backups/{backup}/restore",
			Body: `{"over":true,"confirm":"vm","name":"x"}`, Before: (*World).backup},
		{Operation: "update_backup", Case: "nothing", Method: "PATCH", Path: "/backups/{backup}", Body: `{}`, Before: (*World).backup},
		{Operation: "update_backup", Case: "one that is not there", Method: "PATCH", Path: "/backups/999999", Body: `{"protected":true}`},
		{Operation: "update_backup", Case: "no token for it", Method: "PATCH", Path: "/backups/{backup}", Body: `{"protected":true}`,
			Before: func(w *World) { w.backup(); w.take("backup") }},
	}
}
