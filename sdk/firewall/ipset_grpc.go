package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

func (f *remoteFirewall) ipSets() firewallv1.IPSetServiceClient {
	return firewallv1.NewIPSetServiceClient(f.client.conn)
}

type ipSetServer struct {
	firewallv1.UnimplementedIPSetServiceServer
	*server
}

func (f *remoteFirewall) IPSets(ctx context.Context, scope Scope) ([]IPSet, string, error) {
	if err := refuse[IPSetManager](f, scope); err != nil {
		return nil, "", err
	}
	req := &firewallv1.IPSetsRequest{Target: f.target, Scope: scopeToProto(scope)}
	answer, err := wire.Call(ctx, f.ipSets().IPSets, req)
	return wire.Each(answer.GetSets(), ipSetFromProto), answer.GetDigest(), err
}

func (s *ipSetServer) IPSets(ctx context.Context, req *firewallv1.IPSetsRequest) (*firewallv1.IPSetsResponse, error) {
	return serve(ctx, s.server, req, func(fw IPSetManager, scope Scope) (*firewallv1.IPSetsResponse, error) {
		sets, digest, err := fw.IPSets(ctx, scope)
		return &firewallv1.IPSetsResponse{Sets: wire.Each(sets, ipSetToProto), Digest: wire.Text(digest)}, err
	})
}

func (f *remoteFirewall) CreateIPSet(ctx context.Context, scope Scope, set IPSet, digest string) error {
	if err := refuse[IPSetManager](f, scope); err != nil {
		return err
	}
	req := &firewallv1.CreateIPSetRequest{Target: f.target, Scope: scopeToProto(scope), Set: ipSetToProto(set), Digest: wire.Text(digest)}
	_, err := wire.Call(ctx, f.ipSets().CreateIPSet, req)
	return err
}

func (s *ipSetServer) CreateIPSet(ctx context.Context, req *firewallv1.CreateIPSetRequest) (*firewallv1.CreateIPSetResponse, error) {
	return serve(ctx, s.server, req, func(fw IPSetManager, scope Scope) (*firewallv1.CreateIPSetResponse, error) {
		return &firewallv1.CreateIPSetResponse{}, fw.CreateIPSet(ctx, scope, ipSetFromProto(req.GetSet()), req.GetDigest())
	})
}

func (f *remoteFirewall) DeleteIPSet(ctx context.Context, scope Scope, name string, withMembers bool, digest string) error {
	if err := refuse[IPSetManager](f, scope); err != nil {
		return err
	}
	req := &firewallv1.DeleteIPSetRequest{
		Target: f.target, Scope: scopeToProto(scope), Name: wire.Text(name), WithMembers: withMembers, Digest: wire.Text(digest),
	}
	_, err := wire.Call(ctx, f.ipSets().DeleteIPSet, req)
	return err
}

func (s *ipSetServer) DeleteIPSet(ctx context.Context, req *firewallv1.DeleteIPSetRequest) (*firewallv1.DeleteIPSetResponse, error) {
	return serve(ctx, s.server, req, func(fw IPSetManager, scope Scope) (*firewallv1.DeleteIPSetResponse, error) {
		return &firewallv1.DeleteIPSetResponse{}, fw.DeleteIPSet(ctx, scope, req.GetName(), req.GetWithMembers(), req.GetDigest())
	})
}

func ipSetToProto(s IPSet) *firewallv1.IPSet {
	return &firewallv1.IPSet{Name: wire.Text(s.Name), Comment: wire.Text(s.Comment)}
}

func ipSetFromProto(s *firewallv1.IPSet) IPSet {
	return IPSet{Name: s.GetName(), Comment: s.GetComment()}
}
