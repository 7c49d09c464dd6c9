package drivertest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// nodes returns the names of the online nodes.
func (s *suite) nodes(t *testing.T, ctx context.Context) (names []string) {
	t.Helper()
	err := s.host(t, endpoint.Monitoring).Inventory(ctx, hypervisor.InventoryQuery{}, func(page hypervisor.Page) error {
		for _, n := range page.Nodes {
			if n.Status == hypervisor.NodeOnline {
				names = append(names, n.Name)
			}
		}
		return nil
	})
	must(t, "reading the inventory", err)
	if len(names) == 0 {
		t.Fatal("no node is online")
	}
	return names
}

// nodeRead tests NodeReader. Names that are not in the inventory must be
// NotFound or Invalid, even if the hypervisor accepts them, such as localhost
// or a fully qualified name.
func (s *suite) nodeRead(t *testing.T) {
	need[hypervisor.NodeReader](t, s)
	s.run(t, "every node of the inventory", func(t *testing.T, ctx context.Context) {
		reader := as[hypervisor.NodeReader](t, s.host(t, endpoint.Monitoring))
		for _, node := range s.nodes(t, ctx) {
			status, err := reader.NodeStatus(ctx, node)
			must(t, "reading node "+node, err)
			checkNodeStatus(t, node, status, s.NoUptime)
		}
	})
	s.run(t, "names of no node", func(t *testing.T, ctx context.Context) {
		reader, node := as[hypervisor.NodeReader](t, s.host(t, endpoint.Monitoring)), s.nodes(t, ctx)[0]
		for _, name := range []string{
			"", ".", "..", "no-such-node", "../..", "a/b", "a%2Fb", node + "\x00", node + "/", "/" + node, node + "/../" + node, node + "?x=1",
			node + "#", " " + node, node + ".example.org", "localhost", "n\xffd", "nöd", strings.Repeat("n", 64<<10),
		} {
			_, err := reader.NodeStatus(ctx, name)
			switch plugin.KindOf(err) {
			case plugin.NotFound, plugin.Invalid:
			default:
				t.Errorf("node %.80q: error is %.200v, want not found or invalid", name, err)
			}
		}
	})
	s.run(t, "a token without the right", func(t *testing.T, ctx context.Context) {
		hook(t, "Lacking", s.Lacking != nil)
		node := s.nodes(t, ctx)[0]
		target, _ := s.Lacking(t, endpoint.Monitoring)
		_, err := as[hypervisor.NodeReader](t, s.open(t, target)).NodeStatus(ctx, node)
		if e := wantKind(t, err, plugin.Denied); len(e.Missing) == 0 {
			t.Error("the error does not name the missing privilege")
		}
	})
	s.run(t, "wrong token", func(t *testing.T, ctx context.Context) {
		node := s.nodes(t, ctx)[0]
		target := s.wrong(t, endpoint.Monitoring)
		_, err := as[hypervisor.NodeReader](t, s.open(t, target)).NodeStatus(ctx, node)
		wantKind(t, err, plugin.TokenRejected)
	})
	s.run(t, "canceled", func(t *testing.T, ctx context.Context) {
		node := s.nodes(t, ctx)[0]
		reader := as[hypervisor.NodeReader](t, s.host(t, endpoint.Monitoring))
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		_, err := reader.NodeStatus(canceled, node)
		wantCanceled(t, err)
	})
}

// checkNodeStatus looks for values that no machine has. Used amounts must not
// exceed totals, shares are between 0 and 1, and load averages are three or
// none.
func checkNodeStatus(t *testing.T, node string, s hypervisor.NodeStatus, noUptime bool) {
	t.Helper()
	if s.Name != node {
		t.Errorf("the status of %s is that of %q", node, s.Name)
	}
	if age := time.Since(s.At).Abs(); !s.At.IsZero() && age > 24*time.Hour {
		t.Errorf("%s: the hypervisor's clock is %v off", node, age)
	}
	if len(s.Load) != 0 && len(s.Load) != 3 {
		t.Errorf("%s: load averages %v, want three or none", node, s.Load)
	}
	for _, load := range s.Load {
		if load < 0 {
			t.Errorf("%s: load averages %v", node, s.Load)
		}
	}
	if s.CPU != nil && (*s.CPU < 0 || *s.CPU > 1) {
		t.Errorf("%s: used part of the cores is %v", node, *s.CPU)
	}
	if s.Memory == nil || s.MemoryTotal == nil || s.Uptime == nil && !noUptime || s.Uptime != nil && *s.Uptime < 0 {
		t.Errorf("%s: no memory or no uptime: %+v", node, s)
	}
	for what, pair := range map[string][2]*int64{
		"memory": {s.Memory, s.MemoryTotal}, "swap": {s.Swap, s.SwapTotal}, "disk": {s.Disk, s.DiskTotal},
		"cores": {s.Cores, s.CPUs}, "sockets": {s.Sockets, s.Cores},
	} {
		if small, large := pair[0], pair[1]; small != nil && large != nil && (*small < 0 || *small > *large) {
			t.Errorf("%s: %s are %d of %d", node, what, *small, *large)
		}
	}
	switch s.BootMode {
	case "", hypervisor.BootEFI, hypervisor.BootBIOS:
	default:
		t.Errorf("%s: boot mode %q", node, s.BootMode)
	}
}
