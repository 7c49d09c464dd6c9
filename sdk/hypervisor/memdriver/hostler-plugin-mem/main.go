// Hostler-plugin-mem serves the hypervisor in memory as a plugin process, for
// tests of the plugin host.
package main

import (
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

func main() {
	logger := plugin.NewLogger()
	logger.Info("memory hypervisor ready", "release", memdriver.Release)
	plugin.Serve(plugin.ServeConfig{
		Logger: logger,
		Services: []plugin.Service{
			hypervisor.Service{Driver: memdriver.NewByName(), HostType: (*memdriver.Host)(nil)},
		},
	})
}
