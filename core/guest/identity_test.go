package guest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// newNamedFixture is a fixture whose guests have names and UIDs.
func newNamedFixture(t *testing.T) *lifecycleFixture {
	t.Helper()
	return newLifecycleFixture(t, memdriver.Certificates)
}

// A job follows its guest under another name, whether a poll has seen it yet or not, and on another node too.
func TestGuestRenamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		polled, moved bool
		note          string
	}{
		"before a poll":                {false, false, "vm vm-100 now has another name: shop"},
		"and a poll has seen it":       {true, false, "stop of vm shop begins"},
		"and moved, before a poll":     {false, true, "vm shop has moved from node node1 to node node2"},
		"and moved, a poll saw a part": {true, true, "vm shop has moved from node node1 to node node2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newNamedFixture(t)
			ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
			id := b.enqueue(t, p, hypervisor.Stop)
			if !b.cluster.Rename(ref.ID, "shop") {
				t.Fatal("the guest was not renamed")
			}
			if c.polled {
				b.exec(t, "UPDATE guests SET ref = 'shop', name = 'shop' WHERE id = $1", p.GuestID)
			}
			if c.moved {
				b.cluster.Change("shop", func(g *hypervisor.Guest) { g.Node = "node2" })
			}
			b.start(t)
			_, transcript := b.ended(t, id, job.Succeeded)
			ref.ID = "shop"
			if got := fmt.Sprint(b.words(t, ref)); got != "[stop]" || !strings.Contains(transcript, c.note) {
				t.Errorf("the tasks %s\n%s", got, transcript)
			}
		})
	}
}

// Another guest that has the name by now is left alone, whatever is known of the first.
func TestGuestMadeAnew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		forget string
		text   string
	}{
		"and the row knows the first":  {"SELECT $1::bigint", "the hypervisor no longer has vm vm-100"},
		"and the row tells no UID":     {"UPDATE guests SET uid = NULL WHERE id = $1", "is not the guest for which this was requested"},
		"and the row is the new one's": {"UPDATE guests SET uid = 'other' WHERE id = $1", "no longer exists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newNamedFixture(t)
			ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
			id := b.enqueue(t, p, hypervisor.Stop)
			b.cluster.Remove(ref.ID)
			anew := b.cluster.NewGuestAs(hypervisor.VM, hypervisor.GuestRunning, ref.ID)
			b.cluster.Change(anew.ID, func(g *hypervisor.Guest) { g.Node = ref.Node })
			b.exec(t, c.forget, p.GuestID)
			b.start(t)
			j, transcript := b.ended(t, id, job.Failed)
			if n := b.tasks(t, anew); n != 0 || !strings.Contains(j.Error, c.text) {
				t.Errorf("%d tasks, error %q\n%s", n, j.Error, transcript)
			}
		})
	}
}

// A service that dies after a request finds its task under the name that the guest had then.
func TestKilledAndRenamed(t *testing.T) {
	t.Parallel()
	b := newNamedFixture(t)
	ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
	b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name = "stuck" }) // its task runs until it is ended
	var id int64
	b.meanwhile = func() {
		b.cluster.Rename(ref.ID, "shop")
		b.exec(t, "UPDATE guests SET ref = 'shop', name = 'shop' WHERE id = $1", p.GuestID)
		go func() { b.cluster.EndTask(b.taskOf(t, id), hypervisor.TaskOK, "OK") }()
	}
	_, transcript := b.killed(t, "after", "start", job.Succeeded, func() int64 {
		id = b.enqueue(t, p, hypervisor.Start)
		return id
	})
	if n := len(b.words(t, ref)); n != 1 || len(b.words(t, hypervisor.GuestRef{ID: "shop"})) != 0 {
		t.Errorf("%d tasks under the old name\n%s", n, transcript)
	}
}

func (b *lifecycleFixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := b.db.Pool.Exec(context.Background(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// What is asked while a caller waits follows a renamed guest too.
func TestLookAtARenamedGuest(t *testing.T) {
	t.Parallel()
	b := newNamedFixture(t)
	ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
	b.cluster.ChangeSnapshots(ref.ID, func([]hypervisor.Snapshot) []hypervisor.Snapshot { return []hypervisor.Snapshot{{Name: "nightly"}} })
	g, err := (&guest.Store{DB: b.db, Self: &guest.Self{DB: b.db}}).Get(t.Context(), guest.VM, p.GuestID)
	if err != nil {
		t.Fatal(err)
	}
	if g.VMID != nil || g.Ref != string(ref.ID) || g.At() != ref {
		t.Errorf("%+v at %+v, want %+v", g, g.At(), ref)
	}
	b.cluster.Rename(ref.ID, "shop")
	var asked []hypervisor.GuestID
	_, err = guest.CallAtNode(t.Context(), b, g, func(at hypervisor.GuestRef) (struct{}, error) {
		asked = append(asked, at.ID)
		host, err := b.Open(t.Context(), b.hostID, "monitoring")
		if err != nil {
			return struct{}{}, err
		}
		found, err := host.(hypervisor.Snapshotter).Snapshots(t.Context(), at)
		if err == nil && (len(found) != 1 || found[0].Name != "nightly") {
			t.Errorf("found %+v", found)
		}
		return struct{}{}, err
	})
	if err != nil || fmt.Sprint(asked) != "[vm-100 shop]" {
		t.Errorf("asked for %v, %v", asked, err)
	}
}
