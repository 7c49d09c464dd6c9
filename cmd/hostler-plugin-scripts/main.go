// Command hostler-plugin-scripts serves the catalog of the community scripts as a plugin. The service starts it.
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
