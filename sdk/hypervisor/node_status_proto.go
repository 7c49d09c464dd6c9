package hypervisor

import (
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

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
