// Package meta is the HTTP resource of updates of the service. One operation
// returns the status, the other requests an update. A separate program, the
// updater, makes the update; see package selfupdate.
package meta

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/selfupdate"
)

// Deps has what the operations of this package need.
type Deps struct{ Updates *selfupdate.Store }

type handlers struct{ updates *selfupdate.Store }

const tag = "Self-update"

// Register declares the operations of this package. Each also has a path
// without the prefix /api/v1.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Updates}
	op.Get(a, "/api/v1/meta/update", h.get, op.Spec{
		ID: "get_update", Summary: "Get the update status of the service", Tag: tag, Role: identity.Viewer,
		Aliases: []op.Alias{{Path: "/meta/update", ID: "get_meta_update"}},
		Description: "Returns the running version, the newest signed release that can replace it, whether updates " +
			"can be requested here (`can_self_apply`; `hint` explains why not), and the state of the last update. " +
			"`state` is read from the files of the updater for each request: `idle` (no update yet), `requested` " +
			"(the updater has not started it yet), `running`, `interrupted` (it continues automatically, at once or " +
			"at the next start of the machine), `done`, `failed` (nothing was changed), `rolled_back` (the old " +
			"version and its data were restored), `refused` (the request did not start a run). Data that cannot be " +
			"read is listed in `problems`; the rest is still returned.\n\n" +
			"Jobs of the kind `update.check` check for releases. The schedule of these jobs is enabled when the " +
			"configuration of the updater gets a source and a channel. The jobs request only the files of the " +
			"release and send no data that identifies the instance.",
	})
	op.Post(a, "/api/v1/meta/update", h.request, op.Spec{
		ID: "request_update", Summary: "Update the service", Tag: tag, Role: identity.Admin, Status: http.StatusAccepted,
		Audit: op.Audit{Action: "update.request"}, Replay: h.requested, Aliases: []op.Alias{{Path: "/meta/update", ID: "request_meta_update"}},
		Description: "Checks the source again and requests the newest release from the updater; `version` is the " +
			"release that you reviewed. The updater is a separate program: it makes a backup, verifies the release, " +
			"tests its migrations on a copy of the database, and restores the old version if the new one does not " +
			"become healthy. The service restarts during the update.\n\n" +
			"409 `invalid_state` has a `reason` and usually a `hint`: `container` (update the image), `source` (built " +
			"from source), `not_configured`, `configuration`, `nothing_newer`, `too_old`, `another_version` (with the " +
			"newest in `version`), `requested`, `running`, `interrupted`, `unknown` (the files of the updater cannot " +
			"be read). 502 `release_source_error` has a `reason`: `unreachable`, `timeout`, `missing`, `keys`, " +
			"`not_signed`, `invalid`, `replayed`, `channel`. 503 `update_not_requested`: the request could not be " +
			"written, and nothing was changed.",
	})
}

func (h handlers) get(ctx context.Context, _ *struct{}) (*op.Body[*selfupdate.Status], error) {
	status, err := h.updates.Status(ctx)
	return &op.Body[*selfupdate.Status]{Body: status}, err
}

type requestInput struct{ Body *UpdateRequest }

// UpdateRequest names the release that the caller has reviewed.
type UpdateRequest struct {
	Version *string `json:"version,omitempty" nullable:"true" minLength:"1" maxLength:"64" example:"1.5.0" doc:"Version to install; the request is refused if the newest one differs. Absent or null for the newest"`
}

func (h handlers) request(ctx context.Context, in *requestInput) (*op.Body[*selfupdate.Status], error) {
	agreed := ""
	if in.Body != nil && in.Body.Version != nil {
		agreed = *in.Body.Version
	}
	status, err := h.updates.Request(ctx, agreed)
	return &op.Body[*selfupdate.Status]{Body: status}, err
}

// requested rebuilds the answer of request for a repeated Idempotency-Key, with
// the current state of the update.
func (h handlers) requested(ctx context.Context, _ idempotency.Result) (any, error) {
	return h.updates.Status(ctx)
}
