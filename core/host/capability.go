package host

import (
	"slices"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Capability is what people are told of a capability before they make a token for it.
type Capability struct {
	Key      string `json:"key" example:"lifecycle"`
	Label    string `json:"label" example:"Lifecycle"`
	Why      string `json:"why" doc:"What it is needed for"`
	Required bool   `json:"required" example:"false"`
}

// Capabilities lists all in the order in which people are shown them, monitoring first.
func Capabilities() []Capability {
	return []Capability{
		{string(endpoint.Monitoring), "Monitoring", "Reads nodes, guests, storages and figures; without it nothing can be shown", true},
		{string(endpoint.Lifecycle), "Lifecycle",
			"Starts, stops, changes, clones, moves, creates and deletes guests, and changes networks and storages", false},
		{string(endpoint.Console), "Console", "Opens consoles of guests in the browser, and node shells where these are switched on", false},
		{string(endpoint.Backup), "Backup", "Makes, lists and restores backups", false},
		{string(endpoint.NodePower), "Node power", "Reboots nodes or switches them off", false},
	}
}

func keys() []string {
	var all []string
	for _, c := range endpoint.Capabilities() {
		all = append(all, string(c))
	}
	return all
}

// capability reads a capability's name; where is the place of the value in the request.
func capability(name string, where ...any) (endpoint.Capability, error) {
	if c := endpoint.Capability(name); slices.Contains(endpoint.Capabilities(), c) {
		return c, nil
	}
	return "", problem.InvalidField("must be one of monitoring, lifecycle, console, backup, node_power", "enum", where...)
}
