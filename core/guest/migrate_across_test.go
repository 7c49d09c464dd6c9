package guest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// Backups, DeleteBackup and ProtectBackup implement hypervisor.BackupManager; at the deletion the process of a test may stand still.
func (h *haltingHost) Backups(ctx context.Context, query hypervisor.BackupQuery) ([]hypervisor.Backup, error) {
	return h.Host.(hypervisor.BackupManager).Backups(ctx, query)
}

func (h *haltingHost) DeleteBackup(ctx context.Context, backup hypervisor.Backup) (string, error) {
	return h.at.do("deletebackup", func() (string, error) { return h.Host.(hypervisor.BackupManager).DeleteBackup(ctx, backup) })
}

func (h *haltingHost) ProtectBackup(ctx context.Context, backup hypervisor.Backup, protected bool) error {
	return h.Host.(hypervisor.BackupManager).ProtectBackup(ctx, backup, protected)
}

// RunBackup and Restore are requests at which the process of a test may stand still.
func (h *haltingHost) RunBackup(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.BackupSpec) (string, error) {
	return h.at.do("backup", func() (string, error) { return h.Host.(hypervisor.BackupManager).RunBackup(ctx, ref, spec) })
}

func (h *haltingHost) Restore(ctx context.Context, spec hypervisor.RestoreSpec) (string, error) {
	return h.at.do("restore", func() (string, error) { return h.Host.(hypervisor.BackupManager).Restore(ctx, spec) })
}

// OptionKeys, Reconfigure and GrowDisk implement hypervisor.ConfigEditor.
func (h *haltingHost) OptionKeys(ctx context.Context, kind hypervisor.GuestKind) ([]hypervisor.OptionKey, error) {
	return h.Host.(hypervisor.ConfigEditor).OptionKeys(ctx, kind)
}

func (h *haltingHost) Reconfigure(ctx context.Context, ref hypervisor.GuestRef, change hypervisor.ConfigChange) error {
	_, err := h.at.do("reconfigure", func() (string, error) {
		return "", h.Host.(hypervisor.ConfigEditor).Reconfigure(ctx, ref, change)
	})
	return err
}

func (h *haltingHost) GrowDisk(ctx context.Context, ref hypervisor.GuestRef, growth hypervisor.DiskGrowth) error {
	return h.Host.(hypervisor.ConfigEditor).GrowDisk(ctx, ref, growth)
}

// withOther adds a host of another cluster; both have the storage of backups "archive", which is one or two.
func (b *lifecycleFixture) withOther(t *testing.T, one bool) {
	t.Helper()
	b.other = b.driver.Add("other.mem:8006", memdriver.Spec{Nodes: 1, Prefix: "o", TaskMemory: time.Minute})
	err := b.db.Pool.QueryRow(t.Context(), `
		WITH c AS (INSERT INTO clusters (team_id, name) VALUES (1, 'omem') RETURNING id)
		INSERT INTO hosts (cluster_id, driver, name, address) SELECT id, 'mem', 'other', 'other.mem:8006' FROM c RETURNING id`).Scan(&b.otherID)
	if err != nil {
		t.Fatal(err)
	}
	archive := &memdriver.Archive{}
	for id, cluster := range b.clusters() {
		for _, capability := range []endpoint.Capability{endpoint.Lifecycle, endpoint.Backup} {
			_, err = b.db.Pool.Exec(t.Context(), `INSERT INTO host_credentials (host_id, capability, token_id, secret) VALUES ($1, $2, $3, '')
				ON CONFLICT DO NOTHING`, id, capability, cluster.Target(capability).Credential.ID)
			if err != nil {
				t.Fatal(err)
			}
		}
		if !one {
			archive = &memdriver.Archive{}
		}
		cluster.AddStorage(memdriver.StorageSpec{Name: "archive", Archive: archive, FreeGB: 1000})
	}
	b.withNodes(t)
	b.worker.ProofLimit = 300 * time.Millisecond
}

// crosses asks for a job that moves a guest to the other cluster.
func (b *lifecycleFixture) crosses(t *testing.T, target job.Target, p guest.RequestedGuest) int64 {
	t.Helper()
	return b.add(t, guest.MigrateJob(target, b.hostID, p, guest.MigrationRequest{TargetHostID: b.otherID}, true))
}

func vmTarget(p guest.RequestedGuest) job.Target {
	return job.Target{Kind: "vm", ID: p.GuestID, Name: p.Name}
}

// statusOf is a guest's status in a cluster; empty where it is not.
func statusOf(c *memdriver.Cluster, id hypervisor.GuestID) (status string) {
	c.Change(id, func(g *hypervisor.Guest) { status = g.Status })
	return status
}

// operations are the words of a cluster's tasks, the oldest first.
func operations(c *memdriver.Cluster) string {
	var words []string
	for _, task := range slices.Backward(c.Tasks()) {
		if task.Operation != "" {
			words = append(words, string(task.Operation))
		}
	}
	return strings.Join(words, " ")
}

// crossed checks what a move to the other cluster leaves: the guest there as it was, and the one that stays off, marked and kept.
func (b *lifecycleFixture) crossed(t *testing.T, ref hypervisor.GuestRef, status, transcript string) hypervisor.GuestID {
	t.Helper()
	made := b.other.Guests()
	if len(made) != 1 || statusOf(b.other, made[0].ID) != status {
		t.Fatalf("on the other side are %v, want one that is %s\n%s", made, status, transcript)
	}
	was, is := b.cluster.ConfigOf(ref.ID), b.other.ConfigOf(made[0].ID)
	if was.NICs[0].MAC != is.NICs[0].MAC || is.Options["onboot"] != "1" || slices.Contains(is.Tags, "moved") {
		t.Errorf("the guest there is %+v\n%s", is, transcript)
	}
	if on, there := was.Options["onboot"]; statusOf(b.cluster, ref.ID) != hypervisor.GuestStopped || there && on != "0" ||
		!slices.Contains(was.Tags, "moved") || !slices.Contains(was.Tags, "mem") {
		t.Errorf("the guest that is left is %s, %+v\n%s", statusOf(b.cluster, ref.ID), was, transcript)
	}
	return made[0].ID
}

// starting makes a guest that its node starts.
func (b *lifecycleFixture) starting(t *testing.T, kind hypervisor.GuestKind, status string) (hypervisor.GuestRef, guest.RequestedGuest) {
	t.Helper()
	ref, p := b.guest(t, kind, status)
	b.cluster.ChangeConfig(ref.ID, func(c *hypervisor.Config) { c.Options["onboot"] = "1" })
	return ref, p
}

func TestMigrationToAnotherCluster(t *testing.T) {
	t.Parallel()
	for _, status := range []string{hypervisor.GuestRunning, hypervisor.GuestStopped} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				b.withOther(t, true)
				b.start(t)
				ref, p := b.starting(t, hypervisor.VM, status)
				_, transcript := b.ended(t, b.crosses(t, vmTarget(p), p), job.Succeeded)
				b.crossed(t, ref, status, transcript)
				here, there := "shutdown backup", "restore start"
				if status == hypervisor.GuestStopped {
					here, there = "backup", "restore"
				}
				if got := operations(b.cluster); got != here || operations(b.other) != there {
					t.Errorf("the tasks %q and %q\n%s", got, operations(b.other), transcript)
				}
			})
		})
	}
}

// An app goes with its container, and its row stays.
func TestAppsFollowTheirContainer(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.withOther(t, true)
		b.start(t)
		ref, p := b.starting(t, hypervisor.Container, hypervisor.GuestRunning)
		var app, host int64
		err := b.db.Pool.QueryRow(t.Context(), `INSERT INTO apps (host_id, cluster_id, guest_id, guest_ref, name)
			SELECT host_id, cluster_id, id, ref, 'wiki' FROM guests WHERE id = $1 RETURNING id`, p.GuestID).Scan(&app)
		if err != nil {
			t.Fatal(err)
		}
		_, transcript := b.ended(t, b.crosses(t, job.Target{Kind: "app", ID: app, Name: "wiki"}, p), job.Succeeded)
		id := b.crossed(t, ref, hypervisor.GuestRunning, transcript)
		var kept string
		if err := b.db.Pool.QueryRow(t.Context(), "SELECT host_id, guest_ref FROM apps WHERE id = $1", app).Scan(&host, &kept); err != nil {
			t.Fatal(err)
		}
		if host != b.otherID || kept != string(id) {
			t.Errorf("the app is on host %d as %s, want %d as %s", host, kept, b.otherID, id)
		}
	})
}

// An id that is taken on the other side is exchanged for another where ids are numbers, and is in the way where they are names.
func TestMigrationToWhereTheIDIsTaken(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.withOther(t, true)
		b.start(t)
		ref, p := b.starting(t, hypervisor.VM, hypervisor.GuestStopped)
		taken := b.other.NewGuestAs(hypervisor.VM, hypervisor.GuestStopped, ref.ID)
		if b.UIDs {
			j, _ := b.ended(t, b.crosses(t, vmTarget(p), p), job.Failed)
			if !strings.Contains(j.Error, "is taken on other") || operations(b.cluster) != "" {
				t.Errorf("the error is %q", j.Error)
			}
			return
		}
		_, transcript := b.ended(t, b.crosses(t, vmTarget(p), p), job.Succeeded)
		b.other.Remove(taken.ID)
		if id := b.crossed(t, ref, hypervisor.GuestStopped, transcript); id == ref.ID {
			t.Errorf("the guest has the id %s, which was taken", id)
		}
	})
}

// What goes wrong after the guest was stopped has it run again where it was.
func TestMigrationsThatAreUndone(t *testing.T) {
	t.Parallel()
	refused := memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "not today")}
	for name, c := range map[string]struct {
		two    bool
		change func(b *lifecycleFixture)
		says   string
		left   bool
	}{
		"two storages of one name": {two: true, says: "does not see the backup"},
		"a backup that is refused": {change: func(b *lifecycleFixture) { b.cluster.SetFault("runbackup", refused) }, says: "not today"},
		"a restore that is refused": {change: func(b *lifecycleFixture) { b.other.SetFault("restore", refused) },
			says: "not today"},
		"a start that is refused": {change: func(b *lifecycleFixture) { b.other.SetFault("act", refused) }, says: "not today", left: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				b.withOther(t, !c.two)
				b.start(t)
				ref, p := b.starting(t, hypervisor.VM, hypervisor.GuestRunning)
				if c.change != nil {
					c.change(b)
				}
				j, transcript := b.ended(t, b.crosses(t, vmTarget(p), p), job.Failed)
				if !strings.Contains(j.Error, c.says) || !strings.Contains(j.Error, "is running again at its original place") ||
					strings.Contains(j.Error, "is left on other") != c.left {
					t.Errorf("the error is %q\n%s", j.Error, transcript)
				}
				config := b.cluster.ConfigOf(ref.ID)
				if statusOf(b.cluster, ref.ID) != hypervisor.GuestRunning || slices.Contains(config.Tags, "moved") || config.Options["onboot"] != "1" {
					t.Errorf("the guest is %s, %+v\n%s", statusOf(b.cluster, ref.ID), config, transcript)
				}
				for _, made := range b.other.Guests() {
					if statusOf(b.other, made.ID) != hypervisor.GuestStopped {
						t.Errorf("both run\n%s", transcript)
					}
				}
			})
		})
	}
}

// managed leaves shutting down to a manager: the task of the request has ended, and the guest runs until later has it stopped. When its
// backup is asked for, backedUp gets to know it.
type managed struct {
	*haltingHost
	later, backedUp func(ref hypervisor.GuestRef)
}

func (h managed) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	if action != hypervisor.Shutdown {
		return h.haltingHost.Act(ctx, ref, action)
	}
	h.later(ref)
	return "", nil
}

func (h managed) RunBackup(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.BackupSpec) (string, error) {
	h.backedUp(ref)
	return h.haltingHost.RunBackup(ctx, ref, spec)
}

// A guest that a manager stops when it finds the time is backed up once it is off, and not at all where it stays on.
func TestMigrationOfAManagedGuest(t *testing.T) {
	t.Parallel()
	for name, stops := range map[string]bool{"stopped later": true, "never stopped": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				b.withOther(t, true)
				ref, p := b.starting(t, hypervisor.VM, hypervisor.GuestRunning)
				later := func(ref hypervisor.GuestRef) {
					time.AfterFunc(300*time.Millisecond, func() {
						b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Status = hypervisor.GuestStopped })
					})
				}
				if !stops {
					b.worker.OffLimit, later = 300*time.Millisecond, func(hypervisor.GuestRef) {}
				}
				backedUp := func(ref hypervisor.GuestRef) {
					if status := statusOf(b.cluster, ref.ID); status != hypervisor.GuestStopped {
						t.Errorf("the backup was asked for while the guest is %s", status)
					}
				}
				b.wrap = func(h hypervisor.Host) hypervisor.Host { return managed{&haltingHost{h, &halting{}}, later, backedUp} }
				b.start(t)
				if stops {
					_, transcript := b.ended(t, b.crosses(t, vmTarget(p), p), job.Succeeded)
					b.crossed(t, ref, hypervisor.GuestRunning, transcript)
					return
				}
				j, transcript := b.ended(t, b.crosses(t, vmTarget(p), p), job.Failed)
				if !strings.Contains(j.Error, "was not backed up") || strings.Contains(operations(b.cluster), "backup") ||
					statusOf(b.cluster, ref.ID) != hypervisor.GuestRunning || len(b.other.Guests()) != 0 {
					t.Errorf("the error is %q, the guest %s\n%s", j.Error, statusOf(b.cluster, ref.ID), transcript)
				}
			})
		})
	}
}

// What the move did not do to the guest that is left is said; it is never started again once the other runs.
func TestMigrationWhoseMarkFails(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.withOther(t, true)
		b.start(t)
		ref, p := b.starting(t, hypervisor.VM, hypervisor.GuestRunning)
		b.cluster.SetFault("reconfigure", memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "not today")})
		j, transcript := b.ended(t, b.crosses(t, vmTarget(p), p), job.Failed)
		if !strings.Contains(j.Error, "could not be tagged") || statusOf(b.cluster, ref.ID) != hypervisor.GuestStopped {
			t.Errorf("the error is %q, the guest %s\n%s", j.Error, statusOf(b.cluster, ref.ID), transcript)
		}
		if made := b.other.Guests(); len(made) != 1 || statusOf(b.other, made[0].ID) != hypervisor.GuestRunning {
			t.Errorf("on the other side are %v\n%s", made, transcript)
		}
	})
}

// idleNow waits until no task runs.
func (b *lifecycleFixture) idleNow(t *testing.T) {
	t.Helper()
	for _, cluster := range b.clusters() {
		waittest.Until(t, "no task runs", func() bool {
			return !slices.ContainsFunc(cluster.Tasks(), func(task hypervisor.Task) bool { return task.Status == hypervisor.TaskRunning })
		})
	}
}

// A service that is killed around any request of the move goes on with it, or where it cannot know whether a request was taken has the
// guest run again and says so. Nothing is done twice.
func TestKilledAroundAMigrationToAnotherCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a service: make check runs it")
	}
	t.Parallel()
	for _, when := range []string{"before", "after"} {
		for _, request := range []string{"shutdown", "backup", "restore", "start", "reconfigure"} {
			t.Run(when+" "+request, func(t *testing.T) {
				t.Parallel()
				inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
					b.withOther(t, true)
					ref, p := b.starting(t, hypervisor.VM, hypervisor.GuestRunning)
					b.meanwhile = func() { b.idleNow(t) }
					want := job.Succeeded
					if b.Forgets && when == "before" && (request == "backup" || request == "restore") {
						want = job.Unknown
					}
					_, transcript := b.killed(t, when, request, want, func() int64 { return b.crosses(t, vmTarget(p), p) })
					if want == job.Unknown {
						if made := b.other.Guests(); statusOf(b.cluster, ref.ID) != hypervisor.GuestRunning || len(made) != 0 {
							t.Errorf("the guest is %s, and there are %v\n%s", statusOf(b.cluster, ref.ID), made, transcript)
						}
						return
					}
					b.crossed(t, ref, hypervisor.GuestRunning, transcript)
					if got := fmt.Sprint(operations(b.cluster), ", ", operations(b.other)); got != "shutdown backup, restore start" {
						t.Errorf("the tasks %s\n%s", got, transcript)
					}
				})
			})
		}
	}
}

// A move that is canceled is undone.
func TestCanceledMigrationToAnotherCluster(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.withOther(t, false)
		b.worker.ProofLimit = time.Minute // in which it is canceled
		b.start(t)
		ref, p := b.starting(t, hypervisor.VM, hypervisor.GuestRunning)
		id := b.crosses(t, vmTarget(p), p)
		waittest.Until(t, "the backup is there", func() bool {
			return strings.HasSuffix(operations(b.cluster), "backup") && b.cluster.Tasks()[0].Status == hypervisor.TaskOK
		})
		b.cancelAll(t)
		_, transcript := b.ended(t, id, job.Canceled)
		if statusOf(b.cluster, ref.ID) != hypervisor.GuestRunning || !strings.Contains(transcript,
			"is running again at its original place") {
			t.Errorf("the guest is %s\n%s", statusOf(b.cluster, ref.ID), transcript)
		}
	})
}

// Where somebody starts the guest that is to stay, the other is not started.
func TestBothNeverRun(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.withOther(t, true)
		ref, p := b.starting(t, hypervisor.VM, hypervisor.GuestRunning)
		b.meanwhile = func() {
			b.idleNow(t)
			b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Status = hypervisor.GuestRunning })
		}
		j, transcript := b.killed(t, "after", "restore", job.Failed, func() int64 { return b.crosses(t, vmTarget(p), p) })
		made := b.other.Guests()
		if !strings.Contains(j.Error, "is running again, so the new one was not started") || len(made) != 1 ||
			statusOf(b.other, made[0].ID) != hypervisor.GuestStopped {
			t.Errorf("the error is %q, there are %v\n%s", j.Error, made, transcript)
		}
	})
}
