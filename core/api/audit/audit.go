// Package audit is the HTTP resource of the audit log. Its operations list,
// get, export, verify and clear the entries. Package core/audit writes the
// entries and keeps their hash chain.
//
// An admin of the team default sees all entries, an admin of another team those
// on the hosts and guests of that team. Exporting and clearing write an entry
// of their own.
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

// Deps has what the operations of this package need.
type Deps struct {
	DB    *db.DB
	Chain *audit.Chain
}

type handlers struct {
	db    *db.DB
	chain *audit.Chain
	// exports holds one element for each export that is running.
	exports chan struct{} // holds one for each that is running
	// verifications holds one element for each verification that is running.
	// Others wait for it.
	verifications chan struct{}
}

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.DB, deps.Chain, make(chan struct{}, exports), make(chan struct{}, verifications)}
	op.Get(a, "/api/v1/audit", h.list, op.Spec{
		ID: "list_audit", Summary: "List the audit log", Tag: "Audit", Role: identity.Admin, On: op.Anywhere,
		Description: "Lists every change and every refused attempt, newest first. An admin of the team `default` sees " +
			"all entries; an admin of other teams sees those on the hosts and guests of these teams. Filters are " +
			"combined with AND. The start of the period is `from_`, with an underscore; a parameter `from` is ignored. " +
			"If the start is after the end, the list is empty. `details` longer than 1 KiB are truncated in the list; " +
			"get the entry to see all of them.",
	})
	op.Get(a, "/api/v1/audit/:entry_id", h.get, op.Spec{
		ID: "get_audit_entry", Summary: "Get an entry of the audit log", Tag: "Audit", Role: identity.Admin, On: op.Entry,
		Description: "Returns an entry with all of its details. Entries without a team belong to the team `default`.",
	})
	op.Download(a, "/api/v1/audit/export", h.export, op.Spec{
		ID: "export_audit", Summary: "Export the audit log", Tag: "Audit", Role: identity.Admin, On: op.Anywhere, Entitlement: "audit.log",
		Audit: op.Audit{Action: "audit.export"}, Content: []string{"text/csv", "application/x-ndjson"},
		Description: "Exports every entry that the list would show as a file, oldest first, as of one moment and without " +
			"a limit. It takes the filters of the list. CSV cells that a spreadsheet would treat as a formula start with " +
			"an apostrophe. If an export fails or the caller loses access, the connection is closed, so that an " +
			"incomplete file is recognizable. At most four exports run at once, two per user (429). Every export is " +
			"recorded in the audit log.",
	})
	op.Get(a, "/api/v1/audit/verification", h.verify, op.Spec{
		ID: "verify_audit", Summary: "Verify the audit log", Tag: "Audit", Role: identity.Admin, Timeout: 15 * time.Minute,
		Description: "Reads the whole hash chain of the audit log as of one moment and returns the first place that differs " +
			"from what the service wrote: an entry that was altered, removed, inserted or moved, or the record of a " +
			"clearing. Entries of the last seconds may not be part of the chain yet (`unsealed`). `seq` and `hash` are " +
			"the end of the chain; store them elsewhere to prove later that the audit log was not replaced. The check reads " +
			"about 100,000 entries per second. At most two checks run at once per instance; others wait.",
	})
	op.Delete(a, "/api/v1/audit", h.clear, op.Spec{
		ID: "clear_audit", Summary: "Clear the audit log", Tag: "Audit", Role: identity.Owner, Status: http.StatusOK,
		Timeout: 15 * time.Minute,
		Confirm: op.Confirm{When: op.ConfirmAlways, Phrase: audit.ClearPhrase}, Plan: true,
		Audit: op.Audit{Action: "audit.clear"},
		Description: "Deletes the entries older than `before`, or all entries without it. `confirm` must be `clear audit " +
			"log` (409 `confirm_required`). Afterwards, an entry `audit.clear` records the scope and the number of " +
			"deleted entries. The remaining entries still verify. Clearing all entries is also how to recover from an " +
			"audit log that was tampered with.",
	})
}

// Filter has the query parameters that narrow the list and the export.
type Filter struct {
	Action    string    `query:"action" maxLength:"100" example:"vm.*" doc:"An action, or its prefix followed by *"`
	Search    string    `query:"search" maxLength:"200" example:"db01" doc:"Only entries with this text in the action, the name or ID of the target, or the actor's email address; case-insensitive"`
	ActorType string    `query:"actor_type" enum:"user,api_key,system,anonymous" doc:"Only entries of this type of actor"`
	Result    string    `query:"result" enum:"ok,refused,failed" doc:"Only entries with this result"`
	Actor     int64     `query:"actor" minimum:"1" example:"1" doc:"Only entries of the user with this ID"`
	Target    string    `query:"target" maxLength:"64" pattern:"^[a-z_]{1,32}:[0-9]{1,18}$" patternDescription:"a kind and an id such as vm:3" example:"vm:3" doc:"Only entries about this object"`
	From      time.Time `query:"from_" example:"2026-01-01T00:00:00Z" doc:"Only entries at or after this time"`
	To        time.Time `query:"to" example:"2026-02-01T00:00:00Z" doc:"Only entries before this time"`
}

type listInput struct {
	op.Page
	Filter
}

// Row is one entry of the audit log.
type Row struct {
	ID         int64           `json:"id" example:"4711"`
	At         time.Time       `json:"at" example:"2026-01-31T12:00:00Z"`
	ActorType  string          `json:"actor_type" enum:"user,api_key,system,anonymous" example:"user"`
	ActorID    *int64          `json:"actor_id" example:"1" doc:"ID of the user; null for the system and for unauthenticated requests"`
	ActorEmail *string         `json:"actor_email" example:"anna@example.com" doc:"Email address of the user at that time"`
	Action     string          `json:"action" example:"vm.stop"`
	Target     *Target         `json:"target" doc:"Object of the action; null for the instance itself"`
	Result     string          `json:"result" enum:"ok,refused,failed" example:"ok" doc:"refused: the service refused the action; failed: the hypervisor or an internal error prevented it"`
	Error      *string         `json:"error" example:"forbidden" doc:"Error id if the result is not ok"`
	Address    *string         `json:"address" example:"192.0.2.7" doc:"IP address of the request"`
	RequestID  *string         `json:"request_id" example:"JUW4ZQ6GJ2RBSXZ7K5DD3T2N5E"`
	JobID      *int64          `json:"job_id" example:"99"`
	HostID     *int64          `json:"host_id" example:"1"`
	Details    json.RawMessage `json:"details" doc:"Additional data, with secrets redacted. Details longer than 16 KiB are truncated, and in lists those longer than 1 KiB; truncated_from_bytes is the original size"`
}

// Target is the object that an entry of the audit log is about.
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
	row, err := audit.Get(ctx, h.db, op.ResourceOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	return &op.Body[Row]{Body: rowOf(row)}, nil
}

func (in *Filter) of(visible identity.VisibleTeams) audit.Filter {
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
