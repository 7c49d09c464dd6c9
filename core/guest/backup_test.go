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

// shelf gives the cluster a storage of backups.
func (b *lifecycleFixture) shelf() *memdriver.Archive {
	archive := &memdriver.Archive{}
	b.cluster.AddStorage(memdriver.StorageSpec{Name: "nas", Archive: archive})
	return archive
}

// saved is a backup of a guest.
func (b *lifecycleFixture) saved(archive *memdriver.Archive, ref hypervisor.GuestRef) hypervisor.Backup {
	archive.Put(b.cluster, ref, time.Now().Add(-time.Hour))
	all := archive.Backups()
	last := all[len(all)-1]
	last.ID, last.Storage, last.Node = "nas:"+last.ID, "nas", ref.Node
	return last
}

func (b *lifecycleFixture) backUp(t *testing.T, p guest.RequestedGuest, notes string) int64 {
	t.Helper()
	return b.add(t, guest.BackupJob(b.hostID, p, hypervisor.BackupSpec{Storage: "nas", Notes: notes}))
}

// A service that is killed around a request for a backup makes one, or says that it does not know.
func TestKilledAroundABackup(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				archive := b.shelf()
				ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
				b.saved(archive, ref) // from before, which proves nothing
				want, made := job.Succeeded, 1
				if b.Forgets && when == "before" {
					want, made = job.Unknown, 0
				}
				_, transcript := b.killed(t, when, "backup", want, func() int64 { return b.backUp(t, p, "nightly {{{it}}\n\nand more") })
				if n := len(archive.Backups()) - 1; n != made {
					t.Errorf("%d backups were made\n%s", n, transcript)
				}
			})
		})
	}
}

// A service that is killed around a request to restore makes one guest, or replaces the one that is there once, or says that it does not
// know.
func TestKilledAroundARestore(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "after"} {
		t.Run(when+" a new guest", func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
				saved := b.saved(b.shelf(), ref)
				want, made := job.Succeeded, 1
				if b.Forgets && when == "before" {
					want, made = job.Unknown, 0
				}
				_, transcript := b.killed(t, when, "restore", want, func() int64 {
					return b.add(t, guest.RestoreJob(b.hostID, p.Name, hypervisor.RestoreSpec{Backup: saved, ID: "900",
						Node: ref.Node}, false))
				})
				if n := len(b.cluster.Guests()) - 1; n != made {
					t.Errorf("%d guests were made\n%s", n, transcript)
				}
			})
		})
		t.Run(when+" a new guest with a name of its own", func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				ref, _ := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
				saved := b.saved(b.shelf(), ref)
				want, name := job.Succeeded, "renamed"
				switch {
				case b.Forgets && when == "before":
					want, name = job.Unknown, ""
				case b.UIDs: // whose IDs are names
					name = "900"
				}
				_, transcript := b.killed(t, when, "restore", want, func() int64 {
					return b.add(t, guest.RestoreJob(b.hostID, "renamed", hypervisor.RestoreSpec{Backup: saved, ID: "900", Name: "renamed",
						Node: ref.Node}, false))
				})
				got := ""
				b.cluster.Change("900", func(g *hypervisor.Guest) { got = g.Name })
				if got != name {
					t.Errorf("the guest is called %q, want %q\n%s", got, name, transcript)
				}
			})
		})
		t.Run(when+" one that is there", func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
				saved := b.saved(b.shelf(), ref)
				want, tasks := job.Succeeded, 1
				if b.Forgets {
					// Nothing tells a guest that was replaced from one that was not.
					b.meanwhile = func() { b.endOf(t, ref) }
					want, tasks = job.Unknown, 0
				}
				j, transcript := b.killed(t, when, "restore", want, func() int64 {
					return b.add(t, guest.RestoreOverJob(b.hostID, p, saved))
				})
				if n := b.tasks(t, ref); !b.Forgets && n != tasks {
					t.Errorf("%d tasks, want %d; error %q\n%s", n, tasks, j.Error, transcript)
				}
				if n := len(b.cluster.Guests()); n != 1 {
					t.Errorf("%d guests are there\n%s", n, transcript)
				}
			})
		})
	}
}

// A guest that was restored, as a new one or over the one that was there, is started once, at whatever side of the request the service
// is killed.
func TestKilledAroundTheStartOfWhatWasRestored(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "after"} {
		for _, over := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s the request, over: %t", when, over), func(t *testing.T) {
				t.Parallel()
				inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
					ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
					saved := b.saved(b.shelf(), ref)
					_, transcript := b.killed(t, when, "start", job.Succeeded, func() int64 {
						if over {
							return b.add(t, guest.Starting(guest.RestoreOverJob(b.hostID, p, saved)))
						}
						return b.add(t, guest.Starting(guest.RestoreJob(b.hostID, p.Name, hypervisor.RestoreSpec{Backup: saved, ID: "900",
							Node: ref.Node}, false)))
					})
					var running int
					for _, g := range b.cluster.Guests() {
						if statusOf(b.cluster, g.ID) == hypervisor.GuestRunning {
							running++
						}
					}
					if got := operations(b.cluster); running != 1 || got != "restore start" {
						t.Errorf("%d guests run, of the tasks %s\n%s", running, got, transcript)
					}
				})
			})
		}
	}
}

func TestBackupJobs(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		archive := b.shelf()
		listed := make(chan string, 10)
		b.worker.List = func(_ context.Context, _ int64, storage, _ string) error {
			listed <- storage
			return plugin.Errorf(plugin.Unreachable, "no route")
		}
		b.start(t)
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
		_, transcript := b.ended(t, b.backUp(t, p, ""), job.Succeeded)
		if len(archive.Backups()) != 1 || len(listed) != 1 || !strings.Contains(transcript, "the next listing will show the changes") {
			t.Errorf("%d backups, %d listings\n%s", len(archive.Backups()), len(listed), transcript)
		}
		saved := b.saved(archive, ref)
		_, transcript = b.ended(t, b.add(t, guest.RestoreJob(b.hostID, p.Name,
			hypervisor.RestoreSpec{Backup: saved, ID: "900", Node: ref.Node}, false)), job.Succeeded)
		if n := len(b.cluster.Guests()); n != 2 {
			t.Errorf("%d guests\n%s", n, transcript)
		}
		// The id that was wanted is another guest's by now.
		j, _ := b.ended(t, b.add(t, guest.RestoreJob(b.hostID, p.Name,
			hypervisor.RestoreSpec{Backup: saved, ID: "900", Node: ref.Node}, true)), job.Failed)
		if !strings.Contains(j.Error, "no guest was created") || len(b.cluster.Guests()) != 2 {
			t.Errorf("%q, %d guests", j.Error, len(b.cluster.Guests()))
		}
		if !b.UIDs { // where numbers are ids, another is taken
			b.ended(t, b.add(t, guest.RestoreJob(b.hostID, p.Name,
				hypervisor.RestoreSpec{Backup: saved, ID: "900", Node: ref.Node}, false)), job.Succeeded)
			if n := len(b.cluster.Guests()); n != 3 {
				t.Errorf("%d guests", n)
			}
		}
		b.ended(t, b.add(t, guest.RestoreOverJob(b.hostID, p, saved)), job.Succeeded)
		// What runs by now is not replaced.
		b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Status = hypervisor.GuestRunning })
		j, _ = b.ended(t, b.add(t, guest.RestoreOverJob(b.hostID, p, saved)), job.Failed)
		if !strings.Contains(j.Error, "the guest is running") {
			t.Errorf("a guest that runs: %q", j.Error)
		}
		gone := saved
		gone.ID = "nas:gone"
		b.ended(t, b.add(t, guest.RestoreJob(b.hostID, p.Name, hypervisor.RestoreSpec{Backup: gone, ID: "950", Node: ref.Node}, false)),
			job.Failed)
	})
}
