package lxdapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/plugin"
)

// kinds are the recorded refusals and failures whose kind does not follow from a status alone. The names are those of cases,
// whole or only what stands behind the last two underscores.
var kinds = map[plugin.ErrorKind]string{
	plugin.Conflict: `delete_running in_use cancel_exec not_cancelable nonempty delete_pool_in_use stopped console_stopped
		again again.2 backup_again copy_name_taken_with_profiles name_taken restore_name_taken snapshot_again profile_again
		delete_protected freeze_frozen freeze_stopped move_pool_running publish_running rename_running restart_stopped start_frozen
		start_running stop_stopped unfreeze_running vm_start_from_state_plain while_stopping_start rename_in_use copy
		port_without_protocol delete_running_force`,
	plugin.Unsupported: `standalone standalone_token cluster_standalone vm_console_log vm_file_without_agent instance_volume
		POST__storage-pools__driver_missing_on_host GET__storage-pools_local_volumes_custom_data1_state__state
		console_vga_of_container move_running snapshot_stateful_without_criu stateful_stop_without_criu vm_exec_without_agent
		vm_not_operational`,
	plugin.Unreachable: `guest_on_silent_member_state start_on_offline_member server_unreachable`,
	plugin.Denied: `restricted_privileged restricted_host_path incus/GET__instances__restricted_other_project
		restricted_pools`,
	plugin.NotFound: `restore_unknown unknown_image_fingerprint unknown_pool unknown_network unknown_profile unknown_image
		move_between_projects exec_unknown_command`,
	plugin.Refused: `stop_timeout vm_stop_timeout vm_restart_graceful_timeout exec_never_connected bulk_start exec_empty wrong_fingerprint
		container_image_as_vm vm_snapshot_stateful_not_prepared member_remove no_log_yet vm_memory_running vm_disk_shrink unknown_driver
		disk_bad_source nic_acl_on_bridge`,
}

// TestRecordedKinds sorts every recorded refusal, and every operation that failed, whatever they were an answer to.
func TestRecordedKinds(t *testing.T) {
	t.Parallel()
	listed := map[string]plugin.ErrorKind{}
	for kind, names := range kinds {
		for _, name := range strings.Fields(names) {
			listed[name] = kind
		}
	}
	var status int
	var body string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) { // one request after another
		switch {
		case r.URL.Path == "/1.0":
			answer(w, trustedServer)
		case strings.HasSuffix(r.URL.Path, "/wait"):
			answer(w, body)
		default:
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	})
	seen := 0
	for _, e := range lxdtest.Exchanges(t) {
		var recorded struct {
			Type, Error string
			ErrorCode   int `json:"error_code"`
			Metadata    json.RawMessage
		}
		var op struct{ Err string }
		if strings.Contains(e.Case, "WS__") || json.Unmarshal(e.Response, &recorded) != nil {
			continue
		}
		_ = json.Unmarshal(recorded.Metadata, &op)
		var err error
		switch {
		case recorded.Type == "error":
			status, body = e.Status, string(e.Response)
			_, err = client.Projects(t.Context())
		case op.Err != "":
			body = operation(uuid, lxdapi.OperationFailed, op.Err)
			ended, waitErr := client.Wait(t.Context(), uuid)
			if waitErr != nil {
				t.Fatal(waitErr)
			}
			err = ended.Failure()
		default:
			continue
		}
		seen++
		if kind, want := plugin.KindOf(err), expectedKind(e.Case, recorded.ErrorCode, recorded.Error, listed); kind != want {
			t.Errorf("%s is %s, want %s: %v", e.Case, kind, want, err)
		}
	}
	t.Logf("%d refusals and failures", seen)
	if seen < 180 {
		t.Errorf("only %d refusals and failures were found", seen)
	}
}

// expectedKind goes by the status, and by the list where that is not enough; what is in neither is Invalid.
func expectedKind(name string, status int, text string, listed map[string]plugin.ErrorKind) plugin.ErrorKind {
	byStatus := map[int]plugin.ErrorKind{403: plugin.Denied, 404: plugin.NotFound, 409: plugin.Conflict, 412: plugin.Conflict,
		501: plugin.Unsupported}
	if text == "not found" {
		return plugin.Unsupported // an unknown path
	}
	if kind, ok := byStatus[status]; ok {
		return kind
	}
	for _, known := range []string{name, name[strings.LastIndex(name, "__")+2:]} {
		if kind, ok := listed[known]; ok {
			return kind
		}
	}
	return plugin.Invalid
}
