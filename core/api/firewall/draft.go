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

// registerDrafts declares the operations on drafts.
func (h handlers) registerDrafts(a *op.API) {
	const all, one = "/api/v1/firewall/drafts", "/api/v1/firewall/drafts/:draft_id"
	op.Post(a, all, h.createDraft, op.Spec{
		ID: "create_firewall_draft", Summary: "Make a draft of changes of firewalls", Tag: tag, Role: identity.Operator, On: op.Anywhere,
		Calls: true, Status: http.StatusCreated, Audit: op.Audit{Action: "firewall.draft_create"}, Timeout: changeTime,
		Recall: h.draftAgain,
		Description: "Changes of one or several scopes of one cluster that are made together, or not at all; nothing is changed before the " +
			"draft is committed. They are applied in their order to what the firewall has now, so a place (`pos`) is that in the list after the " +
			"changes before it. All of it is checked now; what is wrong is 422 with the place of the change. Guests need the role operator, " +
			"nodes, clusters and groups admin: the highest that one of the scopes needs. The answer has each scope before and after, line by " +
			"line. A rename is a deletion and a creation. A team has at most 500 drafts that are neither " +
			"applied nor undone; creating more is 409 `conflict`. Applied and undone drafts are deleted together with ended jobs.",
	})
	op.Get(a, all, h.listDrafts, op.Spec{
		ID: "list_firewall_drafts", Summary: "List drafts of changes of firewalls", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Newest first, without their changes; get a draft to see them.",
	})
	op.Get(a, one, h.getDraft, op.Spec{
		ID: "get_firewall_draft", Summary: "Get a draft", Tag: tag, Role: identity.Viewer, On: op.Draft,
		Description: "With each of its scopes before and after, and with how its last job ended.",
	})
	op.Put(a, one, h.changeDraft, op.Spec{
		ID: "change_firewall_draft", Summary: "Replace the changes of a draft", Tag: tag, Role: identity.Operator, On: op.Draft, Calls: true,
		Needs: endpoint.Monitoring, Audit: op.Audit{Action: "firewall.draft_change"}, Timeout: changeTime,
		Description: "They are applied to what the firewall has now, so this also brings a draft up to date. A `version` that is another by " +
			"now is 409 `digest_conflict` with the draft as it is in `current`. 409 `invalid_state` while a job carries the draft out, and once " +
			"its changes " +
			"have stayed.",
	})
	op.Delete(a, one, h.deleteDraft, op.Spec{
		ID: "delete_firewall_draft", Summary: "Forget a draft", Tag: tag, Role: identity.Operator, On: op.Draft,
		Audit:       op.Audit{Action: "firewall.draft_delete"},
		Description: "What it has changed stays. 409 `invalid_state` while a job carries it out: cancel that, and everything is put back.",
	})
	op.Post(a, one+"/commit", h.commitDraft, op.Spec{
		ID: "commit_firewall_draft", Summary: "Try the changes of a draft out", Tag: tag, Role: identity.Operator, On: op.Draft, Calls: true,
		Needs: endpoint.Lifecycle, Plan: true, Status: http.StatusAccepted, Audit: op.Audit{Action: "firewall.draft_commit"},
		Job: "firewall.draft", Timeout: changeTime, Recall: h.committedAgain, Confirm: op.Confirm{When: op.ConfirmSelf, Field: "name"},
		Description: "Answers with the job that makes the changes, in an order in which nothing is open in between that is open neither " +
			"before nor afterwards, and then waits for `confirm`. When nobody confirms within `window_seconds`, when a node does " +
			"not answer any more, or when the job is canceled, everything is put back as it was; so it is after a restart of the " +
			"service, and at the first contact when the hypervisor does not answer then. What somebody else has changed meanwhile " +
			"is not overwritten: the job ends `unknown`, and says what stands. The plan shows the rules that come and go, which " +
			"pairs of guests gain or lose what, and whether this service, the cluster's nodes or you yourself are cut off: then, " +
			"and where that cannot be told, the answer is 409 `self_target` until `confirm` holds the draft's name; the changes are " +
			"then put back at the end of the window even if no new connection gets through, over those that are open or by another " +
			"member of the cluster. A hypervisor may take about ten seconds to put rules into force: look before you confirm. What " +
			"the draft deletes and something outside of it names is 409 `in_use` until `confirm` holds its name; so is 409 " +
			"`confirm_required` what no order of the changes makes without opening something for a moment, as the plan says. 409 " +
			"`digest_conflict` with `current` where the firewall has changed since the draft was made, and `firewall_busy` while " +
			"another draft is tried out at one of its scopes.",
	})
	op.Post(a, one+"/confirm", h.confirmDraft, op.Spec{
		ID: "confirm_firewall_draft", Summary: "Keep the changes of a draft", Tag: tag, Role: identity.Operator, On: op.Draft,
		Audit:       op.Audit{Action: "firewall.draft_confirm"},
		Description: "409 `invalid_state` before all changes are made and once the window is over. Its job ends a moment later.",
	})
}

type createDraftInput struct {
	Body struct {
		HostID  int64          `json:"host_id" minimum:"1" example:"1" doc:"A host of the cluster, by which it is asked"`
		Name    string         `json:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]+$" example:"close telnet"`
		Changes []draft.Change `json:"changes" minItems:"1" maxItems:"1000" example:"[{\"scope\":{\"kind\":\"vm\",\"id\":12},\"action\":\"create_rule\",\"pos\":0,\"rule\":{\"type\":\"in\",\"action\":\"DROP\",\"enable\":1,\"proto\":\"tcp\",\"dport\":\"23\",\"comment\":\"no telnet\"}},{\"scope\":{\"kind\":\"vm\",\"id\":12},\"action\":\"change_options\",\"options\":{\"policy_in\":\"DROP\"}}]"`
	}
}

func (h handlers) createDraft(ctx context.Context, in *createDraftInput) (*op.Body[draft.Draft], error) {
	made, err := h.Drafts.Create(ctx, draft.Request{HostID: in.Body.HostID, Name: in.Body.Name, Changes: in.Body.Changes})
	return &op.Body[draft.Draft]{Body: made}, err
}

// draftAgain makes the answer of createDraft again, with the draft as it is now.
func (h handlers) draftAgain(ctx context.Context, made idempotency.Made) (any, error) {
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
	found, err := h.Drafts.Get(ctx, op.Found(ctx).ID)
	return &op.Body[draft.Draft]{Body: found}, err
}

type changeDraftInput struct {
	Body struct {
		Version int64          `json:"version" minimum:"1" example:"1" doc:"That of the draft which you have read"`
		Name    *string        `json:"name,omitempty" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]+$" doc:"A new name; absent keeps it"`
		Changes []draft.Change `json:"changes" minItems:"1" maxItems:"1000" example:"[{\"scope\":{\"kind\":\"vm\",\"id\":12},\"action\":\"delete_rule\",\"pos\":2}]"`
	}
}

func (h handlers) changeDraft(ctx context.Context, in *changeDraftInput) (*op.Body[draft.Draft], error) {
	now, err := h.Drafts.Replace(ctx, op.Found(ctx).ID, in.Body.Version, in.Body.Name, in.Body.Changes)
	return &op.Body[draft.Draft]{Body: now}, err
}

func (h handlers) deleteDraft(ctx context.Context, _ *struct{}) (*op.Empty, error) {
	return nil, h.Drafts.Delete(ctx, op.Found(ctx).ID)
}

type commitDraftInput struct {
	op.Planned
	Body *struct {
		Window  *int    `json:"window_seconds,omitempty" nullable:"true" minimum:"10" maximum:"3600" example:"60" doc:"How long the changes wait to be confirmed, in seconds; 60 without it"`
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"100" doc:"The draft's name, where the service may be cut off"`
	}
}

// defaultWindow is how long changes wait to be confirmed.
const defaultWindow = time.Minute

func (h handlers) commitDraft(ctx context.Context, in *commitDraftInput) (*op.Body[guest.Started], error) {
	window := defaultWindow
	var confirm *string
	if in.Body != nil {
		confirm = in.Body.Confirm
		if in.Body.Window != nil {
			window = time.Duration(*in.Body.Window) * time.Second
		}
	}
	started, err := h.Drafts.Commit(ctx, op.Found(ctx).ID, window, confirm)
	return &op.Body[guest.Started]{Body: started}, err
}

// committedAgain makes the answer of commitDraft again.
func (h handlers) committedAgain(ctx context.Context, made idempotency.Made) (any, error) {
	return h.Drafts.Actor.StartedAgain(ctx, made)
}

func (h handlers) confirmDraft(ctx context.Context, _ *struct{}) (*op.Body[draft.Draft], error) {
	kept, err := h.Drafts.Confirm(ctx, op.Found(ctx).ID)
	return &op.Body[draft.Draft]{Body: kept}, err
}
