// Command hostler-plugin-scripts serves the catalog of the community scripts as a plugin. The service starts it.
package main

import (
	"github.com/hostler/hostler/plugins/scripts"
	"github.com/hostler/hostler/sdk/plugin"
)

func main() {
	logger := plugin.NewLogger()
	plugin.Serve(plugin.ServeConfig{Logger: logger, Services: scripts.Services(logger)})
}
