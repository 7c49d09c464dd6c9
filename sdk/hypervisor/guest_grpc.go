package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) Guest(ctx context.Context, ref GuestRef) (Guest, error) {
	answer, err := wire.Call(ctx, h.client.base.Guest, &hypervisorv1.GuestRequest{Target: h.target, Guest: refToProto(ref)})
	switch {
	case err != nil:
		return Guest{}, err
	case answer.GetGuest() == nil:
		return Guest{}, wire.MissingPart("guest")
	}
	return guestFromProto(answer.GetGuest()), nil
}

func (s *server) Guest(ctx context.Context, req *hypervisorv1.GuestRequest) (*hypervisorv1.GuestResponse, error) {
	return serve(ctx, s, req, func(host Host) (*hypervisorv1.GuestResponse, error) {
		guest, err := host.Guest(ctx, refFromProto(req.GetGuest()))
		return &hypervisorv1.GuestResponse{Guest: guestToProto(&guest)}, err
	})
}

func guestToProto(g *Guest) *hypervisorv1.Guest {
	out := &hypervisorv1.Guest{}
	fillGuest(out, g)
	return out
}

func fillGuest(out *hypervisorv1.Guest, g *Guest) {
	out.Kind, out.Node, out.Ref, out.Uid = wire.Text(string(g.Kind)), wire.Text(g.Node), wire.Text(string(g.ID)), wire.Text(g.UID)
	out.Number = g.Number
	out.Name, out.Status, out.Template = wire.Text(g.Name), wire.Text(g.Status), g.Template
	out.Lock, out.Pool, out.Tags = wire.Text(g.Lock), wire.Text(g.Pool), wire.Texts(g.Tags)
	out.Ha = g.HA
	out.Cpu, out.CpuSeconds, out.Cpus = g.CPU, g.CPUSeconds, g.CPUs
	out.Memory, out.MemoryTotal = g.Memory, g.MemoryTotal
	out.Disk, out.DiskTotal = g.Disk, g.DiskTotal
	out.NetIn, out.NetOut = g.NetIn, g.NetOut
	out.DiskRead, out.DiskWrite = g.DiskRead, g.DiskWrite
	out.Uptime = g.Uptime
	out.At = wire.Timestamp(g.At)
}

func guestFromProto(g *hypervisorv1.Guest) Guest {
	return Guest{
		GuestRef: GuestRef{Kind: GuestKind(g.GetKind()), Node: g.GetNode(), ID: GuestID(g.GetRef()), UID: g.GetUid()},
		Number:   g.Number, Name: g.GetName(), Status: g.GetStatus(), Template: g.GetTemplate(),
		Lock: g.GetLock(), Pool: g.GetPool(), Tags: g.GetTags(), HA: g.GetHa(),
		CPU: g.Cpu, CPUSeconds: g.CpuSeconds, CPUs: g.Cpus, Memory: g.Memory, MemoryTotal: g.MemoryTotal, Disk: g.Disk, DiskTotal: g.DiskTotal,
		NetIn: g.NetIn, NetOut: g.NetOut, DiskRead: g.DiskRead, DiskWrite: g.DiskWrite, Uptime: g.Uptime,
		At: wire.Time(g.GetAt()),
	}
}

func refToProto(r GuestRef) *hypervisorv1.GuestRef {
	return &hypervisorv1.GuestRef{
		Kind: wire.Text(string(r.Kind)), Node: wire.Text(r.Node), Ref: wire.Text(string(r.ID)), Uid: wire.Text(r.UID),
	}
}

func refFromProto(r *hypervisorv1.GuestRef) GuestRef {
	return GuestRef{Kind: GuestKind(r.GetKind()), Node: r.GetNode(), ID: GuestID(r.GetRef()), UID: r.GetUid()}
}
