package drivertest

import (
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// checkCluster checks that a cluster can be recognised: by an ID in the form of
// a UID, or by a name. Without both it must be a single machine.
func checkCluster(t *testing.T, all hypervisor.Page) {
	t.Helper()
	c := all.Cluster
	if c.ID != "" && !hypervisor.ValidUID(c.ID) || c.Name != "" && !hypervisor.ValidUID(c.Name) {
		t.Errorf("the cluster's ID %.80q or name %.80q is not 1 to 255 printable bytes", c.ID, c.Name)
	}
	if c.ID == "" && c.Name == "" && !c.Partial && len(all.Nodes) > 1 {
		t.Errorf("a cluster of %d nodes has neither ID nor name", len(all.Nodes))
	}
}

// checkFigures checks that an inventory of states only contains no usage
// values, and that only an inventory without detail has states only. A value
// that was not measured must be nil, because zero would become a data point.
func checkFigures(t *testing.T, all hypervisor.Page, detail bool) {
	t.Helper()
	if all.Cluster.StatesOnly && detail {
		t.Error("an inventory with detail has states only")
	}
	for _, g := range all.Guests {
		checkCPU(t, g)
		if all.Cluster.StatesOnly && (g.CPU != nil || g.CPUSeconds != nil || g.Memory != nil || g.Disk != nil || g.NetIn != nil ||
			g.NetOut != nil || g.DiskRead != nil || g.DiskWrite != nil) {
			t.Errorf("guest %s has usage values in an inventory of states only", g.ID)
		}
	}
	for _, n := range all.Nodes {
		if all.Cluster.StatesOnly && (n.CPU != nil || n.Memory != nil || n.Disk != nil) {
			t.Errorf("node %s has usage values in an inventory of states only", n.Name)
		}
	}
	for _, st := range all.Storages {
		if all.Cluster.StatesOnly && st.Used != nil {
			t.Errorf("storage %s of node %s has a usage value in an inventory of states only", st.Name, st.Node)
		}
	}
}

// checkCPU checks the two ways to report the CPU usage of a guest: a measured
// share (CPU) or a counter (CPUSeconds). Only one of them may be set. The
// comparison is written so that NaN fails.
func checkCPU(t *testing.T, g hypervisor.Guest) {
	t.Helper()
	if g.CPU != nil && g.CPUSeconds != nil {
		t.Errorf("guest %s has CPU both measured and counted", g.ID)
	}
	if g.CPUSeconds != nil && !(*g.CPUSeconds >= 0) {
		t.Errorf("guest %s has %v seconds of CPU time", g.ID, *g.CPUSeconds)
	}
}
