// Hostler-plugin-certmem serves the hypervisor in memory that knows
// certificates as a plugin process, for tests of the plugin host.
package main

import (
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

func main() {
	plugin.Serve(plugin.ServeConfig{
		Services: []plugin.Service{
			hypervisor.Service{Driver: memdriver.NewCertificateDriverByName(), HostType: (*memdriver.Host)(nil)},
		},
	})
}
