package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

func (f *remoteFirewall) ruleEdits() firewallv1.RuleEditServiceClient {
	return firewallv1.NewRuleEditServiceClient(f.client.conn)
}

type ruleEditServer struct {
	firewallv1.UnimplementedRuleEditServiceServer
	*server
}

func (f *remoteFirewall) CreateRule(ctx context.Context, scope Scope, rule Rule, digest string) (int, string, error) {
	if err := refuse[RuleEditor](f, scope); err != nil {
		return 0, "", err
	}
	req := &firewallv1.CreateRuleRequest{Target: f.target, Scope: scopeToProto(scope), Rule: ruleToProto(rule), Digest: wire.Text(digest)}
	answer, err := wire.Call(ctx, f.ruleEdits().CreateRule, req)
	return int(answer.GetPosition()), answer.GetAfter(), err
}

func (s *ruleEditServer) CreateRule(ctx context.Context, req *firewallv1.CreateRuleRequest) (*firewallv1.CreateRuleResponse, error) {
	return serve(ctx, s.server, req, func(fw RuleEditor, scope Scope) (*firewallv1.CreateRuleResponse, error) {
		position, after, err := fw.CreateRule(ctx, scope, ruleFromProto(req.GetRule()), req.GetDigest())
		return &firewallv1.CreateRuleResponse{Position: int64(position), After: wire.Text(after)}, err
	})
}

func (f *remoteFirewall) ChangeRule(ctx context.Context, scope Scope, position int, change RuleChange) error {
	if err := refuse[RuleEditor](f, scope); err != nil {
		return err
	}
	req := &firewallv1.ChangeRuleRequest{
		Target: f.target, Scope: scopeToProto(scope), Position: int64(position), Change: ruleChangeToProto(change),
	}
	_, err := wire.Call(ctx, f.ruleEdits().ChangeRule, req)
	return err
}

func (s *ruleEditServer) ChangeRule(ctx context.Context, req *firewallv1.ChangeRuleRequest) (*firewallv1.ChangeRuleResponse, error) {
	return serve(ctx, s.server, req, func(fw RuleEditor, scope Scope) (*firewallv1.ChangeRuleResponse, error) {
		return &firewallv1.ChangeRuleResponse{}, fw.ChangeRule(ctx, scope, int(req.GetPosition()), ruleChangeFromProto(req.GetChange()))
	})
}

func (f *remoteFirewall) DeleteRule(ctx context.Context, scope Scope, position int, digest string) error {
	if err := refuse[RuleEditor](f, scope); err != nil {
		return err
	}
	req := &firewallv1.DeleteRuleRequest{
		Target: f.target, Scope: scopeToProto(scope), Position: int64(position), Digest: wire.Text(digest),
	}
	_, err := wire.Call(ctx, f.ruleEdits().DeleteRule, req)
	return err
}

func (s *ruleEditServer) DeleteRule(ctx context.Context, req *firewallv1.DeleteRuleRequest) (*firewallv1.DeleteRuleResponse, error) {
	return serve(ctx, s.server, req, func(fw RuleEditor, scope Scope) (*firewallv1.DeleteRuleResponse, error) {
		return &firewallv1.DeleteRuleResponse{}, fw.DeleteRule(ctx, scope, int(req.GetPosition()), req.GetDigest())
	})
}

func ruleChangeToProto(c RuleChange) *firewallv1.RuleChange {
	s := c.Set
	return &firewallv1.RuleChange{
		Set: &firewallv1.RuleFields{
			Direction: textOrNil(s.Direction), Action: textOrNil(s.Action), Enabled: s.Enabled, Macro: textOrNil(s.Macro),
			Protocol: textOrNil(s.Protocol), Source: textOrNil(s.Source), Destination: textOrNil(s.Destination),
			SourcePort: textOrNil(s.SourcePort), DestinationPort: textOrNil(s.DestinationPort), Interface: textOrNil(s.Interface),
			Log: textOrNil(s.Log), IcmpType: textOrNil(s.ICMPType), Comment: textOrNil(s.Comment),
		},
		Clear: wire.Texts(c.Clear), Digest: wire.Text(c.Digest),
	}
}

func ruleChangeFromProto(c *firewallv1.RuleChange) RuleChange {
	out := RuleChange{Clear: c.GetClear(), Digest: c.GetDigest()}
	if s := c.GetSet(); s != nil {
		out.Set = RuleFields{
			Direction: s.Direction, Action: s.Action, Enabled: s.Enabled, Macro: s.Macro, Protocol: s.Protocol, Source: s.Source,
			Destination: s.Destination, SourcePort: s.SourcePort, DestinationPort: s.DestinationPort, Interface: s.Interface, Log: s.Log,
			ICMPType: s.IcmpType, Comment: s.Comment,
		}
	}
	return out
}

// textOrNil is wire.Text of a text that may be absent.
func textOrNil(text *string) *string {
	if text == nil {
		return nil
	}
	clean := wire.Text(*text)
	return &clean
}
