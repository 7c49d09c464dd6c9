package guest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// listUnnamed is a poll whose list has new guests without their names, stopped, as Proxmox VE lists them for the first seconds.
func (b *lifecycleFixture) listUnnamed(ctx context.Context, hostID int64) error {
	for _, ref := range b.cluster.Guests() {
		_, err := b.db.Pool.Exec(ctx, `INSERT INTO guests (cluster_id, host_id, kind, ref, uid, node, name, status)
			SELECT cluster_id, id, $2, $3, nullif($4, ''), $5, 'VM ' || $3, 'stopped' FROM hosts WHERE id = $1
			AND NOT EXISTS (SELECT FROM guests WHERE ref = $3)`, hostID, ref.Kind, ref.ID, ref.UID, ref.Node)
		if err != nil {
			return err
		}
	}
	return nil
}

// A guest that a job has made is shown under its name and in its state, although the list of the hypervisor has neither yet.
func TestNewGuestsAreShownAsTheyAre(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.worker.Sync = b.listUnnamed
		b.start(t)
		source, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
		saved := b.saved(b.shelf(), source)
		created := b.vmSpec("900")
		name := func(id, name string) string {
			if b.UIDs { // names are ids there
				return id
			}
			return name
		}
		created.Name = name("900", "web")
		for _, c := range []struct {
			what, id, name, status string
			spec                   job.Spec
		}{
			{"create", "900", created.Name, "running", guest.CreateJob(b.hostID, created, true, false)},
			{"clone", "901", name("901", "copy"), "stopped",
				guest.CloneJob(b.hostID, p, hypervisor.CloneSpec{ID: "901", Name: name("901", "copy"), Full: true})},
			{"restore", "902", name("902", p.Name), "stopped",
				guest.RestoreJob(b.hostID, p.Name, hypervisor.RestoreSpec{Backup: saved, ID: "902", Node: source.Node}, false)},
		} {
			j, transcript := b.ended(t, b.add(t, c.spec), job.Succeeded)
			var shown, status string
			err := b.db.Pool.QueryRow(t.Context(), "SELECT name, status FROM guests WHERE ref = $1", c.id).Scan(&shown, &status)
			if err != nil || shown != c.name || status != c.status {
				t.Errorf("%s: %v; the guest is shown as %q, %s, want %q, %s\n%s", c.what, err, shown, status, c.name, c.status, transcript)
			}
			if c.what == "create" && (j.Target.Kind != "vm" || j.Target.Name != c.name) {
				t.Errorf("the target of the job is %+v", j.Target)
			}
		}
	})
}

// What was asked for while a guest had no name yet is done although it has one by now. It is not removed: nobody has confirmed that name.
func TestGuestThatHadNoNameYet(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		if b.UIDs {
			t.Skip("UIDs tell there what a guest is")
		}
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		p.Name = "VM " + string(ref.ID)
		b.start(t)
		b.ended(t, b.enqueue(t, p, hypervisor.Stop), job.Succeeded)
		j, transcript := b.ended(t, onSnapshot(b, t, guest.Destroy, p, hypervisor.DestroySpec{}), job.Failed)
		if !strings.Contains(j.Error, "is now called") || len(b.cluster.Guests()) != 1 {
			t.Errorf("%s\n%s", j.Error, transcript)
		}
	})
}

// A guest that still has no name is removed by the one that it is shown under.
func TestGuestWithoutANameIsDestroyed(t *testing.T) {
	t.Parallel()
	b := newLifecycleFixture(t, memdriver.Tokens)
	ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
	b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name = "" })
	p.Name = "VM " + string(ref.ID)
	b.start(t)
	_, transcript := b.ended(t, onSnapshot(b, t, guest.Destroy, p, hypervisor.DestroySpec{}), job.Succeeded)
	if len(b.cluster.Guests()) != 0 {
		t.Errorf("it is there\n%s", transcript)
	}
}
