package guest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// CheckMigration implements hypervisor.Migrator.
func (h *haltingHost) CheckMigration(ctx context.Context, ref hypervisor.GuestRef, query hypervisor.MigrationQuery) (
	hypervisor.MigrationCheck, error) {
	return h.Host.(hypervisor.Migrator).CheckMigration(ctx, ref, query)
}

// Migrate is a request at which the process of a test may stand still.
func (h *haltingHost) Migrate(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.MigrationSpec) (string, error) {
	return h.at.do("migrate", func() (string, error) { return h.Host.(hypervisor.Migrator).Migrate(ctx, ref, spec) })
}

// withNodes writes the rows of a cluster's nodes.
func (b *lifecycleFixture) withNodes(t *testing.T) {
	t.Helper()
	for id, cluster := range b.clusters() {
		for _, node := range cluster.Nodes() {
			if _, err := b.db.Pool.Exec(t.Context(), `INSERT INTO nodes (cluster_id, host_id, name, status, seen_at)
				SELECT cluster_id, id, $2, 'online', now() FROM hosts WHERE id = $1`, id, node); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// away is the node on which a guest is not.
func (b *lifecycleFixture) away(ref hypervisor.GuestRef) string {
	for _, node := range b.cluster.Nodes() {
		if node != ref.Node {
			return node
		}
	}
	return ""
}

// moves asks for a job that moves a guest to the other node of its cluster.
func (b *lifecycleFixture) moves(t *testing.T, p guest.RequestedGuest, confirmed bool) int64 {
	t.Helper()
	return b.add(t, guest.MigrateJob(job.Target{Kind: "vm", ID: p.GuestID, Name: p.Name}, b.hostID, p,
		guest.MigrationRequest{TargetHostID: b.hostID}, confirmed))
}

// at is the node and the status of a guest in the hypervisor and in its row.
func (b *lifecycleFixture) at(t *testing.T, p guest.RequestedGuest) string {
	t.Helper()
	var there, row string
	b.cluster.Change(p.Ref, func(g *hypervisor.Guest) { there = g.Node + " " + g.Status })
	err := b.db.Pool.QueryRow(t.Context(), "SELECT node || ' ' || status FROM guests WHERE id = $1", p.GuestID).Scan(&row)
	if err != nil {
		t.Fatal(err)
	}
	if row != there {
		return there + ", and by its row " + row
	}
	return there
}

func TestMigrationWithinACluster(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.withNodes(t)
		b.start(t)
		for _, kind := range []hypervisor.GuestKind{hypervisor.VM, hypervisor.Container} {
			for _, status := range []string{hypervisor.GuestRunning, hypervisor.GuestStopped} {
				ref, p := b.guest(t, kind, status)
				spec := guest.MigrateJob(job.Target{Kind: map[hypervisor.GuestKind]string{hypervisor.VM: "vm", hypervisor.Container: "app"}[kind],
					ID: p.GuestID, Name: p.Name}, b.hostID, p, guest.MigrationRequest{TargetHostID: b.hostID}, true)
				_, transcript := b.ended(t, b.add(t, spec), job.Succeeded)
				if got, want := b.at(t, p), b.away(ref)+" "+status; got != want || fmt.Sprint(b.words(t, ref)) != "[migrate]" {
					t.Errorf("%s: the guest is %s, want %s\n%s", kind, got, want, transcript)
				}
			}
		}
	})
}

// A guest whose move the hypervisor leaves to its manager is waited for.
func TestMigrationByTheManager(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.withNodes(t)
		b.start(t)
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
		b.cluster.SetManaged(ref.ID, true)
		_, transcript := b.ended(t, b.moves(t, p, false), job.Succeeded)
		if got := b.at(t, p); got != b.away(ref)+" stopped" {
			t.Errorf("the guest is %s\n%s", got, transcript)
		}
	})
}

// Where the manager does not move it, the job does not say that it was done.
func TestMigrationThatNeverArrives(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for what does not come: make check runs it")
	}
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.worker.ArriveLimit = 300 * time.Millisecond
		b.withNodes(t)
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
		b.wrap = func(h hypervisor.Host) hypervisor.Host { return idle{h} }
		b.start(t)
		j, _ := b.ended(t, b.moves(t, p, false), job.Unknown)
		if !strings.Contains(j.Error, "is not on the node "+b.away(ref)) {
			t.Errorf("the error is %q", j.Error)
		}
	})
}

// idle takes a migration and does nothing.
type idle struct{ hypervisor.Host }

func (h idle) CheckMigration(ctx context.Context, ref hypervisor.GuestRef, query hypervisor.MigrationQuery) (
	hypervisor.MigrationCheck, error) {
	return h.Host.(hypervisor.Migrator).CheckMigration(ctx, ref, query)
}

func (idle) Migrate(context.Context, hypervisor.GuestRef, hypervisor.MigrationSpec) (string, error) {
	return "", nil
}

// What is in the way when the job begins ends it before anything is sent, whatever was there when it was asked for.
func TestMigrationsThatDoNotBegin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status string
		change func(b *lifecycleFixture, ref hypervisor.GuestRef)
		says   string
	}{
		"a bind mount": {hypervisor.GuestStopped, func(b *lifecycleFixture, ref hypervisor.GuestRef) {
			b.cluster.ChangeConfig(ref.ID, func(c *hypervisor.Config) {
				c.Disks = append(c.Disks, hypervisor.Disk{Key: "mp0", Local: true, Path: "/srv"})
			})
		}, "mp0"},
		"a lock": {hypervisor.GuestStopped, func(b *lifecycleFixture, ref hypervisor.GuestRef) {
			b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Lock = "backup" })
		}, "backup"},
		"a bridge": {hypervisor.GuestStopped, func(b *lifecycleFixture, ref hypervisor.GuestRef) {
			b.cluster.ChangeConfig(ref.ID, func(c *hypervisor.Config) { c.NICs[0].Bridge = "br7" })
		}, "does not have the bridge br7"},
		"a node that is off": {hypervisor.GuestStopped, func(b *lifecycleFixture, ref hypervisor.GuestRef) {
			b.cluster.SetOffline(b.away(ref), true)
		}, "offline"},
		"a stop that nobody confirmed": {hypervisor.GuestRunning, func(*lifecycleFixture, hypervisor.GuestRef) {}, "was not confirmed"},
		"another guest of the id": {hypervisor.GuestStopped, func(b *lifecycleFixture, ref hypervisor.GuestRef) {
			b.cluster.Change(ref.ID, func(g *hypervisor.Guest) {
				if g.Name = "another"; g.UID != "" {
					g.UID = "other"
				}
			})
		}, ""},
		"a hypervisor that does not answer": {hypervisor.GuestStopped, func(b *lifecycleFixture, _ hypervisor.GuestRef) {
			b.cluster.SetFault("checkmigration", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "it is away")})
		}, "it is away"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				b.withNodes(t)
				b.start(t)
				ref, p := b.guest(t, hypervisor.Container, c.status)
				c.change(b, ref)
				spec := guest.MigrateJob(job.Target{Kind: "app", ID: p.GuestID, Name: p.Name}, b.hostID, p,
					guest.MigrationRequest{TargetHostID: b.hostID}, false)
				j, transcript := b.ended(t, b.add(t, spec), job.Failed)
				if !strings.Contains(j.Error, c.says) || len(b.words(t, ref)) != 0 {
					t.Errorf("the error is %q\n%s", j.Error, transcript)
				}
			})
		})
	}
}

// A migration that fails leaves the guest where it is, and the job says why.
func TestMigrationThatFails(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.withNodes(t)
		b.start(t)
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
		b.cluster.SetFault("migrate", memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "not today")})
		j, _ := b.ended(t, b.moves(t, p, false), job.Failed)
		if got := b.at(t, p); !strings.Contains(j.Error, "not today") || got != ref.Node+" stopped" {
			t.Errorf("the error is %q, the guest is %s", j.Error, got)
		}
	})
}

// A service that is killed around the request moves the guest once, or says that it does not know.
func TestKilledAroundAMigration(t *testing.T) {
	t.Parallel()
	for when, done := range map[string]bool{"before": false, "after": true} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				b.withNodes(t)
				ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
				b.meanwhile = func() { b.endOf(t, ref) }
				want := job.Succeeded
				if b.Forgets && !done {
					want = job.Unknown
				}
				_, transcript := b.killed(t, when, "migrate", want, func() int64 { return b.moves(t, p, false) })
				tasks := "[migrate]"
				if want == job.Unknown {
					tasks = "[]"
				}
				if got := fmt.Sprint(b.words(t, ref)); got != tasks || want == job.Succeeded && b.at(t, p) != b.away(ref)+" stopped" {
					t.Errorf("the tasks %s, the guest is %s\n%s", got, b.at(t, p), transcript)
				}
			})
		})
	}
}

// strayer says that it moves a guest and has it somewhere else, or nowhere.
type strayer struct {
	idle
	stray func(ref hypervisor.GuestRef)
}

func (h strayer) Migrate(_ context.Context, ref hypervisor.GuestRef, _ hypervisor.MigrationSpec) (string, error) {
	h.stray(ref)
	return "", nil
}

// A guest that ends up elsewhere, off or nowhere is not waited for without end.
func TestMigrationThatGoesAstray(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for what does not come: make check runs it")
	}
	t.Parallel()
	for says, stray := range map[string]func(b *lifecycleFixture, ref hypervisor.GuestRef){
		"on the node node3": func(b *lifecycleFixture, ref hypervisor.GuestRef) {
			b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Node = "node3" })
		},
		"and is stopped": func(b *lifecycleFixture, ref hypervisor.GuestRef) {
			b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Node, g.Status = b.away(ref), hypervisor.GuestStopped })
		},
		"not found on the nodes that were checked": func(b *lifecycleFixture, ref hypervisor.GuestRef) { b.cluster.Remove(ref.ID) },
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				b.worker.ArriveLimit = 10 * time.Second
				b.withNodes(t)
				_, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
				b.wrap = func(h hypervisor.Host) hypervisor.Host {
					return strayer{idle{h}, func(ref hypervisor.GuestRef) { stray(b, ref) }}
				}
				b.start(t)
				if j, transcript := b.ended(t, b.moves(t, p, true), job.Failed); !strings.Contains(j.Error, says) {
					t.Errorf("the error is %q\n%s", j.Error, transcript)
				}
			})
		})
	}
}
