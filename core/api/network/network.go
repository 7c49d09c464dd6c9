// Package network is the HTTP resource of the networks of nodes. A change takes
// two steps: the operations on interfaces stage it on the node, and apply
// activates all staged changes of the node with a job. Staged changes can be
// discarded with revert.
package network

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/network"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Deps has what the operations of this package need.
type Deps struct{ Networks *network.Store }

type handlers struct{ Deps }

const (
	tag = "Network"
	one = "/api/v1/network/bridges/:host_id/:node/:iface"
	// changeTime is how long a change may take, with what is read before and after it.
	changeTime = 2 * time.Minute
)

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps}
	op.Get(a, "/api/v1/network/bridges", h.list, op.Spec{
		ID: "list_bridges", Summary: "List the networks of nodes", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Timeout: changeTime,
		Description: "Lists the bridges, bonds, VLANs, physical NICs and other interfaces of nodes with their staged " +
			"changes, read from every node for this request. It also lists the guests on each bridge, as of the last " +
			"read of their configurations (`as_of`; `unknown` counts those never read). A node that cannot be read, or " +
			"does not respond within 5 s, is listed in `errors` and does not fail the request.",
	})
	op.Post(a, "/api/v1/network/bridges", h.create, op.Spec{
		ID: "create_bridge", Summary: "Stage a new bridge, bond or VLAN", Tag: tag, Role: identity.Admin, On: op.Anywhere, Calls: true,
		Status: http.StatusCreated, Audit: op.Audit{Action: "network.create"}, Timeout: changeTime, Replay: h.createdAgain,
		Description: "Stages a new interface; it is not active until the changes are applied. `config` accepts " +
			"`autostart`, `cidr`, `gateway`, `cidr6`, `gateway6`, `mtu` and `comment`; for a bridge also `ports`, " +
			"`vlan_aware` and `vlans`; for a bond `ports`, `bond_mode`, `bond_primary` and `bond_hash`; for a VLAN " +
			"`device` and `vlan`. All faults are 422 before the hypervisor is contacted. A name that is taken is 409 " +
			"`conflict`.",
	})
	op.Put(a, one, h.edit, op.Spec{
		ID: "edit_bridge", Summary: "Stage a change to an interface", Tag: tag, Role: identity.Admin, On: op.Host, Calls: true,
		Needs: endpoint.Lifecycle, Audit: op.Audit{Action: "network.edit", Target: "iface"}, Timeout: changeTime,
		Description: "Fields that are absent from `config` are kept, and null clears one; settings that this " +
			"service does not know are kept, too. A change that affects guests on a bridge is 409 `bridge_in_use` " +
			"with `guests` until `confirm` is the name of the interface. This includes changes of the NIC, bond or " +
			"VLAN below the bridge, and any change while configurations of guests on the node have not been read " +
			"yet (`unknown`). If the interface gets an address from the network (`dynamic`, `dynamic6`), any change " +
			"ends that: 422 until `config` contains `cidr` or `cidr6` with a new address, or null for none.",
	})
	op.Delete(a, one, h.remove, op.Spec{
		ID: "delete_bridge", Summary: "Stage the removal of an interface", Tag: tag, Role: identity.Admin, On: op.Host, Calls: true,
		Needs: endpoint.Lifecycle, Audit: op.Audit{Action: "network.delete", Target: "iface"}, Timeout: changeTime,
		Description: "Stages the removal of an interface. If guests use a bridge, or configurations of guests on " +
			"the node have not been read yet, the response is 409 `bridge_in_use` with `guests` and `unknown` until " +
			"`confirm` is the name of the bridge. An interface that other interfaces depend on, and a physical NIC, " +
			"are 409 `invalid_state`.",
	})
	op.Post(a, "/api/v1/network/:host_id/:node/apply", h.apply, op.Spec{
		ID: "apply_network", Summary: "Apply the staged network changes of a node", Tag: tag, Role: identity.Admin, On: op.Host,
		Calls: true, Plan: true, Needs: endpoint.Lifecycle, Status: http.StatusAccepted,
		Audit:  op.Audit{Action: "network.apply", Target: "node"},
		Replay: h.startedAgain, Confirm: op.Confirm{When: op.ConfirmAlways, Field: "node"},
		Description: "Starts a job. 409 `confirm_required` until `confirm` is the name of the node. The code is " +
			"`self_target` instead if the change affects the connection of this service to the node, or if this is " +
			"not known; the first effect of the plan explains why. The job waits up to a minute until the node " +
			"responds and keeps responding for some seconds, and reports the result. If it fails, its transcript " +
			"contains the commands to enter at the console of the node. 409 `invalid_state` if nothing is staged. " +
			"With SSH access to the node, a rollback timer on the node, which does not depend on this service, " +
			"restores the current network after `undo_after_s` unless it is canceled; the plan shows this. With " +
			"`undo_after_s`, a node without SSH access is 409 `ssh_not_enrolled` or `consent_required`.",
	})
	op.Post(a, "/api/v1/network/:host_id/:node/revert", h.revert, op.Spec{
		ID: "revert_network", Summary: "Discard the staged network changes of a node", Tag: tag, Role: identity.Admin, On: op.Host, Calls: true,
		Needs: endpoint.Lifecycle, Audit: op.Audit{Action: "network.revert", Target: "node"}, Timeout: changeTime,
		Description: "Discards all staged changes on the node, including those of other users; the response lists " +
			"whose they were. Requires no confirmation, starts no job, and does not change the active network.",
	})
}

type listInput struct {
	Host int64 `query:"host" minimum:"1" doc:"Only nodes of this host's cluster"`
}

func (h handlers) list(ctx context.Context, in *listInput) (*op.Body[network.Bridges], error) {
	found, err := h.Networks.List(ctx, in.Host, identity.FromContext(ctx).Visible())
	return &op.Body[network.Bridges]{Body: found}, err
}

// Config has the settings of an interface. Which settings exist depends on its
// type. Package core/network checks them all at once.
type Config map[string]json.RawMessage

var _ huma.SchemaProvider = Config{}

// Schema implements huma.SchemaProvider. It accepts every object.
func (Config) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true,
		Examples: []any{map[string]any{"cidr": "198.51.100.2/24", "ports": []any{}, "autostart": true}}}
}

type createInput struct {
	Body struct {
		HostID int64  `json:"host_id" minimum:"1" example:"1"`
		Node   string `json:"node" minLength:"1" maxLength:"253" example:"pve1"`
		Iface  string `json:"iface" minLength:"2" maxLength:"15" example:"vmbr1" doc:"Name of the interface"`
		Type   string `json:"type,omitempty" enum:"bridge,bond,vlan" default:"bridge"`
		Config Config `json:"config,omitempty"`
	}
}

func (h handlers) create(ctx context.Context, in *createInput) (*op.Body[network.StageResult], error) {
	b := &in.Body
	if _, err := schedule.Require(ctx, h.Networks.DB, scope.Host, b.HostID, identity.Admin); err != nil {
		return nil, err
	}
	kind := b.Type
	if kind == "" {
		kind = "bridge"
	}
	done, err := h.Networks.Create(ctx, network.Request{HostID: b.HostID, Node: b.Node, Name: b.Iface}, kind, network.Config(b.Config))
	return &op.Body[network.StageResult]{Body: done}, err
}

// createdAgain rebuilds the answer of create for a repeated Idempotency-Key.
func (h handlers) createdAgain(ctx context.Context, made idempotency.Result) (any, error) {
	return h.Networks.ReplayCreate(ctx, made)
}

// InterfacePath has the path parameters of an interface of a node.
type InterfacePath struct {
	Node    string `path:"node" maxLength:"253" example:"pve1"`
	Iface   string `path:"iface" maxLength:"64" example:"vmbr1"`
	Confirm string `query:"confirm" maxLength:"64" doc:"Name of the interface, if guests use it or a bridge above it"`
}

func (n *InterfacePath) request(ctx context.Context) network.Request {
	return network.Request{HostID: op.ResourceOf(ctx).ID, Node: n.Node, Name: n.Iface, Confirm: &n.Confirm}
}

type editInput struct {
	InterfacePath
	Body struct {
		Config Config `json:"config,omitempty" doc:"New values by setting; null clears one"`
	}
}

func (h handlers) edit(ctx context.Context, in *editInput) (*op.Body[network.StageResult], error) {
	done, err := h.Networks.Edit(ctx, in.request(ctx), network.Config(in.Body.Config))
	return &op.Body[network.StageResult]{Body: done}, err
}

func (h handlers) remove(ctx context.Context, in *struct{ InterfacePath }) (*op.Body[network.StageResult], error) {
	done, err := h.Networks.Remove(ctx, in.request(ctx))
	return &op.Body[network.StageResult]{Body: done}, err
}

// NodePath has the path parameter of a node.
type NodePath struct {
	Node string `path:"node" maxLength:"253" example:"pve1"`
}

type applyInput struct {
	op.PlanParams
	NodePath
	Body *struct {
		Confirm   *string `json:"confirm,omitempty" nullable:"true" maxLength:"253" doc:"Name of the node"`
		UndoAfter *int64  `json:"undo_after_s,omitempty" nullable:"true" minimum:"0" maximum:"3600" doc:"With SSH access to the node: seconds after which the node restores the current network, unless the service can reach it and finds no problem. 30 to 3600, or 0 for no rollback; 120 if absent"`
	}
}

func (h handlers) apply(ctx context.Context, in *applyInput) (*op.Body[guest.StartResult], error) {
	var confirm *string
	var undoAfter *time.Duration
	if in.Body != nil {
		if confirm = in.Body.Confirm; in.Body.UndoAfter != nil {
			undoAfter = new(time.Duration(*in.Body.UndoAfter) * time.Second)
		}
	}
	started, err := h.Networks.Apply(ctx, op.ResourceOf(ctx).ID, in.Node, confirm, undoAfter)
	return &op.Body[guest.StartResult]{Body: started}, err
}

// startedAgain rebuilds the answer of apply for a repeated Idempotency-Key.
func (h handlers) startedAgain(ctx context.Context, made idempotency.Result) (any, error) {
	return h.Networks.Actor.ReplayStart(ctx, made)
}

func (h handlers) revert(ctx context.Context, in *NodePath) (*op.Body[network.RevertResult], error) {
	done, err := h.Networks.Revert(ctx, op.ResourceOf(ctx).ID, in.Node)
	return &op.Body[network.RevertResult]{Body: done}, err
}
