package drivertest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// network tests NetworkManager: it stages, reverts and applies on one node, in
// one case, because the staged configuration of a node is common to all. It
// uses a bridge without ports and an address of TEST-NET-2 (RFC 5737), so that
// applying it cannot cut off the node.
func (s *suite) network(t *testing.T) {
	need[hypervisor.NetworkManager](t, s)
	manager := func(t *testing.T) hypervisor.NetworkManager {
		return as[hypervisor.NetworkManager](t, s.host(t, endpoint.Lifecycle))
	}
	read := func(t *testing.T, ctx context.Context, node string) hypervisor.NodeNetwork {
		t.Helper()
		n, err := as[hypervisor.NetworkManager](t, s.host(t, endpoint.Monitoring)).NodeNetwork(ctx, node)
		must(t, "reading the network", err)
		return n
	}
	named := func(all []hypervisor.Interface, name string) *hypervisor.Interface {
		if i := slices.IndexFunc(all, func(i hypervisor.Interface) bool { return i.Name == name }); i >= 0 {
			return &all[i]
		}
		return nil
	}
	s.run(t, "staged, reverted and applied", func(t *testing.T, ctx context.Context) {
		node := s.anyNode(t, ctx)
		before := read(t, ctx, node)
		if len(before.Interfaces) == 0 || before.Diff != "" || before.Restore+before.Undo != "" || before.Unclear {
			t.Fatalf("at first: %+v", before)
		}
		mtu := int64(1400)
		made := hypervisor.Interface{Name: "vmbr77", Type: hypervisor.InterfaceBridge, Autostart: true, CIDR: "198.51.100.2/24", MTU: &mtu,
			Comment: "made by a test"}
		stage := func(want hypervisor.Interface, was *hypervisor.Interface) {
			t.Helper()
			must(t, "staging", manager(t).StageInterface(ctx, hypervisor.InterfaceChange{Node: node, Want: want, Was: was}))
		}
		stage(made, nil)
		staged := read(t, ctx, node)
		is := named(staged.Interfaces, "vmbr77")
		if is == nil || is.CIDR != made.CIDR || is.MTU == nil || *is.MTU != mtu || !is.Autostart || is.Comment != made.Comment {
			t.Fatalf("staged: %+v", is)
		}
		if named(staged.Current, "vmbr77") != nil || staged.Diff == "" || staged.Restore == "" || staged.Unclear {
			t.Fatalf("a staged change is in force, or not reported: %+v", staged)
		}
		wantKind(t, manager(t).StageInterface(ctx, hypervisor.InterfaceChange{Node: node, Want: made}), plugin.Conflict)
		changed := *is
		changed.CIDR, changed.MTU = "", nil
		stage(changed, is)
		if now := named(read(t, ctx, node).Interfaces, "vmbr77"); now == nil || now.CIDR != "" || now.MTU != nil || !now.Autostart ||
			now.Comment != made.Comment {
			t.Fatalf("changed: %+v", now)
		}
		must(t, "reverting", manager(t).RevertNetwork(ctx, node))
		must(t, "reverting nothing", manager(t).RevertNetwork(ctx, node))
		if now := read(t, ctx, node); now.Diff != "" || named(now.Interfaces, "vmbr77") != nil {
			t.Fatalf("reverted: %+v", now)
		}
		stage(made, nil)
		s.applyNetwork(t, ctx, node)
		applied := read(t, ctx, node)
		if applied.Diff != "" || named(applied.Current, "vmbr77") == nil {
			t.Fatalf("applied: %+v", applied)
		}
		must(t, "staging a removal", manager(t).StageRemoval(ctx, node, "vmbr77"))
		removed := read(t, ctx, node)
		if named(removed.Interfaces, "vmbr77") != nil || removed.Diff == "" {
			t.Fatalf("removed: %+v", removed)
		}
		if was := named(removed.Current, "vmbr77"); was == nil || was.CIDR != made.CIDR || was.Type != hypervisor.InterfaceBridge ||
			was.MTU == nil || *was.MTU != mtu {
			t.Fatalf("in force while its removal is staged: %+v", was)
		}
		s.applyNetwork(t, ctx, node)
		wantKind(t, manager(t).StageRemoval(ctx, node, "vmbr77"), plugin.NotFound)
	})
	s.run(t, "names that are none", func(t *testing.T, ctx context.Context) {
		node := s.anyNode(t, ctx)
		for _, name := range []string{"", "..", "no-such-node", "../..", "a/b", node + "\x00", node + "?x=1", strings.Repeat("n", 4<<10)} {
			_, err := as[hypervisor.NetworkManager](t, s.host(t, endpoint.Monitoring)).NodeNetwork(ctx, name)
			if !isOneOf(err, []plugin.ErrorKind{plugin.NotFound, plugin.Invalid}) {
				t.Errorf("node %.40q: %v", name, err)
			}
			err = manager(t).StageRemoval(ctx, node, name)
			if !isOneOf(err, []plugin.ErrorKind{plugin.NotFound, plugin.Invalid}) {
				t.Errorf("interface %.40q: %v", name, err)
			}
		}
	})
	s.run(t, "canceled", func(t *testing.T, ctx context.Context) {
		node := s.anyNode(t, ctx)
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		_, err := manager(t).ApplyNetwork(canceled, node)
		wantCanceled(t, err)
	})
}

// applyNetwork applies the staged configuration and waits for the end.
func (s *suite) applyNetwork(t *testing.T, ctx context.Context, node string) {
	t.Helper()
	id, err := as[hypervisor.NetworkManager](t, s.host(t, endpoint.Lifecycle)).ApplyNetwork(ctx, node)
	if !s.ends(t, ctx, id, err) {
		t.Fatal("the apply failed:", err)
	}
}
