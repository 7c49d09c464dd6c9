package lxd

import (
	"context"
	"slices"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// NodeStatus implements hypervisor.NodeReader. LXD reports neither uptime nor
// load, nor CPU usage.
func (h *Host) NodeStatus(ctx context.Context, node string) (hypervisor.NodeStatus, error) {
	server, meta, member, err := h.member(ctx, node)
	if err != nil {
		return hypervisor.NodeStatus{}, err
	}
	resources, err := h.api.Resources(ctx, member)
	if err != nil {
		return hypervisor.NodeStatus{}, h.judge(ctx, err, "")
	}
	status := hypervisor.NodeStatus{
		Name: node, At: meta.Date, Kernel: server.Environment.Kernel, Version: server.Environment.Version,
	}
	hardware(&status, resources)
	return status, nil
}

// member returns what a node reports about itself, and the name under which the
// server forwards requests to it; the name is empty for a server that is not in
// a cluster. An offline node is Unreachable without a request to it.
func (h *Host) member(ctx context.Context, node string) (server *lxdapi.Server, meta lxdapi.Meta, member string, err error) {
	if server, meta, err = h.about(ctx); err != nil {
		return nil, meta, "", err
	}
	if !server.Environment.Clustered {
		if node != server.Environment.Name {
			return nil, meta, "", noNode(node)
		}
		return server, meta, "", nil
	}
	nodes, err := h.nodes(ctx, server, meta)
	if err != nil {
		return nil, meta, "", err
	}
	at := slices.IndexFunc(nodes, func(n hypervisor.Node) bool { return n.Name == node })
	switch {
	case at < 0:
		return nil, meta, "", noNode(node)
	case nodes[at].Status == hypervisor.NodeOffline:
		return nil, meta, "", plugin.Errorf(plugin.Unreachable, "node %s is offline", node)
	}
	if server, meta, err = h.api.Member(ctx, node); err != nil {
		return nil, meta, "", h.judge(ctx, err, "")
	}
	return server, meta, node, nil
}

// Member implements hypervisor.MemberReader. All members present the same
// certificate, and there are no subscriptions.
func (h *Host) Member(ctx context.Context, node string) (hypervisor.Member, error) {
	server, meta, _, err := h.member(ctx, node)
	if err != nil {
		return hypervisor.Member{}, err
	}
	m := hypervisor.Member{Version: server.Environment.Version, Fingerprint: meta.Fingerprint}
	if meta.Certificate != nil {
		m.NotAfter = meta.Certificate.NotAfter.UTC()
	}
	return m, nil
}

// hardware adds CPUs and memory. Sockets and cores are only set if they are
// consistent with the number of threads.
func hardware(s *hypervisor.NodeStatus, r *lxdapi.Resources) {
	var n hypervisor.Node
	nodeFigures(&n, r)
	s.Memory, s.MemoryTotal = n.Memory, n.MemoryTotal
	if r.CPU.Total <= 0 {
		return
	}
	s.CPUs = &r.CPU.Total
	var cores int64
	for _, socket := range r.CPU.Sockets {
		cores += int64(len(socket.Cores))
		if s.CPUModel == "" {
			s.CPUModel = socket.Name
		}
	}
	if sockets := int64(len(r.CPU.Sockets)); sockets > 0 && cores >= sockets && cores <= r.CPU.Total {
		s.Sockets, s.Cores = &sockets, &cores
	}
}

// noNode returns the error for a node that does not exist.
func noNode(node string) error {
	return plugin.Errorf(plugin.NotFound, "node %.80q does not exist", node)
}
