package lxd

import (
	"context"
	"slices"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// NodeStatus asks a server for its hardware and release. It tells neither uptime nor load, nor the used part of its CPUs.
func (h *Host) NodeStatus(ctx context.Context, node string) (hypervisor.NodeStatus, error) {
	server, meta, err := h.about(ctx)
	if err != nil {
		return hypervisor.NodeStatus{}, err
	}
	member := ""
	if server.Environment.Clustered {
		nodes, err := h.nodes(ctx, server, meta)
		if err != nil {
			return hypervisor.NodeStatus{}, err
		}
		at := slices.IndexFunc(nodes, func(n hypervisor.Node) bool { return n.Name == node })
		switch {
		case at < 0:
			return hypervisor.NodeStatus{}, noNode(node)
		case nodes[at].Status == hypervisor.NodeOffline:
			return hypervisor.NodeStatus{}, plugin.Errorf(plugin.Unreachable, "node %s is offline", node)
		}
		member = node
		if server, meta, err = h.api.Member(ctx, member); err != nil {
			return hypervisor.NodeStatus{}, h.judge(ctx, err, "")
		}
	} else if node != server.Environment.Name {
		return hypervisor.NodeStatus{}, noNode(node)
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

// hardware adds what is built in.
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

func noNode(node string) error {
	return plugin.Errorf(plugin.NotFound, "there is no node %.80q", node)
}
