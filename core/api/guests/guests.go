// Package guests is the HTTP resource of all guests in one list: VMs, containers, and the apps that containers are.
package guests

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
)

// Deps is what the resource works with.
type Deps struct{ Guests *guest.Store }

type handlers struct{ guests *guest.Store }

// Register declares the operations.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Guests}
	op.Get(a, "/api/v1/guests", h.list, op.Spec{
		ID: "list_guests", Summary: "List VMs, containers and apps", Tag: "Guests", Role: identity.Viewer, On: op.Anywhere, Ours: true,
		Description: "Every VM and container of the hosts that the caller may see, as the last poll found it, each once. A container that is " +
			"an app has `app_id`; templates are marked. An app whose container is away is under /apps only. The list is not paged.",
	})
}

type listInput struct {
	Kind   string `query:"kind" enum:"vm,container,app" doc:"Only VMs, only containers, or only those containers that are apps"`
	Host   int64  `query:"host" minimum:"1" doc:"Only guests of this host"`
	Status string `query:"status" enum:"running,stopped,paused,suspended,unknown,pending" doc:"Only guests in this state"`
	Q      string `query:"q" maxLength:"200" doc:"Only guests whose name, app, node, tag or id contains this"`
}

func (h handlers) list(ctx context.Context, in *listInput) (*op.List[guest.Entry], error) {
	filter := guest.Filter{Kind: in.Kind, HostID: in.Host, Status: in.Status, Query: in.Q}
	all, err := h.guests.Entries(ctx, filter, identity.FromContext(ctx).Visible())
	return &op.List[guest.Entry]{Total: len(all), Body: all}, err
}
