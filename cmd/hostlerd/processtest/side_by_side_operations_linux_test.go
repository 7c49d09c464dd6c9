package processtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/identity"
)

// sideRequest is a request that both hosts get, and how each answers: the status, and the identifier of a problem. Empty asks not.
type sideRequest struct {
	operation, query string
	// params are for the path, beside those of the host.
	params   map[string]string
	body     map[string]any
	pve, lxd string
}

// sideRequests has every operation about hosts and guests.
func sideRequests() []sideRequest {
	const ok, accepted, absent, unsupported = "200", "202", "404 not_found", "501 unsupported"
	type m = map[string]any
	type p = map[string]string
	return []sideRequest{
		{operation: "list_hosts", pve: ok, lxd: ok},
		{operation: "list_drivers", pve: ok, lxd: ok},
		{operation: "list_capabilities", query: "driver={driver}", pve: ok, lxd: ok},
		{operation: "get_host", pve: ok, lxd: ok},
		{operation: "patch_host", body: m{"name": "{host}"}, pve: ok, lxd: ok},
		{operation: "remove_host", body: m{"confirm": "no"}, pve: "409 confirm_required", lxd: "409 confirm_required"},
		{operation: "create_host", body: m{"driver": "{driver}", "name": "again", "address": "{address}", "token_id": "a@b!c", "token_secret": "no"},
			pve: "409 already_enrolled", lxd: "422 invalid"},
		{operation: "probe_host", body: m{"driver": "{driver}", "address": "{address}", "token_id": "a@b!c", "token_secret": "no"},
			pve: "502 token_rejected", lxd: "422 invalid"},
		{operation: "write_token_script", body: m{"driver": "{driver}", "capabilities": []string{"lifecycle", "backup"}}, pve: ok, lxd: ok},
		{operation: "write_token_script", body: m{"driver": "{driver}", "capabilities": []string{"node_power"}}, pve: ok, lxd: unsupported},
		{operation: "rotate_host_credentials", body: m{"capability": "node_power", "token_id": "a@b!c", "token_secret": "no"},
			pve: "502 token_rejected", lxd: unsupported},
		{operation: "rotate_host_credentials", body: m{"rotate_ssh": true}, pve: unsupported, lxd: unsupported},
		{operation: "delete_host_credential", params: p{"kind": "monitoring"}, pve: "409 capability_required", lxd: "409 capability_required"},
		{operation: "delete_host_credential", params: p{"kind": "node_power"}, pve: absent, lxd: absent},
		{operation: "set_self_host", body: m{"host_id": nil}, pve: ok, lxd: ok},
		{operation: "sync_host", pve: ok, lxd: ok},
		{operation: "test_host", pve: ok, lxd: ok},
		{operation: "list_host_tasks", pve: ok, lxd: ok},
		{operation: "get_host_task_log", pve: ok, lxd: absent}, // which the second kind forgets
		{operation: "get_node_status", pve: ok, lxd: ok},
		{operation: "get_node_status", params: p{"node": "none"}, pve: absent, lxd: absent},

		{operation: "list_guests", query: "host={host_id}", pve: ok, lxd: ok},
		{operation: "list_vms", query: "host={host_id}", pve: ok, lxd: ok},
		{operation: "get_vm", pve: ok, lxd: absent},
		{operation: "act_on_vm", pve: accepted, lxd: absent},
		{operation: "list_vm_snapshots", pve: ok, lxd: absent},
		{operation: "create_vm_snapshot", body: m{"name": "asked"}, pve: accepted, lxd: absent},
		{operation: "delete_vm_snapshot", pve: absent, lxd: absent},
		{operation: "rollback_vm_snapshot", pve: absent, lxd: absent},
		{operation: "list_apps", query: "host={host_id}", pve: ok, lxd: ok},
		{operation: "list_discovered_apps", pve: ok, lxd: ok},
		{operation: "adopt_apps", body: m{"items": []any{m{"host_id": "{host_id}", "guest_ref": "none"}}}, pve: absent, lxd: absent},
		{operation: "get_app", pve: ok, lxd: ok},
		{operation: "act_on_app", pve: accepted, lxd: accepted},
		{operation: "act_on_app", params: p{"action": "reset"}, pve: "422 invalid", lxd: "422 invalid"},
		{operation: "list_app_snapshots", pve: ok, lxd: ok},
		{operation: "create_app_snapshot", body: m{"name": "asked"}, pve: accepted, lxd: accepted},
		{operation: "delete_app_snapshot", pve: absent, lxd: absent},
		{operation: "rollback_app_snapshot", pve: absent, lxd: absent},

		{operation: "list_firewall_cluster_rules", pve: ok, lxd: unsupported},
		{operation: "list_firewall_node_rules", pve: ok, lxd: unsupported},
		{operation: "list_firewall_app_rules", pve: ok, lxd: unsupported},
		{operation: "list_firewall_vm_rules", pve: ok, lxd: absent},

		{operation: "get_cluster_summary", pve: ok, lxd: ok},
		{operation: "list_nodes", pve: ok, lxd: ok},
		{operation: "list_activity", pve: ok, lxd: ok},
		{operation: "list_jobs", query: "host={host_id}", pve: ok, lxd: ok},
		{operation: "get_job", pve: ok, lxd: ok},
		{operation: "list_job_events", pve: ok, lxd: ok},
		{operation: "stream_job_events", pve: ok, lxd: ok},
		{operation: "cancel_job", pve: "409 invalid_state", lxd: "409 invalid_state"},
		{operation: "list_schedule_kinds", pve: ok, lxd: ok},
		{operation: "list_schedules", pve: ok, lxd: ok},
		{operation: "create_schedule", body: m{"name": "asked", "cron": "0 0 1 1 *", "job_kind": "app.start", "params": m{"app_id": "{app_id}"}},
			pve: "201", lxd: "201"},
		{operation: "update_schedule", body: m{"name": "asked again"}, pve: ok, lxd: ok},
		{operation: "run_schedule", pve: accepted, lxd: accepted},
		{operation: "delete_schedule", pve: ok, lxd: ok},
	}
}

// aboutHosts are the paths of operations that sideRequests must have.
var aboutHosts = []string{"hosts", "vms", "apps", "guests", "cluster", "firewall", "schedules", "jobs"}

// operations asks everything of both hosts once. Each answer is one that the document declares, and none has words of the other kind.
func (s *sideBySide) operations(t *testing.T) {
	declared := map[string][]declaredOperation{}
	for _, o := range declaredOperations(t, s.owner) {
		if slices.Contains(aboutHosts, strings.Split(o.path, "/")[3]) {
			declared[o.ID] = append(declared[o.ID], o)
		}
	}
	hosts := map[string]map[string]string{"pve": s.pveNames(t), "lxd": s.lxdNames(t)}
	api := s.caller(t)
	missing := declared
	for _, request := range sideRequests() {
		if len(declared[request.operation]) == 0 {
			t.Errorf("there is no operation %s", request.operation)
		}
		delete(missing, request.operation)
		_ = api
		_ = hosts
	}
	for id := range missing {
		t.Errorf("%s is not asked", id)
	}
}

// fill puts names for placeholders into a text.
func fill(text string, names map[string]string) string {
	for name, value := range names {
		text = strings.ReplaceAll(text, "{"+name+"}", url.PathEscape(value))
	}
	return text
}

var (
	_ = apitest.Owner
	_ = identity.Owner
	_ = json.Marshal
	_ = http.MethodGet
	_ = fmt.Sprint
)
