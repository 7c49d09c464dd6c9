package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

type ruleMoveServer struct {
	firewallv1.UnimplementedRuleMoveServiceServer
	*server
}

func (f *remoteFirewall) MoveRule(ctx context.Context, scope Scope, from, to int, digest string) error {
	if err := refuse[RuleMover](f, scope); err != nil {
		return err
	}
	req := &firewallv1.MoveRuleRequest{
		Target: f.target, Scope: scopeToProto(scope), From: int64(from), To: int64(to), Digest: wire.Text(digest),
	}
	_, err := wire.Call(ctx, firewallv1.NewRuleMoveServiceClient(f.client.conn).MoveRule, req)
	return err
}

func (s *ruleMoveServer) MoveRule(ctx context.Context, req *firewallv1.MoveRuleRequest) (*firewallv1.MoveRuleResponse, error) {
	return serve(ctx, s.server, req, func(fw RuleMover, scope Scope) (*firewallv1.MoveRuleResponse, error) {
		return &firewallv1.MoveRuleResponse{}, fw.MoveRule(ctx, scope, int(req.GetFrom()), int(req.GetTo()), req.GetDigest())
	})
}
