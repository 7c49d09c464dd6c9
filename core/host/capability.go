package host

import (
	"slices"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
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
		{string(hypervisor.Monitoring), "Monitoring", "Reads nodes, guests, storages and figures; without it nothing can be shown", true},
		{string(hypervisor.Lifecycle), "Lifecycle", "Starts, stops, changes, clones, moves, creates and deletes guests, and changes networks and storages", false},
		{string(hypervisor.Console), "Console", "Opens consoles of guests in the browser, and node shells where these are switched on", false},
		{string(hypervisor.Backup), "Backup", "Makes, lists and restores backups", false},
		{string(hypervisor.NodePower), "Node power", "Reboots nodes or switches them off", false},
	}
}

func keys() []string {
	var all []string
	for _, c := range hypervisor.Capabilities() {
		all = append(all, string(c))
	}
	return all
}

// capability reads a capability's name; where is the place of the value in the request.
func capability(name string, where ...any) (hypervisor.Capability, error) {
	if c := hypervisor.Capability(name); slices.Contains(hypervisor.Capabilities(), c) {
		return c, nil
	}
	return "", problem.InvalidField("must be one of monitoring, lifecycle, console, backup, node_power", "enum", where...)
}
