package memdriver

import (
	"context"
	"slices"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// NodeStatus implements hypervisor.NodeReader. All nodes are equal, with the
// figures of the inventory.
func (h *Host) NodeStatus(ctx context.Context, node string) (hypervisor.NodeStatus, error) {
	c, privileges, err := h.begin(ctx, "nodestatus")
	if err != nil {
		return hypervisor.NodeStatus{}, err
	}
	if !slices.Contains(c.nodes, node) {
		return hypervisor.NodeStatus{}, plugin.Errorf(plugin.NotFound, "node %.80q not found", node)
	}
	if err := require(privileges, NodeAudit, "/nodes/"+node); err != nil {
		return hypervisor.NodeStatus{}, err
	}
	uptime, err := c.uptime(node)
	if err != nil {
		return hypervisor.NodeStatus{}, err
	}
	return hypervisor.NodeStatus{
		Name: node, At: time.Now().UTC(), Uptime: &uptime, Load: []float64{4.5, 4.25, 4},
		CPU: ptr(0.5), CPUs: ptr(int64(8)), Cores: ptr(int64(4)), Sockets: ptr(int64(1)), CPUModel: "Memory Processor",
		Memory: ptr(int64(8 << 30)), MemoryTotal: ptr(int64(16 << 30)), Swap: ptr(int64(0)), SwapTotal: ptr(int64(4 << 30)),
		Disk: ptr(int64(10 << 30)), DiskTotal: ptr(int64(100 << 30)), KSMShared: ptr(int64(0)),
		Kernel: "6.1.0-mem", Version: "1.2.3", BootMode: hypervisor.BootEFI, SecureBoot: ptr(false),
	}, nil
}
