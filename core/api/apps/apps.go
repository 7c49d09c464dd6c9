// Package apps is the HTTP resource of apps, which are containers that were
// installed from the catalog or adopted. Its operations list apps and the
// containers that are not apps, adopt containers, return the ports and the web
// address of an app, uninstall an app and change its power state. Installation
// is in package core/api/catalog, updates are in core/api/appscripts.
package apps

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Deps has what the operations of this package need.
type Deps struct{ Apps *app.Store }

type handlers struct{ apps *app.Store }

const tag = "Apps"

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Apps}
	op.Get(a, "/api/v1/apps", h.list, op.Spec{
		ID: "list_apps", Summary: "List apps", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists apps. An app is one container that was adopted or installed. Containers that are not apps " +
			"are listed by /apps/discovered.",
	})
	op.Get(a, "/api/v1/apps/discovered", h.discovered, op.Spec{
		ID: "list_discovered_apps", Summary: "List containers that are not apps", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists each container once, with the host registered at its node. Templates are included, with " +
			"`template` true; they cannot be adopted. The list is not paged.",
	})
	op.Post(a, "/api/v1/apps/adopt", h.adopt, op.Spec{
		ID: "adopt_apps", Summary: "Adopt containers as apps", Tag: tag, Role: identity.Admin, On: op.Anywhere,
		Audit: op.Audit{Action: "app.adopt"}, Replay: h.adopted,
		Description: "Adopts all given containers or none. A container that is an app already is 409 `already_adopted`, " +
			"and a template is 409 `invalid_state`; `item` in the error is the index of the container in the " +
			"request.\n\nAn app whose `slug` names an entry of the catalog can be updated like an app that was " +
			"installed from it. If an item has no slug, the service uses the installable entry with the name of the " +
			"container, if there is exactly one; PATCH changes the slug. Adopting runs nothing: the first update " +
			"must be requested by a user who consents to it.",
	})
	op.Get(a, "/api/v1/apps/:app_id", h.get, op.Spec{
		ID: "get_app", Summary: "Get an app", Tag: tag, Role: identity.Viewer, On: op.App,
		Description: "Returns the app and its container as of the last poll. The `status` is `unknown` while no host of " +
			"its cluster responds. An app whose container was absent for 15 minutes of polls is `missing` and is kept; " +
			"DELETE with `keep_ct` removes it.",
	})
	op.Get(a, "/api/v1/apps/:app_id/logs", h.logs, op.Spec{
		ID: "get_app_logs", Summary: "Get an app's logs", Tag: tag, Role: identity.Viewer, On: op.App, Unsupported: true,
		Description: "Always 501 `unsupported`: Hostler cannot read logs inside containers.",
	})
	op.Get(a, "/api/v1/apps/:app_id/ports", h.ports, op.Spec{
		ID: "list_app_ports", Summary: "List the listening ports of an app", Tag: tag, Role: identity.Viewer, On: op.App, Calls: true,
		Description: "Reads the container's socket tables from the kernel of its node, over SSH, when you send the " +
			"request. Returns at most 1,000 ports, sorted by protocol, port and address. Without SSH access to the " +
			"node, the response is 409 `ssh_not_enrolled` or `consent_required`, with a `remedy`; while the " +
			"container is not running, it is 409 `invalid_state`.",
	})
	op.Get(a, "/api/v1/apps/:app_id/web-url", h.webURL, op.Spec{
		ID: "resolve_app_web_url", Summary: "Get the URL of an app", Tag: tag, Role: identity.Viewer, On: op.App,
		Description: "The port is the app's `web_port`; otherwise the one that the install script printed; otherwise the " +
			"one in the catalog. `decided_by` names the origin of the port. The address is one that the container " +
			"reports or is configured with. The service tries for two seconds to connect to it; `scheme_by` names " +
			"what decided between http and https: the result of that connection or a setting. The app's own " +
			"`web_path` and `web_protocol` take precedence. The service sends nothing but a TLS handshake to the app.",
	})
	op.Delete(a, "/api/v1/apps/:app_id", h.uninstall, op.Spec{
		ID: "uninstall_app", Summary: "Uninstall an app", Tag: tag, Role: identity.Admin, On: op.App, Calls: true,
		Entitlement: "apps.uninstall", Confirm: op.Confirm{When: op.ConfirmAlways, Field: "name"}, Plan: true,
		Status: http.StatusOK, Audit: op.Audit{Action: "app.uninstall"},
		Description: "Starts a job that destroys the container of the app and its disks, without a backup, and then " +
			"removes the app. With `keep_ct`, the app is removed at once and its container is kept; use it also to " +
			"remove an app whose container is missing. `confirm` must be the name of the app (409 `confirm_required`).",
	})
	op.Post(a, "/api/v1/apps/:app_id/:action", h.act, op.Spec{
		ID: "act_on_app", Summary: "Change the power state of an app", Tag: tag, Role: identity.Operator, On: op.App,
		Needs: endpoint.Lifecycle, Confirm: op.Confirm{When: op.ConfirmSelf, Field: "name"}, Plan: true,
		Status: http.StatusAccepted, Unsupported: true, Audit: op.Audit{Action: "app.{action}"}, Replay: h.acted,
		Description: "Starts a job and returns it. It is refused for the same reasons as the action on a VM.",
	})
}

type uninstallInput struct {
	op.PlanParams
	Body *struct {
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"Name of the app"`
		KeepCT  bool    `json:"keep_ct,omitempty" doc:"Remove the app and keep its container"`
	}
}

func (h handlers) uninstall(ctx context.Context, in *uninstallInput) (*op.Body[app.UninstallResult], error) {
	var confirm *string
	keep := false
	if in.Body != nil {
		confirm, keep = in.Body.Confirm, in.Body.KeepCT
	}
	done, err := h.apps.Uninstall(ctx, op.ResourceOf(ctx).ID, op.ResourceOf(ctx).TeamID, confirm, keep)
	return &op.Body[app.UninstallResult]{Body: done}, err
}

type listInput struct {
	Host   int64  `query:"host" minimum:"1" doc:"Only apps of this host"`
	Q      string `query:"q" maxLength:"200" doc:"Only apps whose name, container name or catalog entry contains this text"`
	Status string `query:"status" enum:"running,stopped,paused,suspended,unknown,pending,missing" doc:"Only apps with this status"`
}

func (h handlers) list(ctx context.Context, in *listInput) (*op.List[app.App], error) {
	all, err := h.apps.List(ctx, app.Filter{HostID: in.Host, Status: in.Status, Query: in.Q}, identity.FromContext(ctx).Visible())
	return &op.List[app.App]{Total: len(all), Body: all}, err
}

type discoveredInput struct {
	Host int64 `query:"host" minimum:"1" doc:"Only containers of this host"`
}

func (h handlers) discovered(ctx context.Context, in *discoveredInput) (*op.List[guest.Guest], error) {
	all, err := h.apps.Discovered(ctx, in.Host, identity.FromContext(ctx).Visible())
	return &op.List[guest.Guest]{Total: len(all), Body: all}, err
}

func (h handlers) get(ctx context.Context, _ *struct{}) (*op.Body[*app.App], error) {
	a, err := h.apps.Get(ctx, op.ResourceOf(ctx).ID)
	return &op.Body[*app.App]{Body: a}, err
}

func (h handlers) ports(ctx context.Context, _ *struct{}) (*op.List[app.Port], error) {
	all, err := h.apps.Ports(ctx, op.ResourceOf(ctx).ID, op.ResourceOf(ctx).TeamID)
	return &op.List[app.Port]{Total: len(all), Body: all}, err
}

func (h handlers) webURL(ctx context.Context, _ *struct{}) (*op.Body[app.WebURL], error) {
	found, err := h.apps.WebURL(ctx, op.ResourceOf(ctx).ID, op.ResourceOf(ctx).TeamID)
	return &op.Body[app.WebURL]{Body: found}, err
}

func (handlers) logs(context.Context, *struct{}) (*op.Body[[]string], error) {
	return nil, problem.New(problem.CodeUnsupported, "Hostler cannot read logs inside a container; use its console")
}

type adoptInput struct {
	Body struct {
		Items []AdoptItem `json:"items" minItems:"1" maxItems:"500" doc:"Containers to adopt, each with host_id and vmid or guest_ref"`
	}
}

// AdoptItem names one container that is to become an app.
type AdoptItem struct {
	HostID      int64               `json:"host_id" minimum:"1" example:"1" doc:"ID of any enrolled host of the container's cluster"`
	VMID        *int64              `json:"vmid,omitempty" minimum:"1" maximum:"999999999" example:"105" doc:"VMID of the container; give either this or guest_ref"`
	GuestRef    *string             `json:"guest_ref,omitempty" minLength:"1" maxLength:"255" doc:"ID of the container on the hypervisor; give either this or vmid"`
	Name        *string             `json:"name,omitempty" nullable:"true" minLength:"1" maxLength:"100" example:"wiki" doc:"Name of the app; the name of the container if absent"`
	WebPort     *int                `json:"web_port,omitempty" nullable:"true" minimum:"1" maximum:"65535" example:"8080"`
	WebPath     *string             `json:"web_path,omitempty" nullable:"true" maxLength:"500" pattern:"^/" example:"/admin"`
	WebProtocol *string             `json:"web_protocol,omitempty" nullable:"true" enum:"http,https"`
	Slug        op.Optional[string] `json:"slug,omitzero" minLength:"1" maxLength:"130" example:"wiki" doc:"Slug of the catalog entry that it was installed from; guessed from the name of the container if absent, none if null"`
}

var (
	_ huma.SchemaTransformer = AdoptItem{}
	_ huma.Resolver          = (*adoptInput)(nil)
)

// TransformSchema implements huma.SchemaTransformer: an example made of all fields would name the container twice.
func (AdoptItem) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{AdoptItem{
		HostID: 1, VMID: new(int64(105)), Name: new("wiki"), WebPort: new(8080), WebPath: new("/admin"), WebProtocol: new("http"),
		Slug: op.Optional[string]{Set: true, Value: "wiki"},
	}}
	return s
}

// Resolve implements huma.Resolver. It checks what the schema cannot express,
// so that one answer has these faults and those of the schema.
func (in *adoptInput) Resolve(huma.Context) []error {
	var faults []problem.Fault
	for i, item := range in.Body.Items {
		loc := []any{"body", "items", i}
		switch {
		case (item.VMID == nil) == (item.GuestRef == nil):
			faults = append(faults, problem.Fault{Loc: loc, Msg: "requires exactly one of vmid and guest_ref", Type: "value_error"})
		case item.GuestRef != nil && *item.GuestRef != "" && !hypervisor.GuestID(*item.GuestRef).Valid():
			faults = append(faults, problem.Fault{Loc: append(loc, "guest_ref"), Msg: "is not a guest ID", Type: "value_error"})
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return []error{problem.Invalid(faults...)}
}

func (h handlers) adopt(ctx context.Context, in *adoptInput) (*op.List[app.App], error) {
	items := make([]app.Adoption, len(in.Body.Items))
	for i, item := range in.Body.Items {
		items[i] = app.Adoption{HostID: item.HostID, VMID: item.VMID, GuestRef: item.GuestRef, Name: item.Name, WebPort: item.WebPort,
			WebPath: item.WebPath, WebProtocol: item.WebProtocol, Slug: app.Optional[string]{Set: item.Slug.Set, Value: item.Slug.Pointer()}}
	}
	made, err := h.apps.Adopt(ctx, items, func(team int64) error { return op.RequireRole(ctx, team, identity.Admin) })
	return &op.List[app.App]{Total: len(made), Body: made}, err
}

type actInput struct {
	op.PlanParams
	Action string `path:"action" enum:"start,stop,shutdown,restart"`
	Body   *struct {
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"Name of the app, if a confirmation is required"`
	}
}

func (h handlers) act(ctx context.Context, in *actInput) (*op.Body[guest.StartResult], error) {
	var confirm *string
	if in.Body != nil {
		confirm = in.Body.Confirm
	}
	r, err := h.apps.Request(ctx, op.ResourceOf(ctx).ID, op.ResourceOf(ctx).TeamID, confirm)
	if err != nil {
		return nil, err
	}
	started, err := guest.Lifecycle(hypervisor.Action(in.Action)).Start(ctx, h.apps.Actor, r, struct{}{})
	return &op.Body[guest.StartResult]{Body: started}, err
}

// acted rebuilds the answer of act for a repeated Idempotency-Key.
func (h handlers) acted(ctx context.Context, made idempotency.Result) (any, error) {
	a, err := h.apps.Get(ctx, op.ResourceOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	return h.apps.Actor.StartResult(ctx, made.JobID, a.IsSelf)
}

// adopted rebuilds the answer of adopt for a repeated Idempotency-Key, without
// apps that were removed since.
func (h handlers) adopted(ctx context.Context, made idempotency.Result) (any, error) {
	var ids []int64
	if err := made.Decode(&ids); err != nil {
		return nil, err
	}
	return h.apps.ByIDs(ctx, ids)
}
