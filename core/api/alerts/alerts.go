// Package alerts is the HTTP resource of alerts. Its paths are
//
//   - /alerts: list alerts, and acknowledge, silence or resolve one
//   - /alert-rules: the rules that raise alerts, and the kinds of rules
//   - /maintenance-windows: times during which alerts are muted
//
// Package alert has the logic. This package converts requests and checks what
// the schema of a body cannot express.
package alerts

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/core/alert"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Deps has what the operations of this package need.
type Deps struct{ Alerts *alert.Store }

type handlers struct{ alerts *alert.Store }

const tag = "Alerts"

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Alerts}
	op.Get(a, "/api/v1/alerts", h.list, op.Spec{
		ID: "list_alerts", Summary: "List alerts", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists the alerts about objects that the caller can see: open alerts first, then the newest first. " +
			"Filters are combined with AND. Each rule has at most one open alert per object. An alert that a larger " +
			"problem caused, such as a guest on a node that is off, has the alert of that problem as `cause_id`; " +
			"`folded=false` leaves such alerts out. Resolved alerts are kept for a year.",
	})
	op.Get(a, "/api/v1/alerts/:alert_id", h.get, op.Spec{
		ID: "get_alert", Summary: "Get an alert", Tag: tag, Role: identity.Viewer, On: op.Alert,
		Description: "Returns the alert with the data that raised it: the rule's levels at that time, and the samples of " +
			"the required duration and the five minutes before it, at most 60. `history` lists the newest 500 events, " +
			"including each acknowledgement and silence with the user and the note. `earlier` lists previous alerts of " +
			"the same rule about the same object.",
	})
	op.Post(a, "/api/v1/alerts/:alert_id/ack", h.acknowledge, op.Spec{
		ID: "acknowledge_alert", Summary: "Acknowledge an alert", Tag: tag, Role: identity.Operator, On: op.Alert,
		Audit: op.Audit{Action: "alert.acknowledge"}, Replay: h.again,
		Description: "Shows other users that someone is working on the alert, with an optional note. The alert stays open, " +
			"and its resolution is still sent to channels. A second acknowledgement replaces the first, which stays in " +
			"`history`. A resolved alert is 409 `invalid_state`.",
	})
	op.Post(a, "/api/v1/alerts/:alert_id/silence", h.silence, op.Spec{
		ID: "silence_alert", Summary: "Silence an alert", Tag: tag, Role: identity.Operator, On: op.Alert,
		Audit: op.Audit{Action: "alert.silence"}, Replay: h.again, Faults: silenceFaults,
		Description: "Stops notifications of the alert and of later alerts of its rule about the same object. The body " +
			"has either `until`, a time, or `for_s`, seconds from now. When the silence ends, channels receive the " +
			"open alerts that they have not received yet, and the resolution of alerts that they have received. " +
			"`for_s` 0, or a time in the past, ends a silence. A resolved alert is 409 `invalid_state`.",
	})
	op.Post(a, "/api/v1/alerts/:alert_id/resolve", h.resolve, op.Spec{
		ID: "resolve_alert", Summary: "Resolve an alert", Tag: tag, Role: identity.Operator, On: op.Alert,
		Audit: op.Audit{Action: "alert.resolve"}, Replay: h.again,
		Description: "Resolves an alert by hand. The alert is not raised again while its condition lasts; it can be " +
			"raised again after the condition has cleared. A resolved alert is 409 `invalid_state`.",
	})
	registerRules(a, h)
	registerWindows(a, h)
}

type listInput struct {
	op.Page
	State        string    `query:"state" enum:"open,resolved" doc:"Only alerts in this state"`
	Severity     string    `query:"severity" enum:"critical,warning,info" doc:"Only alerts of this severity"`
	Kind         string    `query:"kind" maxLength:"64" example:"cpu" doc:"Only alerts of rules of this kind"`
	Rule         int64     `query:"rule" minimum:"1" doc:"Only alerts of the rule with this ID"`
	Host         int64     `query:"host" minimum:"1" doc:"Only alerts of this host and of the objects on it"`
	Target       string    `query:"target" maxLength:"64" pattern:"^[a-z_]{1,32}:[0-9]{1,18}$" patternDescription:"a kind and an id such as vm:3" example:"vm:3" doc:"Only alerts about this object"`
	Cause        int64     `query:"cause" minimum:"1" doc:"Only alerts that this alert caused"`
	Folded       string    `query:"folded" enum:"true,false" doc:"true: only alerts that another alert caused; false: only the others"`
	Acknowledged string    `query:"acknowledged" enum:"true,false" doc:"true: only acknowledged alerts; false: only the others"`
	Silenced     string    `query:"silenced" enum:"true,false" doc:"true: only silenced alerts; false: only the others"`
	Since        time.Time `query:"since" example:"2026-01-31T12:00:00Z" doc:"Only alerts raised at or after this time"`
	Before       time.Time `query:"before" example:"2026-02-28T12:00:00Z" doc:"Only alerts raised before this time"`
}

func (h handlers) list(ctx context.Context, in *listInput) (*op.List[alert.Alert], error) {
	f := alert.Filter{State: in.State, Severity: alert.Severity(in.Severity), Kind: in.Kind, RuleID: in.Rule, HostID: in.Host,
		CauseID: in.Cause, Folded: flag(in.Folded), Acknowledged: flag(in.Acknowledged), Silenced: flag(in.Silenced), Since: moment(in.Since),
		Before: moment(in.Before)}
	if kind, id, ok := strings.Cut(in.Target, ":"); ok {
		f.TargetKind = kind
		f.TargetID, _ = strconv.ParseInt(id, 10, 64) // the pattern lets nothing else through
	}
	found, total, err := h.alerts.List(ctx, f, identity.FromContext(ctx).Visible(), in.Offset(), in.Limit())
	return &op.List[alert.Alert]{Total: total, Body: found}, err
}

// flag returns the value of an optional filter, or nil if the parameter is
// absent.
func flag(text string) *bool {
	if text == "" {
		return nil
	}
	return new(text == "true")
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (h handlers) get(ctx context.Context, _ *struct{}) (*op.Body[*alert.Detail], error) {
	found, err := h.alerts.Get(ctx, op.ResourceOf(ctx).ID, identity.FromContext(ctx).Visible())
	return &op.Body[*alert.Detail]{Body: found}, err
}

type noteInput struct {
	Body *struct {
		Note *string `json:"note,omitempty" nullable:"true" maxLength:"1000" example:"looking at it" doc:"Note for other users"`
	}
}

func (in *noteInput) note() string {
	if in.Body == nil {
		return ""
	}
	return tidied(in.Body.Note)
}

// tidied returns a note in the form in which it is stored.
func tidied(note *string) string {
	if note == nil {
		return ""
	}
	return strings.TrimSpace(*note)
}

func (h handlers) acknowledge(ctx context.Context, in *noteInput) (*op.Body[*alert.Detail], error) {
	changed, err := h.alerts.Acknowledge(ctx, op.ResourceOf(ctx).ID, in.note(), identity.FromContext(ctx).Visible())
	return &op.Body[*alert.Detail]{Body: changed}, err
}

func (h handlers) resolve(ctx context.Context, in *noteInput) (*op.Body[*alert.Detail], error) {
	changed, err := h.alerts.Resolve(ctx, op.ResourceOf(ctx).ID, in.note(), identity.FromContext(ctx).Visible())
	return &op.Body[*alert.Detail]{Body: changed}, err
}

type silenceInput struct {
	Body struct {
		Until *time.Time `json:"until,omitempty" example:"2026-03-01T12:00:00Z" doc:"End of the silence"`
		ForS  *int64     `json:"for_s,omitempty" minimum:"0" maximum:"31536000" example:"3600" doc:"Seconds from now; 0 ends a silence"`
		Note  *string    `json:"note,omitempty" nullable:"true" maxLength:"1000" example:"known, will be fixed tomorrow" doc:"Note for other users"`
	}
}

// silenceFaults checks that a body has exactly one of until and for_s.
func silenceFaults(body []byte) []problem.Fault {
	given := members(body)
	if (given["until"] != nil) != (given["for_s"] != nil) {
		return nil
	}
	return []problem.Fault{{Loc: []any{"body", "for_s"}, Msg: "exactly one of until and for_s is required", Type: "value_error"}}
}

// latest is the maximum length of a silence. The database could not store a
// time far beyond it.
const latest = 366 * 24 * time.Hour

func (h handlers) silence(ctx context.Context, in *silenceInput) (*op.Body[*alert.Detail], error) {
	var lasts time.Duration
	if in.Body.ForS != nil {
		lasts = time.Duration(*in.Body.ForS) * time.Second
	}
	if until := in.Body.Until; until != nil && (time.Until(*until) > latest || until.Year() < 2000) {
		return nil, problem.InvalidField("must be between the year 2000 and one year from now", "value_error", "body", "until")
	}
	changed, err := h.alerts.Silence(ctx, op.ResourceOf(ctx).ID, in.Body.Until, lasts, tidied(in.Body.Note),
		identity.FromContext(ctx).Visible())
	return &op.Body[*alert.Detail]{Body: changed}, err
}

// again rebuilds the answer of an operation on an alert for a repeated
// Idempotency-Key, with the current state of the alert.
func (h handlers) again(ctx context.Context, _ idempotency.Result) (any, error) {
	return h.alerts.Get(ctx, op.ResourceOf(ctx).ID, identity.FromContext(ctx).Visible())
}
