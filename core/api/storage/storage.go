// Package storage is the HTTP resource of storages and of their content. The
// operations on storages themselves, such as to attach or detach one, are in
// storage.go; those on the content, such as volumes and container templates,
// are in content.go. Uploads are in package core/api/uploads.
package storage

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
	"github.com/hostler/hostler/core/storage"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Deps has what the operations of this package need.
type Deps struct {
	Storages *storage.Store
}

type handlers struct{ Deps }

const (
	tag = "Storage"
	one = "/api/v1/storage/:host_id/:name"
	// changeTime is how long a change of a definition may take: a server that does not answer is tried for a while.
	changeTime = 3 * time.Minute
)

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps}
	h.definitions(a)
	h.contents(a)
}

// definitions declares the operations on storages.
func (h handlers) definitions(a *op.API) {
	op.Get(a, "/api/v1/storage", h.list, op.Spec{
		ID: "list_storage", Summary: "List storages", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists the storages of all clusters, as of the last polls, sorted by cluster and name. A storage " +
			"is one entry with its state on each node; a shared storage counts once.",
	})
	op.Post(a, "/api/v1/storage", h.attach, op.Spec{
		ID: "attach_storage", Summary: "Attach a storage", Tag: tag, Role: identity.Admin, On: op.Anywhere, Calls: true,
		Status: http.StatusCreated, Audit: op.Audit{Action: "storage.attach"}, Timeout: changeTime, Replay: h.attached,
		Description: "Adds the storage to the configuration of the hypervisor, which tries to use it before it " +
			"responds. `config` accepts the keys that GET /storage/{host_id}/types lists for the type; all faults are " +
			"422 before the hypervisor is contacted. The response contains nothing of `config`, and this service " +
			"stores none of its secrets; an encryption key that the hypervisor generates stays there. A name that is " +
			"taken is 409 `conflict`.",
	})
	op.Get(a, "/api/v1/storage/:host_id/types", h.types, op.Spec{
		ID: "list_storage_types", Summary: "List the storage types that can be attached", Tag: tag, Role: identity.Viewer, On: op.Host,
		Calls: true, Needs: endpoint.Monitoring,
		Description: "Lists each type with its keys. Secret keys are accepted but never " +
			"returned.",
	})
	op.Get(a, one, h.get, op.Spec{
		ID: "get_storage", Summary: "Get a storage", Tag: tag, Role: identity.Viewer, On: op.Host, Calls: true, Needs: endpoint.Monitoring,
		Description: "Reads the definition from the hypervisor, without secrets; the state on each node is that of the " +
			"last poll.",
	})
	op.Patch(a, one, h.edit, op.Spec{
		ID: "edit_storage", Summary: "Change a storage", Tag: tag, Role: identity.Admin, On: op.Host, Calls: true, Needs: endpoint.Lifecycle,
		Audit: op.Audit{Action: "storage.edit", Target: "name"}, Timeout: changeTime,
		Description: "Fields that are absent from `config` are kept, and null clears one. An outdated `digest` is 409 " +
			"`digest_conflict`. The change is complete when the response arrives; the audit log records the names of " +
			"the keys but not their values.",
	})
	op.Delete(a, one, h.detach, op.Spec{
		ID: "detach_storage", Summary: "Detach a storage", Tag: tag, Role: identity.Owner, On: op.Host, Calls: true, Plan: true,
		Needs: endpoint.Lifecycle, Audit: op.Audit{Action: "storage.detach", Target: "name"}, Timeout: changeTime,
		Confirm: op.Confirm{When: op.ConfirmAlways, Field: "name"},
		Description: "Removes the storage from the configuration of the hypervisor; its content is kept, but guests " +
			"can no longer use disks on it, as the plan shows. 409 `confirm_required` until `confirm` is the name of " +
			"the storage. The change is complete when the response arrives.",
	})
}

type listInput struct {
	op.Page
	Host    int64  `query:"host" minimum:"1" doc:"Only storages of this host's cluster"`
	Node    string `query:"node" maxLength:"253" doc:"Only storages of this node"`
	Name    string `query:"name" maxLength:"100" doc:"Only storages with this name"`
	Content string `query:"content" maxLength:"64" doc:"Only storages for this content type, as the hypervisor names it"`
	Status  string `query:"status" enum:"available,unknown" doc:"Only storages with this status"`
}

func (h handlers) list(ctx context.Context, in *listInput) (*op.List[storage.Storage], error) {
	filter := storage.Filter{HostID: in.Host, Node: in.Node, Name: in.Name, Content: in.Content, State: in.Status}
	found, total, err := h.Storages.List(ctx, filter, identity.FromContext(ctx).Visible(), in.Offset(), in.Limit())
	return &op.List[storage.Storage]{Total: total, Body: found}, err
}

// Config has the keys of the definition of a storage. The hypervisor determines
// which keys exist. Package core/storage checks them all at once.
type Config map[string]json.RawMessage

var _ huma.SchemaProvider = Config{}

// Schema implements huma.SchemaProvider. It accepts every object.
func (Config) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true,
		Examples: []any{map[string]any{"server": "192.0.2.30", "export": "/srv/vms", "content": []any{"images", "iso"}}}}
}

type attachInput struct {
	Body struct {
		HostID  int64  `json:"host_id" minimum:"1" example:"1" doc:"ID of the host"`
		Storage string `json:"storage" minLength:"1" maxLength:"100" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]*$" example:"nas" doc:"Name of the storage"`
		Type    string `json:"type" minLength:"1" maxLength:"64" example:"nfs" doc:"One of the types from GET /storage/{host_id}/types"`
		Config  Config `json:"config,omitempty" doc:"Keys of the definition"`
	}
}

func (h handlers) attach(ctx context.Context, in *attachInput) (*op.Body[storage.AttachResult], error) {
	b := &in.Body
	if _, err := schedule.Require(ctx, h.Storages.DB, scope.Host, b.HostID, identity.Admin); err != nil {
		return nil, err
	}
	done, err := h.Storages.Attach(ctx, b.HostID, b.Storage, b.Type, storage.Config(b.Config))
	return &op.Body[storage.AttachResult]{Body: done}, err
}

// attached rebuilds the answer of attach for a repeated Idempotency-Key.
func (h handlers) attached(ctx context.Context, made idempotency.Result) (any, error) {
	return h.Storages.ReplayAttach(ctx, made)
}

func (h handlers) types(ctx context.Context, _ *struct{}) (*op.List[storage.Type], error) {
	all, err := h.Storages.Types(ctx, op.ResourceOf(ctx).ID)
	return &op.List[storage.Type]{Total: len(all), Body: all}, err
}

// StoragePath has the path parameter of a storage.
type StoragePath struct {
	Name string `path:"name" maxLength:"100" example:"nas"`
}

type getInput struct {
	StoragePath
	Node string `query:"node" maxLength:"253" doc:"Show only the state on this node"`
}

func (h handlers) get(ctx context.Context, in *getInput) (*op.Body[storage.Detail], error) {
	d, err := h.Storages.Detail(ctx, op.ResourceOf(ctx).ID, in.Name, in.Node)
	return &op.Body[storage.Detail]{Body: d}, err
}

type editInput struct {
	StoragePath
	Body struct {
		Config Config  `json:"config" doc:"New values by key; null clears one"`
		Digest *string `json:"digest,omitempty" nullable:"true" maxLength:"64" doc:"Digest of the definition that you read"`
	}
}

func (h handlers) edit(ctx context.Context, in *editInput) (*op.Body[storage.Detail], error) {
	digest := ""
	if in.Body.Digest != nil {
		digest = *in.Body.Digest
	}
	d, err := h.Storages.Edit(ctx, op.ResourceOf(ctx).ID, in.Name, digest, storage.Config(in.Body.Config))
	return &op.Body[storage.Detail]{Body: d}, err
}

type detachInput struct {
	op.PlanParams
	StoragePath
	Body *struct {
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"Name of the storage"`
	}
}

func (h handlers) detach(ctx context.Context, in *detachInput) (*op.Body[storage.DetachResult], error) {
	var confirm *string
	if in.Body != nil {
		confirm = in.Body.Confirm
	}
	done, err := h.Storages.Detach(ctx, op.ResourceOf(ctx).ID, in.Name, confirm)
	return &op.Body[storage.DetachResult]{Body: done}, err
}

// again rebuilds the answer of an operation that started a job, for a repeated
// Idempotency-Key.
func (h handlers) again(ctx context.Context, made idempotency.Result) (any, error) {
	return h.Storages.ReplayStart(ctx, made)
}
