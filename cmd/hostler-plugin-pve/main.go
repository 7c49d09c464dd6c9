// Command hostler-plugin-pve is the plugin with the driver and the firewall
// backend for Proxmox VE (package plugins/pve). The service starts it and
// speaks to it over a local socket; it does nothing useful when started by
// hand.
package main

import (
	"runtime/debug"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/sdk/plugin"
)

func main() {
	// An inventory leaves garbage in proportion to the number of guests; a small heap is collected early at little cost.
	debug.SetGCPercent(50)
	debug.SetMemoryLimit(48 << 20)
	logger := plugin.NewLogger()
	plugin.Serve(plugin.ServeConfig{Logger: logger, Services: pve.Services(logger)})
}
