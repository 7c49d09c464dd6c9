// Package appscripts is the HTTP resource of the scripts of apps and of
// updates. A user can read and edit the script of an app, list its versions and
// go back to the script of the catalog. Other operations check an app for an
// update, list the available updates, and start jobs that update one app or all
// of them. An edited script is stored and compared but never run; see package
// appscript.
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

// Deps has what the operations of this package need.
type Deps struct{ Scripts *appscript.Store }

type handlers struct{ scripts *appscript.Store }

const (
	tag = "Apps"
	// sourceLimit is how long a source may take to make a bundle.
	sourceLimit = 5 * time.Minute
	sourceFails = "502 `catalog_source_error`, with a `reason`, if the source cannot provide the bundle."
)

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Scripts}
	const script = "/api/v1/apps/:app_id/script"
	op.Get(a, script, h.get, op.Spec{
		ID: "get_app_script", Summary: "Get an app's script", Tag: tag, Role: identity.Operator, On: op.App,
		Description: "Returns the newest version, or the one in `version`. An `upstream` version is the main file of a " +
			"bundle of the catalog; an `edited` version was written by a user. `drift` shows the difference from the " +
			"last upstream version. 404 for an app without a script: an adopted app has none until a user adds or " +
			"reverts it.",
	})
	op.Put(a, script, h.put, op.Spec{
		ID: "put_app_script", Summary: "Edit an app's script", Tag: tag, Role: identity.Admin, On: op.App,
		Audit: op.Audit{Action: "app.script_edit"},
		Description: "Adds a version with the `source` `edited`; earlier versions are kept. The text is stored and " +
			"compared but never run: updates of the app are refused until the script is reverted. With `digest`, 409 " +
			"`digest_conflict` if another version is the newest. A text that equals the newest edited version is not " +
			"added again. 409 `guest_busy` while the app is being updated.",
	})
	op.Get(a, script+"/versions", h.versions, op.Spec{
		ID: "list_app_script_versions", Summary: "List the versions of an app's script", Tag: tag, Role: identity.Operator, On: op.App,
		Description: "Lists the versions without their texts, newest first. Versions are never changed or deleted.",
	})
	op.Post(a, script+"/revert", h.revert, op.Spec{
		ID: "revert_app_script", Summary: "Revert an app's script to the catalog's", Tag: tag, Role: identity.Admin, On: op.App,
		Audit: op.Audit{Action: "app.script_revert"}, Replay: h.again, Timeout: sourceLimit,
		Description: "Adds the current script of the catalog as a version with the `source` `upstream`; earlier " +
			"versions are kept, and nothing runs. 409 `invalid_state` with the `reason` `no_entry`, `no_commit` or " +
			"`no_bundle` if the catalog has none, and 409 `guest_busy` while the app is being updated. " +
			sourceFails,
	})
	op.Get(a, "/api/v1/apps/:app_id/update", h.state, op.Spec{
		ID: "get_app_update", Summary: "Check an app for an update", Tag: tag, Role: identity.Viewer, On: op.App,
		Timeout: sourceLimit,
		Description: "An update is available if the catalog has a different commit of the entry's own files than the " +
			"script of the app; `diff` then shows the changes, those files first. An update is also available for an " +
			"app that was adopted or assigned another entry, because its commit is not known; `commit` is then null. " +
			"Otherwise `reason` is the first of these that applies: `edited`, `no_entry`, `no_commit`, `current`. " +
			"`last` is the result of the last update. " +
			sourceFails,
	})
	op.Get(a, "/api/v1/apps/updates", h.updates, op.Spec{
		ID: "list_app_updates", Summary: "List available updates of apps", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists one entry for each app, by ID, with the result of the last refresh of the catalog. It " +
			"contacts no source and builds no bundle. If no update is available, `reason` is the first of these that " +
			"applies: `edited`, `no_entry`, `no_commit`, `no_script`, `current`. `no_script` means that the commit of " +
			"the app is not known; such an app must be updated individually the first time. The list is not paged.",
	})
	h.registerUpdates(a)
}

// registerUpdates declares the operations that check for updates and run them.
func (h handlers) registerUpdates(a *op.API) {
	op.Post(a, "/api/v1/apps/:app_id/update", h.update, op.Spec{
		ID: "update_app", Summary: "Update an app", Tag: tag, Role: identity.Operator, On: op.App, Status: http.StatusAccepted,
		Audit: op.Audit{Action: appscript.UpdateKind}, Replay: h.started, Timeout: sourceLimit, Plan: true, Unsupported: true,
		Description: "Starts a job that runs the catalog's bundle of the entry as root in the container of the app, " +
			"even if the same bundle ran last, because the bundle may download newer files. The job first takes a " +
			"snapshot, or a backup if snapshots are not possible. Afterwards it checks from the network of the node " +
			"whether the app still responds. If the script fails or the app does not respond, the container is " +
			"restored. The job ends with one of `updated`, `nothing_to_do`, `rolled_back` and `needs_human`, which GET " +
			"returns in `last`; the latter two are failures.\n\n" +
			"A user must consent to running exactly this bundle on this host: 409 `consent_required` with its `sum` " +
			"and the `text` until `consent` is sent once. 409 `invalid_state` with a `reason` if the update is not " +
			"possible: `edited`, `no_entry`, `no_commit`, `no_bundle`, `disabled`, `stopped`, `paused` or `self`; 409 " +
			"`ssh_not_enrolled` without SSH access to the node of the container; 409 `guest_busy` while another job " +
			"works on the container. " +
			sourceFails,
	})
	op.Post(a, "/api/v1/apps/update-all", h.updateAll, op.Spec{
		ID: "update_all_apps", Summary: "Update all apps with an available update", Tag: tag, Role: identity.Operator, On: op.Anywhere,
		Status: http.StatusAccepted, Audit: op.Audit{Action: "app.update_all"}, Replay: h.startedAll, Timeout: sourceLimit, Plan: true,
		Description: "Starts one job for each app with an available update that the caller can update. For all other " +
			"apps it returns the reason: `edited`, `no_entry`, `no_commit`, `no_script`, `current`, in this order, or " +
			"the error id that a single update of the app would return. With `consent` the caller consents to every " +
			"bundle; without it, apps whose bundle nobody consented to are skipped as `consent_required`. `no_script` " +
			"means that the commit of the app is not known; such an app must be updated individually the first time. The " +
			"jobs run one after the other. After `stop_after` failures no further job starts.",
	})
}

func (h handlers) updates(ctx context.Context, _ *struct{}) (*op.List[*appscript.Update], error) {
	all, err := h.scripts.Updates(ctx)
	return &op.List[*appscript.Update]{Total: len(all), Body: all}, err
}

type updateInput struct {
	op.PlanParams
	Body *struct {
		Consent bool `json:"consent,omitempty" doc:"Confirm that you reviewed the plan and consent to running the bundle"`
	}
}

func (h handlers) update(ctx context.Context, in *updateInput) (*op.Body[guest.StartResult], error) {
	started, err := h.scripts.Update(ctx, op.ResourceOf(ctx).ID, op.ResourceOf(ctx).TeamID, in.Body != nil && in.Body.Consent)
	return &op.Body[guest.StartResult]{Body: started}, err
}

// started rebuilds the answer of update for a repeated Idempotency-Key.
func (h handlers) started(ctx context.Context, made idempotency.Result) (any, error) {
	return h.scripts.Actor.StartResult(ctx, made.JobID, false)
}

type updateAllInput struct {
	op.PlanParams
	Body *struct {
		Consent   bool `json:"consent,omitempty" doc:"Confirm that you reviewed the plans and consent to running the bundles"`
		StopAfter int  `json:"stop_after,omitempty" minimum:"1" maximum:"100" example:"2" doc:"Number of failures after which no further update starts; 2 if absent"`
	}
}

func (h handlers) updateAll(ctx context.Context, in *updateAllInput) (*op.Body[appscript.UpdateAllResult], error) {
	consent, stopAfter := false, 0
	if in.Body != nil {
		consent, stopAfter = in.Body.Consent, in.Body.StopAfter
	}
	all, err := h.scripts.UpdateAll(ctx, consent, stopAfter)
	return &op.Body[appscript.UpdateAllResult]{Body: all}, err
}

func (h handlers) startedAll(ctx context.Context, made idempotency.Result) (any, error) {
	return h.scripts.ReplayUpdateAll(ctx, made)
}

type getInput struct {
	Version int `query:"version" minimum:"1" maximum:"1000000000" example:"1" doc:"Version to return; the newest if absent"`
}

func (h handlers) get(ctx context.Context, in *getInput) (*op.Body[*appscript.Script], error) {
	found, err := h.scripts.Get(ctx, op.ResourceOf(ctx).ID, in.Version)
	return &op.Body[*appscript.Script]{Body: found}, err
}

type putInput struct {
	Body struct {
		Content string `json:"content" minLength:"1" maxLength:"262144" example:"#!/bin/sh\necho hello\n" doc:"Text of the script, UTF-8, at most 256 KiB"`
		Digest  string `json:"digest,omitempty" maxLength:"64" doc:"SHA-256 of the version that you edited"`
	}
}

func (h handlers) put(ctx context.Context, in *putInput) (*op.Body[*appscript.Script], error) {
	made, err := h.scripts.Put(ctx, op.ResourceOf(ctx).ID, in.Body.Content, in.Body.Digest)
	return &op.Body[*appscript.Script]{Body: made}, err
}

func (h handlers) revert(ctx context.Context, _ *struct{}) (*op.Body[*appscript.Script], error) {
	made, err := h.scripts.Revert(ctx, op.ResourceOf(ctx).ID)
	return &op.Body[*appscript.Script]{Body: made}, err
}

// again rebuilds the answer of revert for a repeated Idempotency-Key.
func (h handlers) again(ctx context.Context, made idempotency.Result) (any, error) {
	var number int
	if err := made.Decode(&number); err != nil {
		return nil, err
	}
	return h.scripts.Get(ctx, op.ResourceOf(ctx).ID, number)
}

func (h handlers) versions(ctx context.Context, in *struct{ op.Page }) (*op.List[*appscript.Version], error) {
	all, total, err := h.scripts.Versions(ctx, op.ResourceOf(ctx).ID, in.Offset(), in.Limit())
	return &op.List[*appscript.Version]{Total: total, Body: all}, err
}

func (h handlers) state(ctx context.Context, _ *struct{}) (*op.Body[*appscript.State], error) {
	state, err := h.scripts.UpdateState(ctx, op.ResourceOf(ctx).ID)
	return &op.Body[*appscript.State]{Body: state}, err
}
