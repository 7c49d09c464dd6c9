// Command hostler-plugin-lxd is the plugin with the driver for LXD and Incus
// (package plugins/lxd). The service starts it and speaks to it over a local
// socket; it does nothing useful when started by hand.
package main

import (
	"runtime/debug"

	"github.com/hostler/hostler/plugins/lxd"
	"github.com/hostler/hostler/sdk/plugin"
)

func main() {
	// An inventory leaves garbage in proportion to the number of guests; a small heap is collected early at little cost.
	debug.SetGCPercent(50)
	debug.SetMemoryLimit(48 << 20)
	logger := plugin.NewLogger()
	plugin.Serve(plugin.ServeConfig{Logger: logger, Services: lxd.Services(logger)})
}
