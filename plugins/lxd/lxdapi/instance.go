package lxdapi

import (
	"context"
	"net/http"
	"time"

	"github.com/hostler/hostler/sdk/plugin"
)

// Instance is a container or a virtual machine.
type Instance struct {
	Name    string `json:"name"`
	Project string `json:"project"`
	// Type is container or virtual-machine.
	Type string `json:"type"`
	// Status is Running, Stopped, Frozen, Error (its member of the cluster is away), or short-lived others.
	Status      string `json:"status"`
	Description string `json:"description"`
	// Stateful is one that is stopped with its memory on disk.
	Stateful bool      `json:"stateful"`
	Created  time.Time `json:"created_at"`
	// LastUsed is when it was started the last time: in 1970 for one that never was.
	LastUsed time.Time `json:"last_used_at"`
	// Location is the member of the cluster that has it, "none" on a single server.
	Location string `json:"location"`
	// Config and Devices are with the profiles merged in.
	Config  map[string]string            `json:"expanded_config"`
	Devices map[string]map[string]string `json:"expanded_devices"`
	// State and Snapshots are only there when one instance was read.
	State     *InstanceState `json:"state"`
	Snapshots []Snapshot     `json:"snapshots"`
}

// UUID returns the ID that an instance keeps when it is renamed, moved within a
// cluster or restored. A copy gets another one.
func (i *Instance) UUID() string { return i.Config["volatile.uuid"] }

// InstanceState is how an instance is at this moment.
type InstanceState struct {
	Status string `json:"status"`
	CPU    struct {
		// Usage is what it used since its start, in nanoseconds of one core.
		Usage int64 `json:"usage"`
	} `json:"cpu"`
	// Memory is in bytes. Total is zero where the server does not tell, LXD 5.0 among them, and all is for a virtual machine
	// without the agent.
	Memory struct {
		Usage int64 `json:"usage"`
		Total int64 `json:"total"`
	} `json:"memory"`
	// Network is by the name of the interface in the instance, lo among them.
	Network map[string]NetworkState `json:"network"`
	// Processes is -1 where it is not known.
	Processes int64 `json:"processes"`
}

// NetworkState is one interface of an instance.
type NetworkState struct {
	Addresses []struct {
		// Family is inet or inet6, Scope is global, link or local.
		Family  string `json:"family"`
		Address string `json:"address"`
		Netmask string `json:"netmask"`
		Scope   string `json:"scope"`
	} `json:"addresses"`
	// Counters are in bytes since the start.
	Counters struct {
		Received int64 `json:"bytes_received"`
		Sent     int64 `json:"bytes_sent"`
	} `json:"counters"`
	Hwaddr string `json:"hwaddr"`
	State  string `json:"state"`
}

// Instances lists instances with their status and configuration, without usage
// values: these would cost the server 45 ms per running instance. An unknown
// project has an empty list.
func (c *Client) Instances(ctx context.Context, scope Scope) ([]Instance, Meta, error) {
	var all []Instance
	meta, err := c.EachInstance(ctx, scope, func(_ Meta, i *Instance) error { all = append(all, *i); return nil })
	if err != nil {
		return nil, Meta{}, err
	}
	return all, meta, nil
}

// EachInstance is Instances for long lists: it passes on each instance as it
// arrives and keeps none. An error of each ends the call and is returned
// unchanged.
func (c *Client) EachInstance(ctx context.Context, scope Scope, each func(Meta, *Instance) error) (Meta, error) {
	query, err := scope.recursive()
	if err != nil {
		return Meta{}, err
	}
	a, err := c.send(ctx, request{method: http.MethodGet, path: rootPath + "/instances", query: query, limit: maxList})
	if err != nil {
		return Meta{}, err
	}
	defer a.close()
	meta := a.meta()
	var own error
	_, err = a.envelope(visit(func(i *Instance) error {
		if own = nameless("an instance"); checkName(i.Name) == nil {
			own = each(meta, i)
		}
		return own
	}))
	if own != nil {
		return Meta{}, own
	}
	return meta, err
}

// Instance reads one instance with its state and snapshots. The ETag identifies
// its configuration.
func (c *Client) Instance(ctx context.Context, ref InstanceRef) (*Instance, Meta, error) {
	return c.instance(ctx, ref, true)
}

// Definition reads one instance without its state and snapshots, which is fast
// whatever the instance does. The ETag identifies its configuration.
func (c *Client) Definition(ctx context.Context, ref InstanceRef) (*Instance, Meta, error) {
	return c.instance(ctx, ref, false)
}

// instance reads one instance, with its state and snapshots if whole is set
// (recursion=1). The name in the response must be the requested one; anything
// else is a fault of the server.
func (c *Client) instance(ctx context.Context, ref InstanceRef, whole bool) (*Instance, Meta, error) {
	path, query, err := ref.path()
	if err != nil {
		return nil, Meta{}, err
	}
	if whole {
		query.Set("recursion", "1")
	}
	var instance Instance
	meta, err := c.get(ctx, path, query, &instance)
	if err != nil {
		return nil, Meta{}, err
	}
	if instance.Name != ref.Name {
		return nil, Meta{}, nameless("the instance")
	}
	return &instance, meta, nil
}

// nameless returns the error for an object without the name that it must have.
func nameless(what string) error {
	return plugin.Errorf(plugin.Protocol, "the answer does not come from LXD or Incus: %s has the wrong name", what)
}
