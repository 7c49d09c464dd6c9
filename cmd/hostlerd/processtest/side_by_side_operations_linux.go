package processtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
)

// sideRequest is a request that both hosts get, and how each answers: the status, and the identifier of a problem. Empty asks not.
type sideRequest struct {
	operation, query string
	// params are for the path, beside those of the host.
	params   map[string]string
	body     map[string]any
	pve, lxd string
}

// wrongSecret is no form of access to any host.
const wrongSecret = "00000000-0000-4000-8000-00000000dead"

// sideRequests has every operation about hosts and guests.
func sideRequests() []sideRequest {
	const ok, accepted, absent, unsupported, required = "200", "202", "404 not_found", "501 unsupported", "409 capability_required"
	const stale, untokened, unconsented = "409 digest_conflict", "409 capability_missing", "409 consent_required"
	noTicket := strings.Repeat("A", 43)
	type m = map[string]any
	type p = map[string]string
	return []sideRequest{
		{operation: "list_hosts", pve: ok, lxd: ok},
		{operation: "list_drivers", pve: ok, lxd: ok},
		{operation: "list_capabilities", query: "driver={driver}", pve: ok, lxd: ok},
		{operation: "get_host", pve: ok, lxd: ok},
		{operation: "patch_host", body: m{"name": "{host}"}, pve: ok, lxd: ok},
		{operation: "remove_host", body: m{"confirm": "no"}, pve: "409 confirm_required", lxd: "409 confirm_required"},
		{operation: "create_host", body: m{"driver": "{driver}", "name": "again", "address": "{address}", "token_id": "a@b!c",
			"token_secret": wrongSecret}, pve: "409 conflict", lxd: "422 invalid"},
		{operation: "probe_host", body: m{"driver": "{driver}", "address": "{address}", "tls_fingerprint": "{fingerprint}",
			"token_id":     "a@b!c",
			"token_secret": wrongSecret}, pve: "502 token_rejected", lxd: "422 invalid"},
		{operation: "write_token_script", body: m{"driver": "{driver}", "capabilities": []string{"lifecycle", "backup"}}, pve: ok,
			lxd: ok},
		{operation: "write_token_script", body: m{"driver": "{driver}", "capabilities": []string{"node_power"}}, pve: ok,
			lxd: unsupported},
		{operation: "rotate_host_credentials", body: m{"capability": "node_power", "token_id": "a@b!c", "token_secret": wrongSecret},
			pve: "502 token_rejected", lxd: unsupported},
		{operation: "rotate_host_credentials", body: m{"rotate_ssh": true}, pve: unconsented, lxd: unconsented},
		{operation: "rotate_host_credentials", body: m{"rotate_ssh": true, "ssh_consent": true}, pve: ok, lxd: unsupported},
		{operation: "verify_host_ssh", pve: "502 hypervisor_error", lxd: unconsented}, // nothing listens there
		{operation: "delete_host_credential", params: p{"kind": "ssh_key"}, pve: ok, lxd: absent},
		{operation: "delete_host_credential", params: p{"kind": "monitoring"}, pve: required, lxd: required},
		{operation: "delete_host_credential", params: p{"kind": "node_power"}, pve: absent, lxd: absent},
		{operation: "set_self_host", body: m{"host_id": nil}, pve: ok, lxd: ok},
		{operation: "sync_host", pve: ok, lxd: ok},
		{operation: "test_host", pve: ok, lxd: ok},
		{operation: "list_host_tasks", pve: ok, lxd: ok},
		{operation: "get_host_task_log", pve: ok, lxd: absent}, // which the second kind forgets
		{operation: "get_node_status", pve: ok, lxd: ok},
		{operation: "get_placement", pve: ok, lxd: unsupported},
		{operation: "list_peers", pve: ok, lxd: unsupported},
		{operation: "enrol_peers", body: m{"nodes": []string{"none"}}, pve: ok, lxd: unsupported},
		{operation: "get_node_hardware", pve: ok, lxd: unsupported},
		{operation: "get_node_hardware", params: p{"node": "none"}, pve: absent, lxd: unsupported},
		{operation: "power_node", body: m{"command": "reboot"}, pve: "409 capability_missing", lxd: unsupported},
		{operation: "get_node_status", params: p{"node": "none"}, pve: absent, lxd: absent},
		{operation: "get_placement", params: p{"node": "none"}, pve: absent, lxd: unsupported},

		{operation: "retry_job", pve: accepted, lxd: accepted}, // the stop of a guest, which a start follows below
		{operation: "search", query: "q=host:{host_id}", pve: ok, lxd: ok},
		{operation: "list_guests", query: "host={host_id}", pve: ok, lxd: ok},
		{operation: "act_on_guests", body: m{"action": "start", "targets": []any{m{"app": "{app_id}"}}}, pve: accepted, lxd: accepted},
		{operation: "list_vms", query: "host={host_id}", pve: ok, lxd: ok},
		{operation: "get_vm", pve: ok, lxd: absent},
		{operation: "get_vm_config", pve: ok, lxd: absent},
		{operation: "reconfigure_vm", body: m{"cores": 2, "digest": "none"}, pve: stale, lxd: absent},
		{operation: "set_vm_drive", params: p{"drive": "ide2"}, body: m{"image": nil}, pve: absent, lxd: absent}, // no guest has a drive
		{operation: "list_vm_nics", pve: ok, lxd: absent},
		{operation: "change_vm_nic", params: p{"iface": "net0"}, body: m{"tag": 20, "digest": "none"}, pve: stale, lxd: absent},
		{operation: "create_vm_console_ticket", pve: untokened, lxd: absent},
		{operation: "connect_vm_console", query: "ticket=" + noTicket, pve: untokened, lxd: absent},
		{operation: "create_app_console_ticket", pve: untokened, lxd: untokened},
		{operation: "connect_app_console", query: "ticket=" + noTicket, pve: untokened, lxd: untokened},
		{operation: "create_node_shell_ticket", pve: untokened, lxd: untokened},
		{operation: "connect_node_shell", query: "ticket=" + noTicket, pve: untokened, lxd: untokened},
		{operation: "list_console_recordings", pve: ok, lxd: ok},
		{operation: "get_console_recording", params: p{"recording_id": "999"}, pve: absent, lxd: absent},
		{operation: "get_console_recording_cast", params: p{"recording_id": "999"}, pve: absent, lxd: absent},
		{operation: "delete_console_recording", params: p{"recording_id": "999"}, pve: absent, lxd: absent},
		{operation: "get_vm_options", pve: ok, lxd: absent},
		{operation: "change_vm_options", body: m{"enable": 1, "digest": "none"}, pve: stale, lxd: absent},
		{operation: "create_vm", body: m{"host_id": "{host_id}", "name": "asked", "storage": "none"}, pve: "422 invalid", lxd: unsupported},
		{operation: "check_vm_migration", body: m{"target_host_id": "{host_id}", "node": "{node}"}, pve: ok, lxd: absent},
		{operation: "migrate_vm", body: m{"target_host_id": "{host_id}", "node": "{node}"}, pve: "409 migration_blocked", lxd: absent},
		{operation: "clone_vm", body: m{"full": false}, pve: "409 linked_clone_needs_template", lxd: absent},
		{operation: "act_on_vm", pve: accepted, lxd: absent},
		{operation: "delete_vm", pve: "409 guest_running", lxd: absent}, // which the action before has started
		{operation: "list_vm_snapshots", pve: ok, lxd: absent},
		{operation: "create_vm_snapshot", body: m{"name": "asked"}, pve: accepted, lxd: absent},
		{operation: "delete_vm_snapshot", pve: absent, lxd: absent},
		{operation: "rollback_vm_snapshot", pve: absent, lxd: absent},
		{operation: "list_apps", query: "host={host_id}", pve: ok, lxd: ok},
		{operation: "list_discovered_apps", pve: ok, lxd: ok},
		{operation: "list_app_updates", pve: ok, lxd: ok},
		{operation: "adopt_apps", body: m{"items": []any{m{"host_id": "{host_id}", "guest_ref": "none"}}}, pve: absent, lxd: absent},
		{operation: "get_app", pve: ok, lxd: ok},
		{operation: "check_app_migration", body: m{"target_host_id": "{host_id}", "node": "{node}"}, pve: ok, lxd: unsupported},
		{operation: "migrate_app", body: m{"target_host_id": "{host_id}", "node": "{node}"}, pve: "409 migration_blocked", lxd: unsupported},
		{operation: "get_app_config", pve: ok, lxd: unsupported},
		{operation: "reconfigure_app", body: m{"web_port": 8080}, pve: ok, lxd: ok},
		{operation: "reconfigure_app", body: m{"cores": 2, "digest": "none"}, pve: stale, lxd: unsupported},
		{operation: "list_app_nics", pve: ok, lxd: unsupported},
		{operation: "change_app_nic", params: p{"iface": "net0"}, body: m{"tag": 20, "digest": "none"}, pve: stale, lxd: unsupported},
		{operation: "get_app_logs", pve: unsupported, lxd: unsupported},
		{operation: "list_app_ports", pve: unconsented, lxd: unsupported},
		{operation: "resolve_app_web_url", pve: ok, lxd: ok},
		{operation: "get_app_script", pve: absent, lxd: absent}, // which was adopted
		{operation: "list_app_script_versions", pve: ok, lxd: ok},
		{operation: "put_app_script", body: m{"content": "echo"}, pve: ok, lxd: ok},
		{operation: "revert_app_script", pve: "409 invalid_state", lxd: "409 invalid_state"},
		{operation: "get_app_update", pve: ok, lxd: ok},
		{operation: "update_app", body: m{"consent": true}, pve: "409 invalid_state", lxd: unsupported},
		{operation: "update_all_apps", body: m{"consent": true}, pve: accepted, lxd: accepted}, // none has an update
		{operation: "clone_app", body: m{"full": false}, pve: "409 linked_clone_needs_template", lxd: unsupported},
		{operation: "uninstall_app", pve: "409 confirm_required", lxd: unsupported},
		{operation: "act_on_app", pve: accepted, lxd: accepted},
		{operation: "act_on_app", params: p{"action": "reset"}, pve: "422 invalid", lxd: "422 invalid"},
		{operation: "list_app_snapshots", pve: ok, lxd: ok},
		{operation: "create_app_snapshot", body: m{"name": "asked"}, pve: accepted, lxd: accepted},
		{operation: "delete_app_snapshot", pve: absent, lxd: absent},
		{operation: "rollback_app_snapshot", pve: absent, lxd: absent},

		{operation: "list_backups", query: "host={host_id}", pve: ok, lxd: ok},
		{operation: "list_backup_storages", pve: ok, lxd: ok},
		{operation: "list_backup_coverage", pve: ok, lxd: ok},
		{operation: "run_backups", body: m{"targets": []any{m{"app": "{app_id}"}}, "storage": "none"}, pve: "422 invalid",
			lxd: "422 invalid"},
		{operation: "restore_backup", params: p{"backup_id": "999"}, pve: absent, lxd: absent},
		{operation: "delete_backup", params: p{"backup_id": "999"}, pve: absent, lxd: absent},
		{operation: "update_backup", params: p{"backup_id": "999"}, body: m{"protected": true}, pve: absent, lxd: absent},

		{operation: "get_cluster_summary", pve: ok, lxd: ok},
		{operation: "list_nodes", pve: ok, lxd: ok},
		{operation: "list_activity", pve: ok, lxd: ok},
		{operation: "list_jobs", query: "host={host_id}", pve: ok, lxd: ok},
		{operation: "get_job", pve: ok, lxd: ok},
		{operation: "list_job_events", pve: ok, lxd: ok},
		{operation: "stream_job_events", pve: ok, lxd: ok},
		{operation: "cancel_job", pve: "409 job_finished", lxd: "409 job_finished"},
		{operation: "list_schedule_kinds", pve: ok, lxd: ok},
		{operation: "list_schedule_times", query: "cron=0+3+*+*+*&timezone=UTC", pve: ok, lxd: ok},
		{operation: "list_schedules", pve: ok, lxd: ok},
		{operation: "create_schedule", body: m{"name": "asked", "cron": "0 0 1 1 *", "job_kind": "app.start",
			"params": m{"app_id": "{app_id}"}},
			pve: "201", lxd: "201"},
		{operation: "update_schedule", body: m{"name": "asked again"}, pve: ok, lxd: ok},
		{operation: "run_schedule", pve: accepted, lxd: accepted},
		{operation: "delete_schedule", pve: "204", lxd: "204"},
		{operation: "list_audit", pve: ok, lxd: ok},
		{operation: "get_upload", params: p{"upload_id": "never-sent-by-anybody"}, pve: absent, lxd: absent},
	}
}

// aboutHosts are the paths of operations that sideRequests must have.
var aboutHosts = []string{"hosts", "vms", "apps", "guests", "backups", "cluster", "firewall", "schedules", "jobs"}

// operations asks everything of both hosts once. Each answer is one that the document declares, and none has words of the other
// kind.
func (s *sideBySide) operations(t *testing.T) {
	unasked, all := map[string]bool{}, map[string]declaredOperation{}
	for _, o := range declaredOperations(t, s.owner) {
		all[o.ID] = o
		word, _, _ := strings.Cut(strings.TrimPrefix(o.path, "/api/v1/"), "/")
		unasked[o.ID] = slices.Contains(aboutHosts, word)
	}
	api := &apitest.API{URL: s.service.Base, LogIn: callersOf(t, s.service)}
	for _, host := range []sideHost{s.pveNames(t), s.lxdNames(t)} {
		for _, request := range slices.Concat(sideRequests(), sideFirewallRequests()) {
			o, declared := all[request.operation]
			want := map[string]string{"pve": request.pve, "lxd": request.lxd}[host["driver"]]
			if delete(unasked, request.operation); !declared {
				t.Errorf("there is no operation %s", request.operation)
				continue
			}
			answer, err := api.Do(t.Context(), request.make(t, s.service.Base, o, host), apitest.Owner)
			if err != nil { // the document declares no such answer, too
				t.Errorf("%s of %s: %v", o.ID, host["driver"], err)
				continue
			}
			if got := strings.TrimSpace(fmt.Sprint(answer.Status, " ", answer.Problem())); got != want {
				t.Errorf("%s of %s: %s, want %s: %s", o.ID, host["driver"], got, want, answer.Body)
			}
			s.words(t, o.ID, host, answer.Body)
			s.follow(t, host, answer)
		}
	}
	s.pve.fault(t, map[string]any{"kind": "cut"})
	s.away(t, s.pveNames(t))
	s.pve.healFaults(t)
	for id, missing := range unasked {
		if missing {
			t.Errorf("%s is not asked", id)
		}
	}
}

// away is what is told of a host that does not answer.
func (s *sideBySide) away(t *testing.T, host sideHost) {
	t.Helper()
	path := "/api/v1/hosts/" + host["host_id"]
	a := s.owner.do(t, http.MethodPost, path+"/sync", nil)
	if a.Status != http.StatusBadGateway || a.problem() != "hypervisor_error" {
		t.Errorf("sync of %s, which is away: %d %s", host["driver"], a.Status, a.Body)
	}
	s.words(t, "sync", host, a.Body)
	for _, below := range []string{"", "/tasks", "/nodes/" + host["node"] + "/status"} {
		s.words(t, below, host, s.owner.do(t, http.MethodGet, path+below, nil).Body)
	}
}
