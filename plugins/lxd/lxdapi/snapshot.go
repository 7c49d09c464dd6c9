package lxdapi

import (
	"context"
	"net/http"
	"time"
)

// Snapshot is one of an instance.
type Snapshot struct {
	Name    string    `json:"name"`
	Created time.Time `json:"created_at"`
	// Expires is zero for one that stays.
	Expires time.Time `json:"expires_at"`
	// Stateful has the memory too.
	Stateful bool `json:"stateful"`
}

// SnapshotSpec says what snapshot to take.
type SnapshotSpec struct {
	// Name is unique among the instance's snapshots. One that is taken makes the operation fail with Conflict.
	Name string
	// Expires is when the server deletes it; zero is never.
	Expires time.Time
	// Stateful takes the memory of a running virtual machine too.
	Stateful bool
}

// Snapshots lists the snapshots of an instance.
func (c *Client) Snapshots(ctx context.Context, ref InstanceRef) ([]Snapshot, error) {
	path, query, err := ref.path("snapshots")
	if err != nil {
		return nil, err
	}
	query.Set("recursion", "1")
	all, _, err := list[Snapshot](ctx, c, path, query)
	return all, err
}

// CreateSnapshot takes a snapshot, as an operation.
func (c *Client) CreateSnapshot(ctx context.Context, ref InstanceRef, spec SnapshotSpec) (*Operation, error) {
	path, query, err := ref.path("snapshots")
	if err != nil {
		return nil, err
	}
	if err := checkName(spec.Name); err != nil { // without a name the server invents one
		return nil, err
	}
	body := struct {
		Name     string    `json:"name"`
		Expires  time.Time `json:"expires_at,omitzero"`
		Stateful bool      `json:"stateful,omitempty"`
	}{spec.Name, spec.Expires.UTC(), spec.Stateful}
	return c.begin(ctx, request{method: http.MethodPost, path: path, query: query, body: body})
}

// DeleteSnapshot deletes a snapshot, as an operation.
func (c *Client) DeleteSnapshot(ctx context.Context, ref InstanceRef, name string) (*Operation, error) {
	path, query, err := ref.path("snapshots", name)
	if err != nil {
		return nil, err
	}
	return c.begin(ctx, request{method: http.MethodDelete, path: path, query: query})
}

// RestoreSnapshot starts the operation that restores an instance. A running
// instance is stopped and started by it. With stateful, the memory in the
// snapshot is restored too, and the instance runs. With an ETag of Instance it
// is a Conflict if the configuration has changed since; without one it is done
// in any case.
func (c *Client) RestoreSnapshot(ctx context.Context, ref InstanceRef, name string, stateful bool, etag string) (*Operation, error) {
	path, query, err := ref.path()
	if err != nil {
		return nil, err
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	body := struct {
		Restore  string `json:"restore"`
		Stateful bool   `json:"stateful,omitempty"`
	}{name, stateful}
	return c.begin(ctx, request{method: http.MethodPut, path: path, query: query, body: body, ifMatch: etag})
}
