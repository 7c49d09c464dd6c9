package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) reconfigure() hypervisorv1.ReconfigureServiceClient {
	return hypervisorv1.NewReconfigureServiceClient(h.client.conn)
}

type reconfigureServer struct {
	hypervisorv1.UnimplementedReconfigureServiceServer
	*server
}

func (h *remoteHost) OptionKeys(ctx context.Context, kind GuestKind) ([]OptionKey, error) {
	req := &hypervisorv1.OptionKeysRequest{Target: h.target, Kind: wire.Text(string(kind))}
	answer, err := wire.Call(ctx, h.reconfigure().OptionKeys, req)
	return wire.Each(answer.GetKeys(), optionKeyFromProto), err
}

func (s *reconfigureServer) OptionKeys(ctx context.Context, req *hypervisorv1.OptionKeysRequest) (
	*hypervisorv1.OptionKeysResponse, error) {
	return serve(ctx, s.server, req, func(host ConfigEditor) (*hypervisorv1.OptionKeysResponse, error) {
		keys, err := host.OptionKeys(ctx, GuestKind(req.GetKind()))
		return &hypervisorv1.OptionKeysResponse{Keys: wire.Each(keys, optionKeyToProto)}, err
	})
}

func (h *remoteHost) Reconfigure(ctx context.Context, guest GuestRef, change ConfigChange) error {
	req := &hypervisorv1.ReconfigureRequest{Target: h.target, Guest: refToProto(guest), Change: changeToProto(change)}
	_, err := wire.Call(ctx, h.reconfigure().Reconfigure, req)
	return err
}

func (s *reconfigureServer) Reconfigure(ctx context.Context, req *hypervisorv1.ReconfigureRequest) (
	*hypervisorv1.ReconfigureResponse, error) {
	return serve(ctx, s.server, req, func(host ConfigEditor) (*hypervisorv1.ReconfigureResponse, error) {
		return &hypervisorv1.ReconfigureResponse{}, host.Reconfigure(ctx, refFromProto(req.GetGuest()), changeFromProto(req.GetChange()))
	})
}

func (h *remoteHost) GrowDisk(ctx context.Context, guest GuestRef, growth DiskGrowth) error {
	req := growthToProto(growth)
	req.Target, req.Guest = h.target, refToProto(guest)
	_, err := wire.Call(ctx, h.reconfigure().GrowDisk, req)
	return err
}

func (s *reconfigureServer) GrowDisk(ctx context.Context, req *hypervisorv1.GrowDiskRequest) (*hypervisorv1.GrowDiskResponse, error) {
	return serve(ctx, s.server, req, func(host ConfigEditor) (*hypervisorv1.GrowDiskResponse, error) {
		return &hypervisorv1.GrowDiskResponse{}, host.GrowDisk(ctx, refFromProto(req.GetGuest()), growthFromProto(req))
	})
}

func optionKeyToProto(k OptionKey) *hypervisorv1.OptionKey {
	return &hypervisorv1.OptionKey{
		Name: wire.Text(k.Name), Type: wire.Text(k.Type), Values: wire.Texts(k.Values), Min: k.Min, Max: k.Max, MaxLength: k.MaxLength,
		Autostart: k.Autostart,
	}
}

func optionKeyFromProto(k *hypervisorv1.OptionKey) OptionKey {
	return OptionKey{
		Name: k.GetName(), Type: k.GetType(), Values: k.GetValues(), Min: k.Min, Max: k.Max, MaxLength: k.GetMaxLength(),
		Autostart: k.GetAutostart(),
	}
}

func changeToProto(c ConfigChange) *hypervisorv1.ConfigChange {
	return &hypervisorv1.ConfigChange{
		Digest: wire.Text(c.Digest), Name: optionalText(c.Name), Description: optionalText(c.Description), Tags: wire.Texts(c.Tags),
		TagsSet: c.TagsSet, CpuType: optionalText(c.CPUType), Cores: c.Cores, Sockets: c.Sockets, MemoryMb: c.MemoryMB, BalloonMb: c.BalloonMB,
		SwapMb: c.SwapMB, Options: optionalsToProto(c.Options),
	}
}

func changeFromProto(c *hypervisorv1.ConfigChange) ConfigChange {
	if c == nil {
		return ConfigChange{}
	}
	return ConfigChange{
		Digest: c.GetDigest(), Name: c.Name, Description: c.Description, Tags: c.GetTags(), TagsSet: c.GetTagsSet(), CPUType: c.CpuType,
		Cores: c.Cores, Sockets: c.Sockets, MemoryMB: c.MemoryMb, BalloonMB: c.BalloonMb, SwapMB: c.SwapMb,
		Options: optionalsFromProto(c.GetOptions()),
	}
}

// growthToProto leaves target and guest out.
func growthToProto(g DiskGrowth) *hypervisorv1.GrowDiskRequest {
	return &hypervisorv1.GrowDiskRequest{Key: wire.Text(g.Key), SizeGb: g.SizeGB, Digest: wire.Text(g.Digest)}
}

func growthFromProto(req *hypervisorv1.GrowDiskRequest) DiskGrowth {
	return DiskGrowth{Key: req.GetKey(), SizeGB: req.GetSizeGb(), Digest: req.GetDigest()}
}
