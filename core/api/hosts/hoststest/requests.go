// Package hoststest has valid requests to hosts and their tokens. The tests
// over all operations of the API send them; see package requesttest.
package hoststest

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

const (
	fresh   = requesttest.Canary + "-fresh"
	spare   = requesttest.Canary + "-spare"
	moved   = requesttest.Canary + "-moved"
	powered = requesttest.Canary + "-powered"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		return map[string]string{"node": requesttest.Canary + "-node1", "kind": "backup", "upid": url.PathEscape(task(f))}
	},
	Changes: changes,
	Reads: map[string]requesttest.Read{
		"list_capabilities": {Teamless: "the same everywhere"}, "list_drivers": {Teamless: "drivers belong to no team"},
	},
}

// changes enrol a cluster of their own, reboot a node of one, and take away a host of their own.
func changes(f *requesttest.Fixture) []requesttest.Change {
	one := memdriver.Spec{Nodes: 1}
	other, target := f.NewCluster(fresh, one), f.NewCluster(moved, one)
	lost := f.NewCluster(spare, memdriver.Spec{Nodes: 2, VMs: 6, Containers: 3})
	peer := spare + "-node2"
	f.Driver.AddEntry(lost, spare+"2.mem:8006", peer)
	path := map[string]string{"host_id": fmt.Sprint(Enrol(f.T, f.API, spare, spare+".mem", lost)), "kind": "lifecycle"}
	powering := map[string]string{"node": powered + "-node1", "host_id": fmt.Sprint(Enrol(f.T, f.API, powered, powered+".mem",
		f.NewCluster(powered, one)))}
	enrolment := Enrolment(fresh, fresh+".mem", other)
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/credentials", f.Host), `{"rotate_ssh":true,"ssh_consent":true}`, 200)
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/ssh/verify", f.Host), "", 200)
	return []requesttest.Change{
		{Operation: "probe_host", Body: strings.Replace(enrolment, fmt.Sprintf(`"name":%q,`, fresh), "", 1)},
		{Operation: "write_token_script", Body: `{"capabilities":["lifecycle"]}`},
		{Operation: "create_host", Body: enrolment},
		{Operation: "patch_host", Body: `{"node_shell_enabled":true}`, Spoils: true,
			Calling: fmt.Sprintf(`{"address":%q,"tls_fingerprint":%q}`, moved+".mem", target.Fingerprint())},
		{Operation: "set_self_host", Body: `{"host_id":null}`},
		{Operation: "enrol_peers", Body: fmt.Sprintf(`{"nodes":[%q]}`, peer), Path: path},
		{Operation: "power_node", Body: fmt.Sprintf(`{"command":"reboot","confirm":%q}`, powered+"-node1"), Path: powering},
		{Operation: "verify_host_ssh"},
		{Operation: "sync_host"},
		{Operation: "test_host"},
		{Operation: "rotate_host_credentials", Body: Token(endpoint.Lifecycle, lost), Path: path,
			Calling: Token(endpoint.Lifecycle, f.Lab)},
		{Operation: "delete_host_credential", Path: path},
		{Operation: "remove_host", Body: fmt.Sprintf(`{"confirm":%q}`, spare), Path: path, Spoils: true},
	}
}
