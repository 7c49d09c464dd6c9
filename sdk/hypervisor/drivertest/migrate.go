package drivertest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// otherNode returns an online node that is not the guest's; without one it
// skips the case.
func (s *suite) otherNode(t *testing.T, ctx context.Context, ref hypervisor.GuestRef) string {
	t.Helper()
	all := gather(t, ctx, s.host(t, endpoint.Monitoring), hypervisor.InventoryQuery{})
	for _, node := range all.Nodes {
		if node.Name != ref.Node && node.Status == hypervisor.NodeOnline {
			return node.Name
		}
	}
	t.Skip("the cluster has only one node")
	return ""
}

// arrives waits until the guest is on a node, in a state.
func (s *suite) arrives(t *testing.T, ctx context.Context, ref hypervisor.GuestRef, node, status string) {
	t.Helper()
	host := s.host(t, endpoint.Monitoring)
	ref.Node = node
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := host.Guest(ctx, ref)
		if err == nil && got.Status == status && got.Lock == "" {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the guest is %+v (%v), want it %s on %s", got, err, status, node)
		}
	}
}

// migrate tests Migrator. CheckMigration must agree with Migrate: a check
// without blockers is followed by a migration that succeeds. A running guest
// must not be migrated offline without Restart, and a failed migration must
// leave the guest where it was, in the same state.
func (s *suite) migrate(t *testing.T) {
	need[hypervisor.Migrator](t, s)
	for _, kind := range s.kinds() {
		for _, status := range []string{hypervisor.GuestStopped, hypervisor.GuestRunning} {
			s.run(t, "a "+string(kind)+" that is "+status, func(t *testing.T, ctx context.Context) {
				hook(t, "NewGuest", s.NewGuest != nil)
				ref := s.NewGuest(t, kind, status)
				node := s.otherNode(t, ctx, ref)
				host := s.host(t, endpoint.Lifecycle)
				migrator := as[hypervisor.Migrator](t, host)
				check, err := migrator.CheckMigration(ctx, ref, hypervisor.MigrationQuery{Node: node})
				must(t, "checking the migration", err)
				running := status == hypervisor.GuestRunning
				if len(check.Blockers) > 0 || check.Nodes != nil && !slices.Contains(check.Nodes, node) {
					t.Fatalf("the check of a migration to %s is %+v", node, check)
				}
				spec := hypervisor.MigrationSpec{Node: node, Online: running && check.Live, Restart: running && !check.Live}
				task, err := migrator.Migrate(ctx, ref, spec)
				if !s.ends(t, ctx, task, err) {
					t.Fatalf("the migration to %s failed: %v", node, err)
				}
				s.arrives(t, ctx, ref, node, status)
				s.wantOperation(t, ctx, ref, task, hypervisor.OperationMigrate)
			})
		}
	}
	s.run(t, "refusals", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestRunning)
		node := s.otherNode(t, ctx, ref)
		migrator := as[hypervisor.Migrator](t, s.host(t, endpoint.Lifecycle))
		_, err := migrator.CheckMigration(ctx, ref, hypervisor.MigrationQuery{Node: "no-such-node"})
		if e := wantKind(t, err, plugin.Invalid); e.Field != "node" {
			t.Errorf("the field of a check is %q", e.Field)
		}
		check, err := migrator.CheckMigration(ctx, ref, hypervisor.MigrationQuery{Node: ref.Node})
		must(t, "checking a migration to where the guest is", err)
		if len(check.Blockers) == 0 || check.Blockers[0].Code != hypervisor.MigrationSameNode || check.Blockers[0].Message == "" {
			t.Errorf("the check of a migration to the guest's own node is %+v", check)
		}
		for _, to := range []string{"no-such-node", ref.Node} {
			task, err := migrator.Migrate(ctx, ref, hypervisor.MigrationSpec{Node: to, Restart: true})
			if s.ends(t, ctx, task, err, plugin.Invalid) {
				t.Errorf("the guest was moved to %s", to)
			}
		}
		task, err := migrator.Migrate(ctx, ref, hypervisor.MigrationSpec{Node: node})
		if s.ends(t, ctx, task, err, plugin.Conflict) {
			t.Error("a running guest was migrated as a stopped one")
		}
		gone := ref
		gone.ID, gone.UID = "999999998", ""
		_, err = migrator.CheckMigration(ctx, gone, hypervisor.MigrationQuery{Node: node})
		wantKind(t, err, plugin.NotFound)
		s.eventually(t, ctx, ref, hypervisor.GuestRunning)
	})
	s.run(t, "without the privilege", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		if s.Alike {
			t.Skip("every token has all rights")
		}
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		node := s.otherNode(t, ctx, ref)
		_, err := as[hypervisor.Migrator](t, s.host(t, endpoint.Monitoring)).Migrate(ctx, ref, hypervisor.MigrationSpec{Node: node})
		if e := wantKind(t, err, plugin.Denied); len(e.Missing) == 0 {
			t.Error("the error names no privilege")
		}
		s.eventually(t, ctx, ref, hypervisor.GuestStopped)
	})
}
