package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

func (f *remoteFirewall) aliases() firewallv1.AliasServiceClient {
	return firewallv1.NewAliasServiceClient(f.client.conn)
}

type aliasServer struct {
	firewallv1.UnimplementedAliasServiceServer
	*server
}

func (f *remoteFirewall) Aliases(ctx context.Context, scope Scope) ([]Alias, string, error) {
	if err := refuse[AliasManager](f, scope); err != nil {
		return nil, "", err
	}
	req := &firewallv1.AliasesRequest{Target: f.target, Scope: scopeToProto(scope)}
	answer, err := wire.Call(ctx, f.aliases().Aliases, req)
	return wire.Each(answer.GetAliases(), aliasFromProto), answer.GetDigest(), err
}

func (s *aliasServer) Aliases(ctx context.Context, req *firewallv1.AliasesRequest) (*firewallv1.AliasesResponse, error) {
	return serve(ctx, s.server, req, func(fw AliasManager, scope Scope) (*firewallv1.AliasesResponse, error) {
		aliases, digest, err := fw.Aliases(ctx, scope)
		return &firewallv1.AliasesResponse{Aliases: wire.Each(aliases, aliasToProto), Digest: wire.Text(digest)}, err
	})
}

func (f *remoteFirewall) CreateAlias(ctx context.Context, scope Scope, alias Alias, digest string) error {
	if err := refuse[AliasManager](f, scope); err != nil {
		return err
	}
	req := &firewallv1.CreateAliasRequest{
		Target: f.target, Scope: scopeToProto(scope), Alias: aliasToProto(alias), Digest: wire.Text(digest),
	}
	_, err := wire.Call(ctx, f.aliases().CreateAlias, req)
	return err
}

func (s *aliasServer) CreateAlias(ctx context.Context, req *firewallv1.CreateAliasRequest) (*firewallv1.CreateAliasResponse, error) {
	return serve(ctx, s.server, req, func(fw AliasManager, scope Scope) (*firewallv1.CreateAliasResponse, error) {
		return &firewallv1.CreateAliasResponse{}, fw.CreateAlias(ctx, scope, aliasFromProto(req.GetAlias()), req.GetDigest())
	})
}

func (f *remoteFirewall) ChangeAlias(ctx context.Context, scope Scope, name string, change AliasChange) error {
	if err := refuse[AliasManager](f, scope); err != nil {
		return err
	}
	req := &firewallv1.ChangeAliasRequest{
		Target: f.target, Scope: scopeToProto(scope), Name: wire.Text(name), Change: aliasChangeToProto(change),
	}
	_, err := wire.Call(ctx, f.aliases().ChangeAlias, req)
	return err
}

func (s *aliasServer) ChangeAlias(ctx context.Context, req *firewallv1.ChangeAliasRequest) (*firewallv1.ChangeAliasResponse, error) {
	return serve(ctx, s.server, req, func(fw AliasManager, scope Scope) (*firewallv1.ChangeAliasResponse, error) {
		return &firewallv1.ChangeAliasResponse{}, fw.ChangeAlias(ctx, scope, req.GetName(), aliasChangeFromProto(req.GetChange()))
	})
}

func (f *remoteFirewall) DeleteAlias(ctx context.Context, scope Scope, name, digest string) error {
	if err := refuse[AliasManager](f, scope); err != nil {
		return err
	}
	req := &firewallv1.DeleteAliasRequest{Target: f.target, Scope: scopeToProto(scope), Name: wire.Text(name), Digest: wire.Text(digest)}
	_, err := wire.Call(ctx, f.aliases().DeleteAlias, req)
	return err
}

func (s *aliasServer) DeleteAlias(ctx context.Context, req *firewallv1.DeleteAliasRequest) (*firewallv1.DeleteAliasResponse, error) {
	return serve(ctx, s.server, req, func(fw AliasManager, scope Scope) (*firewallv1.DeleteAliasResponse, error) {
		return &firewallv1.DeleteAliasResponse{}, fw.DeleteAlias(ctx, scope, req.GetName(), req.GetDigest())
	})
}

func aliasToProto(a Alias) *firewallv1.Alias {
	return &firewallv1.Alias{Name: wire.Text(a.Name), Cidr: wire.Text(a.CIDR), Comment: wire.Text(a.Comment)}
}

func aliasFromProto(a *firewallv1.Alias) Alias {
	return Alias{Name: a.GetName(), CIDR: a.GetCidr(), Comment: a.GetComment()}
}

func aliasChangeToProto(c AliasChange) *firewallv1.AliasChange {
	return &firewallv1.AliasChange{
		Cidr: wire.Text(c.CIDR), Comment: textOrNil(c.Comment), Rename: wire.Text(c.Rename), Digest: wire.Text(c.Digest),
	}
}

func aliasChangeFromProto(c *firewallv1.AliasChange) AliasChange {
	if c == nil {
		return AliasChange{}
	}
	return AliasChange{CIDR: c.GetCidr(), Comment: c.Comment, Rename: c.GetRename(), Digest: c.GetDigest()}
}
