// Package appscripts is the HTTP resource of the scripts of apps, and of updates by them.
package appscripts

import (
	"context"
	"net/http"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/appscript"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
)

// Deps is what the resource works with.
type Deps struct{ Scripts *appscript.Store }

type handlers struct{ scripts *appscript.Store }

const (
	tag = "Apps"
	// sourceLimit is how long a source may take to make a bundle.
	sourceLimit = 5 * time.Minute
	sourceFails = "502 `catalog_source_error` where the source cannot give the bundle, with a `reason`."
)

// Register declares the operations.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Scripts}
	const script = "/api/v1/apps/:app_id/script"
	op.Get(a, script, h.get, op.Spec{
		ID: "get_app_script", Summary: "Get an app's script", Tag: tag, Role: identity.Operator, On: op.App,
		Description: "The newest version, or the one that `version` names. An `upstream` version is the main file of a bundle of the catalog; " +
			"an `edited` one is somebody's text. `drift` tells what is different from the last upstream version. 404 for an app " +
			"without a script: " +
			"one that was adopted has none until somebody adds or reverts it.",
	})
	op.Put(a, script, h.put, op.Spec{
		ID: "put_app_script", Summary: "Edit an app's script", Tag: tag, Role: identity.Admin, On: op.App,
		Audit: op.Audit{Action: "app.script_edit"},
		Description: "Adds a version whose `source` is `edited`; earlier ones stay. It is kept and compared, and never run: the app is not " +
			"updated until the script is reverted. With `digest`, 409 `digest_conflict` where another version is the newest by now. " +
			"The text that " +
			"is the newest edited version already is not added again. 409 `guest_busy` while the app is updated.",
	})
	op.Get(a, script+"/versions", h.versions, op.Spec{
		ID: "list_app_script_versions", Summary: "List the versions of an app's script", Tag: tag, Role: identity.Operator, On: op.App,
		Description: "Newest first, without their texts. Versions are never changed or deleted.",
	})
	op.Post(a, script+"/revert", h.revert, op.Spec{
		ID: "revert_app_script", Summary: "Take the catalog's script for an app", Tag: tag, Role: identity.Admin, On: op.App,
		Audit: op.Audit{Action: "app.script_revert"}, Recall: h.again, Timeout: sourceLimit,
		Description: "Adds the script that the catalog has now as a version whose `source` is `upstream`; earlier ones stay, and nothing is " +
			"run. 409 `invalid_state` with the `reason` `no_entry`, `no_commit` or `no_bundle` where the catalog has none, and 409 `guest_busy` " +
			"while the app is updated. " + sourceFails,
	})
	op.Get(a, "/api/v1/apps/:app_id/update", h.state, op.Spec{
		ID: "get_app_update", Summary: "Tell whether there is an update of an app", Tag: tag, Role: identity.Viewer, On: op.App,
		Timeout: sourceLimit,
		Description: "There is one when the catalog has another state of the entry's own files than the app's script is of: then `diff` tells " +
			"what is different, those files first. There is one, too, for an app that was adopted, or has got another entry: nobody knows " +
			"which state it is of, and `commit` is null. Otherwise `reason` is the first of these that holds: `edited`, `no_entry`, " +
			"`no_commit`, `current`. `last` is what came of the last update. " + sourceFails,
	})
	op.Get(a, "/api/v1/apps/updates", h.updates, op.Spec{
		ID: "list_app_updates", Summary: "Tell which apps have an update", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "One for each app, by its id, from what the last refresh of the catalog has found: no source is asked, and no bundle is " +
			"made. Where there is none, `reason` is the first of these that holds: `edited`, `no_entry`, `no_commit`, `no_script`, `current`. " +
			"`no_script` is an app of which nobody knows which state of the entry it is of: it is updated alone for the first time. " +
			"The list is not paged.",
	})
	h.registerUpdates(a)
}

// registerUpdates declares what runs.
func (h handlers) registerUpdates(a *op.API) {
	op.Post(a, "/api/v1/apps/:app_id/update", h.update, op.Spec{
		ID: "update_app", Summary: "Update an app", Tag: tag, Role: identity.Operator, On: op.App, Status: http.StatusAccepted,
		Audit: op.Audit{Action: appscript.UpdateKind}, Recall: h.started, Timeout: sourceLimit, Plan: true, Unsupported: true,
		Description: "Answers with the job that runs the catalog's bundle of the app's entry as root inside of its container, also where that " +
			"is the one that ran last: what it fetches may be newer. It takes a snapshot before, or makes a backup where that cannot " +
			"be, and looks " +
			"afterwards whether the app answers as it did, from the network of its node. Where the script fails or the app does not answer, the " +
			"container is set back. The job ends with one of `updated`, `nothing_to_do`, `rolled_back` and `needs_human`, and `last` " +
			"of GET tells " +
			"which; the latter two are failures.\n\n" +
			"Someone has to agree that exactly these bytes run on this host: 409 `consent_required` with their `sum` and the `text` until " +
			"`consent` is sent once. 409 `invalid_state` with a `reason` where it cannot be done: `edited`, `no_entry`, `no_commit`, " +
			"`no_bundle`, `disabled`, `stopped`, `paused` or `self`; 409 `ssh_not_enrolled` where the container's node is " +
			"not logged " +
			"in to; 409 `guest_busy` while another job works on it. " + sourceFails,
	})
	op.Post(a, "/api/v1/apps/update-all", h.updateAll, op.Spec{
		ID: "update_all_apps", Summary: "Update all apps that have an update", Tag: tag, Role: identity.Operator, On: op.Anywhere,
		Status: http.StatusAccepted, Audit: op.Audit{Action: "app.update_all"}, Recall: h.startedAll, Timeout: sourceLimit, Plan: true,
		Description: "One job for each app that has an update, of those that the caller may update, and for all others why there is none: " +
			"`edited`, `no_entry`, `no_commit`, `no_script`, `current`, in this order, or the code of the problem that the update of this app " +
			"alone would have got. With `consent` the caller agrees to every bundle; without it, apps are skipped as `consent_required` of whose " +
			"bundle nobody has agreed to. `no_script` is an app of which nobody knows which state of the entry it is of: it is updated alone " +
			"for the first time. The jobs run one after the other, and after `stop_after` that have failed no further one is begun.",
	})
}

func (h handlers) updates(ctx context.Context, _ *struct{}) (*op.List[*appscript.Update], error) {
	all, err := h.scripts.Updates(ctx)
	return &op.List[*appscript.Update]{Total: len(all), Body: all}, err
}

type updateInput struct {
	op.Planned
	Body *struct {
		Consent bool `json:"consent,omitempty" doc:"The caller has read what the plan shows, and agrees that it runs"`
	}
}

func (h handlers) update(ctx context.Context, in *updateInput) (*op.Body[guest.Started], error) {
	started, err := h.scripts.Update(ctx, op.Found(ctx).ID, op.Found(ctx).TeamID, in.Body != nil && in.Body.Consent)
	return &op.Body[guest.Started]{Body: started}, err
}

// started makes the answer of update again.
func (h handlers) started(ctx context.Context, made idempotency.Made) (any, error) {
	return h.scripts.Actor.Started(ctx, made.JobID, false)
}

type updateAllInput struct {
	op.Planned
	Body *struct {
		Consent   bool `json:"consent,omitempty" doc:"The caller has read what the plans show, and agrees that it runs"`
		StopAfter int  `json:"stop_after,omitempty" minimum:"1" maximum:"100" example:"2" doc:"After how many failures no further update is begun; 2 when absent"`
	}
}

func (h handlers) updateAll(ctx context.Context, in *updateAllInput) (*op.Body[appscript.All], error) {
	consent, stopAfter := false, 0
	if in.Body != nil {
		consent, stopAfter = in.Body.Consent, in.Body.StopAfter
	}
	all, err := h.scripts.UpdateAll(ctx, consent, stopAfter)
	return &op.Body[appscript.All]{Body: all}, err
}

func (h handlers) startedAll(ctx context.Context, made idempotency.Made) (any, error) {
	return h.scripts.UpdatedAll(ctx, made)
}

type getInput struct {
	Version int `query:"version" minimum:"1" maximum:"1000000000" example:"1" doc:"Number of a version; the newest by default"`
}

func (h handlers) get(ctx context.Context, in *getInput) (*op.Body[*appscript.Script], error) {
	found, err := h.scripts.Get(ctx, op.Found(ctx).ID, in.Version)
	return &op.Body[*appscript.Script]{Body: found}, err
}

type putInput struct {
	Body struct {
		Content string `json:"content" minLength:"1" maxLength:"262144" example:"#!/bin/sh\necho hello\n" doc:"At most 256 KiB of UTF-8"`
		Digest  string `json:"digest,omitempty" maxLength:"64" doc:"The sha256 of the version that was edited"`
	}
}

func (h handlers) put(ctx context.Context, in *putInput) (*op.Body[*appscript.Script], error) {
	made, err := h.scripts.Put(ctx, op.Found(ctx).ID, in.Body.Content, in.Body.Digest)
	return &op.Body[*appscript.Script]{Body: made}, err
}

func (h handlers) revert(ctx context.Context, _ *struct{}) (*op.Body[*appscript.Script], error) {
	made, err := h.scripts.Revert(ctx, op.Found(ctx).ID)
	return &op.Body[*appscript.Script]{Body: made}, err
}

// again makes the answer of revert again.
func (h handlers) again(ctx context.Context, made idempotency.Made) (any, error) {
	var number int
	if err := made.Decode(&number); err != nil {
		return nil, err
	}
	return h.scripts.Get(ctx, op.Found(ctx).ID, number)
}

func (h handlers) versions(ctx context.Context, in *struct{ op.Page }) (*op.List[*appscript.Version], error) {
	all, total, err := h.scripts.Versions(ctx, op.Found(ctx).ID, in.Offset(), in.Limit())
	return &op.List[*appscript.Version]{Total: total, Body: all}, err
}

func (h handlers) state(ctx context.Context, _ *struct{}) (*op.Body[*appscript.State], error) {
	state, err := h.scripts.UpdateState(ctx, op.Found(ctx).ID)
	return &op.Body[*appscript.State]{Body: state}, err
}
