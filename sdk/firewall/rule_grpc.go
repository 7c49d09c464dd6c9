package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

func (f *remoteFirewall) rules() firewallv1.RuleServiceClient {
	return firewallv1.NewRuleServiceClient(f.client.conn)
}

type ruleServer struct {
	firewallv1.UnimplementedRuleServiceServer
	*server
}

func (f *remoteFirewall) Rules(ctx context.Context, scope Scope) ([]Rule, string, error) {
	if err := refuse[RuleLister](f, scope); err != nil {
		return nil, "", err
	}
	req := &firewallv1.RulesRequest{Target: f.target, Scope: scopeToProto(scope)}
	answer, err := wire.Call(ctx, f.rules().Rules, req)
	return wire.Each(answer.GetRules(), ruleFromProto), answer.GetDigest(), err
}

func (s *ruleServer) Rules(ctx context.Context, req *firewallv1.RulesRequest) (*firewallv1.RulesResponse, error) {
	return serve(ctx, s.server, req, func(fw RuleLister, scope Scope) (*firewallv1.RulesResponse, error) {
		rules, digest, err := fw.Rules(ctx, scope)
		return &firewallv1.RulesResponse{Rules: wire.Each(rules, ruleToProto), Digest: wire.Text(digest)}, err
	})
}

func ruleToProto(r Rule) *firewallv1.Rule {
	return &firewallv1.Rule{
		Position: int64(r.Position), Direction: wire.Text(r.Direction), Action: wire.Text(r.Action), Enabled: r.Enabled,
		Macro: wire.Text(r.Macro), Protocol: wire.Text(r.Protocol), Source: wire.Text(r.Source), Destination: wire.Text(r.Destination),
		SourcePort: wire.Text(r.SourcePort), DestinationPort: wire.Text(r.DestinationPort), Interface: wire.Text(r.Interface),
		Log: wire.Text(r.Log), IcmpType: wire.Text(r.ICMPType), Comment: wire.Text(r.Comment),
	}
}

func ruleFromProto(r *firewallv1.Rule) Rule {
	return Rule{
		Position: int(r.GetPosition()), Direction: r.GetDirection(), Action: r.GetAction(), Enabled: r.GetEnabled(),
		Macro: r.GetMacro(), Protocol: r.GetProtocol(), Source: r.GetSource(), Destination: r.GetDestination(),
		SourcePort: r.GetSourcePort(), DestinationPort: r.GetDestinationPort(), Interface: r.GetInterface(),
		Log: r.GetLog(), ICMPType: r.GetIcmpType(), Comment: r.GetComment(),
	}
}
