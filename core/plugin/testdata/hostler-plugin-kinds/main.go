// Hostler-plugin-kinds serves a catalog source and a firewall backend from one process, for tests of the plugin host.
package main

import (
	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/membackend"
	"github.com/hostler/hostler/sdk/plugin"
)

func main() {
	backend := membackend.New()
	at := backend.Add("fw.mem:8006")
	at.SetRules(firewall.Scope{Kind: firewall.NodeScope, Node: "node1"},
		firewall.Rule{Direction: firewall.DirectionIn, Action: "ACCEPT", Enabled: true})
	source := &catalogtest.Memory{}
	source.Add(catalogtest.State{Entries: []catalog.Entry{{Slug: "a", Name: "A"}, {Slug: "b", Name: "B"}}})
	plugin.Serve(plugin.ServeConfig{Services: []plugin.Service{
		catalog.Service{Source: source, CatalogType: (*catalogtest.MemoryCatalog)(nil)},
		firewall.Service{Backend: backend, FirewallType: (*membackend.Firewall)(nil)},
	}})
}
