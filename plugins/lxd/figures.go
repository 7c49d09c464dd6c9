package lxd

import (
	"math"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// figure is one of the server's figures as a number of bytes, nil for one that is none.
func figure(f *float64) *int64 {
	if f == nil || math.IsNaN(*f) || *f < 0 || *f >= math.MaxInt64 {
		return nil
	}
	n := int64(*f)
	return &n
}

// difference is what of a whole is not free.
func difference(whole, free *int64) *int64 {
	if whole == nil || free == nil || *free > *whole {
		return nil
	}
	n := *whole - *free
	return &n
}

// measured adds what the server measures of a guest that runs. Of a pool that is a folder the file system at / is the server's
// own, and says nothing of the guest.
func measured(g *hypervisor.Guest, m *lxdapi.InstanceMetrics, folder bool) {
	if m == nil || g.Status != hypervisor.GuestRunning && g.Status != hypervisor.GuestPaused {
		return
	}
	if s := m.CPUSeconds; s != nil && *s >= 0 && !math.IsInf(*s, 0) {
		g.CPUSeconds = s
	}
	total, free := figure(m.MemoryTotal), figure(m.MemoryAvailable)
	if total != nil && *total > 0 {
		g.MemoryTotal, g.Memory = total, difference(total, free)
	}
	g.NetIn, g.NetOut = figure(m.NetworkReceived), figure(m.NetworkSent)
	g.DiskRead, g.DiskWrite = figure(m.DiskRead), figure(m.DiskWritten)
	if size := figure(m.RootSize); !folder && size != nil && *size > 0 {
		g.DiskTotal, g.Disk = size, difference(size, figure(m.RootAvailable))
	}
}

// observed adds the usage values of one guest from its state. CPU usage is a
// counter of nanoseconds. Memory in caches can exceed the limit for a moment,
// so it is cut to the limit. A virtual machine without the agent reports 0,
// which means unknown. Network counters are summed over all interfaces except
// loopback.
func observed(g *hypervisor.Guest, s *lxdapi.InstanceState) {
	if s == nil || g.Status != hypervisor.GuestRunning && g.Status != hypervisor.GuestPaused {
		return
	}
	if s.CPU.Usage > 0 {
		seconds := float64(s.CPU.Usage) / 1e9
		g.CPUSeconds = &seconds
	}
	if s.Memory.Total > 0 {
		g.MemoryTotal = &s.Memory.Total
	}
	// A virtual machine without the agent does not tell, and says 0.
	if used := s.Memory.Usage; used > 0 {
		if g.MemoryTotal != nil {
			used = min(used, *g.MemoryTotal) // what lies in caches counts above the limit for a moment
		}
		g.Memory = &used
	}
	var in, out int64
	known := false
	for name, network := range s.Network {
		if name != "lo" && network.Counters.Received >= 0 && network.Counters.Sent >= 0 {
			in, out, known = in+network.Counters.Received, out+network.Counters.Sent, true
		}
	}
	if known {
		g.NetIn, g.NetOut = &in, &out
	}
}
