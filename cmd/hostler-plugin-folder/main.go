// Command hostler-plugin-folder is the plugin with the catalog of a local
// folder (package plugins/folder). The service starts it and speaks to it over
// a local socket; it does nothing useful when started by hand.
package main

import (
	"github.com/hostler/hostler/plugins/folder"
	"github.com/hostler/hostler/sdk/plugin"
)

func main() {
	logger := plugin.NewLogger()
	plugin.Serve(plugin.ServeConfig{Logger: logger, Services: folder.Services(logger)})
}
