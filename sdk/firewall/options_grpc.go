package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

func (f *remoteFirewall) options() firewallv1.OptionsServiceClient {
	return firewallv1.NewOptionsServiceClient(f.client.conn)
}

type optionsServer struct {
	firewallv1.UnimplementedOptionsServiceServer
	*server
}

func (f *remoteFirewall) Options(ctx context.Context, scope Scope) (Options, error) {
	if err := refuse[OptionsManager](f, scope); err != nil {
		return Options{}, err
	}
	req := &firewallv1.OptionsRequest{Target: f.target, Scope: scopeToProto(scope)}
	answer, err := wire.Call(ctx, f.options().Options, req)
	return optionsFromProto(answer.GetOptions()), err
}

func (s *optionsServer) Options(ctx context.Context, req *firewallv1.OptionsRequest) (*firewallv1.OptionsResponse, error) {
	return serve(ctx, s.server, req, func(fw OptionsManager, scope Scope) (*firewallv1.OptionsResponse, error) {
		options, err := fw.Options(ctx, scope)
		return &firewallv1.OptionsResponse{Options: optionsToProto(options)}, err
	})
}

func (f *remoteFirewall) ChangeOptions(ctx context.Context, scope Scope, change OptionsChange) error {
	if err := refuse[OptionsManager](f, scope); err != nil {
		return err
	}
	req := &firewallv1.ChangeOptionsRequest{Target: f.target, Scope: scopeToProto(scope), Change: optionsChangeToProto(change)}
	_, err := wire.Call(ctx, f.options().ChangeOptions, req)
	return err
}

func (s *optionsServer) ChangeOptions(ctx context.Context, req *firewallv1.ChangeOptionsRequest) (
	*firewallv1.ChangeOptionsResponse, error) {
	return serve(ctx, s.server, req, func(fw OptionsManager, scope Scope) (*firewallv1.ChangeOptionsResponse, error) {
		return &firewallv1.ChangeOptionsResponse{}, fw.ChangeOptions(ctx, scope, optionsChangeFromProto(req.GetChange()))
	})
}

func optionsToProto(o Options) *firewallv1.Options {
	out := &firewallv1.Options{
		Digest: wire.Text(o.Digest), Enable: o.Enable, Dhcp: o.DHCP, Ndp: o.NDP, Radv: o.RADV,
		MacFilter: o.MACFilter, IpFilter: o.IPFilter, PolicyIn: wire.Text(o.PolicyIn), PolicyOut: wire.Text(o.PolicyOut),
		PolicyForward: wire.Text(o.PolicyForward),
		LogLevelIn:    wire.Text(o.LogLevelIn), LogLevelOut: wire.Text(o.LogLevelOut), LogLevelForward: wire.Text(o.LogLevelForward),
	}
	if len(o.Other) > 0 {
		out.Other = make(map[string]string, len(o.Other))
	}
	for name, value := range o.Other {
		out.Other[wire.Text(name)] = wire.Text(value)
	}
	return out
}

func optionsFromProto(o *firewallv1.Options) Options {
	if o == nil {
		return Options{}
	}
	return Options{
		Digest: o.GetDigest(), Enable: o.Enable, DHCP: o.Dhcp, NDP: o.Ndp, RADV: o.Radv, MACFilter: o.MacFilter, IPFilter: o.IpFilter,
		PolicyIn: o.GetPolicyIn(), PolicyOut: o.GetPolicyOut(), PolicyForward: o.GetPolicyForward(), LogLevelIn: o.GetLogLevelIn(),
		LogLevelOut: o.GetLogLevelOut(), LogLevelForward: o.GetLogLevelForward(), Other: o.GetOther(),
	}
}

func optionsChangeToProto(c OptionsChange) *firewallv1.OptionsChange {
	return &firewallv1.OptionsChange{Set: optionsToProto(c.Set), Clear: wire.Texts(c.Clear)}
}

func optionsChangeFromProto(c *firewallv1.OptionsChange) OptionsChange {
	return OptionsChange{Set: optionsFromProto(c.GetSet()), Clear: c.GetClear()}
}
