package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

type macroServer struct {
	firewallv1.UnimplementedMacroServiceServer
	*server
}

func (f *remoteFirewall) Macros(ctx context.Context) ([]Macro, error) {
	if err := refuse[MacroLister](f, Scope{Kind: ClusterScope}); err != nil {
		return nil, err
	}
	req := &firewallv1.MacrosRequest{Target: f.target}
	answer, err := wire.Call(ctx, firewallv1.NewMacroServiceClient(f.client.conn).Macros, req)
	return wire.Each(answer.GetMacros(), macroFromProto), err
}

func (s *macroServer) Macros(ctx context.Context, req *firewallv1.MacrosRequest) (*firewallv1.MacrosResponse, error) {
	return serveCluster(ctx, s.server, req, func(fw MacroLister) (*firewallv1.MacrosResponse, error) {
		macros, err := fw.Macros(ctx)
		return &firewallv1.MacrosResponse{Macros: wire.Each(macros, macroToProto)}, err
	})
}

func macroToProto(m Macro) *firewallv1.Macro {
	return &firewallv1.Macro{Name: wire.Text(m.Name), Description: wire.Text(m.Description)}
}

func macroFromProto(m *firewallv1.Macro) Macro {
	return Macro{Name: m.GetName(), Description: m.GetDescription()}
}
