// Command hostler-plugin-scripts is the plugin with the catalog of the
// community scripts (package plugins/scripts). The service starts it and speaks
// to it over a local socket; it does nothing useful when started by hand.
package main

import (
	"runtime/debug"

	"github.com/hostler/hostler/plugins/scripts"
	"github.com/hostler/hostler/sdk/plugin"
)

func main() {
	// A sync reads every script once; a small heap is collected early at little cost.
	debug.SetGCPercent(50)
	debug.SetMemoryLimit(64 << 20)
	logger := plugin.NewLogger()
	plugin.Serve(plugin.ServeConfig{Logger: logger, Services: scripts.Services(logger)})
}
