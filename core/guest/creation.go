package guest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// creation is a job that creates a guest under a free ID. Creation and restore
// share it: they differ in the request and in how the new guest is recognised.
type creation struct {
	*Worker
	run      *job.Run
	progress creationProgress

	hostID int64
	kind   hypervisor.GuestKind
	// node and name are those of the new guest. noun is the word for it in
	// texts.
	node, name, noun string
	// wanted is true if the user requested the ID, so no other may be used.
	wanted bool
	needs  endpoint.Capability
	// step is the beginning of the step's name. It is stored in checkpoints, so
	// it must never change. does identifies the hypervisor's task.
	step      string
	operation hypervisor.Operation
	// note is the transcript's line before a request.
	note string
	// send sends the request for an ID.
	send func(ctx context.Context, at hypervisor.Host, id hypervisor.GuestID) (string, error)
	// find reads, with the monitoring token, whether a guest has the ID, and
	// whether this job is known to have created it.
	find func(ctx context.Context) (there, mine bool, err error)
	// from is the backup that the guest is created from. It is nil for a new
	// guest.
	from *hypervisor.Backup
	// unmarked is true if the guest of this job has no mark. It is then
	// recognised by its existence after a request whose answer was lost, which
	// is less certain.
	unmarked bool
}

// creationProgress is the checkpoint of such a job.
type creationProgress struct {
	// ID is the ID of the guest. It differs from the first one if another guest
	// took that.
	ID hypervisor.GuestID `json:"id"`
	// Tries is the number of IDs that were tried.
	Tries int `json:"tries,omitempty"`
	// TokenID is the token of the current request.
	TokenID string `json:"token_id,omitempty"`
	// Lost is true if the answer to a request for the current ID was lost.
	Lost bool `json:"lost,omitempty"`
}

// maxIDs is the number of IDs that are tried if other guests keep taking the
// free ones.
const maxIDs = 5

// execute creates the guest and starts it if requested.
func (c *creation) execute(ctx context.Context, start bool) error {
	if err := c.run.LoadCheckpoint(&c.progress); err != nil {
		return err
	}
	for {
		_, err := c.run.Do(ctx, c.request(c.stepName(), c.needs, c.operation, c.before,
			func(ctx context.Context, at hypervisor.Host) (string, error) { return c.send(ctx, at, c.progress.ID) }))
		if err == nil {
			break
		}
		// A request that was carried out although its answer was lost makes the
		// repetition fail with "already exists". That is success.
		if ours, readErr := c.ours(ctx, err); readErr != nil {
			return readErr
		} else if ours {
			break
		}
		if !c.taken(err) {
			return c.explain(err)
		}
		if err := c.nextID(ctx); err != nil {
			return err
		}
	}
	// The ID may have been that of a destroyed guest, whose history must not
	// become that of the new one, unless the guest was restored from its own
	// backup.
	err := c.allowRelisting(ctx, c.hostID, c.ref())
	switch {
	case err != nil:
	case c.from != nil && c.from.Guest == c.progress.ID: // the guest of the backup is there again
		err = c.restored(ctx, c.hostID, *c.from)
	default:
		err = c.supersede(ctx, c.hostID, c.ref(), c.run.Job().CreatedAt)
	}
	if err != nil {
		return err
	}
	if start {
		err = c.start(ctx)
	}
	// The job is not over: this instance stops, or another one has taken over.
	if errors.Is(err, job.ErrLost) || errors.Is(err, job.ErrStopping) || errors.Is(err, job.ErrSuspended) {
		return err // the next run goes on here
	}
	c.list(ctx) // it is there, started or not
	return err
}

// list makes the guest appear in lists.
func (c *creation) list(ctx context.Context) {
	c.sync(ctx, c.run, c.hostID)
	c.appear(ctx, c.run, c.hostID, c.ref())
}

// stepName returns the name of the step for the current ID. Each ID has its own
// checkpoint.
func (c *creation) stepName() string { return fmt.Sprintf("%s %s", c.step, c.progress.ID) }

// request returns a step of the job in the form of package job.
func (c *creation) request(name string, needs endpoint.Capability, does hypervisor.Operation,
	before func(context.Context) (time.Time, bool, error), send func(context.Context, hypervisor.Host) (string, error)) job.Step {
	ref := c.ref()
	return job.Step{
		Name: name,
		Open: func(ctx context.Context) (hypervisor.Host, error) {
			return c.Hosts.Open(ctx, c.hostID, needs)
		},
		Watch: func(ctx context.Context) (hypervisor.Host, error) {
			return c.Hosts.Open(ctx, c.hostID, endpoint.Monitoring)
		},
		Before: before, Send: send,
		Query: func() hypervisor.TaskQuery { return hypervisor.TaskQuery{Guest: &ref, Node: ref.Node} },
		IsOurs: func(task hypervisor.Task) bool {
			return task.Operation == does && SentBy(task, c.progress.TokenID)
		},
		OnMissing: func(ctx context.Context, _ time.Time, reaches bool) error { return c.absent(ctx, needs, reaches) },
	}
}

// ref returns the reference of the new guest.
func (c *creation) ref() hypervisor.GuestRef {
	return hypervisor.GuestRef{Kind: c.kind, Node: c.node, ID: c.progress.ID}
}

// before decides whether the request must be sent. If it may have been sent
// before, before looks whether the guest exists and whose it is. The existence
// of the guest, and not the clock, decides about a request without a task, so
// the local clock is good enough for the search.
func (c *creation) before(ctx context.Context) (clock time.Time, done bool, err error) {
	if c.run.StepStarted(c.stepName()) {
		c.progress.Lost = true
		there, mine, err := c.find(ctx)
		switch {
		case err != nil:
			return time.Time{}, false, err
		case mine:
			c.run.Note("the %s %s has appeared since the request: it was carried out, although its task was not found",
				c.noun, c.progress.ID)
			return time.Now(), true, nil
		case there:
			return time.Time{}, false, c.another()
		}
	}
	c.run.Note("%s", fmt.Sprintf("%s (%s) on node %s", c.note, c.progress.ID, c.node))
	return time.Now(), false, c.save(ctx, c.needs)
}

// another returns the end of a job that finds a guest under its ID which it did
// not create, as far as is known.
func (c *creation) another() error {
	if c.unmarked {
		return job.Undetermined("a request was sent but its answer was lost; guest %s exists now, and it is unknown whether the "+
			"request created it; check the hypervisor before you request it again", c.progress.ID)
	}
	return job.Fail("%s is another guest now; no %s was created", c.progress.ID, c.noun)
}

// save stores the checkpoint with the current token. Tasks of another token are
// not in the list that is read later.
func (c *creation) save(ctx context.Context, needs endpoint.Capability) (err error) {
	at := &guestRun{Worker: c.Worker, hostID: c.hostID}
	if c.progress.TokenID, err = at.tokenID(ctx, needs); err != nil {
		return err
	}
	return c.run.SaveCheckpoint(ctx, c.progress)
}

// absent decides about a request whose task is not listed. If the guest exists
// and is ours, the step continues with before, which sees it. If it does not
// exist, only a task list that reaches back to the request proves that it never
// arrived, and only if it was read with the same token.
func (c *creation) absent(ctx context.Context, needs endpoint.Capability, reaches bool) error {
	c.progress.Lost = true
	now, err := (&guestRun{Worker: c.Worker, hostID: c.hostID}).tokenID(ctx, needs)
	if err != nil {
		return err
	}
	reaches = reaches && now == c.progress.TokenID
	there, mine, err := c.find(ctx)
	switch {
	case err != nil:
		return err
	case mine:
		return nil
	case there:
		return c.another()
	case !reaches:
		return job.Undetermined("a request was sent but its answer was lost; the hypervisor's task list does not reach back that far, "+
			"and the %s %s does not exist; check the hypervisor before you request it again", c.noun, c.progress.ID)
	}
	return nil
}

// ours reports whether a request was refused because an earlier request of this
// job has created the guest.
func (c *creation) ours(ctx context.Context, err error) (bool, error) {
	if !collided(err) {
		return false, nil
	}
	there, mine, err := c.find(ctx)
	switch {
	case err != nil:
		return false, err
	case mine:
		c.run.Note("the %s %s exists: an earlier request created it", c.noun, c.progress.ID)
	case there && c.unmarked && c.progress.Lost:
		return false, c.another()
	}
	return mine, nil
}

// collided reports whether an error says that the ID is taken. Some hypervisors
// report it for the request, others in the task, whose text is all there is.
func collided(err error) bool {
	if status, verdict := job.Verdict(err); verdict {
		return status == job.Failed && strings.Contains(job.Text(err), "already exists")
	}
	return sdk.KindOf(err) == sdk.Conflict
}

// taken reports whether another guest got the ID first, so that the job may try
// another ID.
func (c *creation) taken(err error) bool {
	return !c.wanted && c.progress.Tries < maxIDs && collided(err)
}

// freeID returns a free ID for a new guest, other than those that jobs are
// about to use. It is empty if there is none.
func (w *Worker) freeID(ctx context.Context, hostID int64, query hypervisor.PlacementQuery) (hypervisor.GuestID, error) {
	found, err := host.CallWithTimeout(ctx, w.Hosts, w.readLimit(), hostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Provisioner) (hypervisor.Placement, error) {
			return at.Placement(ctx, query)
		})
	if err != nil || found.ID == "" || found.Number == nil {
		return found.ID, err
	}
	p := &place{Placement: found}
	if err := w.DB.Pool.QueryRow(ctx, "SELECT COALESCE(cluster_id, 0) FROM hosts WHERE id = $1", hostID).Scan(&p.clusterID); err != nil {
		return "", db.Problem(fmt.Errorf("reading the host's cluster: %w", err))
	}
	used, err := usedIDs(ctx, w.DB.Pool, p.clusterID)
	if err != nil {
		return "", err
	}
	p.avoid(used, false)
	return p.ID, p.err()
}

// nextID selects another ID and stores it in the checkpoint.
func (c *creation) nextID(ctx context.Context) error {
	id, err := c.freeID(ctx, c.hostID, hypervisor.PlacementQuery{Kind: c.kind, Node: c.node, Name: c.name, ID: true})
	switch {
	case err != nil:
		return job.Fail("%s was taken by another guest, and no other ID could be requested: %s", c.progress.ID, job.Explain(err))
	case id == "" || id == c.progress.ID:
		return job.Fail("%s was taken by another guest; no %s was created", c.progress.ID, c.noun)
	}
	c.run.Note("%s was taken by another guest; the %s gets the ID %s", c.progress.ID, c.noun, id)
	c.progress.ID, c.progress.Lost = id, false
	c.progress.Tries++
	return c.run.SaveCheckpoint(ctx, c.progress)
}

// explain adds to a conflict that nothing was created.
func (c *creation) explain(err error) error {
	if _, verdict := job.Verdict(err); !verdict && sdk.KindOf(err) == sdk.Conflict {
		return job.Fail("%s; no %s was created", job.Explain(err), c.noun)
	}
	return err
}

// start starts the new guest. A guest that cannot be started still exists, and
// the error says so.
func (c *creation) start(ctx context.Context) error {
	_, err := c.run.Do(ctx, c.request("start", endpoint.Lifecycle, hypervisor.Start.Operation(),
		func(ctx context.Context) (time.Time, bool, error) {
			guest, err := host.CallWithTimeout(ctx, c.Hosts, defaultReadLimit, c.hostID, endpoint.Monitoring,
				func(ctx context.Context, at hypervisor.Host) (hypervisor.Guest, error) { return at.Guest(ctx, c.ref()) })
			if err != nil {
				return time.Time{}, false, err
			}
			if guest.Status == hypervisor.GuestRunning {
				return guest.At, true, nil
			}
			c.run.Note("starting the guest")
			return guest.At, false, c.save(ctx, endpoint.Lifecycle)
		}, func(ctx context.Context, at hypervisor.Host) (string, error) {
			able, err := host.AsAbility[hypervisor.LifecycleManager](at)
			if err != nil {
				return "", err
			}
			return able.Act(ctx, c.ref(), hypervisor.Start)
		}))
	if status, verdict := job.Verdict(err); verdict && status == job.Failed {
		return job.Fail("the %s %s was created but could not be started: %s", c.noun, c.progress.ID, job.Text(err))
	}
	return err
}
