// Command hostler-plugin-toy is the driver of the toy hypervisor as a plugin. The service starts it; started by hand it says
// that it is a plugin and ends. The name of the program must begin with "hostler-plugin-".
package main

import (
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"

	"example.com/hostler-plugin-toy/toy"
)

func main() {
	logger := plugin.NewLogger()
	plugin.Serve(plugin.ServeConfig{
		Logger:   logger,
		Services: []plugin.Service{hypervisor.Service{Driver: toy.New(logger), HostType: (*toy.Host)(nil)}},
	})
}
