package firewall

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/firewall"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

const stale = "A `digest` that is not that of the list any more is 409 `digest_conflict`, with the list as it is now in `current` and " +
	"its `digest`. "

func (h handlers) registerRules(a *op.API, d declared) {
	const things, one = "/rules", "/rules/:pos"
	op.Get(a, d.path+things, h.rules, d.read("list_%_rules", "List the firewall rules", things,
		"Asked of the hypervisor, in the order in which the rules are tried; nothing of it is kept. Only rules of this scope: "+
			"those of the scopes around it are not among them, and a security group is one rule of the type `group`."))
	op.Post(a, d.path+things, h.createRule, d.write("create_%_rule", "Make a firewall rule", things, "rule_create",
		"A new rule is switched off unless `enable` is 1, and stands where the hypervisor puts new ones, mostly first, unless `pos` says "+
			"where. With `pos` it is made, moved there, and only then switched on, so that it never holds at another place. When a later "+
			"step fails, the answer is that step's problem with what stands: `done`, `failed`, `pos`, `digest` and `rule`. All that is wrong "+
			"with the body is 422; what the hypervisor alone can judge is, too. "+stale+
			"Refused with 409 `guest_busy` while another change of this scope is under way."))
	op.Put(a, d.path+one, h.changeRule, d.write("change_%_rule", "Change a firewall rule", one, "rule_change",
		"What is absent stays; null, or being named in `delete`, takes a field away, and switches the rule off in the case of `enable`. A rule "+
			"has always `type` and `action`: null keeps them. The rule stays where it is. "+stale))
	op.Delete(a, d.path+one, h.deleteRule, d.write("delete_%_rule", "Delete a firewall rule", one, "rule_delete",
		"Rules below move up. The answer has the rule as it was. Send the `digest` of the list that `pos` was taken from: without it, the rule "+
			"goes that stands there now. "+stale))
	op.Put(a, d.path+one+"/move", h.moveRule, d.write("move_%_rule", "Move a firewall rule", one+"/move", "rule_move",
		"`moveto` is the place where the rule stands afterwards: 0 is the first. "+stale))
}

func (h handlers) rules(ctx context.Context, _ *struct{}) (*listing[firewall.Rule], error) {
	return listed(ctx, h, h.Firewalls.Rules)
}

// ruleIn is a new rule.
type ruleIn struct {
	Type     string  `json:"type" enum:"in,out,forward,group" example:"in" doc:"group stands for the rules of the security group that action names"`
	Action   string  `json:"action" minLength:"1" maxLength:"64" example:"ACCEPT" doc:"What the rule does, in the hypervisor's words, or the name of a security group"`
	Enable   *int    `json:"enable,omitempty" nullable:"true" minimum:"0" maximum:"1" example:"1" doc:"0 when absent: the rule is switched off"`
	Pos      *int    `json:"pos,omitempty" nullable:"true" minimum:"0" maximum:"1000000" example:"0" doc:"Where the rule shall stand. Without it, where the hypervisor puts new rules"`
	Macro    *string `json:"macro,omitempty" nullable:"true" maxLength:"512" example:"SSH" doc:"A service that the hypervisor knows, in place of proto and ports"`
	Iface    *string `json:"iface,omitempty" nullable:"true" maxLength:"512" example:"net0"`
	Source   *string `json:"source,omitempty" nullable:"true" maxLength:"512" example:"192.0.2.0/24" doc:"Addresses, networks, ranges or what refs lists, in the hypervisor's form"`
	Dest     *string `json:"dest,omitempty" nullable:"true" maxLength:"512" example:"192.0.2.10" doc:"As source"`
	SPort    *string `json:"sport,omitempty" nullable:"true" maxLength:"512" example:"1024:65535"`
	DPort    *string `json:"dport,omitempty" nullable:"true" maxLength:"512" example:"22"`
	Proto    *string `json:"proto,omitempty" nullable:"true" maxLength:"512" example:"tcp"`
	Log      *string `json:"log,omitempty" nullable:"true" maxLength:"64" example:"info" doc:"Level at which the rule logs"`
	ICMPType *string `json:"icmp_type,omitempty" nullable:"true" maxLength:"64" example:"echo-request"`
	Comment  *string `json:"comment,omitempty" nullable:"true" maxLength:"1024" example:"administrators"`
	Digest   *string `json:"digest,omitempty" nullable:"true" maxLength:"200" doc:"That of the list which you have read"`
}

type createRuleInput struct{ Body ruleIn }

func (h handlers) createRule(ctx context.Context, in *createRuleInput) (*op.Body[firewall.RuleChanged], error) {
	b := &in.Body
	rule := sdk.Rule{Direction: b.Type, Action: b.Action, Enabled: b.Enable != nil && *b.Enable == 1, Macro: deref(b.Macro),
		Protocol: deref(b.Proto), Source: deref(b.Source), Destination: deref(b.Dest), SourcePort: deref(b.SPort),
		DestinationPort: deref(b.DPort), Interface: deref(b.Iface), Log: deref(b.Log), ICMPType: deref(b.ICMPType), Comment: deref(b.Comment)}
	return done(ctx, h, func(on firewall.Scope) (firewall.RuleChanged, error) {
		return h.Firewalls.CreateRule(ctx, on, rule, b.Pos, deref(b.Digest))
	})
}

// Placed is a rule in a path.
type Placed struct {
	Pos int `path:"pos" minimum:"0" maximum:"1000000" example:"2" doc:"Where the rule stands, from 0"`
}

// rulePatch is a change of a rule.
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
	Digest   *string             `json:"digest,omitempty" nullable:"true" maxLength:"200" doc:"That of the list which pos was taken from"`
	Delete   *string             `json:"delete,omitempty" nullable:"true" maxLength:"512" example:"macro,log" doc:"Fields that the rule shall not have any more, separated by commas"`
}

type changeRuleInput struct {
	Placed
	Body rulePatch
}

func (h handlers) changeRule(ctx context.Context, in *changeRuleInput) (*op.Body[firewall.RuleChanged], error) {
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
	return done(ctx, h, func(on firewall.Scope) (firewall.RuleChanged, error) {
		return h.Firewalls.ChangeRule(ctx, on, in.Pos, patch)
	})
}

type deleteRuleInput struct {
	Placed
	Digested
}

func (h handlers) deleteRule(ctx context.Context, in *deleteRuleInput) (*op.Body[firewall.RuleChanged], error) {
	return done(ctx, h, func(on firewall.Scope) (firewall.RuleChanged, error) {
		return h.Firewalls.DeleteRule(ctx, on, in.Pos, in.Digest)
	})
}

// moveIn is where a rule shall go.
type moveIn struct {
	MoveTo int     `json:"moveto" minimum:"0" maximum:"1000000" example:"0" doc:"Where the rule stands afterwards, from 0"`
	Digest *string `json:"digest,omitempty" nullable:"true" maxLength:"200" doc:"That of the list which pos was taken from"`
}

type moveRuleInput struct {
	Placed
	Body moveIn
}

func (h handlers) moveRule(ctx context.Context, in *moveRuleInput) (*op.Body[firewall.RuleChanged], error) {
	return done(ctx, h, func(on firewall.Scope) (firewall.RuleChanged, error) {
		return h.Firewalls.MoveRule(ctx, on, in.Pos, in.Body.MoveTo, deref(in.Body.Digest))
	})
}
