package alerts

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/hostler/hostler/core/alert"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// levels is the part of the description that all operations which write a rule
// share.
const levels = "`kind` is one of GET /alert-rules/kinds, which lists the unit of its `threshold` and whether " +
	"higher or lower values are a breach. A value at `threshold` or beyond is a breach; when the breach has " +
	"lasted `for_s` seconds, an alert is raised. A value beyond `clear_level` (by default the threshold) " +
	"clears the condition; when it has been clear for `clear_for_s` seconds, the alert is resolved. Between " +
	"the two levels the state does not change. Rules are evaluated every 30 s, and every 10 minutes for slow " +
	"values; durations are counted between evaluations. A missing value neither is a breach nor clears " +
	"one.\n\n" +
	"`on` selects the objects: those that match all of its fields. Without `on`, the rule applies to all " +
	"objects."

func registerRules(a *op.API, h handlers) {
	op.Get(a, "/api/v1/alert-rules", h.rules, op.Spec{
		ID: "list_alert_rules", Summary: "List alert rules", Tag: tag, Role: identity.Viewer,
		Description: "Lists the rules in the order of their creation. Built-in rules have a `key` and a `description` of " +
			"their purpose. `seeded` becomes false with the first change; later releases do not update a changed rule.",
	})
	op.Get(a, "/api/v1/alert-rules/kinds", h.kinds, op.Spec{
		ID: "list_alert_kinds", Summary: "List kinds of alert rules", Tag: tag, Role: identity.Viewer,
		Description: "The list is not paged.",
	})
	op.Post(a, "/api/v1/alert-rules", h.createRule, op.Spec{
		ID: "create_alert_rule", Summary: "Create an alert rule", Tag: tag, Role: identity.Admin, Status: http.StatusCreated,
		Audit: op.Audit{Action: "alert_rule.create"}, Replay: h.ruleMade, Faults: createFaults,
		Description: levels +
			"\n\n" +
			"An instance has at most 500 rules; creating more is 409 `conflict`.",
	})
	op.Get(a, "/api/v1/alert-rules/:rule_id", h.rule, op.Spec{
		ID: "get_alert_rule", Summary: "Get an alert rule", Tag: tag, Role: identity.Viewer,
		Description: "`open` is the number of open alerts of the rule, of all teams.",
	})
	op.Patch(a, "/api/v1/alert-rules/:rule_id", h.updateRule, op.Spec{
		ID: "update_alert_rule", Summary: "Change an alert rule", Tag: tag, Role: identity.Admin,
		Audit: op.Audit{Action: "alert_rule.update", Target: "rule_id"},
		Description: "Open alerts are evaluated with the new levels. Alerts whose condition is clear under them are " +
			"resolved, and so are alerts about objects that the rule no longer covers. Disabling a rule resolves all " +
			"of its alerts. The `kind` of a rule cannot be changed. `on` is replaced as a whole; null selects all " +
			"objects. `clear_level` null means the threshold.\n\n" +
			levels,
	})
	op.Delete(a, "/api/v1/alert-rules/:rule_id", h.removeRule, op.Spec{
		ID: "delete_alert_rule", Summary: "Delete an alert rule", Tag: tag, Role: identity.Admin, Status: http.StatusNoContent,
		Audit: op.Audit{Action: "alert_rule.delete", Target: "rule_id"},
		Description: "Deletes the rule and resolves its open alerts. A deleted built-in rule does not come back; disable " +
			"a rule that you want to keep.",
	})
}

func (h handlers) rules(ctx context.Context, in *struct{ op.Page }) (*op.List[*alert.Rule], error) {
	found, total, err := h.alerts.Rules(ctx, in.Offset(), in.Limit())
	return &op.List[*alert.Rule]{Total: total, Body: found}, err
}

func (h handlers) kinds(context.Context, *struct{}) (*op.List[alert.KindInfo], error) {
	all := alert.Kinds()
	return &op.List[alert.KindInfo]{Total: len(all), Body: all}, nil
}

type ruleInput struct {
	ID int64 `path:"rule_id" minimum:"1"`
}

func (h handlers) rule(ctx context.Context, in *ruleInput) (*op.Body[*alert.Rule], error) {
	found, err := h.alerts.Rule(ctx, in.ID)
	return &op.Body[*alert.Rule]{Body: found}, err
}

// RuleScope selects the things that a rule watches.
type RuleScope struct {
	TeamID  *int64   `json:"team_id,omitempty" nullable:"true" minimum:"1" example:"2" doc:"Only objects of this team"`
	HostID  *int64   `json:"host_id,omitempty" nullable:"true" minimum:"1" example:"1" doc:"Only this host and the objects on it"`
	Kinds   []string `json:"kinds,omitempty" nullable:"true" maxItems:"20" example:"[\"vm\"]" doc:"Only objects of these kinds"`
	Tags    []string `json:"tags,omitempty" nullable:"true" maxItems:"500" example:"[\"prod\"]" doc:"Only guests with one of these tags"`
	Targets []string `json:"targets,omitempty" nullable:"true" maxItems:"500" example:"[\"vm:3\"]" doc:"Only these objects: host:1, vm:3, app:2, container:5, cluster:1, node:1/alpha, storage:1/nas or storage:1/local/alpha"`
}

func (s *RuleScope) scope() alert.Scope {
	if s == nil {
		return alert.Scope{}
	}
	return alert.Scope{TeamID: s.TeamID, HostID: s.HostID, Kinds: s.Kinds, Tags: s.Tags, Targets: s.Targets}
}

type createRuleInput struct {
	Body struct {
		Name        string                 `json:"name" minLength:"1" maxLength:"200" example:"Web servers are busy" doc:"Name of the rule"`
		Description *string                `json:"description,omitempty" nullable:"true" maxLength:"1000" example:"Pages load slowly." doc:"Purpose of the rule"`
		Kind        string                 `json:"kind" minLength:"1" maxLength:"64" example:"cpu" doc:"One of the kinds from GET /alert-rules/kinds"`
		On          op.Optional[RuleScope] `json:"on,omitzero" doc:"Objects that the rule covers; all if null or absent"`
		Threshold   *float64               `json:"threshold,omitempty" nullable:"true" example:"90" doc:"Value at which the condition is a breach; only for kinds with a unit"`
		ClearLevel  *float64               `json:"clear_level,omitempty" nullable:"true" example:"80" doc:"Value at which the condition is cleared; the threshold if absent"`
		ForS        *int64                 `json:"for_s,omitempty" minimum:"0" maximum:"604800" default:"0" example:"600" doc:"Seconds that a breach must last before the alert is raised"`
		ClearForS   *int64                 `json:"clear_for_s,omitempty" minimum:"0" maximum:"604800" default:"0" example:"300" doc:"Seconds that the condition must be cleared before the alert is resolved"`
		Severity    string                 `json:"severity,omitempty" enum:"critical,warning,info" default:"warning" example:"warning"`
		Labels      map[string]string      `json:"labels,omitempty" nullable:"true" example:"{\"room\":\"cellar\"}" doc:"Custom labels that are added to alerts, at most 20"`
		Enabled     *bool                  `json:"enabled,omitempty" default:"true" doc:"Evaluate the rule"`
	}
}

func (in *createRuleInput) draft() alert.RuleInput {
	b := &in.Body
	d := alert.RuleInput{Name: b.Name, Kind: alert.Kind(b.Kind), On: b.On.Pointer().scope(), Threshold: b.Threshold, ClearLevel: b.ClearLevel,
		Severity: alert.Severity(b.Severity), Labels: b.Labels, Enabled: b.Enabled == nil || *b.Enabled}
	if b.Severity == "" {
		d.Severity = alert.Warning
	}
	if b.Description != nil {
		d.Description = *b.Description
	}
	if b.ForS != nil {
		d.ForS = *b.ForS
	}
	if b.ClearForS != nil {
		d.ClearForS = *b.ClearForS
	}
	return d
}

// createFaults returns the faults that the schema cannot express. The body
// already fits its schema.
func createFaults(body []byte) []problem.Fault {
	var in createRuleInput
	if json.Unmarshal(body, &in.Body) != nil || in.Body.Name == "" || in.Body.Kind == "" {
		return nil // the schema says what it is instead
	}
	d := in.draft()
	return d.Faults()
}

func (h handlers) createRule(ctx context.Context, in *createRuleInput) (*op.Body[*alert.Rule], error) {
	made, err := h.alerts.CreateRule(ctx, in.draft())
	return &op.Body[*alert.Rule]{Body: made}, err
}

// ruleMade rebuilds the answer of createRule for a repeated Idempotency-Key.
func (h handlers) ruleMade(ctx context.Context, made idempotency.Result) (any, error) {
	return h.alerts.Rule(ctx, made.Target())
}

type updateRuleInput struct {
	ID   int64 `path:"rule_id" minimum:"1"`
	Body struct {
		Name        op.Optional[string]            `json:"name,omitzero" minLength:"1" maxLength:"200" nullable:"false" example:"Web servers are busy" doc:"Name of the rule"`
		Description op.Optional[string]            `json:"description,omitzero" maxLength:"1000" example:"Pages load slowly." doc:"Purpose of the rule"`
		On          op.Optional[RuleScope]         `json:"on,omitzero" doc:"Objects that the rule covers; null for all"`
		Threshold   op.Optional[float64]           `json:"threshold,omitzero" nullable:"false" example:"90" doc:"Value at which the condition is a breach; only for kinds with a unit"`
		ClearLevel  op.Optional[float64]           `json:"clear_level,omitzero" example:"80" doc:"Value at which the condition is cleared; null for the threshold"`
		ForS        op.Optional[int64]             `json:"for_s,omitzero" minimum:"0" maximum:"604800" nullable:"false" example:"600" doc:"Seconds that a breach must last before the alert is raised"`
		ClearForS   op.Optional[int64]             `json:"clear_for_s,omitzero" minimum:"0" maximum:"604800" nullable:"false" example:"300" doc:"Seconds that the condition must be cleared before the alert is resolved"`
		Severity    op.Optional[string]            `json:"severity,omitzero" enum:"critical,warning,info" nullable:"false" example:"warning"`
		Labels      op.Optional[map[string]string] `json:"labels,omitzero" example:"{\"room\":\"cellar\"}"`
		Enabled     op.Optional[bool]              `json:"enabled,omitzero" nullable:"false" doc:"Evaluate the rule"`
	}
}

func (h handlers) updateRule(ctx context.Context, in *updateRuleInput) (*op.Body[*alert.Rule], error) {
	b := &in.Body
	written, err := h.alerts.UpdateRule(ctx, in.ID, func(d *alert.RuleInput) {
		set(&d.Name, b.Name)
		clearable(&d.Description, b.Description)
		set(&d.ForS, b.ForS)
		set(&d.ClearForS, b.ClearForS)
		set(&d.Enabled, b.Enabled)
		set((*string)(&d.Severity), b.Severity)
		clearable(&d.Labels, b.Labels)
		if b.On.Set {
			d.On = b.On.Pointer().scope()
		}
		if b.Threshold.Set {
			d.Threshold = b.Threshold.Pointer()
		}
		if b.ClearLevel.Set {
			d.ClearLevel = b.ClearLevel.Pointer()
		}
	})
	return &op.Body[*alert.Rule]{Body: written}, err
}

func (h handlers) removeRule(ctx context.Context, in *ruleInput) (*op.Empty, error) {
	return nil, h.alerts.DeleteRule(ctx, in.ID)
}

// set assigns a field that cannot be cleared, if the body has it. clearable
// does the same for a field that null clears.
func set[T any](field *T, given op.Optional[T]) {
	if value := given.Pointer(); value != nil {
		*field = *value
	}
}

func clearable[T any](field *T, given op.Optional[T]) {
	if given.Set {
		var none T
		*field = none
	}
	set(field, given)
}

// members returns the members of a body. A null is nil.
func members(body []byte) map[string]any {
	given := map[string]any{}
	if json.Unmarshal(body, &given) != nil {
		return map[string]any{} // the schema says what it is instead
	}
	return given
}
