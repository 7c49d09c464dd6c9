package hypervisor

import (
	"context"
	"iter"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	"google.golang.org/grpc"
)

func (h *remoteHost) Inventory(ctx context.Context, query InventoryQuery, page func(Page) error) error {
	req := &hypervisorv1.InventoryRequest{Target: h.target, Detail: query.Detail, Since: wire.Timestamp(query.Since)}
	if known := query.Known; known != nil {
		req.Known = membershipToProto(*known)
	}
	return wire.Receive(ctx, h.client.base.Inventory, req, func(in *hypervisorv1.InventoryResponse) error { return page(pageFromProto(in)) })
}

func (s *server) Inventory(req *hypervisorv1.InventoryRequest, stream grpc.ServerStreamingServer[hypervisorv1.InventoryResponse]) error {
	ctx := stream.Context()
	query := InventoryQuery{Detail: req.GetDetail(), Since: wire.Time(req.GetSince())}
	if known := req.GetKnown(); known.GetCluster() != nil {
		query.Known = new(membershipFromProto(known))
	}
	return endpoint.With(ctx, s.opener(), req, func(host Host) error {
		return host.Inventory(ctx, query, func(page Page) error {
			for part := range parts(page) {
				if err := stream.Send(pageToProto(part)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// What one message of an inventory carries at most, so that neither side holds
// more than this of a driver that hands out larger pages.
const (
	pageRows    = 512
	pageSamples = 8192
)

// parts cuts a page into messages of bearable size. A small page is itself.
func parts(page Page) iter.Seq[Page] {
	return func(yield func(Page) bool) {
		for {
			part := Page{Restart: page.Restart, Cluster: page.Cluster}
			part.Nodes, page.Nodes = cut(page.Nodes, pageRows)
			part.Guests, page.Guests = cut(page.Guests, pageRows)
			part.Storages, page.Storages = cut(page.Storages, pageRows)
			part.Samples, page.Samples = cut(page.Samples, pageSamples)
			page.Restart, page.Cluster = false, nil
			more := len(page.Nodes)+len(page.Guests)+len(page.Storages)+len(page.Samples) > 0
			if !yield(part) || !more {
				return
			}
		}
	}
}

func cut[T any](rows []T, n int) (head, rest []T) {
	n = min(n, len(rows))
	return rows[:n:n], rows[n:]
}

// pageToProto and pageFromProto share the pointers of the figures between both
// forms: nobody writes to them.
func pageToProto(page Page) *hypervisorv1.InventoryResponse {
	out := &hypervisorv1.InventoryResponse{Restart: page.Restart, Nodes: nodesToProto(page.Nodes), Samples: samplesToProto(page.Samples)}
	if c := page.Cluster; c != nil {
		out.Cluster = clusterToProto(*c)
	}
	if len(page.Guests) > 0 {
		rows := make([]hypervisorv1.Guest, len(page.Guests))
		out.Guests = make([]*hypervisorv1.Guest, len(page.Guests))
		for i := range page.Guests {
			fillGuest(&rows[i], &page.Guests[i])
			out.Guests[i] = &rows[i]
		}
	}
	if len(page.Storages) > 0 {
		out.Storages = make([]*hypervisorv1.Storage, len(page.Storages))
		for i := range page.Storages {
			out.Storages[i] = storageToProto(&page.Storages[i])
		}
	}
	return out
}

func pageFromProto(in *hypervisorv1.InventoryResponse) Page {
	page := Page{Restart: in.GetRestart(), Nodes: nodesFromProto(in.GetNodes()), Samples: samplesFromProto(in.GetSamples())}
	if c := in.GetCluster(); c != nil {
		cluster := clusterFromProto(c)
		page.Cluster = &cluster
	}
	if rows := in.GetGuests(); len(rows) > 0 {
		page.Guests = make([]Guest, len(rows))
		for i, g := range rows {
			page.Guests[i] = guestFromProto(g)
		}
	}
	if rows := in.GetStorages(); len(rows) > 0 {
		page.Storages = make([]Storage, len(rows))
		for i, s := range rows {
			page.Storages[i] = storageFromProto(s)
		}
	}
	return page
}

func clusterToProto(c Cluster) *hypervisorv1.Cluster {
	return &hypervisorv1.Cluster{
		Id: wire.Text(c.ID), Name: wire.Text(c.Name), Quorate: c.Quorate, Entry: wire.Text(c.Entry), Partial: c.Partial,
		StatesOnly: c.StatesOnly, Kept: c.Kept, ClockAhead: c.ClockAhead,
	}
}

func clusterFromProto(c *hypervisorv1.Cluster) Cluster {
	return Cluster{
		ID: c.GetId(), Name: c.GetName(), Quorate: c.GetQuorate(), Entry: c.GetEntry(), Partial: c.GetPartial(), StatesOnly: c.GetStatesOnly(),
		Kept: c.GetKept(), ClockAhead: c.ClockAhead,
	}
}

func membershipToProto(m Membership) *hypervisorv1.Membership {
	return &hypervisorv1.Membership{Cluster: clusterToProto(m.Cluster), Nodes: nodesToProto(m.Nodes)}
}

func membershipFromProto(m *hypervisorv1.Membership) Membership {
	return Membership{Cluster: clusterFromProto(m.GetCluster()), Nodes: nodesFromProto(m.GetNodes())}
}

func nodesToProto(nodes []Node) []*hypervisorv1.Node {
	if len(nodes) == 0 {
		return nil
	}
	out := make([]*hypervisorv1.Node, len(nodes))
	for i := range nodes {
		out[i] = nodeToProto(&nodes[i])
	}
	return out
}

func nodesFromProto(in []*hypervisorv1.Node) []Node {
	if len(in) == 0 {
		return nil
	}
	nodes := make([]Node, len(in))
	for i, n := range in {
		nodes[i] = nodeFromProto(n)
	}
	return nodes
}

func nodeToProto(n *Node) *hypervisorv1.Node {
	return &hypervisorv1.Node{
		Name: wire.Text(n.Name), Status: wire.Text(n.Status), Address: wire.Text(n.Address), Fingerprint: wire.Text(n.Fingerprint),
		Cpu: n.CPU, Cpus: n.CPUs, Memory: n.Memory, MemoryTotal: n.MemoryTotal, Disk: n.Disk, DiskTotal: n.DiskTotal,
		Uptime: n.Uptime, Level: wire.Text(n.Level),
	}
}

func nodeFromProto(n *hypervisorv1.Node) Node {
	return Node{
		Name: n.GetName(), Status: n.GetStatus(), Address: n.GetAddress(), Fingerprint: n.GetFingerprint(),
		CPU: n.Cpu, CPUs: n.Cpus, Memory: n.Memory, MemoryTotal: n.MemoryTotal, Disk: n.Disk, DiskTotal: n.DiskTotal,
		Uptime: n.Uptime, Level: n.GetLevel(),
	}
}

func storageToProto(s *Storage) *hypervisorv1.Storage {
	return &hypervisorv1.Storage{
		Name: wire.Text(s.Name), Node: wire.Text(s.Node), Type: wire.Text(s.Type), Shared: s.Shared, Status: wire.Text(s.Status),
		Content: wire.Texts(s.Content), Used: s.Used, Total: s.Total,
	}
}

func storageFromProto(s *hypervisorv1.Storage) Storage {
	return Storage{
		Name: s.GetName(), Node: s.GetNode(), Type: s.GetType(), Shared: s.GetShared(), Status: s.GetStatus(),
		Content: s.GetContent(), Used: s.Used, Total: s.Total,
	}
}
