package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

type ruleCheckServer struct {
	firewallv1.UnimplementedRuleCheckServiceServer
	*server
}

func (f *remoteFirewall) CheckRule(ctx context.Context, scope Scope, rule Rule) error {
	if err := refuse[RuleChecker](f, scope); err != nil {
		return err
	}
	req := &firewallv1.CheckRuleRequest{Target: f.target, Scope: scopeToProto(scope), Rule: ruleToProto(rule)}
	_, err := wire.Call(ctx, firewallv1.NewRuleCheckServiceClient(f.client.conn).CheckRule, req)
	return err
}

func (s *ruleCheckServer) CheckRule(ctx context.Context, req *firewallv1.CheckRuleRequest) (*firewallv1.CheckRuleResponse, error) {
	return serve(ctx, s.server, req, func(fw RuleChecker, scope Scope) (*firewallv1.CheckRuleResponse, error) {
		return &firewallv1.CheckRuleResponse{}, fw.CheckRule(ctx, scope, ruleFromProto(req.GetRule()))
	})
}
