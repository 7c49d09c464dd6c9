package drivertest

import (
	"context"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// nodePower tests NodePowerManager. Invalid names and commands come first, and
// the node must still respond afterwards: a driver that builds a path or a form
// from them could reboot the wrong node. The reboot itself needs the hook
// Reboots.
func (s *suite) nodePower(t *testing.T) {
	need[hypervisor.NodePowerManager](t, s)
	s.run(t, "names and commands that nobody has", func(t *testing.T, ctx context.Context) {
		power, node := as[hypervisor.NodePowerManager](t, s.host(t, endpoint.NodePower)), s.nodes(t, ctx)[0]
		for _, command := range []hypervisor.PowerCommand{"", "REBOOT", "reboot ", "halt", "reboot&x=1"} {
			wantKind(t, power.PowerNode(ctx, node, command), plugin.Unsupported)
		}
		for _, name := range []string{"", "..", "no-such-node", node + "/../" + node, node + "\x00", "localhost"} {
			err := power.PowerNode(ctx, name, hypervisor.PowerReboot)
			if kind := plugin.KindOf(err); kind != plugin.NotFound && kind != plugin.Invalid {
				t.Errorf("node %.80q: error is %.200v, want not found or invalid", name, err)
			}
		}
		_, err := as[hypervisor.NodeReader](t, s.host(t, endpoint.Monitoring)).NodeStatus(ctx, node)
		must(t, "reading the node afterwards", err)
	})
	s.run(t, "another capability's token", func(t *testing.T, ctx context.Context) {
		if s.Alike {
			t.Skip("rights cannot be limited by capability")
		}
		power, node := as[hypervisor.NodePowerManager](t, s.host(t, endpoint.Monitoring)), s.nodes(t, ctx)[0]
		wantKind(t, power.PowerNode(ctx, node, hypervisor.PowerShutdown), plugin.Denied)
	})
	s.run(t, "a reboot", func(t *testing.T, ctx context.Context) {
		hook(t, "Reboots", s.Reboots != nil)
		target, node := s.Reboots(t)
		reader := as[hypervisor.NodeReader](t, s.open(t, target(endpoint.Monitoring)))
		before, err := reader.NodeStatus(ctx, node)
		must(t, "reading the node", err)
		power := as[hypervisor.NodePowerManager](t, s.open(t, target(endpoint.NodePower)))
		must(t, "rebooting", power.PowerNode(ctx, node, hypervisor.PowerReboot))
		away := false
		for ends := time.Now().Add(s.Patience); ; time.Sleep(10 * time.Millisecond) {
			after, err := reader.NodeStatus(ctx, node)
			if kind := plugin.KindOf(err); err != nil && kind != plugin.Unreachable && kind != plugin.Timeout {
				t.Fatalf("a node that is offline: %v", err)
			}
			away = away || err != nil
			// A test machine under load may look only before the node goes and
			// after it has come back; the uptime shows the reboot then.
			if err == nil && (after.Uptime == nil || before.Uptime == nil) && away ||
				err == nil && after.Uptime != nil && before.Uptime != nil && *after.Uptime < *before.Uptime {
				return
			}
			if time.Now().After(ends) {
				t.Fatalf("within %s the node went offline: %v, and reports %+v, %v", s.Patience, away, after, err)
			}
		}
	})
}
