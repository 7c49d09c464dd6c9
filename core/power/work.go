package power

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

const (
	// step is the name of a job's one request.
	step = "power"
	// defaultLimit is how long a node may take to go down, and to come back: servers take minutes to shut their guests down, and minutes
	// to test their memory.
	defaultLimit = 20 * time.Minute
	defaultOff   = 15 * time.Second
	defaultPause = 2 * time.Second
	// lookLimit bounds one look, sendLimit the request and syncLimit the poll of a host in the end.
	lookLimit = 10 * time.Second
	sendLimit = 30 * time.Second
	syncLimit = 30 * time.Second
	// maxWatchers bounds the hosts by which a node is looked at.
	maxWatchers = 3
)

// progress is the checkpoint.
type progress struct {
	// Uptime is for how many seconds the node had been up before the request.
	Uptime int64 `json:"uptime"`
	// Watchers are the hosts by which the node is looked at: other members that answered before the request, or else the host itself.
	Watchers []int64 `json:"watchers"`
	// Taken says that the node answered the request.
	Taken bool `json:"taken"`
	// Away is since when the node does not answer; nil while it does.
	Away *time.Time `json:"away,omitempty"`
}

// work is one job.
type work struct {
	*Store
	params
	run   *job.Run
	place host.NodeRef
	progress
}

// perform sends the request once, whatever becomes of its answer: afterwards the node's own uptime tells what has come of it.
func (s *Store) perform(ctx context.Context, run *job.Run) error {
	w := &work{Store: s, run: run}
	if err := run.Params(&w.params); err != nil {
		return err
	}
	if err := run.LoadCheckpoint(&w.progress); err != nil {
		return err
	}
	var err error
	if w.place, err = host.FindNode(ctx, s.DB, w.HostID, w.Node); err != nil {
		return err
	}
	if run.StepStarted(step) {
		run.Note("the service was interrupted around the time of the request; checking its result")
	} else if _, err := run.Do(ctx, w.step()); err != nil {
		return err
	}
	return w.follow(ctx)
}

func (w *work) step() job.Step {
	return job.Step{
		Name: step,
		Open: func(ctx context.Context) (hypervisor.Host, error) {
			return w.Hosts.Open(ctx, w.HostID, endpoint.NodePower)
		},
		Before: func(ctx context.Context) (time.Time, bool, error) {
			return time.Now(), false, w.prepare(ctx)
		},
		// There is no task to follow: the node that would tell of it goes away.
		Send: func(ctx context.Context, at hypervisor.Host) (string, error) {
			able, err := host.AsAbility[hypervisor.NodePowerManager](at)
			if err != nil {
				return "", err
			}
			ctx, cancel := context.WithTimeout(ctx, sendLimit)
			defer cancel()
			if err := able.PowerNode(ctx, w.Node, w.Command); err != nil {
				if job.Refused(err) {
					return "", err
				}
				w.run.Note("the answer to the request was lost (%s)", job.Explain(err))
				return "", nil
			}
			w.Taken = true
			return "", w.run.SaveCheckpoint(context.WithoutCancel(ctx), w.progress)
		},
		Query:  func() hypervisor.TaskQuery { return hypervisor.TaskQuery{Node: w.Node} },
		IsOurs: func(hypervisor.Task) bool { return false },
		OnMissing: func(context.Context, time.Time, bool) error {
			return job.Undetermined("it is unknown whether the request was accepted; nothing was sent again")
		},
	}
}

// prepare looks at everything again before the request.
func (w *work) prepare(ctx context.Context) error {
	self, err := w.Hosts.SelfOn(ctx, w.HostID, w.Node)
	if err != nil {
		return err
	}
	if self && !w.Self {
		return job.Fail("%s This was not the case when the request was confirmed; nothing was done", selfText(w.Node, w.Command))
	}
	status, err := w.ask(ctx, w.HostID)
	if err != nil {
		return job.Fail("the node does not answer (%s); nothing was done", job.Explain(err))
	}
	if status.Uptime == nil {
		return job.Fail("the node does not report its uptime, which is needed to detect a reboot; nothing was done")
	}
	w.Uptime = *status.Uptime
	if w.Watchers, err = w.watchers(ctx); err != nil {
		return err
	}
	w.run.Note("the node %s has been up for %s; sending the command %s", w.Node, seconds(w.Uptime), w.Command)
	return w.run.SaveCheckpoint(ctx, w.progress)
}

// watchers are the hosts that are connected to other members of the cluster and answer now, or else the host itself.
func (w *work) watchers(ctx context.Context) ([]int64, error) {
	rows, err := w.DB.Pool.Query(ctx, `SELECT id FROM hosts WHERE cluster_id = $1 AND entry_node NOT IN ('', $2)
		ORDER BY id <> $3, failures, id LIMIT $4`, w.place.ClusterID, w.Node, w.HostID, 2*maxWatchers)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the hosts of a cluster: %w", err))
	}
	hosts, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the hosts of a cluster: %w", err))
	}
	hosts = slices.DeleteFunc(hosts, func(id int64) bool { _, err := w.ask(ctx, id); return err != nil })
	if len(hosts) == 0 {
		return []int64{w.HostID}, nil
	}
	return hosts[:min(len(hosts), maxWatchers)], nil
}

// ask reads the node's status by a host.
func (w *work) ask(ctx context.Context, hostID int64) (hypervisor.NodeStatus, error) {
	return host.CallWithTimeout(ctx, w.Hosts, lookLimit, hostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.NodeReader) (hypervisor.NodeStatus, error) {
			return at.NodeStatus(ctx, w.Node)
		})
}

// look asks the watchers until one tells that the node is up. Where none does, the error is the first one's.
func (w *work) look(ctx context.Context) (uptime int64, err error) {
	for _, id := range w.Watchers {
		status, failed := w.ask(ctx, id)
		if failed == nil && status.Uptime != nil {
			return *status.Uptime, nil
		}
		if failed == nil {
			failed = errors.New("the node does not report its uptime")
		}
		if err == nil {
			err = failed
		}
	}
	return 0, err
}

// watched reports whether another member still answers for itself, which tells that it is the node which is away, and
// not our own way to it.
func (w *work) watched(ctx context.Context) bool {
	return slices.ContainsFunc(w.Watchers, func(id int64) bool {
		version, err := host.CallWithTimeout(ctx, w.Hosts, lookLimit, id, endpoint.Monitoring,
			func(ctx context.Context, at hypervisor.Host) (hypervisor.Version, error) { return at.Version(ctx) })
		return err == nil && version.Node != w.Node
	})
}

// follow watches the node until it did what it was told, or a limit is reached.
func (w *work) follow(ctx context.Context) error {
	sent := w.run.SentAt(step)
	down, up, off := cmp.Or(w.ShutdownLimit, defaultLimit), cmp.Or(w.BootLimit, defaultLimit), cmp.Or(w.OffTime, defaultOff)
	for {
		timer := time.NewTimer(cmp.Or(w.Pause, defaultPause))
		select {
		case <-timer.C:
		case <-w.run.Canceled():
		case <-ctx.Done():
		}
		timer.Stop()
		uptime, err := w.look(ctx)
		select {
		case <-w.run.Canceled():
			return job.Stopped("the command %s was sent to the node and cannot be taken back; the job no longer watches the node",
				w.Command)
		default:
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch {
		case err == nil && w.restarted(uptime, time.Since(sent)):
			return w.back(ctx, uptime)
		case err == nil && w.Away != nil:
			w.run.Note("the node answers again but was not restarted: it has been up for %s", seconds(uptime))
			if err := w.note(ctx, nil); err != nil {
				return err
			}
		case err != nil && w.Away == nil:
			w.run.Note("the node no longer answers (%s)", job.Explain(err))
			if err := w.note(ctx, new(time.Now().UTC())); err != nil {
				return err
			}
		case err != nil && w.Command == hypervisor.PowerShutdown && time.Since(*w.Away) >= off:
			w.gone(ctx)
			return nil
		}
		switch {
		case w.Away == nil && time.Since(sent) >= down && w.Taken:
			return job.Fail("the node accepted the command but did not go down within %s: it answers, and has been up for %s", down,
				seconds(uptime))
		case w.Away == nil && time.Since(sent) >= down:
			return job.Undetermined("the answer to the request was lost, and the node did not go down within %s: it answers, and has been up "+
				"for %s; nothing was sent again", down, seconds(uptime))
		case w.Away != nil && time.Since(*w.Away) >= up:
			return job.Fail("the node has not answered since %s and is not back after %s (%s): check it at its console",
				w.Away.Format(time.TimeOnly+" MST"), up, job.Explain(err))
		}
	}
}

// note stores since when the node does not answer.
func (w *work) note(ctx context.Context, away *time.Time) error {
	w.Away = away
	return w.run.SaveCheckpoint(ctx, w.progress)
}

// restarted reports whether the node has begun anew since the request: it has been up for less long than before, or for less long than
// the request is ago. The second is told by two clocks, of which one may have been set a little, so that it must be plain.
func (w *work) restarted(uptime int64, since time.Duration) bool {
	margin := 5 * time.Second
	if w.Away != nil {
		margin = 2 * time.Second
	}
	return uptime < w.Uptime || time.Duration(uptime)*time.Second+margin < since
}

// back is the end of a job whose node was restarted.
func (w *work) back(ctx context.Context, uptime int64) error {
	switch {
	case w.Away == nil:
		w.run.Note("the node was restarted and has been up for %s", seconds(uptime))
	default:
		w.run.Note("the node is back: it did not answer for %s, and has been up for %s", time.Since(*w.Away).Round(time.Second),
			seconds(uptime))
	}
	if w.Command == hypervisor.PowerShutdown {
		w.run.Note("the node was switched on again")
	}
	return w.sync(ctx)
}

// gone is the end of a job whose node was switched off.
func (w *work) gone(ctx context.Context) {
	since := time.Since(*w.Away).Round(time.Second)
	if w.watched(ctx) {
		w.run.Note("the node has not answered for %s, while other members of its cluster have: it is off or shutting down", since)
		return
	}
	w.run.Note("the node has not answered for %s; no other member of its cluster reports whether it is off", since)
}

// sync polls the hosts that are connected to the node, which ends their pauses after failures. The job has ended well
// whatever comes of it.
func (w *work) sync(ctx context.Context) error {
	if w.Sync == nil {
		return nil
	}
	rows, err := w.DB.Pool.Query(ctx, "SELECT id FROM hosts WHERE id = $3 OR cluster_id = $1 AND entry_node = $2 ORDER BY id",
		w.place.ClusterID, w.Node, w.HostID)
	if err != nil {
		return db.Problem(fmt.Errorf("reading the hosts of a node: %w", err))
	}
	hosts, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return db.Problem(fmt.Errorf("reading the hosts of a node: %w", err))
	}
	for _, id := range hosts {
		syncing, cancel := context.WithTimeout(context.WithoutCancel(ctx), syncLimit)
		if err := w.Store.Sync(syncing, id); err != nil {
			w.run.Note("the host could not be polled (%s); the next poll will show the changes", job.Explain(err))
		}
		cancel()
	}
	return nil
}

// seconds is a time of so many seconds, for a text.
func seconds(n int64) string { return (time.Duration(n) * time.Second).String() }
