package hypervisor

import hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"

func guestToProto(g *Guest) *hypervisorv1.Guest {
	out := &hypervisorv1.Guest{}
	fillGuest(out, g)
	return out
}

func fillGuest(out *hypervisorv1.Guest, g *Guest) {
	out.Kind, out.Node, out.Id = text(string(g.Kind)), text(g.Node), g.ID
	out.Name, out.Status, out.Template = text(g.Name), text(g.Status), g.Template
	out.Lock, out.Pool, out.Tags = text(g.Lock), text(g.Pool), texts(g.Tags)
	out.Cpu, out.Cpus = g.CPU, g.CPUs
	out.Memory, out.MemoryTotal = g.Memory, g.MemoryTotal
	out.Disk, out.DiskTotal = g.Disk, g.DiskTotal
	out.NetIn, out.NetOut = g.NetIn, g.NetOut
	out.DiskRead, out.DiskWrite = g.DiskRead, g.DiskWrite
	out.Uptime = g.Uptime
	out.At = timeToProto(g.At)
}

func guestFromProto(g *hypervisorv1.Guest) Guest {
	return Guest{
		GuestRef: GuestRef{Kind: GuestKind(g.GetKind()), Node: g.GetNode(), ID: g.GetId()},
		Name:     g.GetName(), Status: g.GetStatus(), Template: g.GetTemplate(),
		Lock: g.GetLock(), Pool: g.GetPool(), Tags: g.GetTags(),
		CPU: g.Cpu, CPUs: g.Cpus, Memory: g.Memory, MemoryTotal: g.MemoryTotal, Disk: g.Disk, DiskTotal: g.DiskTotal,
		NetIn: g.NetIn, NetOut: g.NetOut, DiskRead: g.DiskRead, DiskWrite: g.DiskWrite, Uptime: g.Uptime,
		At: timeFromProto(g.GetAt()),
	}
}

func refToProto(r GuestRef) *hypervisorv1.GuestRef {
	return &hypervisorv1.GuestRef{Kind: text(string(r.Kind)), Node: text(r.Node), Id: r.ID}
}

func refFromProto(r *hypervisorv1.GuestRef) GuestRef {
	return GuestRef{Kind: GuestKind(r.GetKind()), Node: r.GetNode(), ID: r.GetId()}
}
