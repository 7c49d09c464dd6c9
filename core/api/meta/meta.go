// Package meta is the HTTP resource of the service itself: its updates.
package meta

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/selfupdate"
)

// Deps is what the operations work with.
type Deps struct{ Updates *selfupdate.Store }

type handlers struct{ updates *selfupdate.Store }

const tag = "Self-update"

// Register declares the operations, each also at the path without prefix that the specification gives.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Updates}
	op.Get(a, "/api/v1/meta/update", h.get, op.Spec{
		ID: "get_update", Summary: "Tell of updates of the service", Tag: tag, Role: identity.Viewer,
		Aliases: []op.Alias{{Path: "/meta/update", ID: "get_meta_update"}},
		Description: "The version that runs, the newest signed release that can replace it, whether updates can be asked for here " +
			"(`can_self_apply`, and in " +
			"`hint` why not), and how the last update stands. `state` is read from the updater's files each time: `idle` (there was none), " +
			"`requested` (no " +
			"updater has taken the request yet), `running`, `interrupted` (cut off; it goes on by itself, at once or at the machine's next " +
			"start), `done`, `failed` (nothing was " +
			"changed), `rolled_back` (the old version and its data are back), `refused` (the request did not become a run). What cannot be " +
			"read is named in " +
			"`problems`, and the rest is told all the same.\n\n" +
			"Releases are looked for by jobs of the kind `update.check`, whose schedule is switched on when a source and a channel come into the " +
			"updater's configuration. Only the names of the release's files are asked for: nothing tells the source who asks.",
	})
	op.Post(a, "/api/v1/meta/update", h.request, op.Spec{
		ID: "request_update", Summary: "Update the service", Tag: tag, Role: identity.Admin, Status: http.StatusAccepted,
		Audit: op.Audit{Action: "update.request"}, Recall: h.requested, Aliases: []op.Alias{{Path: "/meta/update", ID: "request_meta_update"}},
		Description: "Looks at the source anew and asks the updater for the newest release; `version` is what the caller saw and agrees to. " +
			"The updater is " +
			"a program of its own: it makes a backup, verifies the release by itself, tries its migrations on a copy of the database, and puts " +
			"the old version " +
			"back when the new one does not become healthy. The service restarts meanwhile.\n\n" +
			"409 `invalid_state` has a `reason` and mostly a `hint`: `container` (update the image), `source` (built by hand), `not_configured`, " +
			"`configuration`, `nothing_newer`, `too_old`, `another_version` (with the newest in `version`), `requested`, `running`, " +
			"`interrupted`, `unknown` (the updater's files cannot be read). 502 `release_source_error` has a `reason`: `unreachable`, `timeout`, " +
			"`missing`, `keys`, `not_signed`, `invalid`, `replayed`, `channel`. 503 `update_not_requested`: the request could not be written, " +
			"and nothing was changed.",
	})
}

func (h handlers) get(ctx context.Context, _ *struct{}) (*op.Body[*selfupdate.Status], error) {
	status, err := h.updates.Status(ctx)
	return &op.Body[*selfupdate.Status]{Body: status}, err
}

type requestInput struct{ Body *RequestIn }

// RequestIn says what the caller agrees to.
type RequestIn struct {
	Version *string `json:"version,omitempty" nullable:"true" minLength:"1" maxLength:"64" example:"1.5.0" doc:"The only version to install; absent or null: the newest"`
}

func (h handlers) request(ctx context.Context, in *requestInput) (*op.Body[*selfupdate.Status], error) {
	agreed := ""
	if in.Body != nil && in.Body.Version != nil {
		agreed = *in.Body.Version
	}
	status, err := h.updates.Request(ctx, agreed)
	return &op.Body[*selfupdate.Status]{Body: status}, err
}

// requested makes the answer of request again: how the update stands now.
func (h handlers) requested(ctx context.Context, _ idempotency.Made) (any, error) {
	return h.updates.Status(ctx)
}
