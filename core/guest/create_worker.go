package guest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// creation is one job that makes a VM.
type creation struct {
	*Worker
	run      *job.Run
	params   createParams
	progress createProgress
}

// createProgress is the checkpoint.
type createProgress struct {
	// ID is what the VM is to have; another one than at first where that was taken meanwhile.
	ID hypervisor.GuestID `json:"id"`
	// Tries counts the ids.
	Tries int `json:"tries,omitempty"`
	// TokenID is the token with which the present request is sent.
	TokenID string `json:"token_id,omitempty"`
}

// maxIDs is how many ids are tried when others take those that were free.
const maxIDs = 5

func (w *Worker) create(ctx context.Context, run *job.Run) error {
	c := &creation{Worker: w, run: run}
	if err := run.Params(&c.params); err != nil {
		return err
	}
	c.progress.ID = c.params.Spec.ID
	if err := run.Progress(&c.progress); err != nil {
		return err
	}
	for {
		step := fmt.Sprintf("create %s", c.progress.ID)
		_, err := run.Do(ctx, c.request(step, hypervisor.OperationCreate, c.before,
			func(ctx context.Context, at hypervisor.Host) (string, error) {
				able, err := host.Able[hypervisor.Provisioner](at)
				if err != nil {
					return "", err
				}
				spec := c.params.Spec
				spec.ID = c.progress.ID
				return able.CreateVM(ctx, spec)
			}))
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
	if c.params.Start {
		if err := c.start(ctx); err != nil {
			return err
		}
	}
	(&act{Worker: w, run: run, hostID: c.params.HostID}).sync(ctx)
	return c.show(context.WithoutCancel(ctx))
}

// request is a step of the job.
func (c *creation) request(name string, does hypervisor.Operation, before func(context.Context) (time.Time, bool, error),
	send func(context.Context, hypervisor.Host) (string, error)) job.Step {
	ref := c.ref()
	return job.Step{
		Name: name,
		Open: func(ctx context.Context) (hypervisor.Host, error) {
			return c.Hosts.Open(ctx, c.params.HostID, endpoint.Lifecycle)
		},
		Before: before, Send: send,
		Query: func() hypervisor.TaskQuery { return hypervisor.TaskQuery{Guest: &ref, Node: ref.Node} },
		Ours: func(task hypervisor.Task) bool {
			return task.Operation == does && sentBy(task, c.progress.TokenID)
		},
		Absent: c.absent,
	}
}

func (c *creation) ref() hypervisor.GuestRef {
	return hypervisor.GuestRef{Kind: hypervisor.VM, Node: c.params.Spec.Node, ID: c.progress.ID}
}

// read reads the configuration of the guest that has the id; found is false where none has.
func (c *creation) read(ctx context.Context) (config hypervisor.Config, found bool, err error) {
	limit := c.ReadLimit
	if limit == 0 {
		limit = defaultReadLimit
	}
	config, err = host.AskWithin(ctx, c.Hosts, limit, c.params.HostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.ConfigReader) (hypervisor.Config, error) {
			return at.Config(ctx, c.ref())
		})
	if sdk.KindOf(err) == sdk.NotFound {
		return config, false, nil
	}
	return config, err == nil, err
}

// before looks, when a request may have been taken already, whether the VM is there: its mark says whose it is. The mark, and not the
// clock, tells what came of a request whose task is not found, so our own clock does for the search.
func (c *creation) before(ctx context.Context) (clock time.Time, done bool, err error) {
	if c.run.Begun("create " + string(c.progress.ID)) {
		config, found, err := c.read(ctx)
		switch {
		case err != nil:
			return time.Time{}, false, err
		case found && config.Mark == c.params.Spec.Mark:
			c.run.Note("the VM %s is there since the request: it was carried out, although its task was not found", c.progress.ID)
			return time.Now(), true, nil
		case found:
			return time.Time{}, false, job.Fail("%s is another guest by now; no VM was made", c.progress.ID)
		}
	}
	c.run.Note("making the VM %s (%s) on node %s", c.params.Spec.Name, c.progress.ID, c.params.Spec.Node)
	return time.Now(), false, c.save(ctx)
}

// save stores the checkpoint with the present token.
func (c *creation) save(ctx context.Context) (err error) {
	at := &act{Worker: c.Worker, hostID: c.params.HostID, needs: endpoint.Lifecycle}
	if c.progress.TokenID, err = at.tokenID(ctx); err != nil {
		return err
	}
	return c.run.SaveProgress(ctx, c.progress)
}

// absent judges a request whose task is not listed. A VM with our mark lets the step go on to before, which sees it; where there is none,
// only a list that reaches back to the request proves that it was never taken.
func (c *creation) absent(ctx context.Context, _ time.Time, reaches bool) error {
	config, found, err := c.read(ctx)
	switch {
	case err != nil:
		return err
	case found && config.Mark == c.params.Spec.Mark:
		return nil
	case found:
		return job.Fail("%s is another guest by now; no VM was made", c.progress.ID)
	case !reaches:
		return job.Undetermined("a request was sent and its answer was lost; the hypervisor's task list does not reach back to it, and there "+
			"is no VM %s now; look at the hypervisor before you ask for it once more", c.progress.ID)
	}
	return nil
}

// ours reports whether a request was refused because an earlier one of this job has made the VM.
func (c *creation) ours(ctx context.Context, err error) (bool, error) {
	if !collided(err) {
		return false, nil
	}
	config, found, err := c.read(ctx)
	if err != nil || !found || config.Mark != c.params.Spec.Mark {
		return false, err
	}
	c.run.Note("the VM %s is there since an earlier request", c.progress.ID)
	return true, nil
}

// collided reports whether an error says that the id is taken: of the request, or of its task where the hypervisor finds it out there.
func collided(err error) bool {
	if status, verdict := job.Verdict(err); verdict {
		return status == job.Failed && strings.Contains(job.Text(err), "already exists")
	}
	return sdk.KindOf(err) == sdk.Conflict
}

// taken reports whether the id went to another guest before our request, so that another id does.
func (c *creation) taken(err error) bool {
	return !c.params.Wanted && c.progress.Tries < maxIDs && collided(err)
}

// nextID asks for another id.
func (c *creation) nextID(ctx context.Context) error {
	spec := c.params.Spec
	query := hypervisor.PlacementQuery{Kind: hypervisor.VM, Node: spec.Node, Name: spec.Name, ID: true}
	p, err := host.AskWithin(ctx, c.Hosts, defaultReadLimit, c.params.HostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Provisioner) (hypervisor.Placement, error) {
			return at.Placement(ctx, query)
		})
	switch {
	case err != nil:
		return job.Fail("%s was taken by another guest, and no other id could be asked for: %s", c.progress.ID, job.Explain(err))
	case p.ID == "" || p.ID == c.progress.ID:
		return job.Fail("%s was taken by another guest; no VM was made", c.progress.ID)
	}
	c.run.Note("%s was taken by another guest; the VM becomes %s", c.progress.ID, p.ID)
	c.progress.ID = p.ID
	c.progress.Tries++
	return c.run.SaveProgress(ctx, c.progress)
}

// explain adds to a failure that the id was taken.
func (c *creation) explain(err error) error {
	if _, verdict := job.Verdict(err); !verdict && sdk.KindOf(err) == sdk.Conflict {
		return job.Fail("%s; no VM was made", job.Explain(err))
	}
	return err
}

// start starts the new VM.
func (c *creation) start(ctx context.Context) error {
	_, err := c.run.Do(ctx, c.request("start", hypervisor.Start.Operation(), func(ctx context.Context) (time.Time, bool, error) {
		guest, err := host.AskWithin(ctx, c.Hosts, defaultReadLimit, c.params.HostID, endpoint.Monitoring,
			func(ctx context.Context, at hypervisor.Host) (hypervisor.Guest, error) { return at.Guest(ctx, c.ref()) })
		if err != nil {
			return time.Time{}, false, err
		}
		if guest.Status == hypervisor.GuestRunning {
			return guest.At, true, nil
		}
		c.run.Note("starting it")
		return guest.At, false, c.save(ctx)
	}, func(ctx context.Context, at hypervisor.Host) (string, error) {
		able, err := host.Able[hypervisor.Lifecycler](at)
		if err != nil {
			return "", err
		}
		return able.Act(ctx, c.ref(), hypervisor.Start)
	}))
	if status, verdict := job.Verdict(err); verdict && status == job.Failed {
		return job.Fail("the VM %s was made, and could not be started: %s", c.progress.ID, job.Text(err))
	}
	return err
}

// show makes the VM the job's target once a poll has brought it into the list.
func (c *creation) show(ctx context.Context) error {
	var id int64
	err := c.DB.Pool.QueryRow(ctx, `UPDATE jobs j SET target_kind = 'vm', target_id = g.id, target_name = g.name
		FROM guests g JOIN hosts h ON h.cluster_id = g.cluster_id
		WHERE j.id = $1 AND h.id = $2 AND g.kind = 'vm' AND g.ref = $3 RETURNING g.id`, c.run.Job().ID, c.params.HostID,
		string(c.progress.ID)).Scan(&id)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return db.Problem(fmt.Errorf("naming the job's VM: %w", err))
	}
	return nil
}
