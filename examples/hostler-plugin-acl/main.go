// Command hostler-plugin-acl is a firewall backend as a plugin. The service starts it; started by hand it says that it is a plugin
// and ends. The name of the program must begin with "hostler-plugin-".
package main

import (
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"

	"example.com/hostler-plugin-acl/acl"
)

func main() {
	plugin.Serve(plugin.ServeConfig{
		Services: []plugin.Service{firewall.Service{Backend: acl.New(), FirewallType: (*acl.Firewall)(nil)}},
	})
}
