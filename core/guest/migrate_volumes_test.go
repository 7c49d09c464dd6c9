package guest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// preflight checks a move of a VM as a request does.
func (b *lifecycleFixture) preflight(t *testing.T, p guest.RequestedGuest, order guest.MigrationRequest) guest.Preflight {
	t.Helper()
	g, err := (&guest.Store{DB: b.db, Self: &guest.Self{DB: b.db}}).Get(t.Context(), guest.VM, p.GuestID)
	if err != nil {
		t.Fatal(err)
	}
	actor := &guest.Actor{DB: b.db, Queue: b.queue, Hosts: capable{b}}
	if b.machines != nil {
		actor.Machines = b.machines
	}
	found, err := guest.CheckMigration(t.Context(), actor, guest.Request{Target: vmTarget(p), Guest: g, TeamID: 1}, order)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// withDisks gives both sides the storage "san" for disks, and the other side "vault" too; all nodes see them where they have an archive.
func (b *lifecycleFixture) withDisks(archive *memdriver.Archive) {
	spec := memdriver.StorageSpec{VMs: true, Containers: true, FreeGB: 500, Archive: archive}
	for _, name := range []string{"san", "vault"} {
		spec.Name = name
		b.other.AddStorage(spec)
	}
	spec.Name = "san"
	b.cluster.AddStorage(spec)
}

// Where both sides may see the same volumes, a guest of the same id would have the disks of the one that is left. It gets another id, and
// where ids are names that cannot be chosen, it does not go. The job finds that out anew: it was not so when it was asked for.
func TestMigrationToWhereVolumesAreShared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// disk is the storage of the guest's disk, storage the one that is asked for, and shared the one that both may see.
		disk, storage, shared string
	}{
		"the storage of its disk":                       {"san", "", "san"},
		"another storage":                               {"san", "vault", "vault"},
		"from a storage that both see to one of a node": {"san", "local", ""},
		"from a storage of a node to one that both see": {"local", "san", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				b.withOther(t, true)
				b.withDisks(nil)
				b.start(t)
				ref, p := b.starting(t, hypervisor.VM, hypervisor.GuestStopped)
				b.cluster.ChangeConfig(ref.ID, func(config *hypervisor.Config) {
					config.Disks[0].Storage, config.Disks[0].Volume = c.disk, c.disk+":disk-"+string(ref.ID)
				})
				disks := slices.Clone(b.cluster.ConfigOf(ref.ID).Disks)
				order := guest.MigrationRequest{TargetHostID: b.otherID}
				if c.storage != "" {
					order.Storage = &c.storage
				}
				if was := b.preflight(t, p, order); !was.Possible || was.TargetRef != string(ref.ID) || told(was.Warnings) != "" {
					t.Errorf("before: %+v", was)
				}
				b.withDisks(&memdriver.Archive{})
				goes, changes := c.shared == "" || !b.UIDs, c.shared != "" && !b.UIDs
				found := b.preflight(t, p, order)
				warned, blocked := told(found.Warnings), told(found.Blockers)
				if found.Possible != goes || (found.TargetRef != string(ref.ID)) != changes || (warned != "") != changes || (blocked != "") == goes {
					t.Errorf("the check: %+v", found)
				}
				says := "Both hosts may see the volumes of the storage " + c.shared
				if c.shared != "" && !strings.Contains(warned+blocked, says) {
					t.Errorf("it is said %q, want %q", warned+blocked, says)
				}
				if n := operations(b.cluster) + operations(b.other); n != "" || len(b.other.Guests()) != 0 {
					t.Errorf("the check did %s", n)
				}
				id := b.add(t, guest.MigrateJob(vmTarget(p), b.hostID, p, order, true))
				if !goes {
					j, transcript := b.ended(t, id, job.Failed)
					if !strings.Contains(j.Error, says) || !strings.Contains(j.Error, "Nothing was done") {
						t.Errorf("the error is %q\n%s", j.Error, transcript)
					}
					if n := operations(b.cluster) + operations(b.other); n != "" || len(b.other.Guests()) != 0 ||
						len(b.cluster.ArchiveOf("archive").Backups()) != 0 || slices.Contains(b.cluster.ConfigOf(ref.ID).Tags, "moved") {
						t.Errorf("it did %q\n%s", n, transcript)
					}
					return
				}
				_, transcript := b.ended(t, id, job.Succeeded)
				if there := b.crossed(t, ref, hypervisor.GuestStopped, transcript); (there != ref.ID) != changes ||
					changes != strings.Contains(transcript, says) {
					t.Errorf("there it is %s, and here %s\n%s", there, ref.ID, transcript)
				}
				if left := b.cluster.ConfigOf(ref.ID).Disks; left[0].Volume != disks[0].Volume || left[0].Storage != disks[0].Storage {
					t.Errorf("the guest that is left has the disks %+v, and had %+v", left, disks)
				}
			})
		})
	}
}

// told is what a check says of volumes that both sides may see.
func told(findings []guest.MigrationFinding) string {
	if i := slices.IndexFunc(findings, func(f guest.MigrationFinding) bool { return f.Code == "shared_volumes" }); i >= 0 {
		return findings[i].Message
	}
	return ""
}
