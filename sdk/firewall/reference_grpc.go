package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

type referenceServer struct {
	firewallv1.UnimplementedReferenceServiceServer
	*server
}

func (f *remoteFirewall) References(ctx context.Context, scope Scope) ([]Reference, error) {
	if err := refuse[ReferenceLister](f, scope); err != nil {
		return nil, err
	}
	req := &firewallv1.ReferencesRequest{Target: f.target, Scope: scopeToProto(scope)}
	answer, err := wire.Call(ctx, firewallv1.NewReferenceServiceClient(f.client.conn).References, req)
	return wire.Each(answer.GetReferences(), referenceFromProto), err
}

func (s *referenceServer) References(ctx context.Context, req *firewallv1.ReferencesRequest) (*firewallv1.ReferencesResponse, error) {
	return serve(ctx, s.server, req, func(fw ReferenceLister, scope Scope) (*firewallv1.ReferencesResponse, error) {
		references, err := fw.References(ctx, scope)
		return &firewallv1.ReferencesResponse{References: wire.Each(references, referenceToProto)}, err
	})
}

func referenceToProto(r Reference) *firewallv1.Reference {
	return &firewallv1.Reference{
		Kind: wire.Text(string(r.Kind)), Name: wire.Text(r.Name), Text: wire.Text(r.Text), Scope: wire.Text(string(r.Scope)),
		Comment: wire.Text(r.Comment),
	}
}

func referenceFromProto(r *firewallv1.Reference) Reference {
	return Reference{
		Kind: ObjectKind(r.GetKind()), Name: r.GetName(), Text: r.GetText(), Scope: ScopeKind(r.GetScope()), Comment: r.GetComment(),
	}
}
