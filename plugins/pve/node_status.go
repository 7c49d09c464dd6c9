package pve

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// nodeStatusAnswer is the answer of a node's status. Older releases have no
// cores, no boot-info and no current-kernel. Load averages are numbers written
// as texts.
type nodeStatusAnswer struct {
	Uptime  pveapi.Int     `json:"uptime"`
	CPU     pveapi.Float   `json:"cpu"`
	Load    []pveapi.Float `json:"loadavg"`
	Version pveapi.Text    `json:"pveversion"`
	Kernel  pveapi.Text    `json:"kversion"`
	CPUInfo struct {
		Model   pveapi.Text `json:"model"`
		CPUs    pveapi.Int  `json:"cpus"`
		Cores   pveapi.Int  `json:"cores"`
		Sockets pveapi.Int  `json:"sockets"`
	} `json:"cpuinfo"`
	Memory usage `json:"memory"`
	Swap   usage `json:"swap"`
	Root   usage `json:"rootfs"`
	KSM    struct {
		Shared pveapi.Int `json:"shared"`
	} `json:"ksm"`
	CurrentKernel struct {
		Release pveapi.Text `json:"release"`
	} `json:"current-kernel"`
	Boot struct {
		Mode   pveapi.Text  `json:"mode"`
		Secure *pveapi.Flag `json:"secureboot"`
	} `json:"boot-info"`
}

// usage is a pair of sizes in bytes.
type usage struct {
	Used  pveapi.Int `json:"used"`
	Total pveapi.Int `json:"total"`
}

// NodeStatus asks the node, through the entry node. It needs Sys.Audit on the
// node.
func (h *Host) NodeStatus(ctx context.Context, node string) (hypervisor.NodeStatus, error) {
	var answer nodeStatusAnswer
	meta, err := h.askNode(ctx, &answer, nil, node, "status")
	if err != nil {
		return hypervisor.NodeStatus{}, err
	}
	if !answer.Uptime.Set || !answer.Memory.Total.Set {
		return hypervisor.NodeStatus{}, plugin.Errorf(plugin.Protocol, "the node's status has no uptime or no memory")
	}
	status := answer.status(node)
	status.At = meta.Date
	return status, nil
}

// askNode reads a path below a node. It refuses names that could lead
// elsewhere.
func (h *Host) askNode(ctx context.Context, into any, query url.Values, node string, below ...string) (*pveapi.Meta, error) {
	path, err := nodePath(node, below...)
	if err != nil {
		return nil, err
	}
	if node == "localhost" {
		// "localhost" stands for the called node in the API; no inventory has
		// it.
		return nil, noNode(node)
	}
	meta, err := h.api.Get(ctx, path, query, into)
	if err != nil {
		return nil, h.explainAway(ctx, node, err)
	}
	return meta, nil
}

// status converts the answer.
func (a *nodeStatusAnswer) status(node string) hypervisor.NodeStatus {
	s := hypervisor.NodeStatus{
		Name: node, Uptime: a.Uptime.Ptr(), Load: loads(a.Load), CPU: a.CPU.Ptr(),
		CPUs: a.CPUInfo.CPUs.Ptr(), Cores: a.CPUInfo.Cores.Ptr(), Sockets: a.CPUInfo.Sockets.Ptr(), CPUModel: string(a.CPUInfo.Model),
		Memory: a.Memory.Used.Ptr(), MemoryTotal: a.Memory.Total.Ptr(), Swap: a.Swap.Used.Ptr(), SwapTotal: a.Swap.Total.Ptr(),
		Disk: a.Root.Used.Ptr(), DiskTotal: a.Root.Total.Ptr(), KSMShared: a.KSM.Shared.Ptr(),
		Kernel: kernelRelease(string(a.CurrentKernel.Release), string(a.Kernel)), Version: managerVersion(string(a.Version)),
	}
	if s.CPUModel == "unknown" { // what is written for a processor that says nothing of itself
		s.CPUModel = ""
	}
	switch a.Boot.Mode {
	case "efi":
		s.BootMode = hypervisor.BootEFI
	case "legacy-bios":
		s.BootMode = hypervisor.BootBIOS
	}
	if a.Boot.Secure != nil {
		secure := bool(*a.Boot.Secure)
		s.SecureBoot = &secure
	}
	return s
}

// loads returns three load averages, or none if one of them is missing.
func loads(from []pveapi.Float) []float64 {
	if len(from) != 3 {
		return nil
	}
	out := make([]float64, 0, len(from))
	for _, l := range from {
		if !l.Set {
			return nil
		}
		out = append(out, l.F)
	}
	return out
}

// kernelRelease returns the release of the kernel, or the second word of "Linux
// 5.15.108-1-pve #1 SMP …" if it is not a field of its own.
func kernelRelease(release, long string) string {
	if release != "" {
		return release
	}
	words := strings.Fields(long)
	if len(words) > 1 && words[0] == "Linux" {
		return words[1]
	}
	return long
}

// managerVersion returns the middle part of
// "pve-manager/9.2.11/0123456789abcdef".
func managerVersion(text string) string {
	version, ok := strings.CutPrefix(text, "pve-manager/")
	if !ok {
		return text
	}
	version, _, _ = strings.Cut(version, "/")
	return version
}

// explainAway looks in the list of nodes why the entry node could not reach a
// node. An unknown name, which may lead anywhere, is NotFound; a node that the
// cluster has given up is Unreachable, however long that took.
func (h *Host) explainAway(ctx context.Context, node string, err error) error {
	if !errors.Is(err, pveapi.ErrNodeUnreachable) && !errors.Is(err, pveapi.ErrNodeName) && !errors.Is(err, pveapi.ErrNodeLookup) {
		return err
	}
	rows, listErr := h.nodes(ctx)
	if listErr != nil {
		return err
	}
	at := slices.IndexFunc(rows, func(r nodeRow) bool { return string(r.Node) == node })
	switch {
	case at < 0:
		return noNode(node)
	case rows[at].Status == hypervisor.NodeOffline:
		return plugin.Errorf(plugin.Unreachable, "node %s is offline", node)
	}
	return err
}
