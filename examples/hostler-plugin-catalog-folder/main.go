// Command hostler-plugin-catalog-folder is a source of a catalog as a plugin. The name of the program must begin with "hostler-plugin-".
package main

import (
	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"

	"example.com/hostler-plugin-catalog-folder/folder"
)

func main() {
	plugin.Serve(plugin.ServeConfig{Logger: plugin.NewLogger(), Services: []plugin.Service{
		catalog.Service{Source: folder.Source{}, CatalogType: (*folder.Catalog)(nil)},
	}})
}
