package firewall

import (
	"context"
	"net/http"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/firewall/draft"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/endpoint"
)

// registerDrafts declares the operations on drafts. A draft goes through three
// steps: create it with its changes, commit it, which starts a job that makes
// the changes, and confirm it within a window of time. Without the confirmation
// the job restores the previous state.
func (h handlers) registerDrafts(a *op.API) {
	const all, one = "/api/v1/firewall/drafts", "/api/v1/firewall/drafts/:draft_id"
	op.Post(a, all, h.createDraft, op.Spec{
		ID: "create_firewall_draft", Summary: "Create a firewall draft", Tag: tag, Role: identity.Operator, On: op.Anywhere,
		Calls: true, Status: http.StatusCreated, Audit: op.Audit{Action: "firewall.draft_create"}, Timeout: changeTime,
		Replay: h.draftAgain,
		Description: "Creates a set of changes to one or several scopes of one cluster that are applied together or " +
			"not at all; nothing changes before the draft is committed. The changes are applied in order to the " +
			"current firewall, so a position (`pos`) refers to the list after the preceding changes. All changes are " +
			"checked now; faults are 422 with the index of the change. Guests require the role operator; nodes, " +
			"clusters and groups require admin; a draft with several scopes requires the highest of these roles. The " +
			"response shows each scope before and after, line by line. A rename is a deletion and a creation. A team " +
			"can have at most 500 drafts that are neither applied nor undone; creating more is 409 `conflict`. " +
			"Applied and undone drafts are deleted together with ended jobs.",
	})
	op.Get(a, all, h.listDrafts, op.Spec{
		ID: "list_firewall_drafts", Summary: "List firewall drafts", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists drafts, newest first, without their changes; get a draft to see them.",
	})
	op.Get(a, one, h.getDraft, op.Spec{
		ID: "get_firewall_draft", Summary: "Get a firewall draft", Tag: tag, Role: identity.Viewer, On: op.Draft,
		Description: "Returns the draft with each of its scopes before and after, and with the result of its last job.",
	})
	op.Put(a, one, h.changeDraft, op.Spec{
		ID: "change_firewall_draft", Summary: "Replace the changes of a firewall draft", Tag: tag, Role: identity.Operator, On: op.Draft,
		Calls: true,
		Needs: endpoint.Monitoring, Audit: op.Audit{Action: "firewall.draft_change"}, Timeout: changeTime,
		Description: "Replaces the changes and applies them to the current firewall, so this also updates an outdated " +
			"draft. An outdated `version` is 409 `digest_conflict` with the current draft in `current`. 409 " +
			"`invalid_state` while a job applies the draft, and once its changes are permanent.",
	})
	op.Delete(a, one, h.deleteDraft, op.Spec{
		ID: "delete_firewall_draft", Summary: "Delete a firewall draft", Tag: tag, Role: identity.Operator, On: op.Draft,
		Audit: op.Audit{Action: "firewall.draft_delete"},
		Description: "Deletes the draft; its changes to the firewall stay. 409 `invalid_state` while a job applies it: " +
			"cancel the job to roll everything back.",
	})
	op.Post(a, one+"/commit", h.commitDraft, op.Spec{
		ID: "commit_firewall_draft", Summary: "Commit a firewall draft", Tag: tag, Role: identity.Operator, On: op.Draft, Calls: true,
		Needs: endpoint.Lifecycle, Plan: true, Status: http.StatusAccepted, Audit: op.Audit{Action: "firewall.draft_commit"},
		Job: "firewall.draft", Timeout: changeTime, Replay: h.committedAgain, Confirm: op.Confirm{When: op.ConfirmSelf, Field: "name"},
		Description: "Starts a job that makes the changes and then waits for `confirm`. The changes are ordered so " +
			"that traffic that is blocked both before and afterwards is not allowed in between. If nobody confirms " +
			"within `window_seconds`, if a node stops responding, or if the job is canceled, everything is rolled " +
			"back. The same happens after a restart of the service. If the hypervisor does not respond at that time, " +
			"the rollback follows as soon as it does. Changes by other users are not overwritten: the job then ends " +
			"as `unknown` and describes the state.\n\n" +
			"The plan shows added and removed rules, which pairs of guests gain or lose access, and whether the " +
			"changes block this service, the nodes of the cluster or you. In that case, or if this cannot be " +
			"determined, the response is 409 `self_target` until `confirm` is the name of the draft. The changes are " +
			"then rolled back at the end of the window even if no new connection is possible, through open connections " +
			"or another node of the cluster. A hypervisor can take about ten seconds to activate rules: test before " +
			"you confirm.\n\n" +
			"If the draft deletes an object that is used outside of it, the response is 409 `in_use` until `confirm` " +
			"is the name of the draft. 409 `confirm_required` if no order of the changes avoids opening access for a " +
			"moment, as the plan explains. 409 `digest_conflict` with `current` if the firewall has changed since the " +
			"draft was created, and `firewall_busy` while another draft is committed on one of its scopes.",
	})
	op.Post(a, one+"/confirm", h.confirmDraft, op.Spec{
		ID: "confirm_firewall_draft", Summary: "Confirm a firewall draft", Tag: tag, Role: identity.Operator, On: op.Draft,
		Audit: op.Audit{Action: "firewall.draft_confirm"},
		Description: "Makes the changes permanent. 409 `invalid_state` before all changes are made and after the " +
			"window has ended. The job of the draft ends shortly afterwards.",
	})
}

type createDraftInput struct {
	Body struct {
		HostID  int64          `json:"host_id" minimum:"1" example:"1" doc:"A host of the cluster, through which the service connects"`
		Name    string         `json:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]+$" example:"close telnet"`
		Changes []draft.Change `json:"changes" minItems:"1" maxItems:"1000" example:"[{\"scope\":{\"kind\":\"vm\",\"id\":12},\"action\":\"create_rule\",\"pos\":0,\"rule\":{\"type\":\"in\",\"action\":\"DROP\",\"enable\":1,\"proto\":\"tcp\",\"dport\":\"23\",\"comment\":\"no telnet\"}},{\"scope\":{\"kind\":\"vm\",\"id\":12},\"action\":\"change_options\",\"options\":{\"policy_in\":\"DROP\"}}]"`
	}
}

func (h handlers) createDraft(ctx context.Context, in *createDraftInput) (*op.Body[draft.Draft], error) {
	made, err := h.Drafts.Create(ctx, draft.Request{HostID: in.Body.HostID, Name: in.Body.Name, Changes: in.Body.Changes})
	return &op.Body[draft.Draft]{Body: made}, err
}

// draftAgain rebuilds the answer of createDraft for a repeated Idempotency-Key,
// with the current state of the draft.
func (h handlers) draftAgain(ctx context.Context, made idempotency.Result) (any, error) {
	return h.Drafts.Get(ctx, made.Target())
}

type listDraftsInput struct {
	op.Page
	Host int64 `query:"host" minimum:"1" doc:"Only drafts of this host's cluster"`
}

func (h handlers) listDrafts(ctx context.Context, in *listDraftsInput) (*op.List[draft.Summary], error) {
	all, total, err := h.Drafts.List(ctx, in.Host, in.Offset(), in.Limit())
	return &op.List[draft.Summary]{Total: total, Body: all}, err
}

func (h handlers) getDraft(ctx context.Context, _ *struct{}) (*op.Body[draft.Draft], error) {
	found, err := h.Drafts.Get(ctx, op.ResourceOf(ctx).ID)
	return &op.Body[draft.Draft]{Body: found}, err
}

type changeDraftInput struct {
	Body struct {
		Version int64          `json:"version" minimum:"1" example:"1" doc:"Version of the draft that you read"`
		Name    *string        `json:"name,omitempty" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]+$" doc:"New name; absent keeps it"`
		Changes []draft.Change `json:"changes" minItems:"1" maxItems:"1000" example:"[{\"scope\":{\"kind\":\"vm\",\"id\":12},\"action\":\"delete_rule\",\"pos\":2}]"`
	}
}

func (h handlers) changeDraft(ctx context.Context, in *changeDraftInput) (*op.Body[draft.Draft], error) {
	now, err := h.Drafts.Replace(ctx, op.ResourceOf(ctx).ID, in.Body.Version, in.Body.Name, in.Body.Changes)
	return &op.Body[draft.Draft]{Body: now}, err
}

func (h handlers) deleteDraft(ctx context.Context, _ *struct{}) (*op.Empty, error) {
	return nil, h.Drafts.Delete(ctx, op.ResourceOf(ctx).ID)
}

type commitDraftInput struct {
	op.PlanParams
	Body *struct {
		Window  *int    `json:"window_seconds,omitempty" nullable:"true" minimum:"10" maximum:"3600" example:"60" doc:"Seconds to wait for confirmation; 60 if absent"`
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"100" doc:"Name of the draft, if the changes may block the service"`
	}
}

// defaultWindow is how long committed changes wait for the confirmation if the
// body does not say.
const defaultWindow = time.Minute

func (h handlers) commitDraft(ctx context.Context, in *commitDraftInput) (*op.Body[guest.StartResult], error) {
	window := defaultWindow
	var confirm *string
	if in.Body != nil {
		confirm = in.Body.Confirm
		if in.Body.Window != nil {
			window = time.Duration(*in.Body.Window) * time.Second
		}
	}
	started, err := h.Drafts.Commit(ctx, op.ResourceOf(ctx).ID, window, confirm)
	return &op.Body[guest.StartResult]{Body: started}, err
}

// committedAgain rebuilds the answer of commitDraft for a repeated
// Idempotency-Key.
func (h handlers) committedAgain(ctx context.Context, made idempotency.Result) (any, error) {
	return h.Drafts.Actor.ReplayStart(ctx, made)
}

func (h handlers) confirmDraft(ctx context.Context, _ *struct{}) (*op.Body[draft.Draft], error) {
	kept, err := h.Drafts.Confirm(ctx, op.ResourceOf(ctx).ID)
	return &op.Body[draft.Draft]{Body: kept}, err
}
