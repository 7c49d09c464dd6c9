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
	"github.com/hostler/hostler/sdk/plugin"
)

// Placement implements hypervisor.Provisioner.
func (h *haltingHost) Placement(ctx context.Context, query hypervisor.PlacementQuery) (hypervisor.Placement, error) {
	return h.Host.(hypervisor.Provisioner).Placement(ctx, query)
}

// CreateVM, Destroy and Clone are requests at which the process of a test may stand still.
func (h *haltingHost) CreateVM(ctx context.Context, spec hypervisor.VMSpec) (string, error) {
	return h.at.do("create", func() (string, error) { return h.Host.(hypervisor.Provisioner).CreateVM(ctx, spec) })
}

func (h *haltingHost) Destroy(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.DestroySpec) (string, error) {
	return h.at.do("destroy", func() (string, error) { return h.Host.(hypervisor.Provisioner).Destroy(ctx, ref, spec) })
}

func (h *haltingHost) Clone(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.CloneSpec) (string, error) {
	return h.at.do("clone", func() (string, error) { return h.Host.(hypervisor.Cloner).Clone(ctx, ref, spec) })
}

// Config implements hypervisor.ConfigReader.
func (h *haltingHost) Config(ctx context.Context, ref hypervisor.GuestRef) (hypervisor.Config, error) {
	return h.Host.(hypervisor.ConfigReader).Config(ctx, ref)
}

const vmMark = "4f6c1c1e-6b1c-4b6e-9d1e-0a5b8f1f2a3b"

func (b *lifecycleFixture) vmSpec(id string) hypervisor.VMSpec {
	return hypervisor.VMSpec{ID: hypervisor.GuestID(id), Node: b.cluster.Nodes()[0], Name: "web", Cores: 2, MemoryMB: 512, DiskGB: 4,
		Storage: "local", Bridge: "br0", OSType: "l26", Mark: vmMark}
}

// marked counts the guests that were made by a job.
func (b *lifecycleFixture) marked() (n int) {
	for _, ref := range b.cluster.Guests() {
		if b.cluster.ConfigOf(ref.ID).Mark == vmMark {
			n++
		}
	}
	return n
}

// A service that is killed around a request that makes or destroys guests does it once, or says that it does not know.
func TestKilledAroundProvisioning(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "after"} {
		// Where tasks are forgotten, a request that left nothing to see may have been taken.
		want := func(b *lifecycleFixture) job.Status {
			if b.Forgets && when == "before" {
				return job.Unknown
			}
			return job.Succeeded
		}
		done := func(b *lifecycleFixture) int {
			if want(b) == job.Unknown {
				return 0
			}
			return 1
		}
		t.Run(when+" create", func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				_, transcript := b.killed(t, when, "create", want(b), func() int64 {
					return b.add(t, guest.CreateJob(b.hostID, b.vmSpec("900"), true, false))
				})
				if n := b.marked(); n != done(b) {
					t.Errorf("%d VMs were made\n%s", n, transcript)
				}
			})
		})
		t.Run(when+" the start of what was created", func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				_, transcript := b.killed(t, when, "start", job.Succeeded, func() int64 {
					return b.add(t, guest.CreateJob(b.hostID, b.vmSpec("900"), true, true))
				})
				if got := operations(b.cluster); b.marked() != 1 || statusOf(b.cluster, b.cluster.Guests()[0].ID) != hypervisor.GuestRunning ||
					got != "create start" {
					t.Errorf("%d VMs were made by the tasks %s\n%s", b.marked(), got, transcript)
				}
			})
		})
		t.Run(when+" clone", func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				_, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
				name := map[bool]string{true: "901", false: "copy"}[b.UIDs]
				_, transcript := b.killed(t, when, "clone", want(b), func() int64 {
					return b.add(t, guest.CloneJob(b.hostID, p, hypervisor.CloneSpec{ID: "901", Name: name, Full: true}))
				})
				if n := len(b.cluster.Guests()); n != 1+done(b) {
					t.Errorf("%d guests are there\n%s", n, transcript)
				}
			})
		})
		t.Run(when+" destroy", func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				_, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
				_, transcript := b.killed(t, when, "destroy", want(b), func() int64 {
					return onSnapshot(b, t, guest.Destroy, p, hypervisor.DestroySpec{Purge: true})
				})
				if n := len(b.cluster.Guests()); n != 1-done(b) {
					t.Errorf("%d guests are there\n%s", n, transcript)
				}
			})
		})
	}
}

// An app is uninstalled at whatever point of it the service is killed: stopped, destroyed and forgotten, by another job where the first
// does not know how far it came.
func TestKilledWhileAnAppIsUninstalled(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"before stop", "after stop", "before destroy", "after destroy"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			when, request, _ := strings.Cut(point, " ")
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				_, p := b.guest(t, hypervisor.Container, hypervisor.GuestRunning)
				var app int64
				err := b.db.Pool.QueryRow(t.Context(), `INSERT INTO apps (host_id, cluster_id, guest_id, guest_ref, name)
					SELECT host_id, cluster_id, id, ref, 'wiki' FROM guests WHERE id = $1 RETURNING id`, p.GuestID).Scan(&app)
				if err != nil {
					t.Fatal(err)
				}
				uninstall := func() int64 {
					return b.add(t, guest.Uninstall.Spec(job.Target{Kind: "app", ID: app, Name: "wiki"}, 1, b.hostID,
						guest.Params[hypervisor.DestroySpec]{RequestedGuest: p}))
				}
				want := job.Succeeded
				if b.Forgets && point == "before destroy" {
					want = job.Unknown
				}
				_, transcript := b.killed(t, when, request, want, uninstall)
				if want == job.Unknown { // it is asked for again then
					b.ended(t, uninstall(), job.Succeeded)
				}
				var apps int
				if err := b.db.Pool.QueryRow(t.Context(), "SELECT count(*) FROM apps").Scan(&apps); err != nil {
					t.Fatal(err)
				}
				if n := len(b.cluster.Guests()); n != 0 || apps != 0 {
					t.Errorf("%d guests and %d apps are left\n%s", n, apps, transcript)
				}
			})
		})
	}
}

func TestProvisioningJobs(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.start(t)
		j, transcript := b.ended(t, b.add(t, guest.CreateJob(b.hostID, b.vmSpec("900"), true, false)), job.Succeeded)
		if at, err := b.driver.Open(t.Context(), b.cluster.Target("monitoring")); err != nil {
			t.Error(err)
		} else if g, err := at.Guest(t.Context(), hypervisor.GuestRef{Kind: hypervisor.VM, Node: b.cluster.Nodes()[0], ID: "900"}); err != nil ||
			g.Status != hypervisor.GuestRunning {
			t.Errorf("%+v, %v; the job %+v\n%s", g, err, j, transcript)
		}
		// An id that another guest has taken meanwhile: another is taken, unless that one was asked for.
		second := b.vmSpec("900")
		second.Mark = "5f6c1c1e-6b1c-4b6e-9d1e-0a5b8f1f2a3b"
		if b.UIDs { // names are ids there, and there is no other
			second.Name = "900"
			_, transcript = b.ended(t, b.add(t, guest.CreateJob(b.hostID, second, false, false)), job.Failed)
		} else {
			_, transcript = b.ended(t, b.add(t, guest.CreateJob(b.hostID, second, false, false)), job.Succeeded)
		}
		if !strings.Contains(transcript, "was taken by another guest") {
			t.Errorf("the transcript:\n%s", transcript)
		}
		j, _ = b.ended(t, b.add(t, guest.CreateJob(b.hostID, second, false, true)), job.Failed)
		if !strings.Contains(j.Error, "no VM was created") {
			t.Errorf("an id that was asked for: %s", j.Error)
		}
		// The same for a copy, which was promised the id before.
		_, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
		copied := hypervisor.CloneSpec{ID: "900", Name: map[bool]string{true: "900", false: "copy"}[b.UIDs], Full: true}
		before := len(b.cluster.Guests())
		if b.UIDs {
			b.ended(t, b.add(t, guest.CloneJob(b.hostID, p, copied)), job.Failed)
		} else if _, transcript = b.ended(t, b.add(t, guest.CloneJob(b.hostID, p, copied)), job.Succeeded); !strings.Contains(transcript,
			"900 was taken by another guest; the clone gets the ID") || len(b.cluster.Guests()) != before+1 {
			t.Errorf("the copy: %d guests were %d\n%s", len(b.cluster.Guests()), before, transcript)
		}
		full := b.vmSpec("950")
		full.Name, full.DiskGB = "950", 100_000
		j, _ = b.ended(t, b.add(t, guest.CreateJob(b.hostID, full, false, false)), job.Failed)
		if !strings.Contains(j.Error, "has no room") {
			t.Errorf("a full storage: %s", j.Error)
		}
	})
}

// What runs, is protected or is another guest by now is not destroyed, although it was when the job was asked for.
func TestWhatIsNotDestroyed(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.start(t)
		for name, change := range map[string]func(hypervisor.GuestRef){
			"the guest is running": func(ref hypervisor.GuestRef) {
				b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Status = hypervisor.GuestRunning })
			},
			"the guest has protection enabled": func(ref hypervisor.GuestRef) {
				b.cluster.ChangeConfig(ref.ID, func(c *hypervisor.Config) { c.Protected = true })
			},
		} {
			ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
			change(ref)
			j, transcript := b.ended(t, onSnapshot(b, t, guest.Destroy, p, hypervisor.DestroySpec{}), job.Failed)
			if !strings.Contains(j.Error, name) || len(b.words(t, ref)) != 0 {
				t.Errorf("%s: %s\n%s", name, j.Error, transcript)
			}
		}
		// A container that is protected goes on running, too.
		ref, p := b.guest(t, hypervisor.Container, hypervisor.GuestRunning)
		b.cluster.ChangeConfig(ref.ID, func(c *hypervisor.Config) { c.Protected = true })
		j, transcript := b.ended(t, b.add(t, guest.Uninstall.Spec(job.Target{Kind: "app", ID: 1, Name: "wiki"}, 1, b.hostID,
			guest.Params[hypervisor.DestroySpec]{RequestedGuest: p})), job.Failed)
		if got := statusOf(b.cluster, ref.ID); got != hypervisor.GuestRunning || len(b.words(t, ref)) != 0 ||
			!strings.Contains(j.Error, "the guest has protection enabled on the hypervisor; nothing was done") {
			t.Errorf("a protected container is %s: %s\n%s", got, j.Error, transcript)
		}
		// The hypervisor's own word, where it finds it out first.
		ref, p = b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
		b.cluster.SetFault("destroy", memdriver.Fault{Err: plugin.Errorf(plugin.Conflict, "it is in use")})
		j, _ = b.ended(t, onSnapshot(b, t, guest.Destroy, p, hypervisor.DestroySpec{}), job.Failed)
		if !strings.Contains(j.Error, "it is in use") {
			t.Errorf("%v: %s", ref, j.Error)
		}
		b.cluster.SetFault("destroy", memdriver.Fault{})
		denied := plugin.Errorf(plugin.Denied, "no")
		denied.Missing, denied.Path, denied.Remedy = []string{"VM.Allocate"}, "/vms/1", "give it"
		b.cluster.SetFault("destroy", memdriver.Fault{Err: denied})
		j, _ = b.ended(t, onSnapshot(b, t, guest.Destroy, p, hypervisor.DestroySpec{}), job.Failed)
		if want := "the token lacks VM.Allocate on /vms/1; this grants it: give it"; !strings.Contains(j.Error, want) {
			t.Errorf("without the privilege: %s", fmt.Sprint(j.Error))
		}
	})
}

// twice makes a VM and says that the id is taken, as a hypervisor does that gets a request a second time.
type twice struct{ hypervisor.Host }

func (h twice) CreateVM(ctx context.Context, spec hypervisor.VMSpec) (string, error) {
	if _, err := h.Host.(hypervisor.Provisioner).CreateVM(ctx, spec); err != nil {
		return "", err
	}
	return "", plugin.Errorf(plugin.Conflict, "guest %s exists already", spec.ID)
}

func (h twice) Placement(ctx context.Context, query hypervisor.PlacementQuery) (hypervisor.Placement, error) {
	return h.Host.(hypervisor.Provisioner).Placement(ctx, query)
}

func (h twice) Destroy(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.DestroySpec) (string, error) {
	return h.Host.(hypervisor.Provisioner).Destroy(ctx, ref, spec)
}

// The backups that there are of an id are not of a guest that a job makes under it, but those of a guest that is made of one are.
func TestBackupsOfAnEarlierGuestOfTheID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		job        func(t *testing.T, b *lifecycleFixture, p guest.RequestedGuest, ref hypervisor.GuestRef) job.Spec
		superseded string
	}{
		"made": {func(t *testing.T, b *lifecycleFixture, _ guest.RequestedGuest, _ hypervisor.GuestRef) job.Spec {
			return guest.CreateJob(b.hostID, b.vmSpec("900"), true, true)
		}, "t f"},
		"copied": {func(t *testing.T, b *lifecycleFixture, p guest.RequestedGuest, _ hypervisor.GuestRef) job.Spec {
			return guest.CloneJob(b.hostID, p, hypervisor.CloneSpec{ID: "900", Name: "copy", Full: true})
		}, "t f"},
		"made of another's backup": {func(t *testing.T, b *lifecycleFixture, p guest.RequestedGuest, ref hypervisor.GuestRef) job.Spec {
			return guest.RestoreJob(b.hostID, p.Name, hypervisor.RestoreSpec{Backup: b.saved(b.shelf(), ref), ID: "900", Node: ref.Node}, true)
		}, "t f"},
		"made of its own backup": {func(t *testing.T, b *lifecycleFixture, p guest.RequestedGuest, ref hypervisor.GuestRef) job.Spec {
			saved := b.saved(b.shelf(), ref)
			saved.Guest = "900"
			b.exec(t, "UPDATE backups SET superseded = true, ref = $1 WHERE ref = 'old'", saved.ID)
			return guest.RestoreJob(b.hostID, p.Name, hypervisor.RestoreSpec{Backup: saved, ID: "900", Node: ref.Node}, true)
		}, "f f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newLifecycleFixture(t, memdriver.Tokens)
			b.exec(t, `INSERT INTO backup_storages (cluster_id, host_id, node, name) SELECT cluster_id, id, '', 'nas' FROM hosts WHERE id = $1`,
				b.hostID)
			b.exec(t, `INSERT INTO backups (cluster_id, storage_id, ref, node, kind, guest_ref, taken_at)
				SELECT cluster_id, id, v.ref, '', 'vm', '900', now() + v.age FROM backup_storages,
				(VALUES ('old', interval '-1 day'), ('new', interval '1 day')) v (ref, age)`)
			ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
			b.start(t)
			_, transcript := b.ended(t, b.add(t, c.job(t, b, p, ref)), job.Succeeded)
			var got string
			if err := b.db.Pool.QueryRow(t.Context(), "SELECT string_agg(left(superseded::text, 1), ' ' ORDER BY taken_at) FROM backups").
				Scan(&got); err != nil {
				t.Fatal(err)
			}
			if got != c.superseded {
				t.Errorf("another guest's are %s, want %s\n%s", got, c.superseded, transcript)
			}
		})
	}
}

// A VM that an earlier request of the same job has made is known by its mark, and no second one is made.
func TestAnEarlierRequestHasMadeTheVM(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.wrap = func(h hypervisor.Host) hypervisor.Host { return twice{h} }
		b.start(t)
		_, transcript := b.ended(t, b.add(t, guest.CreateJob(b.hostID, b.vmSpec("900"), false, false)), job.Succeeded)
		if n := b.marked(); n != 1 || !strings.Contains(transcript, "exists: an earlier request created it") {
			t.Errorf("%d VMs were made\n%s", n, transcript)
		}
	})
}
