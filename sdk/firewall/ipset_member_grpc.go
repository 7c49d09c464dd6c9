package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

func (f *remoteFirewall) ipSetMembers() firewallv1.IPSetMemberServiceClient {
	return firewallv1.NewIPSetMemberServiceClient(f.client.conn)
}

type ipSetMemberServer struct {
	firewallv1.UnimplementedIPSetMemberServiceServer
	*server
}

func (f *remoteFirewall) IPSetMembers(ctx context.Context, scope Scope, set string) ([]IPSetMember, string, error) {
	if err := refuse[IPSetMemberEditor](f, scope); err != nil {
		return nil, "", err
	}
	req := &firewallv1.IPSetMembersRequest{Target: f.target, Scope: scopeToProto(scope), Set: wire.Text(set)}
	answer, err := wire.Call(ctx, f.ipSetMembers().IPSetMembers, req)
	return wire.Each(answer.GetMembers(), memberFromProto), answer.GetDigest(), err
}

func (s *ipSetMemberServer) IPSetMembers(ctx context.Context, req *firewallv1.IPSetMembersRequest) (
	*firewallv1.IPSetMembersResponse, error) {
	return serve(ctx, s.server, req, func(fw IPSetMemberEditor, scope Scope) (*firewallv1.IPSetMembersResponse, error) {
		members, digest, err := fw.IPSetMembers(ctx, scope, req.GetSet())
		return &firewallv1.IPSetMembersResponse{Members: wire.Each(members, memberToProto), Digest: wire.Text(digest)}, err
	})
}

func (f *remoteFirewall) AddIPSetMember(ctx context.Context, scope Scope, set string, member IPSetMember, digest string) error {
	if err := refuse[IPSetMemberEditor](f, scope); err != nil {
		return err
	}
	req := &firewallv1.AddIPSetMemberRequest{
		Target: f.target, Scope: scopeToProto(scope), Set: wire.Text(set), Member: memberToProto(member), Digest: wire.Text(digest),
	}
	_, err := wire.Call(ctx, f.ipSetMembers().AddIPSetMember, req)
	return err
}

func (s *ipSetMemberServer) AddIPSetMember(ctx context.Context, req *firewallv1.AddIPSetMemberRequest) (
	*firewallv1.AddIPSetMemberResponse, error) {
	return serve(ctx, s.server, req, func(fw IPSetMemberEditor, scope Scope) (*firewallv1.AddIPSetMemberResponse, error) {
		err := fw.AddIPSetMember(ctx, scope, req.GetSet(), memberFromProto(req.GetMember()), req.GetDigest())
		return &firewallv1.AddIPSetMemberResponse{}, err
	})
}

func (f *remoteFirewall) ChangeIPSetMember(ctx context.Context, scope Scope, set, cidr string, change IPSetMemberChange) error {
	if err := refuse[IPSetMemberEditor](f, scope); err != nil {
		return err
	}
	req := &firewallv1.ChangeIPSetMemberRequest{
		Target: f.target, Scope: scopeToProto(scope), Set: wire.Text(set), Cidr: wire.Text(cidr), Change: memberChangeToProto(change),
	}
	_, err := wire.Call(ctx, f.ipSetMembers().ChangeIPSetMember, req)
	return err
}

func (s *ipSetMemberServer) ChangeIPSetMember(ctx context.Context, req *firewallv1.ChangeIPSetMemberRequest) (
	*firewallv1.ChangeIPSetMemberResponse, error) {
	return serve(ctx, s.server, req, func(fw IPSetMemberEditor, scope Scope) (*firewallv1.ChangeIPSetMemberResponse, error) {
		err := fw.ChangeIPSetMember(ctx, scope, req.GetSet(), req.GetCidr(), memberChangeFromProto(req.GetChange()))
		return &firewallv1.ChangeIPSetMemberResponse{}, err
	})
}

func (f *remoteFirewall) RemoveIPSetMember(ctx context.Context, scope Scope, set, cidr, digest string) error {
	if err := refuse[IPSetMemberEditor](f, scope); err != nil {
		return err
	}
	req := &firewallv1.RemoveIPSetMemberRequest{
		Target: f.target, Scope: scopeToProto(scope), Set: wire.Text(set), Cidr: wire.Text(cidr), Digest: wire.Text(digest),
	}
	_, err := wire.Call(ctx, f.ipSetMembers().RemoveIPSetMember, req)
	return err
}

func (s *ipSetMemberServer) RemoveIPSetMember(ctx context.Context, req *firewallv1.RemoveIPSetMemberRequest) (
	*firewallv1.RemoveIPSetMemberResponse, error) {
	return serve(ctx, s.server, req, func(fw IPSetMemberEditor, scope Scope) (*firewallv1.RemoveIPSetMemberResponse, error) {
		return &firewallv1.RemoveIPSetMemberResponse{}, fw.RemoveIPSetMember(ctx, scope, req.GetSet(), req.GetCidr(), req.GetDigest())
	})
}

func memberToProto(m IPSetMember) *firewallv1.IPSetMember {
	return &firewallv1.IPSetMember{Cidr: wire.Text(m.CIDR), NoMatch: m.NoMatch, Comment: wire.Text(m.Comment)}
}

func memberFromProto(m *firewallv1.IPSetMember) IPSetMember {
	return IPSetMember{CIDR: m.GetCidr(), NoMatch: m.GetNoMatch(), Comment: m.GetComment()}
}

func memberChangeToProto(c IPSetMemberChange) *firewallv1.IPSetMemberChange {
	return &firewallv1.IPSetMemberChange{NoMatch: c.NoMatch, Comment: textOrNil(c.Comment), Digest: wire.Text(c.Digest)}
}

func memberChangeFromProto(c *firewallv1.IPSetMemberChange) IPSetMemberChange {
	if c == nil {
		return IPSetMemberChange{}
	}
	return IPSetMemberChange{NoMatch: c.NoMatch, Comment: c.Comment, Digest: c.GetDigest()}
}
