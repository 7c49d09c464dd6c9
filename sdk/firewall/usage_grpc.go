package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

type usageServer struct {
	firewallv1.UnimplementedUsageServiceServer
	*server
}

func (f *remoteFirewall) Usage(ctx context.Context, scope Scope, kind ObjectKind, name string) (Usage, error) {
	if err := refuse[UsageFinder](f, scope); err != nil {
		return Usage{}, err
	}
	req := &firewallv1.UsageRequest{Target: f.target, Scope: scopeToProto(scope), Kind: wire.Text(string(kind)), Name: wire.Text(name)}
	answer, err := wire.Call(ctx, firewallv1.NewUsageServiceClient(f.client.conn).Usage, req)
	return usageFromProto(answer), err
}

func (s *usageServer) Usage(ctx context.Context, req *firewallv1.UsageRequest) (*firewallv1.UsageResponse, error) {
	return serve(ctx, s.server, req, func(fw UsageFinder, scope Scope) (*firewallv1.UsageResponse, error) {
		usage, err := fw.Usage(ctx, scope, ObjectKind(req.GetKind()), req.GetName())
		return usageToProto(usage), err
	})
}

func usageToProto(u Usage) *firewallv1.UsageResponse {
	return &firewallv1.UsageResponse{Places: wire.Each(u.Places, placeToProto), Incomplete: wire.Text(u.Incomplete)}
}

func usageFromProto(u *firewallv1.UsageResponse) Usage {
	return Usage{Places: wire.Each(u.GetPlaces(), placeFromProto), Incomplete: u.GetIncomplete()}
}

func placeToProto(p Place) *firewallv1.Place {
	return &firewallv1.Place{
		Scope: scopeToProto(p.Scope), Kind: wire.Text(string(p.Kind)), Position: int64(p.Position), Ipset: wire.Text(p.IPSet),
		Text: wire.Text(p.Text),
	}
}

func placeFromProto(p *firewallv1.Place) Place {
	return Place{
		Scope: scopeFromProto(p.GetScope()), Kind: PlaceKind(p.GetKind()), Position: int(p.GetPosition()), IPSet: p.GetIpset(),
		Text: p.GetText(),
	}
}
