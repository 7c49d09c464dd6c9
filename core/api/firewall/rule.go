package firewall

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/firewall"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

const stale = "An outdated `digest` is 409 `digest_conflict`, with the current list in `current` and its " +
	"`digest`. "

func (h handlers) registerRules(a *op.API, d declared) {
	const things, one = "/rules", "/rules/:pos"
	op.Get(a, d.path+things, h.rules, d.read("list_%_rules", "List the firewall rules", things,
		"Lists the rules in the order of their evaluation, as read from the hypervisor. The list contains only rules "+
			"of this scope, without those of enclosing scopes; a security group is one rule of the type `group`."))
	op.Post(a, d.path+things, h.createRule, d.write("create_%_rule", "Create a firewall rule", things, "rule_create",
		"A new rule is disabled unless `enable` is 1. It is inserted where the hypervisor inserts new rules, usually "+
			"first, unless `pos` is given. With `pos`, it is created, moved and only then enabled, so that it never "+
			"applies at another position. If a later step fails, the response is the problem of that step with the "+
			"state: `done`, `failed`, `pos`, `digest` and `rule`. All faults of the body are 422, including those that "+
			"only the hypervisor detects. "+stale+
			"409 `guest_busy` while another change of this scope is running."))
	op.Put(a, d.path+one, h.changeRule, d.write("change_%_rule", "Change a firewall rule", one, "rule_change",
		"Absent fields are kept. To remove a field, send null or name the field in `delete`; for `enable`, this "+
			"disables the rule. A rule always has `type` and `action`: null keeps them. The rule keeps its "+
			"position. "+stale))
	op.Delete(a, d.path+one, h.deleteRule, d.write("delete_%_rule", "Delete a firewall rule", one, "rule_delete",
		"The rules below it move up. The response is the deleted rule. Send the `digest` of the list that `pos` was "+
			"taken from: without it, the rule that is now at the position is deleted. "+stale))
	op.Put(a, d.path+one+"/move", h.moveRule, d.write("move_%_rule", "Move a firewall rule", one+"/move", "rule_move",
		"`moveto` is the new position of the rule; 0 is the first. "+stale))
}

func (h handlers) rules(ctx context.Context, _ *struct{}) (*listing[firewall.Rule], error) {
	return listed(ctx, h, h.Firewalls.Rules)
}

// ruleIn is the body of a new rule.
type ruleIn struct {
	Type     string  `json:"type" enum:"in,out,forward,group" example:"in" doc:"group: the rules of the security group that action names"`
	Action   string  `json:"action" minLength:"1" maxLength:"64" example:"ACCEPT" doc:"Action, as the hypervisor names it, or the name of a security group"`
	Enable   *int    `json:"enable,omitempty" nullable:"true" minimum:"0" maximum:"1" example:"1" doc:"1 enables the rule; 0 if absent"`
	Pos      *int    `json:"pos,omitempty" nullable:"true" minimum:"0" maximum:"1000000" example:"0" doc:"Position of the rule; if absent, where the hypervisor inserts new rules"`
	Macro    *string `json:"macro,omitempty" nullable:"true" maxLength:"512" example:"SSH" doc:"Name of a predefined service of the hypervisor, instead of proto and ports"`
	Iface    *string `json:"iface,omitempty" nullable:"true" maxLength:"512" example:"net0"`
	Source   *string `json:"source,omitempty" nullable:"true" maxLength:"512" example:"192.0.2.0/24" doc:"Addresses, networks, ranges or objects from refs, in the hypervisor's format"`
	Dest     *string `json:"dest,omitempty" nullable:"true" maxLength:"512" example:"192.0.2.10" doc:"Same format as source"`
	SPort    *string `json:"sport,omitempty" nullable:"true" maxLength:"512" example:"1024:65535"`
	DPort    *string `json:"dport,omitempty" nullable:"true" maxLength:"512" example:"22"`
	Proto    *string `json:"proto,omitempty" nullable:"true" maxLength:"512" example:"tcp"`
	Log      *string `json:"log,omitempty" nullable:"true" maxLength:"64" example:"info" doc:"Log level of the rule"`
	ICMPType *string `json:"icmp_type,omitempty" nullable:"true" maxLength:"64" example:"echo-request"`
	Comment  *string `json:"comment,omitempty" nullable:"true" maxLength:"1024" example:"administrators"`
	Digest   *string `json:"digest,omitempty" nullable:"true" maxLength:"200" doc:"Digest of the list that you read"`
}

type createRuleInput struct{ Body ruleIn }

func (h handlers) createRule(ctx context.Context, in *createRuleInput) (*op.Body[firewall.RuleChangeResult], error) {
	b := &in.Body
	rule := sdk.Rule{Direction: b.Type, Action: b.Action, Enabled: b.Enable != nil && *b.Enable == 1, Macro: deref(b.Macro),
		Protocol: deref(b.Proto), Source: deref(b.Source), Destination: deref(b.Dest), SourcePort: deref(b.SPort),
		DestinationPort: deref(b.DPort), Interface: deref(b.Iface), Log: deref(b.Log), ICMPType: deref(b.ICMPType), Comment: deref(b.Comment)}
	return done(ctx, h, func(on firewall.Scope) (firewall.RuleChangeResult, error) {
		return h.Firewalls.CreateRule(ctx, on, rule, b.Pos, deref(b.Digest))
	})
}

// RulePath has the path parameter of a rule.
type RulePath struct {
	Pos int `path:"pos" minimum:"0" maximum:"1000000" example:"2" doc:"Position of the rule, from 0"`
}

// rulePatch is the body of a change of a rule.
type rulePatch struct {
	Type     op.Optional[string] `json:"type,omitzero" enum:"in,out,forward,group"`
	Action   op.Optional[string] `json:"action,omitzero" minLength:"1" maxLength:"64" example:"DROP"`
	Enable   op.Optional[int]    `json:"enable,omitzero" minimum:"0" maximum:"1" example:"1"`
	Macro    op.Optional[string] `json:"macro,omitzero" maxLength:"512"`
	Iface    op.Optional[string] `json:"iface,omitzero" maxLength:"512"`
	Source   op.Optional[string] `json:"source,omitzero" maxLength:"512" example:"192.0.2.0/24"`
	Dest     op.Optional[string] `json:"dest,omitzero" maxLength:"512"`
	SPort    op.Optional[string] `json:"sport,omitzero" maxLength:"512"`
	DPort    op.Optional[string] `json:"dport,omitzero" maxLength:"512"`
	Proto    op.Optional[string] `json:"proto,omitzero" maxLength:"512"`
	Log      op.Optional[string] `json:"log,omitzero" maxLength:"64"`
	ICMPType op.Optional[string] `json:"icmp_type,omitzero" maxLength:"64"`
	Comment  op.Optional[string] `json:"comment,omitzero" maxLength:"1024" example:"administrators"`
	Digest   *string             `json:"digest,omitempty" nullable:"true" maxLength:"200" doc:"Digest of the list that pos was taken from"`
	Delete   *string             `json:"delete,omitempty" nullable:"true" maxLength:"512" example:"macro,log" doc:"Fields to remove, separated by commas"`
}

type changeRuleInput struct {
	RulePath
	Body rulePatch
}

func (h handlers) changeRule(ctx context.Context, in *changeRuleInput) (*op.Body[firewall.RuleChangeResult], error) {
	b := &in.Body
	patch := firewall.RulePatch{Delete: deref(b.Delete), Digest: deref(b.Digest), Set: sdk.RuleFields{
		Direction: b.Type.Pointer(), Action: b.Action.Pointer(), Enabled: flag(b.Enable.Pointer()), Macro: b.Macro.Pointer(),
		Protocol: b.Proto.Pointer(), Source: b.Source.Pointer(), Destination: b.Dest.Pointer(), SourcePort: b.SPort.Pointer(),
		DestinationPort: b.DPort.Pointer(), Interface: b.Iface.Pointer(), Log: b.Log.Pointer(), ICMPType: b.ICMPType.Pointer(),
		Comment: b.Comment.Pointer(),
	}}
	for field, text := range map[string]op.Optional[string]{
		sdk.FieldMacro: b.Macro, sdk.FieldInterface: b.Iface, sdk.FieldSource: b.Source, sdk.FieldDestination: b.Dest,
		sdk.FieldSourcePort: b.SPort, sdk.FieldDestinationPort: b.DPort, sdk.FieldProtocol: b.Proto, sdk.FieldLog: b.Log,
		sdk.FieldICMPType: b.ICMPType, sdk.FieldComment: b.Comment,
	} {
		if text.Null {
			patch.Clear = append(patch.Clear, field)
		}
	}
	if b.Enable.Null {
		patch.Clear = append(patch.Clear, sdk.FieldEnabled)
	}
	return done(ctx, h, func(on firewall.Scope) (firewall.RuleChangeResult, error) {
		return h.Firewalls.ChangeRule(ctx, on, in.Pos, patch)
	})
}

type deleteRuleInput struct {
	RulePath
	DigestParam
}

func (h handlers) deleteRule(ctx context.Context, in *deleteRuleInput) (*op.Body[firewall.RuleChangeResult], error) {
	return done(ctx, h, func(on firewall.Scope) (firewall.RuleChangeResult, error) {
		return h.Firewalls.DeleteRule(ctx, on, in.Pos, in.Digest)
	})
}

// moveIn is the body that moves a rule to another position.
type moveIn struct {
	MoveTo int     `json:"moveto" minimum:"0" maximum:"1000000" example:"0" doc:"New position of the rule, from 0"`
	Digest *string `json:"digest,omitempty" nullable:"true" maxLength:"200" doc:"Digest of the list that pos was taken from"`
}

type moveRuleInput struct {
	RulePath
	Body moveIn
}

func (h handlers) moveRule(ctx context.Context, in *moveRuleInput) (*op.Body[firewall.RuleChangeResult], error) {
	return done(ctx, h, func(on firewall.Scope) (firewall.RuleChangeResult, error) {
		return h.Firewalls.MoveRule(ctx, on, in.Pos, in.Body.MoveTo, deref(in.Body.Digest))
	})
}
