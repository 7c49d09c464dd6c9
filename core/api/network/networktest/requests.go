// Package networktest has valid requests about networks of nodes. The tests
// over all operations of the API send them; see package requesttest.
package networktest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// node is one of the laboratory, and applied another one.
const (
	node    = requesttest.Canary + "-node1"
	applied = requesttest.Canary + "-node2"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		for _, name := range []string{"brdel", "bredit"} {
			f.Lab.Stage(node, hypervisor.Interface{Name: name, Type: hypervisor.InterfaceBridge})
		}
		f.Lab.Stage(applied, hypervisor.Interface{Name: "brapply", Type: hypervisor.InterfaceBridge})
		path := func(node, name string) map[string]string { return map[string]string{"node": node, "iface": name} }
		return []requesttest.Change{
			{Operation: "create_bridge", Body: fmt.Sprintf(`{"host_id":%d,"node":%q,"iface":"brnew","config":{"comment":"new"}}`, f.Host, node)},
			{Operation: "edit_bridge", Path: path(node, "bredit"), Body: `{"config":{"comment":"changed"}}`},
			{Operation: "delete_bridge", Path: path(node, "brdel")},
			{Operation: "apply_network", Path: path(applied, ""), Body: fmt.Sprintf(`{"confirm":%q}`, applied)},
			{Operation: "revert_network", Path: path(node, "")},
		}
	},
}
