package host

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Capability is what people are told of a capability before they make a token for it.
type Capability struct {
	Key      string `json:"key" example:"lifecycle"`
	Label    string `json:"label" example:"Lifecycle"`
	Why      string `json:"why" doc:"Purpose of the capability"`
	Required bool   `json:"required" example:"false"`
}

// capabilities are all, in the order in which people are shown them.
func capabilities() []Capability {
	return []Capability{
		{string(endpoint.Monitoring), "Monitoring", "Reads nodes, guests, storages and figures; without it nothing can be shown", true},
		{string(endpoint.Lifecycle), "Lifecycle",
			"Starts, stops, changes, clones, moves, creates and deletes guests, and changes networks and storages", false},
		{string(endpoint.Console), "Console", "Opens consoles of guests in the browser, and node shells where these are switched on", false},
		{string(endpoint.Backup), "Backup", "Makes, lists and restores backups", false},
		{string(endpoint.NodePower), "Node power", "Reboots nodes or switches them off", false},
	}
}

// Capabilities lists those that mean something at the hypervisor of a driver, the usual one when none is named, monitoring first.
func (s *Store) Capabilities(ctx context.Context, driver string) ([]Capability, error) {
	d, err := s.choose(ctx, driver, "query", "driver")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(capabilities(), func(c Capability) bool { return !d.info.Has(endpoint.Capability(c.Key)) }), nil
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
