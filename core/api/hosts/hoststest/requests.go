// Package hoststest has good requests to hosts and their tokens.
package hoststest

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

const (
	fresh = requesttest.Canary + "-fresh"
	spare = requesttest.Canary + "-spare"
	moved = requesttest.Canary + "-moved"
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

// changes enrol a cluster of their own, and take away a host of their own.
func changes(f *requesttest.Fixture) []requesttest.Change {
	one := memdriver.Spec{Nodes: 1}
	other, target := f.NewCluster(fresh, one), f.NewCluster(moved, one)
	lost := f.NewCluster(spare, memdriver.Spec{Nodes: 1, VMs: 6, Containers: 3})
	path := map[string]string{"host_id": fmt.Sprint(Enrol(f.T, f.API, spare, spare+".mem", lost)), "kind": "lifecycle"}
	enrolment := Enrolment(fresh, fresh+".mem", other)
	return []requesttest.Change{
		{Operation: "probe_host", Body: strings.Replace(enrolment, fmt.Sprintf(`"name":%q,`, fresh), "", 1)},
		{Operation: "write_token_script", Body: `{"capabilities":["lifecycle"]}`},
		{Operation: "create_host", Body: enrolment},
		{Operation: "patch_host", Body: `{"node_shell_enabled":true}`, Spoils: true,
			Calling: fmt.Sprintf(`{"address":%q,"tls_fingerprint":%q}`, moved+".mem", target.Fingerprint())},
		{Operation: "set_self_host", Body: `{"host_id":null}`},
		{Operation: "sync_host"},
		{Operation: "test_host"},
		{Operation: "rotate_host_credentials", Body: LifecycleToken(lost), Path: path, Calling: LifecycleToken(f.Lab)},
		{Operation: "delete_host_credential", Path: path},
		{Operation: "remove_host", Body: fmt.Sprintf(`{"confirm":%q}`, spare), Path: path, Spoils: true},
	}
}
