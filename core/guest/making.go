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

// making is one job that makes a guest under an id that is free.
type making struct {
	*Worker
	run      *job.Run
	progress makingProgress

	hostID int64
	kind   hypervisor.GuestKind
	// node and name are those of the new guest, and noun is what texts call it.
	node, name, noun string
	// wanted says that no other id will do.
	wanted bool
	needs  endpoint.Capability
	// step is what the step's name begins with, which never changes, and does is how its task is known.
	step string
	does hypervisor.Operation
	// says is what the transcript says before a request.
	says string
	// send makes the request for an id.
	send func(ctx context.Context, at hypervisor.Host, id hypervisor.GuestID) (string, error)
	// look asks with the monitoring token whether a guest has the id, and whether it is known to be this job's.
	look func(ctx context.Context) (there, mine bool, err error)
	// from is the backup that it is made of; nil for a guest that is made of none.
	from *hypervisor.Backup
	// unmarked says that a guest of this job is not known by a mark, but by being there since a request whose answer was lost.
	unmarked bool
}

// makingProgress is the checkpoint.
type makingProgress struct {
	// ID is what the guest is to have; another one than at first where that was taken meanwhile.
	ID hypervisor.GuestID `json:"id"`
	// Tries counts the ids.
	Tries int `json:"tries,omitempty"`
	// TokenID is the token with which the present request is sent.
	TokenID string `json:"token_id,omitempty"`
	// Lost says that the answer to a request for the present ID was lost.
	Lost bool `json:"lost,omitempty"`
}

// maxIDs is how many ids are tried when others take those that were free.
const maxIDs = 5

// make makes the guest, and starts it where that is wanted.
func (c *making) make(ctx context.Context, start bool) error {
	if err := c.run.Progress(&c.progress); err != nil {
		return err
	}
	for {
		_, err := c.run.Do(ctx, c.request(c.present(), c.needs, c.does, c.before,
			func(ctx context.Context, at hypervisor.Host) (string, error) { return c.send(ctx, at, c.progress.ID) }))
		if err == nil {
			break
		}
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
	err := c.anew(ctx, c.hostID, c.ref())
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
	if errors.Is(err, job.ErrLost) || errors.Is(err, job.ErrStopping) || errors.Is(err, job.ErrSuspended) {
		return err // the next run goes on here
	}
	c.list(ctx) // it is there, started or not
	return err
}

// list has lists show the guest.
func (c *making) list(ctx context.Context) {
	c.sync(ctx, c.run, c.hostID)
	c.appear(ctx, c.run, c.hostID, c.ref())
}

// present is the name of the step for the present id.
func (c *making) present() string { return fmt.Sprintf("%s %s", c.step, c.progress.ID) }

// request is a step of the job.
func (c *making) request(name string, needs endpoint.Capability, does hypervisor.Operation,
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
		Ours: func(task hypervisor.Task) bool {
			return task.Operation == does && SentBy(task, c.progress.TokenID)
		},
		Absent: func(ctx context.Context, _ time.Time, reaches bool) error { return c.absent(ctx, needs, reaches) },
	}
}

func (c *making) ref() hypervisor.GuestRef {
	return hypervisor.GuestRef{Kind: c.kind, Node: c.node, ID: c.progress.ID}
}

// before looks, when a request may have been taken already, whether the guest is there and whose it is. That, and not the clock, tells
// what came of a request whose task is not found, so our own clock does for the search.
func (c *making) before(ctx context.Context) (clock time.Time, done bool, err error) {
	if c.run.Begun(c.present()) {
		c.progress.Lost = true
		there, mine, err := c.look(ctx)
		switch {
		case err != nil:
			return time.Time{}, false, err
		case mine:
			c.run.Note("the %s %s is there since the request: it was carried out, although its task was not found", c.noun, c.progress.ID)
			return time.Now(), true, nil
		case there:
			return time.Time{}, false, c.another()
		}
	}
	c.run.Note("%s", fmt.Sprintf("%s (%s) on node %s", c.says, c.progress.ID, c.node))
	return time.Now(), false, c.save(ctx, c.needs)
}

// another is the end of a job that finds a guest which is not known to be its own.
func (c *making) another() error {
	if c.unmarked {
		return job.Undetermined("a request was sent and its answer was lost; there is a guest %s now, and it is not known whether the "+
			"request has made it; look at the hypervisor before you ask for it once more", c.progress.ID)
	}
	return job.Fail("%s is another guest by now; no %s was made", c.progress.ID, c.noun)
}

// save stores the checkpoint with the present token.
func (c *making) save(ctx context.Context, needs endpoint.Capability) (err error) {
	at := &act{Worker: c.Worker, hostID: c.hostID}
	if c.progress.TokenID, err = at.tokenID(ctx, needs); err != nil {
		return err
	}
	return c.run.SaveProgress(ctx, c.progress)
}

// absent judges a request whose task is not listed. A guest of ours lets the step go on to before, which sees it; where there is none,
// only a list that reaches back to the request proves that it was never taken, and none that another token reads.
func (c *making) absent(ctx context.Context, needs endpoint.Capability, reaches bool) error {
	c.progress.Lost = true
	now, err := (&act{Worker: c.Worker, hostID: c.hostID}).tokenID(ctx, needs)
	if err != nil {
		return err
	}
	reaches = reaches && now == c.progress.TokenID
	there, mine, err := c.look(ctx)
	switch {
	case err != nil:
		return err
	case mine:
		return nil
	case there:
		return c.another()
	case !reaches:
		return job.Undetermined("a request was sent and its answer was lost; the hypervisor's task list does not reach back to it, "+
			"and there "+
			"is no %s %s now; look at the hypervisor before you ask for it once more", c.noun, c.progress.ID)
	}
	return nil
}

// ours reports whether a request was refused because an earlier one of this job has made the guest.
func (c *making) ours(ctx context.Context, err error) (bool, error) {
	if !collided(err) {
		return false, nil
	}
	there, mine, err := c.look(ctx)
	switch {
	case err != nil:
		return false, err
	case mine:
		c.run.Note("the %s %s is there since an earlier request", c.noun, c.progress.ID)
	case there && c.unmarked && c.progress.Lost:
		return false, c.another()
	}
	return mine, nil
}

// collided reports whether an error says that the id is taken: of the request, or of its task where the hypervisor finds it out there.
func collided(err error) bool {
	if status, verdict := job.Verdict(err); verdict {
		return status == job.Failed && strings.Contains(job.Text(err), "already exists")
	}
	return sdk.KindOf(err) == sdk.Conflict
}

// taken reports whether the id went to another guest before our request, so that another id does.
func (c *making) taken(err error) bool {
	return !c.wanted && c.progress.Tries < maxIDs && collided(err)
}

// freeID asks a host for an id that a new guest gets, other than those which jobs are about to use; empty where there is none.
func (w *Worker) freeID(ctx context.Context, hostID int64, query hypervisor.PlacementQuery) (hypervisor.GuestID, error) {
	found, err := host.AskWithin(ctx, w.Hosts, w.readLimit(), hostID, endpoint.Monitoring,
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
	p.avoid(used, false)
	return p.ID, err
}

// nextID asks for another id.
func (c *making) nextID(ctx context.Context) error {
	id, err := c.freeID(ctx, c.hostID, hypervisor.PlacementQuery{Kind: c.kind, Node: c.node, Name: c.name, ID: true})
	switch {
	case err != nil:
		return job.Fail("%s was taken by another guest, and no other id could be asked for: %s", c.progress.ID, job.Explain(err))
	case id == "" || id == c.progress.ID:
		return job.Fail("%s was taken by another guest; no %s was made", c.progress.ID, c.noun)
	}
	c.run.Note("%s was taken by another guest; the %s becomes %s", c.progress.ID, c.noun, id)
	c.progress.ID, c.progress.Lost = id, false
	c.progress.Tries++
	return c.run.SaveProgress(ctx, c.progress)
}

// explain adds to a failure that the id was taken.
func (c *making) explain(err error) error {
	if _, verdict := job.Verdict(err); !verdict && sdk.KindOf(err) == sdk.Conflict {
		return job.Fail("%s; no %s was made", job.Explain(err), c.noun)
	}
	return err
}

// start starts the new guest.
func (c *making) start(ctx context.Context) error {
	_, err := c.run.Do(ctx, c.request("start", endpoint.Lifecycle, hypervisor.Start.Operation(),
		func(ctx context.Context) (time.Time, bool, error) {
			guest, err := host.AskWithin(ctx, c.Hosts, defaultReadLimit, c.hostID, endpoint.Monitoring,
				func(ctx context.Context, at hypervisor.Host) (hypervisor.Guest, error) { return at.Guest(ctx, c.ref()) })
			if err != nil {
				return time.Time{}, false, err
			}
			if guest.Status == hypervisor.GuestRunning {
				return guest.At, true, nil
			}
			c.run.Note("starting it")
			return guest.At, false, c.save(ctx, endpoint.Lifecycle)
		}, func(ctx context.Context, at hypervisor.Host) (string, error) {
			able, err := host.Able[hypervisor.Lifecycler](at)
			if err != nil {
				return "", err
			}
			return able.Act(ctx, c.ref(), hypervisor.Start)
		}))
	if status, verdict := job.Verdict(err); verdict && status == job.Failed {
		return job.Fail("the %s %s was made, and could not be started: %s", c.noun, c.progress.ID, job.Text(err))
	}
	return err
}
