// Package audit is the HTTP side of the trail: reading, exporting and clearing it.
package audit

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
)

// Deps is what the operations work with.
type Deps struct {
	DB    *db.DB
	Chain *audit.Chain
}

type handlers struct {
	db      *db.DB
	chain   *audit.Chain
	exports chan struct{} // holds one for each that is running
	// verifications holds one for each that is running; the others wait.
	verifications chan struct{}
}

// Register declares the operations.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.DB, deps.Chain, make(chan struct{}, exports), make(chan struct{}, verifications)}
	op.Get(a, "/api/v1/audit", h.list, op.Spec{
		ID: "list_audit", Summary: "List the audit trail", Tag: "Audit", Role: identity.Admin, On: op.Anywhere,
		Description: "Every change and every refused attempt, the newest first. An admin of the team `default` sees all of them, an admin of " +
			"other teams those on the hosts and guests of these teams. Filters narrow the list together. The lower bound of time is `from_` with " +
			"its underscore; a key `from` is ignored. A lower bound after the upper one is an empty list. `details` longer than 1 KiB are " +
			"truncated in the list; get the entry to see all of them.",
	})
	op.Get(a, "/api/v1/audit/:entry_id", h.get, op.Spec{
		ID: "get_audit_entry", Summary: "Get an entry of the audit trail", Tag: "Audit", Role: identity.Admin, On: op.Entry,
		Description: "One entry with all of its details. Entries without a team belong to the team `default`.",
	})
	op.Download(a, "/api/v1/audit/export", h.export, op.Spec{
		ID: "export_audit", Summary: "Export the audit trail", Tag: "Audit", Role: identity.Admin, On: op.Anywhere, Entitlement: "audit.log",
		Audit: op.Audit{Action: "audit.export"}, Content: []string{"text/csv", "application/x-ndjson"},
		Description: "Every row that the list would show, as a file, the oldest first and as of one moment, however many there are. The " +
			"filters are the list's. Cells of the CSV file that a spreadsheet would take for a formula have an apostrophe before them. An export " +
			"that fails or loses the right to read breaks the connection off, so that half a file never looks whole. At most four run at once, " +
			"two of one user (429). Every export is in the trail.",
	})
	op.Get(a, "/api/v1/audit/verification", h.verify, op.Spec{
		ID: "verify_audit", Summary: "Verify the audit trail", Tag: "Audit", Role: identity.Admin, Timeout: 15 * time.Minute,
		Description: "Reads the whole chain of the trail as it is at one moment, and says the first place that is not what the service " +
			"wrote: a row that was altered, removed, put in or moved, or the note of a clearing. Rows of the last seconds may have no place yet " +
			"(`unsealed`). `seq` and `hash` are the end of the chain: noted elsewhere, they prove a later trail to be the same. It reads about a " +
			"hundred thousand rows a second; at most two run at once on an instance, the others wait.",
	})
	op.Delete(a, "/api/v1/audit", h.clear, op.Spec{
		ID: "clear_audit", Summary: "Clear the audit trail", Tag: "Audit", Role: identity.Owner, Status: http.StatusOK,
		Timeout: 15 * time.Minute,
		Confirm: op.Confirm{When: op.ConfirmAlways, Phrase: audit.ClearPhrase}, Plan: true,
		Audit: op.Audit{Action: "audit.clear"},
		Description: "Removes the rows older than `before`, or without it all. `confirm` must be `clear audit log` (409 `confirm_required`). " +
			"A row `audit.clear` is written after the removal and says which of the two it was and how many rows went. What remains still " +
			"verifies; clearing all is also the way out of a trail that somebody has changed.",
	})
}

// Filter narrows the list.
type Filter struct {
	Action    string    `query:"action" maxLength:"100" example:"vm.*" doc:"A whole action, or its beginning and a star"`
	Search    string    `query:"search" maxLength:"200" example:"db01" doc:"Text in the action, the target's name or id, or the actor's e-mail address; case does not matter"`
	ActorType string    `query:"actor_type" enum:"user,api_key,system,anonymous" doc:"What kind of actor it was"`
	Result    string    `query:"result" enum:"ok,refused,failed" doc:"How it ended"`
	Actor     int64     `query:"actor" minimum:"1" example:"1" doc:"A user's id"`
	Target    string    `query:"target" maxLength:"64" pattern:"^[a-z_]{1,32}:[0-9]{1,18}$" patternDescription:"a kind and an id such as vm:3" example:"vm:3" doc:"Only what was done to this thing"`
	From      time.Time `query:"from_" example:"2026-01-01T00:00:00Z" doc:"Only rows at this time or later"`
	To        time.Time `query:"to" example:"2026-02-01T00:00:00Z" doc:"Only rows before this time"`
}

type listInput struct {
	op.Page
	Filter
}

// Row is one entry of the trail.
type Row struct {
	ID         int64           `json:"id" example:"4711"`
	At         time.Time       `json:"at" example:"2026-01-31T12:00:00Z"`
	ActorType  string          `json:"actor_type" enum:"user,api_key,system,anonymous" example:"user"`
	ActorID    *int64          `json:"actor_id" example:"1" doc:"The user's id; null for the system and for strangers"`
	ActorEmail *string         `json:"actor_email" example:"anna@example.com" doc:"As it was then"`
	Action     string          `json:"action" example:"vm.stop"`
	Target     *Target         `json:"target" doc:"What it was done to; null when it is the instance itself"`
	Result     string          `json:"result" enum:"ok,refused,failed" example:"ok" doc:"refused: by the service; failed: by the hypervisor or a fault"`
	Error      *string         `json:"error" example:"forbidden" doc:"The problem's identifier when the result is not ok"`
	Address    *string         `json:"address" example:"192.0.2.7" doc:"Where the request came from"`
	RequestID  *string         `json:"request_id" example:"JUW4ZQ6GJ2RBSXZ7K5DD3T2N5E"`
	JobID      *int64          `json:"job_id" example:"99"`
	HostID     *int64          `json:"host_id" example:"1"`
	Details    json.RawMessage `json:"details" doc:"Further facts, with secrets redacted. Details longer than 16 KiB are truncated, and in lists those longer than 1 KiB; truncated_from_bytes is their original size"`
}

// Target is what an entry of the trail is about.
type Target struct {
	Kind string  `json:"kind" example:"vm"`
	ID   *string `json:"id" example:"11"`
	Name *string `json:"name" example:"db01"`
}

func (h handlers) list(ctx context.Context, in *listInput) (*op.List[Row], error) {
	f := in.of(identity.FromContext(ctx).VisibleAs(identity.Admin))
	f.Offset, f.Limit = in.Offset(), in.Limit()
	return op.ShowList(rowOf)(audit.List(ctx, h.db, f))
}

func (h handlers) get(ctx context.Context, _ *struct{}) (*op.Body[Row], error) {
	row, err := audit.Get(ctx, h.db, op.Found(ctx).ID)
	if err != nil {
		return nil, err
	}
	return &op.Body[Row]{Body: rowOf(row)}, nil
}

func (in *Filter) of(visible identity.Visible) audit.Filter {
	f := audit.Filter{
		Action: in.Action, Search: in.Search, ActorType: in.ActorType, Result: in.Result, From: in.From, To: in.To,
		AllTeams: visible.All, Teams: visible.Teams,
	}
	if in.Actor != 0 {
		f.Actor = &in.Actor
	}
	f.TargetKind, f.TargetID, _ = strings.Cut(in.Target, ":")
	return f
}

func rowOf(r *audit.Row) Row {
	row := Row{
		ID: r.ID, At: r.At.UTC(), ActorType: r.ActorType, ActorID: r.ActorID, ActorEmail: orNull(r.ActorEmail), Action: r.Action,
		Result: r.Result, Error: orNull(r.Error), Address: orNull(r.Address), RequestID: orNull(r.RequestID),
		JobID: r.JobID, HostID: r.HostID, Details: r.Details,
	}
	if r.TargetKind != "" || r.TargetName != "" {
		row.Target = &Target{Kind: r.TargetKind, ID: orNull(r.TargetID), Name: orNull(r.TargetName)}
	}
	return row
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
