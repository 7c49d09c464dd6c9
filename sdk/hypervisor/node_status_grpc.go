package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) NodeStatus(ctx context.Context, node string) (NodeStatus, error) {
	req := &hypervisorv1.NodeStatusRequest{Target: h.target, Node: wire.Text(node)}
	answer, err := wire.Call(ctx, hypervisorv1.NewNodeReadServiceClient(h.client.conn).NodeStatus, req)
	switch {
	case err != nil:
		return NodeStatus{}, err
	case answer.GetStatus() == nil:
		return NodeStatus{}, wire.MissingPart("status")
	}
	return nodeStatusFromProto(answer.GetStatus()), nil
}

type nodeReadServer struct {
	hypervisorv1.UnimplementedNodeReadServiceServer
	*server
}

func (s *nodeReadServer) NodeStatus(ctx context.Context, req *hypervisorv1.NodeStatusRequest) (*hypervisorv1.NodeStatusResponse, error) {
	return serve(ctx, s.server, req, func(host NodeReader) (*hypervisorv1.NodeStatusResponse, error) {
		status, err := host.NodeStatus(ctx, req.GetNode())
		return &hypervisorv1.NodeStatusResponse{Status: nodeStatusToProto(&status)}, err
	})
}

func nodeStatusToProto(s *NodeStatus) *hypervisorv1.NodeStatus {
	return &hypervisorv1.NodeStatus{
		Name: wire.Text(s.Name), At: wire.Timestamp(s.At), Uptime: s.Uptime, Load: s.Load,
		Cpu: s.CPU, Cpus: s.CPUs, Cores: s.Cores, Sockets: s.Sockets, CpuModel: wire.Text(s.CPUModel),
		Memory: s.Memory, MemoryTotal: s.MemoryTotal, Swap: s.Swap, SwapTotal: s.SwapTotal,
		Disk: s.Disk, DiskTotal: s.DiskTotal, KsmShared: s.KSMShared,
		Kernel: wire.Text(s.Kernel), Version: wire.Text(s.Version), BootMode: wire.Text(s.BootMode), SecureBoot: s.SecureBoot,
	}
}

func nodeStatusFromProto(s *hypervisorv1.NodeStatus) NodeStatus {
	return NodeStatus{
		Name: s.GetName(), At: wire.Time(s.GetAt()), Uptime: s.Uptime, Load: s.GetLoad(),
		CPU: s.Cpu, CPUs: s.Cpus, Cores: s.Cores, Sockets: s.Sockets, CPUModel: s.GetCpuModel(),
		Memory: s.Memory, MemoryTotal: s.MemoryTotal, Swap: s.Swap, SwapTotal: s.SwapTotal,
		Disk: s.Disk, DiskTotal: s.DiskTotal, KSMShared: s.KsmShared,
		Kernel: s.GetKernel(), Version: s.GetVersion(), BootMode: s.GetBootMode(), SecureBoot: s.SecureBoot,
	}
}
