// Command hostler-plugin-folder serves the catalog of a local folder as a plugin. The service starts it.
package main

import (
	"github.com/hostler/hostler/plugins/folder"
	"github.com/hostler/hostler/sdk/plugin"
)

func main() {
	logger := plugin.NewLogger()
	plugin.Serve(plugin.ServeConfig{Logger: logger, Services: folder.Services(logger)})
}
