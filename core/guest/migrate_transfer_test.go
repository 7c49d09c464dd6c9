package guest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// withMachines adds a host of another cluster. Each has a storage of backups of its own, as files of its machine.
func (b *lifecycleFixture) withMachines(t *testing.T) {
	t.Helper()
	b.withOther(t, false)
	for _, cluster := range b.clusters() {
		cluster.AddStorage(memdriver.StorageSpec{Name: "archive", Archive: &memdriver.Archive{Folder: memdriver.DumpFolder}, FreeGB: 1000})
	}
	b.machines = &machines{b: b, refused: map[int64]error{}}
	b.worker.Machines = b.machines
}

// clean checks that no file of a backup is left on either machine.
func (b *lifecycleFixture) clean(t *testing.T, transcript string) {
	t.Helper()
	if left := append(b.cluster.MachineFiles(), b.other.MachineFiles()...); len(left) != 0 {
		t.Errorf("the machines have %v\n%s", left, transcript)
	}
}

func rejected(p guest.Preflight) (codes []string) {
	for _, f := range p.Rejected {
		codes = append(codes, f.Code)
	}
	return codes
}

func blocked(p guest.Preflight) (codes []string) {
	for _, f := range p.Blockers {
		codes = append(codes, f.Code)
	}
	return codes
}

func TestTransferToAnotherCluster(t *testing.T) {
	t.Parallel()
	for _, status := range []string{hypervisor.GuestRunning, hypervisor.GuestStopped} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				b.withMachines(t)
				b.start(t)
				ref, p := b.starting(t, hypervisor.VM, status)
				found := b.preflight(t, p, guest.MigrationRequest{TargetHostID: b.otherID})
				if !found.Possible || *found.Strategy != guest.ByTransfer || fmt.Sprint(rejected(found)) != "[cluster shared_storage]" ||
					found.DowntimeS == nil || found.Bytes == nil ||
					status == hypervisor.GuestRunning && !strings.Contains(found.DowntimeBasis, "copied") {
					t.Errorf("the check says %+v", found)
				}
				_, transcript := b.ended(t, b.crosses(t, vmTarget(p), p), job.Succeeded)
				b.crossed(t, ref, status, transcript)
				b.clean(t, transcript)
				here, there := "shutdown backup", "restore start"
				if status == hypervisor.GuestStopped {
					here, there = "backup", "restore"
				}
				if got := operations(b.cluster); got != here || operations(b.other) != there ||
					!strings.Contains(transcript, "the file is the same on both machines") {
					t.Errorf("the tasks %q and %q\n%s", got, operations(b.other), transcript)
				}
			})
		})
	}
}

// While a backup is copied to another cluster and while it is deleted there, no other job writes or deletes it.
func TestTransferKeepsOthersOffItsCopy(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.withMachines(t)
		backups(b.db, b.queue, b).Register(b.queue)
		held := func() []string {
			return dbtest.Value[[]string](t, b.db, "SELECT COALESCE(array_agg(exclusive), '{}') FROM job_holds WHERE until > clock_timestamp()")
		}
		var copying, deleting []string
		b.copies(t, func(_ context.Context, content io.Writer) (io.Writer, error) {
			copying = held()
			for _, exclusive := range copying {
				err := b.db.Tx(t.Context(), func(tx *db.Tx) error {
					_, err := b.queue.Enqueue(t.Context(), tx, job.Spec{Kind: "backup.delete", HostID: b.otherID, Exclusive: exclusive})
					return err
				})
				if problem.CodeOf(err) != problem.CodeGuestBusy {
					t.Errorf("the copy could be deleted meanwhile: %v", err)
				}
			}
			return content, nil
		})
		b.wrapBackups = func(h hypervisor.Host) hypervisor.Host {
			return heldDeletion{h, h.(hypervisor.BackupManager), h.(hypervisor.BackupFileLocator), func() {
				deleting = append(deleting,
					held()...)
			}}
		}
		b.start(t)
		_, p := b.starting(t, hypervisor.VM, hypervisor.GuestStopped)
		_, transcript := b.ended(t, b.crosses(t, vmTarget(p), p), job.Succeeded)
		if len(copying) != 1 || !strings.HasPrefix(copying[0], "volume:") || len(deleting) != 2 || !slices.Contains(deleting, copying[0]) ||
			len(held()) != 0 {
			t.Errorf("held while copying %q, while deleting both %q, and after that %q\n%s", copying, deleting, held(), transcript)
		}
	})
}

// heldDeletion tells of the deletion of a backup before it is sent.
type heldDeletion struct {
	hypervisor.Host
	hypervisor.BackupManager
	hypervisor.BackupFileLocator
	before func()
}

func (h heldDeletion) DeleteBackup(ctx context.Context, b hypervisor.Backup) (string, error) {
	h.before()
	return h.BackupManager.DeleteBackup(ctx, b)
}

// flipping changes one byte on the way.
type flipping struct {
	to   io.Writer
	done bool
}

func (f *flipping) Write(p []byte) (int, error) {
	sent := bytes.Clone(p)
	if !f.done && len(sent) > 100 {
		sent[100] ^= 1
		f.done = true
	}
	return f.to.Write(sent)
}

// What goes wrong after the guest was stopped has it run again where it was, and leaves no file of ours behind.
func TestTransfersThatAreUndone(t *testing.T) {
	if testing.Short() {
		t.Skip("undoes many transfers: make check runs it")
	}
	t.Parallel()
	refused := memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "not today")}
	for name, c := range map[string]struct {
		change      func(t *testing.T, b *lifecycleFixture, ref hypervisor.GuestRef)
		says, there string
		// left is a file of somebody else's that stays.
		left bool
	}{
		"a backup that is refused": {says: "not today",
			change: func(_ *testing.T, b *lifecycleFixture, _ hypervisor.GuestRef) {
				b.cluster.SetFault("runbackup", refused)
			}},
		"a copy that is refused": {says: "not today",
			change: func(_ *testing.T, b *lifecycleFixture, _ hypervisor.GuestRef) {
				b.other.SetFault("copytonode", refused)
			}},
		"a restore that is refused": {says: "not today",
			change: func(_ *testing.T, b *lifecycleFixture, _ hypervisor.GuestRef) { b.other.SetFault("restore", refused) }},
		"a start that is refused": {says: "is left on other", there: "restore",
			change: func(_ *testing.T, b *lifecycleFixture, _ hypervisor.GuestRef) { b.other.SetFault("act", refused) }},
		"one byte that is another on the way": {says: "SHA-256", change: func(t *testing.T, b *lifecycleFixture, _ hypervisor.GuestRef) {
			b.copies(t, func(_ context.Context, content io.Writer) (io.Writer, error) { return &flipping{to: content}, nil })
		}},
		"a machine that is not logged in to any more": {says: "nobody has consented",
			change: func(_ *testing.T, b *lifecycleFixture, _ hypervisor.GuestRef) {
				b.wrapBackups = func(h hypervisor.Host) hypervisor.Host {
					return backingUp{&haltingHost{h, &halting{}}, func() { b.machines.refused[b.otherID] = noConsent() }}
				}
			}},
		"a backup of that name that is there": {says: "which does not belong to this move", left: true,
			change: func(_ *testing.T, b *lifecycleFixture, ref hypervisor.GuestRef) {
				b.other.ChangeMachineFile(fmt.Sprintf("%s/vm-%s-1", memdriver.DumpFolder, ref.ID), func([]byte) []byte { return []byte("mine") })
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				b.withMachines(t)
				ref, p := b.starting(t, hypervisor.VM, hypervisor.GuestRunning)
				c.change(t, b, ref)
				b.start(t)
				j, transcript := b.ended(t, b.crosses(t, vmTarget(p), p), job.Failed)
				if !strings.Contains(j.Error, c.says) || !strings.Contains(j.Error, "is running again at its original place") ||
					operations(b.other) != c.there {
					t.Errorf("the error is %q, the tasks there %q\n%s", j.Error, operations(b.other), transcript)
				}
				config := b.cluster.ConfigOf(ref.ID)
				if statusOf(b.cluster, ref.ID) != hypervisor.GuestRunning || slices.Contains(config.Tags, "moved") {
					t.Errorf("the guest is %s, %+v\n%s", statusOf(b.cluster, ref.ID), config, transcript)
				}
				if !c.left {
					b.clean(t, transcript)
				} else if len(b.other.MachineFiles()) != 1 || len(b.cluster.MachineFiles()) != 0 {
					t.Errorf("the machines have %v and %v\n%s", b.cluster.MachineFiles(), b.other.MachineFiles(), transcript)
				}
			})
		})
	}
}

// backingUp calls back when a backup is asked for.
type backingUp struct {
	*haltingHost
	asked func()
}

func (h backingUp) RunBackup(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.BackupSpec) (string, error) {
	h.asked()
	return h.haltingHost.RunBackup(ctx, ref, spec)
}

// breaking is a connection that breaks after some bytes.
type breaking struct {
	to   io.Writer
	left int
}

func (c *breaking) Write(p []byte) (int, error) {
	if c.left -= len(p); c.left < 0 {
		return 0, plugin.Errorf(plugin.Unreachable, "the connection broke")
	}
	return c.to.Write(p)
}

// A copy whose connection breaks is begun anew; one that always breaks is given up.
func TestCopiesThatBreakOff(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.withMachines(t)
		var tries atomic.Int64
		b.copies(t, func(_ context.Context, content io.Writer) (io.Writer, error) {
			if tries.Add(1) == 1 {
				return &breaking{content, 100_000}, nil
			}
			return content, nil
		})
		b.start(t)
		ref, p := b.starting(t, hypervisor.VM, hypervisor.GuestRunning)
		_, transcript := b.ended(t, b.crosses(t, vmTarget(p), p), job.Succeeded)
		b.crossed(t, ref, hypervisor.GuestRunning, transcript)
		b.clean(t, transcript)
		if tries.Load() != 2 || !strings.Contains(transcript, "starting over") {
			t.Errorf("%d tries\n%s", tries.Load(), transcript)
		}
	})
}

// A move that is canceled while it copies is undone.
func TestCanceledTransfer(t *testing.T) {
	if testing.Short() {
		t.Skip("cancels a job in the middle: make check runs it")
	}
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.withMachines(t)
		var begun atomic.Bool
		b.copies(t, func(ctx context.Context, _ io.Writer) (io.Writer, error) {
			begun.Store(true)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		b.start(t)
		ref, p := b.starting(t, hypervisor.VM, hypervisor.GuestRunning)
		id := b.crosses(t, vmTarget(p), p)
		waittest.Until(t, "it copies", begun.Load)
		b.cancelAll(t)
		_, transcript := b.ended(t, id, job.Canceled)
		b.clean(t, transcript)
		if statusOf(b.cluster, ref.ID) != hypervisor.GuestRunning || operations(b.other) != "" {
			t.Errorf("the guest is %s\n%s", statusOf(b.cluster, ref.ID), transcript)
		}
	})
}

// A service that is killed around any request or copy of the move goes on with it, or where it cannot know whether a request was taken has
// the guest run again and says so. Nothing is done twice, and no file is left but what is said.
func TestKilledAroundATransfer(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a service: make check runs it")
	}
	t.Parallel()
	for _, when := range []string{"before", "after"} {
		for _, request := range []string{"shutdown", "backup", "copy", "restore", "start", "reconfigure", "deletebackup"} {
			t.Run(when+" "+request, func(t *testing.T) {
				t.Parallel()
				inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
					b.withMachines(t)
					ref, p := b.starting(t, hypervisor.VM, hypervisor.GuestRunning)
					b.meanwhile = func() { b.idleNow(t) }
					want := job.Succeeded
					if b.Forgets && when == "before" && (request == "backup" || request == "restore") {
						want = job.Unknown
					}
					j, transcript := b.killed(t, when, request, want, func() int64 { return b.crosses(t, vmTarget(p), p) })
					if want == job.Unknown {
						if made := b.other.Guests(); statusOf(b.cluster, ref.ID) != hypervisor.GuestRunning || len(made) != 0 {
							t.Errorf("the guest is %s, and there are %v\n%s", statusOf(b.cluster, ref.ID), made, transcript)
						}
						if left := b.other.MachineFiles(); len(b.cluster.MachineFiles()) != 0 || len(left) > 0 != strings.Contains(j.Error, "stays on") {
							t.Errorf("the machines have %v and %v: %s\n%s", b.cluster.MachineFiles(), left, j.Error, transcript)
						}
						return
					}
					b.crossed(t, ref, hypervisor.GuestRunning, transcript)
					b.clean(t, transcript)
					if got := fmt.Sprint(operations(b.cluster), ", ", operations(b.other)); got != "shutdown backup, restore start" {
						t.Errorf("the tasks %s\n%s", got, transcript)
					}
				})
			})
		}
	}
}

// Where a strategy is not there, the check says why.
func TestStrategiesThatAreNotThere(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.withMachines(t)
		_, p := b.starting(t, hypervisor.VM, hypervisor.GuestStopped)
		check := func(what string, target int64, strategy, taken, blockers, others string) {
			t.Helper()
			order := guest.MigrationRequest{TargetHostID: target}
			if strategy != "" {
				order.Strategy = &strategy
			}
			found := b.preflight(t, p, order)
			if *found.Strategy != taken || fmt.Sprint(blocked(found)) != blockers || fmt.Sprint(rejected(found)) != others {
				t.Errorf("%s: %s, in the way %+v, rejected %+v", what, *found.Strategy, found.Blockers, found.Rejected)
			}
		}
		check("transfer within a cluster", b.hostID, "transfer", "transfer", "[strategy]", "[]")
		check("cluster across", b.otherID, "cluster", "cluster", "[strategy]", "[cluster]")
		check("a shared storage that is not there", b.otherID, "shared_storage", "shared_storage", "[no_shared_storage]", "[cluster]")
		check("transfer that is asked for", b.otherID, "transfer", "transfer", "[]", "[cluster]")
		b.machines.refused[b.otherID] = noConsent()
		check("no consent", b.otherID, "", "shared_storage", "[no_shared_storage]", "[cluster transfer]")
		check("no consent for what is asked for", b.otherID, "transfer", "transfer", "[consent_required]", "[cluster]")
		delete(b.machines.refused, b.otherID)
		b.other.AddStorage(memdriver.StorageSpec{Name: "archive", Archive: &memdriver.Archive{Folder: memdriver.DumpFolder}})
		check("no room", b.otherID, "transfer", "transfer", "[no_file_storage_there]", "[cluster]")
		b.cluster.AddStorage(memdriver.StorageSpec{Name: "archive", Archive: &memdriver.Archive{}, FreeGB: 1000})
		check("no files", b.otherID, "transfer", "transfer", "[no_file_storage no_file_storage_there]", "[cluster]")
	})
}
