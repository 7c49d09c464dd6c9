package host

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// NodeStatus is the present state of one node, for the API. A figure that the
// hypervisor did not give is null, never zero. Sizes are in bytes, CPU is a
// share from 0 to 1 of all CPUs, and the uptime is in seconds.
type NodeStatus struct {
	Node             string     `json:"node" example:"pve1"`
	IsSelf           bool       `json:"is_self" example:"false" doc:"true if the service runs on this node: its guest is on the node or, if its guest is not known, the node responds at the address of the host in the setting self.host_id"`
	At               *time.Time `json:"at" example:"2026-01-31T12:00:00Z" doc:"Clock of the hypervisor at the time of the response"`
	UptimeS          *int64     `json:"uptime_s" example:"259200"`
	LoadAverage      []float64  `json:"load_average" maxItems:"3" example:"[0.52,0.61,0.7]" doc:"Load average over 1, 5 and 15 minutes; empty if the hypervisor does not report it"`
	CPU              *float64   `json:"cpu" example:"0.25" doc:"CPU usage as a fraction of all cores, 0 to 1"`
	CPUs             *int64     `json:"cpus" example:"32" doc:"Number of logical processors"`
	Cores            *int64     `json:"cores" example:"16" doc:"Number of physical cores of all sockets"`
	Sockets          *int64     `json:"sockets" example:"1"`
	CPUModel         *string    `json:"cpu_model" example:"AMD EPYC 7302P 16-Core Processor"`
	MemoryBytes      *int64     `json:"memory_bytes" example:"34359738368" doc:"Used memory in bytes"`
	MemoryTotalBytes *int64     `json:"memory_total_bytes" example:"68719476736"`
	SwapBytes        *int64     `json:"swap_bytes" example:"0" doc:"Used swap in bytes"`
	SwapTotalBytes   *int64     `json:"swap_total_bytes" example:"8589934592" doc:"Size of the swap in bytes; 0 without swap"`
	DiskBytes        *int64     `json:"disk_bytes" example:"10737418240" doc:"Used bytes of the root file system"`
	DiskTotalBytes   *int64     `json:"disk_total_bytes" example:"107374182400"`
	KSMSharedBytes   *int64     `json:"ksm_shared_bytes" example:"0" doc:"Memory in bytes that guests share because pages are identical"`
	Kernel           *string    `json:"kernel" example:"6.17.13-2-pve" doc:"Release of the running kernel"`
	Version          *string    `json:"version" example:"9.2.11" doc:"Version of the hypervisor on this node"`
	BootMode         *string    `json:"boot_mode" enum:"efi,bios" example:"efi"`
	SecureBoot       *bool      `json:"secure_boot" example:"false" doc:"true if the node booted with Secure Boot; null if the hypervisor does not report it"`
}

// NodeStatus asks the hypervisor for the present state of one node; nothing is
// stored. Problems: not_found if the hypervisor knows no such node, unsupported
// if the driver cannot read nodes, else those of Call.
func (s *Store) NodeStatus(ctx context.Context, id int64, node string) (NodeStatus, error) {
	found, err := Call(ctx, s, id, endpoint.Monitoring, func(ctx context.Context, r hypervisor.NodeReader) (hypervisor.NodeStatus, error) {
		return r.NodeStatus(ctx, node)
	})
	if err != nil {
		return NodeStatus{}, UnknownNode(err)
	}
	status := nodeStatusOf(&found)
	status.Node = node
	status.IsSelf, err = s.SelfOn(ctx, id, node)
	return status, err
}

// UnknownNode turns the error of a driver that refuses the name of a node into
// the problem not_found, and returns any other error unchanged. Drivers report
// an unknown node as an invalid field, because to them it is an argument; to
// the API it is a part of the path.
func UnknownNode(err error) error {
	if e := (*sdk.Error)(nil); errors.As(err, &e) && e.Kind == sdk.Invalid && e.Field == "node" {
		return problem.New(problem.CodeNotFound, "node not found").WithCause(err)
	}
	return err
}

// nodeStatusOf checks and converts the answer of a plugin. A plugin is another
// program: its floats may be NaN, which encoding/json refuses to write, and its
// texts may have any bytes.
func nodeStatusOf(s *hypervisor.NodeStatus) NodeStatus {
	out := NodeStatus{
		UptimeS: s.Uptime, LoadAverage: []float64{}, CPU: finite(s.CPU), CPUs: s.CPUs, Cores: s.Cores, Sockets: s.Sockets,
		CPUModel: CleanOrNil(s.CPUModel), MemoryBytes: s.Memory, MemoryTotalBytes: s.MemoryTotal, SwapBytes: s.Swap,
		SwapTotalBytes: s.SwapTotal,
		DiskBytes:      s.Disk, DiskTotalBytes: s.DiskTotal, KSMSharedBytes: s.KSMShared,
		Kernel: CleanOrNil(s.Kernel), Version: CleanOrNil(s.Version), SecureBoot: s.SecureBoot,
	}
	if !s.At.IsZero() {
		at := s.At.UTC()
		out.At = &at
	}
	if len(s.Load) == 3 && finite(&s.Load[0]) != nil && finite(&s.Load[1]) != nil && finite(&s.Load[2]) != nil {
		out.LoadAverage = s.Load
	}
	if s.BootMode == hypervisor.BootEFI || s.BootMode == hypervisor.BootBIOS {
		out.BootMode = &s.BootMode
	}
	return out
}

// finite returns nil for NaN and the infinities, which JSON cannot express (RFC
// 8259, section 6).
func finite(f *float64) *float64 {
	if f == nil || math.IsNaN(*f) || math.IsInf(*f, 0) {
		return nil
	}
	return f
}
