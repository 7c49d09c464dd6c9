// Package guests is the HTTP resource of all guests in one list: VMs,
// containers, and the apps that containers are. It also changes the power state
// of several guests with one request.
package guests

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Deps has what the operations of this package need.
type Deps struct {
	Guests *guest.Store
	Actor  *guest.Actor
}

type handlers struct {
	guests *guest.Store
	actor  *guest.Actor
}

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Guests, deps.Actor}
	op.Get(a, "/api/v1/guests", h.list, op.Spec{
		ID: "list_guests", Summary: "List all guests", Tag: "Guests", Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists every VM and container of the hosts that the caller can see, once each, as of the last " +
			"poll. A container that is an app has `app_id`; templates are marked. An app whose container is missing is " +
			"listed only under /apps. The list is not paged.",
	})
	op.Post(a, "/api/v1/guests/actions", h.act, op.Spec{
		ID: "act_on_guests", Summary: "Change the power state of several guests", Tag: "Guests",
		Role: identity.Operator, On: op.Anywhere, Status: http.StatusAccepted, Plan: true,
		Confirm: op.Confirm{When: op.ConfirmSelf, Field: "name"}, Audit: op.Audit{Action: "guests.act"}, Replay: h.acted,
		Description: "Starts jobs for at most 500 VMs and apps. Each guest is checked like a single request; refused " +
			"guests are in `skipped` with the reason, and all jobs start together. The guest that the service runs in " +
			"is skipped (`self_target`) unless `confirm` is its name.",
	})
}

type actInput struct {
	op.PlanParams
	Body struct {
		Action  string              `json:"action" enum:"start,stop,shutdown,restart,pause,resume,reset" example:"shutdown"`
		Targets []guest.NamedTarget `json:"targets" minItems:"1" maxItems:"500" doc:"VMs and apps"`
		Confirm *string             `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"Name of the service's own guest"`
	}
}

func (h handlers) act(ctx context.Context, in *actInput) (*op.Body[guest.BulkResult], error) {
	all, err := guest.Targets(in.Body.Targets)
	if err != nil {
		return nil, err
	}
	done, err := h.guests.ActOnAll(ctx, h.actor, hypervisor.Action(in.Body.Action), all, in.Body.Confirm)
	return &op.Body[guest.BulkResult]{Body: done}, err
}

// acted rebuilds the answer of act for a repeated Idempotency-Key.
func (h handlers) acted(ctx context.Context, made idempotency.Result) (any, error) {
	return h.actor.ReplayActOnAll(ctx, made)
}

type listInput struct {
	Kind   string `query:"kind" enum:"vm,container,app" doc:"Only VMs, only containers, or only containers that are apps"`
	Host   int64  `query:"host" minimum:"1" doc:"Only guests of this host"`
	Status string `query:"status" enum:"running,stopped,paused,suspended,unknown,pending" doc:"Only guests with this status"`
	Q      string `query:"q" maxLength:"200" doc:"Only guests whose name, app, node, tag or ID contains this text"`
}

func (h handlers) list(ctx context.Context, in *listInput) (*op.List[guest.Entry], error) {
	filter := guest.Filter{Kind: in.Kind, HostID: in.Host, Status: in.Status, Query: in.Q}
	all, err := h.guests.Entries(ctx, filter, identity.FromContext(ctx).Visible())
	return &op.List[guest.Entry]{Total: len(all), Body: all}, err
}
