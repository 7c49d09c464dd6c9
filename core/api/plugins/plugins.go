// Package plugins is the HTTP resource that lists the installed plugins and
// their state.
package plugins

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/plugin"
)

// Manager returns the state of the plugins.
type Manager interface{ Status() []plugin.Status }

// Deps has what the operations of this package need.
type Deps struct{ Plugins Manager }

type handlers struct{ plugins Manager }

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Plugins}
	op.Get(a, "/api/v1/plugins", h.list, op.Spec{
		ID: "list_plugins", Summary: "List plugins", Tag: "Plugins", Role: identity.Admin,
		Description: "Lists the plugins that are pinned on the machine, with the status of their processes on the " +
			"instance that responds. Plugins are pinned and verified with `hostlerd plugin` on the machine, never over " +
			"HTTP.",
	})
}

// Plugin is one installed plugin.
type Plugin struct {
	Name         string   `json:"name" example:"pve"`
	Kind         string   `json:"kind" example:"hypervisor"`
	Version      string   `json:"version" example:"0.1.0"`
	Capabilities []string `json:"capabilities" example:"[\"lifecycle\",\"role_script\"]" doc:"Optional features that it supports"`
	State        string   `json:"state" enum:"starting,running,backing_off,stopped,failed"`
	PID          *int     `json:"pid" example:"4711" doc:"Process ID on the machine of the instance that responds; null while it is not running. Plugins of one program share it"`
	Restarts     int      `json:"restarts" doc:"Number of restarts since the service started"`
	Digest       string   `json:"digest" doc:"SHA-256 of the pinned program" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Error        string   `json:"error" doc:"Why its last process exited or was not started; empty if this never happened"`
}

func (h handlers) list(context.Context, *struct{}) (*op.List[Plugin], error) {
	status := h.plugins.Status()
	all := make([]Plugin, len(status))
	for i, s := range status {
		all[i] = Plugin{
			Name: s.Name, Kind: s.Kind, Version: s.Version, Capabilities: s.Abilities, State: string(s.State),
			Restarts: s.Restarts, Digest: s.SHA256, Error: s.Error,
		}
		if s.PID != 0 {
			all[i].PID = &s.PID
		}
		if all[i].Capabilities == nil {
			all[i].Capabilities = []string{}
		}
	}
	return &op.List[Plugin]{Total: len(all), Body: all}, nil
}
