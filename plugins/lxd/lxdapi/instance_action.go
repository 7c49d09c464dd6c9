package lxdapi

import (
	"context"
	"net/http"
	"time"

	"github.com/hostler/hostler/sdk/plugin"
)

// Action is a change of an instance's state.
type Action string

// The actions. An instance that has the wanted state already is no error of Act: the operation fails with Conflict.
const (
	Start    Action = "start"
	Stop     Action = "stop"
	Restart  Action = "restart"
	Freeze   Action = "freeze"
	Unfreeze Action = "unfreeze"
)

// ActOptions say how Stop and Restart are done.
type ActOptions struct {
	// Force stops or restarts without asking the guest.
	Force bool
	// Timeout is how long a guest may take, in whole seconds; zero means the
	// server's default. The operation fails after it.
	Timeout time.Duration
}

// Act starts the operation that changes the state of an instance.
func (c *Client) Act(ctx context.Context, ref InstanceRef, action Action, options ActOptions) (*Operation, error) {
	path, query, err := ref.path("state")
	if err != nil {
		return nil, err
	}
	body := struct {
		Action  Action `json:"action"`
		Force   bool   `json:"force,omitempty"`
		Timeout int64  `json:"timeout,omitempty"`
	}{action, options.Force, int64(options.Timeout / time.Second)}
	return c.begin(ctx, request{method: http.MethodPut, path: path, query: query, body: body})
}

// begin is change for requests that the server always performs as an operation.
func (c *Client) begin(ctx context.Context, r request) (*Operation, error) {
	op, err := c.change(ctx, r)
	if err == nil && op == nil {
		return nil, plugin.Errorf(plugin.Protocol, "the answer does not come from LXD or Incus: it has no operation")
	}
	return op, err
}
