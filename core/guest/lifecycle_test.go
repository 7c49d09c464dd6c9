package guest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// lifecycleFixture is one host with guests, in the database and in memory.
type lifecycleFixture struct {
	memdriver.Shape
	url string
	db  *db.DB
	// served is the driver as a plugin has it, and driver the part that holds the cluster.
	served  hypervisor.Driver
	driver  *memdriver.Driver
	cluster *memdriver.Cluster
	queue   *job.Queue
	worker  *guest.Worker
	hostID  int64
	// other is a second host, of a cluster of its own; nil where there is none.
	other   *memdriver.Cluster
	otherID int64
	// machines are those of the hosts; nil where none is logged in to.
	machines *machines
	// missing are capabilities without a token; opened counts the hosts that were opened by capability.
	missing map[endpoint.Capability]bool
	mu      sync.Mutex
	opened  map[endpoint.Capability]int
	// wrap changes a host that is opened with the lifecycle token.
	wrap func(hypervisor.Host) hypervisor.Host
	// wrapBackups is the same for one that is opened with the token of backups.
	wrapBackups func(hypervisor.Host) hypervisor.Host
	// meanwhile is called while no instance runs, between a kill and the next start.
	meanwhile func()
}

func (b *lifecycleFixture) Open(ctx context.Context, hostID int64, capability endpoint.Capability) (hypervisor.Host, error) {
	cluster := b.clusters()[hostID]
	if cluster == nil {
		return nil, fmt.Errorf("no host %d", hostID)
	}
	if b.missing[capability] {
		return nil, problem.New(problem.CodeCapabilityMissing, "the host has no token for %s", capability)
	}
	b.mu.Lock()
	b.opened[capability]++
	b.mu.Unlock()
	host, err := b.driver.Open(ctx, cluster.Target(capability))
	if err == nil && b.wrap != nil && capability == endpoint.Lifecycle {
		host = b.wrap(host)
	}
	if err == nil && b.wrapBackups != nil && capability == endpoint.Backup {
		host = b.wrapBackups(host)
	}
	return host, err
}

// clusters are those of the hosts.
func (b *lifecycleFixture) clusters() map[int64]*memdriver.Cluster {
	all := map[int64]*memdriver.Cluster{b.hostID: b.cluster}
	if b.other != nil {
		all[b.otherID] = b.other
	}
	return all
}

const poolAddress = "pool.mem:8006"

func newLifecycleFixture(t *testing.T, shape memdriver.Shape) *lifecycleFixture {
	t.Helper()
	url := dbtest.URL(t)
	b := &lifecycleFixture{
		Shape: shape, url: url, db: dbtest.Open(t, url), missing: map[endpoint.Capability]bool{}, opened: map[endpoint.Capability]int{},
	}
	b.served, b.driver = shape.New()
	b.cluster = b.driver.Add(poolAddress, memdriver.Spec{Nodes: 2, TaskMemory: time.Minute})
	err := b.db.Pool.QueryRow(t.Context(), `
		WITH c AS (INSERT INTO clusters (team_id, name) VALUES (1, 'mem') RETURNING id)
		INSERT INTO hosts (cluster_id, driver, name, address) SELECT id, 'mem', 'pool', 'pool.mem:8006' FROM c RETURNING
			id`).Scan(&b.hostID)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.db.Pool.Exec(t.Context(),
		"INSERT INTO host_credentials (host_id, capability, token_id, secret) VALUES ($1, 'lifecycle', $2, ''), ($1, 'backup', $3, '')",
		b.hostID, b.cluster.Target(endpoint.Lifecycle).Credential.ID, b.cluster.Target(endpoint.Backup).Credential.ID)
	if err != nil {
		t.Fatal(err)
	}
	b.queue = b.newQueue(t)
	b.worker = &guest.Worker{DB: b.db, Hosts: b}
	b.worker.Register(b.queue)
	return b
}

func (b *lifecycleFixture) newQueue(t *testing.T) *job.Queue {
	t.Helper()
	q, err := job.New(job.Config{
		DB: b.db, Logger: hclog.NewNullLogger(), ResumeEvery: 300 * time.Millisecond, Settle: 300 * time.Millisecond,
		UnreachableLimit: 2 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// cancelAll cancels every unfinished job.
func (b *lifecycleFixture) cancelAll(t *testing.T) {
	t.Helper()
	all, _, err := b.queue.List(t.Context(), job.Filter{}, identity.VisibleTeams{All: true, Teams: []int64{}})
	if err != nil {
		t.Error(err)
	}
	for _, j := range all {
		if j.Status.Finished() {
			continue
		}
		err := b.db.Tx(t.Context(), func(tx *db.Tx) error {
			_, err := b.queue.Cancel(t.Context(), tx, j.ID, identity.VisibleTeams{All: true, Teams: []int64{}})
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func (b *lifecycleFixture) start(t *testing.T) {
	t.Helper()
	if err := b.queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.queue.Stop(context.Background()) })
}

// guest makes one in the hypervisor and its row.
func (b *lifecycleFixture) guest(t *testing.T, kind hypervisor.GuestKind, status string) (hypervisor.GuestRef, guest.RequestedGuest) {
	t.Helper()
	ref := b.cluster.NewGuest(kind, status)
	p := guest.RequestedGuest{Kind: kind, Ref: ref.ID, UID: ref.UID}
	var number *int64
	b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { p.Name, number = g.Name, g.Number })
	err := b.db.Pool.QueryRow(t.Context(), `INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, uid, node, name, status)
		SELECT cluster_id, id, $2, $3::bigint, $4, nullif($5, ''), $6, $7, $8 FROM hosts WHERE id = $1 RETURNING id`,
		b.hostID, kind, number, ref.ID, ref.UID, ref.Node, p.Name, status).Scan(&p.GuestID)
	if err != nil {
		t.Fatal(err)
	}
	return ref, p
}

func (b *lifecycleFixture) enqueue(t *testing.T, p guest.RequestedGuest, action hypervisor.Action) int64 {
	t.Helper()
	kind := "vm"
	if p.Kind == hypervisor.Container {
		kind = "app"
	}
	return b.add(t, guest.Lifecycle(action).Spec(job.Target{Kind: kind, ID: p.GuestID, Name: p.Name}, 1, b.hostID,
		guest.Params[struct{}]{RequestedGuest: p}))
}

// add enqueues a job.
func (b *lifecycleFixture) add(t *testing.T, spec job.Spec) (id int64) {
	t.Helper()
	err := b.db.Tx(t.Context(), func(tx *db.Tx) error {
		j, err := b.queue.Enqueue(t.Context(), tx, spec)
		if err == nil {
			id = j.ID
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// ended waits for a job and gives it with its transcript.
func (b *lifecycleFixture) ended(t *testing.T, id int64, want job.Status) (*job.Job, string) {
	t.Helper()
	var j *job.Job
	waittest.Until(t, "the job has ended", func() bool {
		var err error
		if j, err = b.queue.Get(t.Context(), id, identity.VisibleTeams{All: true, Teams: []int64{}}); err != nil {
			t.Fatal(err)
		}
		return j.Status.Finished()
	})
	events, err := b.queue.Events(t.Context(), id, 0, job.MaxEvents)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range events {
		lines = append(lines, e.Kind+": "+e.Text)
	}
	transcript := strings.Join(lines, "\n")
	if j.Status != want {
		t.Fatalf("job ended as %s (%s), want %s\n%s", j.Status, j.Error, want, transcript)
	}
	return j, transcript
}

// tasks counts the actions on a guest; the task that made it is none.
func (b *lifecycleFixture) tasks(t *testing.T, ref hypervisor.GuestRef) (n int) {
	t.Helper()
	return len(b.words(t, ref))
}

func TestEveryAction(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.start(t)
		for _, c := range []struct {
			kind         hypervisor.GuestKind
			action       hypervisor.Action
			before, then string
		}{
			{hypervisor.VM, hypervisor.Start, hypervisor.GuestStopped, hypervisor.GuestRunning},
			{hypervisor.VM, hypervisor.Stop, hypervisor.GuestRunning, hypervisor.GuestStopped},
			{hypervisor.VM, hypervisor.Shutdown, hypervisor.GuestRunning, hypervisor.GuestStopped},
			{hypervisor.VM, hypervisor.Restart, hypervisor.GuestRunning, hypervisor.GuestRunning},
			{hypervisor.VM, hypervisor.Pause, hypervisor.GuestRunning, hypervisor.GuestPaused},
			{hypervisor.VM, hypervisor.Resume, hypervisor.GuestPaused, hypervisor.GuestRunning},
			{hypervisor.VM, hypervisor.Reset, hypervisor.GuestRunning, hypervisor.GuestRunning},
			{hypervisor.Container, hypervisor.Start, hypervisor.GuestStopped, hypervisor.GuestRunning},
			{hypervisor.Container, hypervisor.Stop, hypervisor.GuestRunning, hypervisor.GuestStopped},
			{hypervisor.Container, hypervisor.Shutdown, hypervisor.GuestRunning, hypervisor.GuestStopped},
			{hypervisor.Container, hypervisor.Restart, hypervisor.GuestRunning, hypervisor.GuestRunning},
			{hypervisor.Container, hypervisor.Pause, hypervisor.GuestRunning, hypervisor.GuestPaused},
			{hypervisor.Container, hypervisor.Resume, hypervisor.GuestPaused, hypervisor.GuestRunning},
		} {
			ref, p := b.guest(t, c.kind, c.before)
			if !b.knows(t, c.kind, c.action) {
				j, _ := b.ended(t, b.enqueue(t, p, c.action), job.Failed)
				if want := fmt.Sprintf("has no action %q", c.action); b.tasks(t, ref) != 0 || !strings.Contains(j.Error, want) {
					t.Errorf("%s %s: %d tasks, error %q, want %q", c.kind, c.action, b.tasks(t, ref), j.Error, want)
				}
				continue
			}
			j, transcript := b.ended(t, b.enqueue(t, p, c.action), job.Succeeded)
			if b.tasks(t, ref) != 1 || j.TaskID == "" {
				t.Errorf("%s %s: %d tasks, %q", c.kind, c.action, b.tasks(t, ref), j.TaskID)
			}
			if !strings.Contains(transcript, "log: guest is "+c.then) {
				t.Errorf("%s %s: transcript\n%s", c.kind, c.action, transcript)
			}
			var shown string
			if err := b.db.Pool.QueryRow(t.Context(), "SELECT status FROM guests WHERE id = $1", p.GuestID).Scan(&shown); err != nil ||
				shown != c.then {
				t.Errorf("%s %s: the row says %q, %v, want %q", c.kind, c.action, shown, err, c.then)
			}
		}
	})
}

func TestNothingToDo(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.start(t)
		for action, status := range map[hypervisor.Action]string{
			hypervisor.Start: hypervisor.GuestRunning, hypervisor.Stop: hypervisor.GuestStopped,
			hypervisor.Shutdown: hypervisor.GuestStopped, hypervisor.Pause: hypervisor.GuestPaused,
			hypervisor.Resume: hypervisor.GuestRunning,
		} {
			ref, p := b.guest(t, hypervisor.VM, status)
			j, transcript := b.ended(t, b.enqueue(t, p, action), job.Succeeded)
			if b.tasks(t, ref) != 0 || j.TaskID != "" || !strings.Contains(transcript, "nothing to do: the guest is "+status) {
				t.Errorf("%s: %d tasks, transcript\n%s", action, b.tasks(t, ref), transcript)
			}
		}
	})
}

// A guest that moved since the last poll is found where it is.
func TestGuestMoved(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.start(t)
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		moved := ref
		moved.Node = map[string]string{"node1": "node2", "node2": "node1"}[ref.Node]
		b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Node = moved.Node })
		_, transcript := b.ended(t, b.enqueue(t, p, hypervisor.Stop), job.Succeeded)
		if b.tasks(t, moved) != 1 || !strings.Contains(transcript, "has moved from node "+ref.Node+" to node "+moved.Node) {
			t.Errorf("%d tasks, transcript\n%s", b.tasks(t, moved), transcript)
		}
	})
}

// Whatever is no longer as it was when the job was asked for stops it before anything is sent.
func TestCheckedAgainAtTheStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(b *lifecycleFixture, ref hypervisor.GuestRef, p guest.RequestedGuest)
		action hypervisor.Action
		text   string
		// byName is for what makes another guest only where no UID tells that it is the same.
		byName bool
	}{
		"another name": {func(b *lifecycleFixture, ref hypervisor.GuestRef, _ guest.RequestedGuest) {
			b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name = "database" })
		}, hypervisor.Stop, `is now called "database"`, true},
		"row gone": {func(b *lifecycleFixture, _ hypervisor.GuestRef, p guest.RequestedGuest) {
			_, _ = b.db.Pool.Exec(context.Background(), "DELETE FROM guests WHERE id = $1", p.GuestID)
		}, hypervisor.Stop, "no longer exists", false},
		"guest gone": {func(b *lifecycleFixture, ref hypervisor.GuestRef, _ guest.RequestedGuest) {
			b.cluster.Remove(ref.ID)
		}, hypervisor.Stop, "the hypervisor no longer has vm", false},
		"self": {func(b *lifecycleFixture, _ hypervisor.GuestRef, p guest.RequestedGuest) {
			b.worker.Self = func(_ context.Context, id int64) (bool, error) { return id == p.GuestID, nil }
		}, hypervisor.Stop, "the service itself runs in this guest", false},
		"no token": {func(b *lifecycleFixture, _ hypervisor.GuestRef, _ guest.RequestedGuest) {
			b.missing[endpoint.Lifecycle] = true
		}, hypervisor.Stop, "no token for lifecycle", false},
		"host away": {func(b *lifecycleFixture, _ hypervisor.GuestRef, _ guest.RequestedGuest) {
			b.cluster.SetFault("guest", memdriver.Fault{Err: sdk.Errorf(sdk.Unreachable, "no route to the host")})
		}, hypervisor.Stop, "no route to the host", false},
		"locked": {func(b *lifecycleFixture, ref hypervisor.GuestRef, _ guest.RequestedGuest) {
			b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Lock = "backup" })
		}, hypervisor.Stop, "is locked (backup)", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
				id := b.enqueue(t, p, c.action)
				c.change(b, ref, p)
				b.start(t)
				if c.byName && b.UIDs {
					b.ended(t, id, job.Succeeded)
					return
				}
				j, _ := b.ended(t, id, job.Failed)
				if !strings.Contains(j.Error, c.text) {
					t.Errorf("error %q, want %q in it", j.Error, c.text)
				}
				if n := b.tasks(t, ref); n != 0 {
					t.Errorf("%d tasks were started", n)
				}
			})
		})
	}
}

// A failure names the task of somebody else that worked on the guest then: the hypervisor's own text does not.
func TestFailureBesideAnotherTask(t *testing.T) {
	t.Parallel()
	busy := func(text string) func(hypervisor.Host) hypervisor.Host {
		return func(h hypervisor.Host) hypervisor.Host {
			return &deaf{h, func(context.Context, func() (string, error)) error {
				return sdk.Errorf(sdk.Busy, "%s", text)
			}}
		}
	}
	// held gives a VM that a stranger's task works on, the stranger's name and the task.
	held := func(t *testing.T, b *lifecycleFixture) (p guest.RequestedGuest, name, task string) {
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name = "stuck" })
		p.Name = "stuck"
		target := b.cluster.NewToken(endpoint.Lifecycle, "stranger", memdriver.GuestPower, memdriver.GuestAudit)
		stranger, err := b.driver.Open(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		if task, err = stranger.(hypervisor.LifecycleManager).Act(t.Context(), ref, hypervisor.Shutdown); err != nil {
			t.Fatal(err)
		}
		name, _, _ = strings.Cut(target.Credential.ID, "!")
		return p, name, task
	}
	t.Run("refused at once", func(t *testing.T) {
		t.Parallel()
		inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
			p, name, task := held(t, b)
			b.wrap = busy("can't lock file - got timeout")
			b.start(t)
			j, _ := b.ended(t, b.enqueue(t, p, hypervisor.Stop), job.Failed)
			for _, part := range []string{"can't lock file - got timeout; at that time another task was working on the guest: " +
				"guest_shutdown by " +
				name + " since ", task} {
				if !strings.Contains(j.Error, part) {
					t.Errorf("error %q, want %q in it", j.Error, part)
				}
			}
		})
	})
	for name, over := range map[string]bool{
		"in the task, which the other one outlived": false, "in the task, which outlived the other one": true,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				p, _, task := held(t, b)
				b.start(t)
				id := b.enqueue(t, p, hypervisor.Stop)
				ours := b.taskOf(t, id)
				if over {
					b.cluster.EndTask(task, hypervisor.TaskFailed, "got timeout")
				}
				b.cluster.EndTask(ours, hypervisor.TaskFailed, "can't lock file - got timeout")
				j, _ := b.ended(t, id, job.Failed)
				if over && b.Forgets { // nothing tells of the other one any more
					if j.Error != "can't lock file - got timeout" {
						t.Errorf("error %q", j.Error)
					}
					return
				}
				if !strings.HasPrefix(j.Error, "can't lock file - got timeout; ") || !strings.Contains(j.Error, task) ||
					strings.Contains(j.Error, ours) {
					t.Errorf("error %q, want the task %s in it", j.Error, task)
				}
			})
		})
	}
	t.Run("one that had nothing to do with it is not named", func(t *testing.T) {
		t.Parallel()
		inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
			p, _, _ := held(t, b)
			b.start(t)
			id := b.enqueue(t, p, hypervisor.Stop)
			b.cluster.EndTask(b.taskOf(t, id), hypervisor.TaskFailed, "no such disk")
			if j, _ := b.ended(t, id, job.Failed); j.Error != "no such disk" {
				t.Errorf("error %q", j.Error)
			}
		})
	})
	t.Run("one that was over before is not named", func(t *testing.T) {
		t.Parallel()
		inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
			p, _, task := held(t, b)
			b.cluster.EndTask(task, hypervisor.TaskFailed, "got timeout")
			b.start(t)
			id := b.enqueue(t, p, hypervisor.Stop)
			b.cluster.EndTask(b.taskOf(t, id), hypervisor.TaskFailed, "guest is locked")
			if j, _ := b.ended(t, id, job.Failed); j.Error != "guest is locked" {
				t.Errorf("error %q", j.Error)
			}
		})
	})
	t.Run("that cannot be asked for", func(t *testing.T) {
		t.Parallel()
		inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
			p, _, _ := held(t, b)
			b.wrap = busy("locked")
			b.cluster.SetFault("tasks", memdriver.Fault{Err: sdk.Errorf(sdk.Denied, "no")})
			b.start(t)
			j, transcript := b.ended(t, b.enqueue(t, p, hypervisor.Stop), job.Failed)
			if j.Error != "locked" || !strings.Contains(transcript, "could not read which other task is working on the guest") {
				t.Errorf("error %q\n%s", j.Error, transcript)
			}
		})
	})
}

// The task of a guest of the high availability manager ends when the manager was asked: the job waits for the guest, with a limit.
func TestGuestsOfTheManagerAreWaitedFor(t *testing.T) {
	t.Parallel()
	for action, from := range map[hypervisor.Action]string{
		hypervisor.Stop: hypervisor.GuestRunning, hypervisor.Start: hypervisor.GuestStopped,
	} {
		for _, comes := range []bool{true, false} {
			t.Run(fmt.Sprint(action, comes), func(t *testing.T) {
				t.Parallel()
				inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
					ref, p := b.guest(t, hypervisor.VM, from)
					b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.HA = true })
					b.wrap = func(h hypervisor.Host) hypervisor.Host {
						return &deaf{h, func(context.Context, func() (string, error)) error { return nil }}
					}
					if !comes {
						b.worker.StateLimit = 300 * time.Millisecond
					}
					b.start(t)
					id := b.enqueue(t, p, action)
					if !comes {
						j, _ := b.ended(t, id, job.Unknown)
						if !strings.Contains(j.Error, "was requested from the hypervisor's high availability manager") ||
							!strings.HasSuffix(j.Error, "the guest is still "+from) {
							t.Errorf("error %q", j.Error)
						}
						return
					}
					waittest.Until(t, "the job waits", func() bool {
						events, err := b.queue.Events(t.Context(), id, 0, job.MaxEvents)
						return err == nil && slices.ContainsFunc(events, func(e job.Event) bool {
							return strings.HasSuffix(e.Text, "waiting for the guest")
						})
					})
					to := map[string]string{hypervisor.GuestRunning: hypervisor.GuestStopped, hypervisor.GuestStopped: hypervisor.GuestRunning}
					b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Status = to[from] })
					b.ended(t, id, job.Succeeded)
				})
			})
		}
	}
}

// unfollowed are hosts whose token is gone when a task is to be followed.
type unfollowed struct{ hypervisor.Host }

func (unfollowed) WaitTask(context.Context, string, int, func(hypervisor.LogLine) error) (hypervisor.TaskResult, error) {
	return hypervisor.TaskResult{}, sdk.Errorf(sdk.TokenRejected, "the token was deleted")
}

type unfollowedPower struct {
	unfollowed
	hypervisor.LifecycleManager
}

type unfollowedBackups struct {
	unfollowed
	hypervisor.BackupManager
}

// A task whose token is deleted meanwhile is followed with the token for monitoring, whatever kind of job has begun it.
func TestTasksWhoseTokenIsDeleted(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.start(t)
		b.shelf()
		_, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		b.wrap = func(h hypervisor.Host) hypervisor.Host {
			return unfollowedPower{unfollowed{h}, h.(hypervisor.LifecycleManager)}
		}
		b.wrapBackups = func(h hypervisor.Host) hypervisor.Host {
			return unfollowedBackups{unfollowed{h}, h.(hypervisor.BackupManager)}
		}
		for name, begin := range map[string]func() int64{
			"backup": func() int64 { return b.backUp(t, p, "nightly") },
			"stop":   func() int64 { return b.enqueue(t, p, hypervisor.Stop) },
		} {
			_, transcript := b.ended(t, begin(), job.Succeeded)
			if !strings.Contains(transcript, "using the monitoring token instead") {
				t.Errorf("%s: %s", name, transcript)
			}
		}
	})
}

// taskOf waits until a job follows its task.
func (b *lifecycleFixture) taskOf(t *testing.T, id int64) string {
	t.Helper()
	var task string
	waittest.Until(t, "the job follows a task", func() bool {
		j, err := b.queue.Get(t.Context(), id, identity.VisibleTeams{All: true, Teams: []int64{}})
		if err != nil {
			t.Fatal(err)
		}
		task = j.TaskID
		return task != ""
	})
	return task
}

func TestConfirmedSelf(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.worker.Self = func(context.Context, int64) (bool, error) { return true, nil }
		b.start(t)
		_, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		p.ConfirmedSelf = true
		b.ended(t, b.enqueue(t, p, hypervisor.Stop), job.Succeeded)
		_, p = b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
		b.ended(t, b.enqueue(t, p, hypervisor.Start), job.Succeeded)
	})
}

// deaf takes an action, carries it out when it is told to, and loses the answer.
type deaf struct {
	hypervisor.Host
	after func(ctx context.Context, act func() (string, error)) error
}

func (h *deaf) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	return "", h.after(ctx, func() (string, error) { return h.Host.(hypervisor.LifecycleManager).Act(ctx, ref, action) })
}

// A task of somebody else is not taken for ours, and a token that was changed meanwhile makes the list worth nothing.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	cut := sdk.Errorf(sdk.Unreachable, "cut")
	t.Run("ours is found beside a stranger's", func(t *testing.T) {
		t.Parallel()
		inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
			ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
			p.Name = "stuck" // its tasks run until they are ended
			b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name = "stuck" })
			strange := b.cluster.NewToken(endpoint.Lifecycle, "stranger", memdriver.GuestPower, memdriver.GuestAudit)
			stranger, _ := b.driver.Open(t.Context(), strange)
			b.wrap = func(h hypervisor.Host) hypervisor.Host {
				return &deaf{h, func(ctx context.Context, act func() (string, error)) error {
					_, _ = stranger.(hypervisor.LifecycleManager).Act(ctx, ref, hypervisor.Restart)
					_, _ = act()
					return cut
				}}
			}
			b.start(t)
			id := b.enqueue(t, p, hypervisor.Restart)
			b.taskOf(t, id)
			b.endTasks(t, ref)
			j, transcript := b.ended(t, id, job.Succeeded)
			if strings.Contains(j.TaskID, strange.Credential.ID) || b.tasks(t, ref) != 2 {
				t.Errorf("the job has the task %q\n%s", j.TaskID, transcript)
			}
		})
	})
	t.Run("token changed", func(t *testing.T) {
		t.Parallel()
		inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
			ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
			b.wrap = func(h hypervisor.Host) hypervisor.Host {
				return &deaf{h, func(ctx context.Context, _ func() (string, error)) error {
					_, err := b.db.Pool.Exec(ctx, "UPDATE host_credentials SET token_id = 'service@mem!new'")
					if err != nil {
						t.Error(err)
					}
					return cut
				}}
			}
			b.start(t)
			j, _ := b.ended(t, b.enqueue(t, p, hypervisor.Restart), job.Unknown)
			if !strings.Contains(j.Error, "token has changed") || b.tasks(t, ref) != 0 {
				t.Errorf("error %q, %d tasks", j.Error, b.tasks(t, ref))
			}
		})
	})
}

// The task fails because the guest came into the wanted state by itself.
func TestFailureThatIsNone(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.start(t)
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		p.Name = "stuck"
		b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name = "stuck" })
		for _, wanted := range []job.Status{job.Failed, job.Succeeded} {
			id := b.enqueue(t, p, hypervisor.Shutdown)
			task := b.taskOf(t, id)
			if wanted == job.Succeeded {
				b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Status = hypervisor.GuestStopped })
			}
			b.cluster.EndTask(task, hypervisor.TaskFailed, "got timeout")
			b.ended(t, id, wanted)
		}
	})
}

func TestOneCapabilityPerCall(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.start(t)
		_, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		b.ended(t, b.enqueue(t, p, hypervisor.Start), job.Succeeded)
		_ = b.queue.Stop(t.Context())
		if b.opened[endpoint.Lifecycle] != 0 || b.opened[endpoint.Monitoring] == 0 {
			t.Errorf("reading a state opened %v", b.opened)
		}
	})
}
