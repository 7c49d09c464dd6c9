package host

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Capability explains a capability to people before they create a token for it.
type Capability struct {
	Key      string `json:"key" example:"lifecycle"`
	Label    string `json:"label" example:"Lifecycle"`
	Why      string `json:"why" doc:"Purpose of the capability"`
	Required bool   `json:"required" example:"false"`
}

// capabilities returns all capabilities in the order in which they are
// displayed.
func capabilities() []Capability {
	return []Capability{
		{string(endpoint.Monitoring), "Monitoring", "Reads nodes, guests, storages and metrics; required to show anything", true},
		{string(endpoint.Lifecycle), "Lifecycle",
			"Starts, stops, changes, clones, moves, creates and deletes guests; changes networks and storages", false},
		{string(endpoint.Console), "Console", "Opens consoles of guests in the browser, and node shells where they are enabled", false},
		{string(endpoint.Backup), "Backup", "Creates, lists and restores backups", false},
		{string(endpoint.NodePower), "Node power", "Reboots nodes or shuts them down", false},
	}
}

// Capabilities returns the capabilities of a driver's hypervisor, monitoring
// first. An empty name means the usual driver.
func (s *Store) Capabilities(ctx context.Context, driver string) ([]Capability, error) {
	d, err := s.choose(ctx, driver, "query", "driver")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(capabilities(), func(c Capability) bool { return !d.info.Has(endpoint.Capability(c.Key)) }), nil
}

// keys returns the names of all capabilities.
func keys() []string {
	var all []string
	for _, c := range endpoint.Capabilities() {
		all = append(all, string(c))
	}
	return all
}

// capability validates the name of a capability. The argument where is the
// position of the value in the request.
func capability(name string, where ...any) (endpoint.Capability, error) {
	if c := endpoint.Capability(name); slices.Contains(endpoint.Capabilities(), c) {
		return c, nil
	}
	return "", problem.InvalidField("must be one of monitoring, lifecycle, console, backup, node_power", "enum", where...)
}
