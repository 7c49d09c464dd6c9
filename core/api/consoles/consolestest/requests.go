// Package consolestest has valid requests to consoles and their recordings. The
// tests over all operations of the API send them; see package requesttest.
package consolestest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Requests are those of the resource, each on a guest of its own.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		token := f.Lab.Target(endpoint.Console).Credential
		f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/credentials", f.Host),
			fmt.Sprintf(`{"capability":"console","token_id":%q,"token_secret":%q}`, token.ID, string(token.Secret)), 200)
		dbtest.Exec(f.T, f.DB, `INSERT INTO console_recordings (team_id, host_id, target_kind, target_id, target_name, node, user_email, address,
			ended_at) SELECT team_id, id, 'host', id, name, 'node1', 'owner@example.com', '192.0.2.7', now() FROM hosts WHERE team_id <> 1`)
		return map[string]string{"recording_id": recording(f)}
	},
	Reads: map[string]requesttest.Read{
		"connect_vm_console": {Status: 403}, "connect_app_console": {Status: 403}, "connect_node_shell": {Status: 403},
	},
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		vm, ct := f.Lab.NewGuest(hypervisor.VM, hypervisor.GuestRunning), f.Lab.NewGuest(hypervisor.Container, hypervisor.GuestRunning)
		host := fmt.Sprint(f.Host)
		f.Expect("PATCH", "/api/v1/hosts/"+host, `{"node_shell_enabled":true}`, 200)
		f.Expect("POST", "/api/v1/hosts/"+host+"/sync", "", 200)
		f.Expect("POST", "/api/v1/apps/adopt", fmt.Sprintf(`{"items":[{"host_id":%d,"guest_ref":%q}]}`, f.Host, ct.ID), 200)
		return []requesttest.Change{
			{Operation: "create_vm_console_ticket", Path: map[string]string{
				"vm_id": f.ID("SELECT id FROM guests WHERE host_id = $1 AND ref = $2", f.Host, vm.ID),
			}},
			{Operation: "create_app_console_ticket", Path: map[string]string{
				"app_id": f.ID("SELECT id FROM apps WHERE host_id = $1 AND guest_ref = $2", f.Host, ct.ID),
			}},
			{Operation: "create_node_shell_ticket", Path: map[string]string{"host_id": host}},
			{Operation: "delete_console_recording", Path: map[string]string{"recording_id": recording(f)}},
		}
	},
}

// recording leaves a recording, without its content, and gives its id.
func recording(f *requesttest.Fixture) string {
	return f.ID(`INSERT INTO console_recordings (host_id, target_kind, target_id, target_name, node, user_email, address, ended_at)
		VALUES ($1, 'vm', $2, $3, 'node1', 'owner@example.com', '192.0.2.7', now()) RETURNING id`, f.Host, f.VM, requesttest.Canary+"-recorded")
}
