package network

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// These are the times of the job that puts a staged configuration into force.
const (
	// step is the name of the job's one request.
	step = "apply"
	// answerLimit is how long a node may take to answer again, steadyLimit how
	// long it must answer before that is trusted, and applyLimit how long its
	// task may take while it answers.
	answerLimit = time.Minute
	steadyLimit = 5 * time.Second
	applyLimit  = 10 * time.Minute
	// lookLimit bounds reading the node once, and lookPause is the delay
	// between two reads.
	lookLimit = 15 * time.Second
	lookPause = time.Second
	// listed is how much earlier than the request its task may have started by
	// the hypervisor's clock, which may differ from ours.
	listed = 2 * time.Minute
)

// applied is the job's own checkpoint.
type applied struct {
	// Task is the task of the request; empty if the response was lost.
	Task string `json:"task"`
	// Earlier are the tasks of applies that the node had before the request.
	Earlier []string `json:"earlier,omitempty"`
	// Undo is the rollback timer; nil for none.
	Undo *armed `json:"undo,omitempty"`
}

// apply runs a job that applies staged changes. It checks everything again
// before the request, which is sent only once. If the response is lost, the job
// does not fail: the network that the node reports afterwards decides.
func (s *Store) apply(ctx context.Context, run *job.Run) error {
	var params applyParams
	if err := run.Params(&params); err != nil {
		return err
	}
	p, err := s.find(ctx, params.HostID, params.Node)
	if err != nil {
		return err
	}
	if run.StepStarted(step) {
		run.Note("the service was interrupted around the time of the request; checking its result")
		return s.settle(ctx, run, &p, params)
	}
	if _, err := run.Do(ctx, s.step(run, &p, params)); err != nil {
		if ctx.Err() == nil {
			s.callOff(ctx, run)
		}
		return err
	}
	return s.settle(ctx, run, &p, params)
}

// step gives the job's step, with which it is resumed after a restart of the
// service.
func (s *Store) step(run *job.Run, p *host.NodeRef, params applyParams) job.Step {
	return job.Step{
		Name: step,
		Open: func(ctx context.Context) (hypervisor.Host, error) {
			return s.Hosts.Open(ctx, p.HostID, endpoint.Lifecycle)
		},
		Watch: func(ctx context.Context) (hypervisor.Host, error) {
			return s.Hosts.Open(ctx, p.HostID, endpoint.Monitoring)
		},
		Before: func(ctx context.Context) (time.Time, bool, error) {
			n, err := s.look(ctx, p)
			if err != nil {
				return time.Time{}, false, err
			}
			if timeless(n.Diff) != params.Diff {
				return time.Time{}, false, job.Fail("the staged changes are no longer what was confirmed; nothing was applied")
			}
			v, err := s.judgePath(ctx, p, n)
			if err != nil {
				return time.Time{}, false, err
			}
			if v.asks() && !params.Self {
				return time.Time{}, false, job.Fail("%s This was not the case when the request was confirmed; nothing was applied",
					pathText(p.Node, v))
			}
			run.Note("%s", pathText(p.Node, v))
			if err := s.remember(ctx, run, p); err != nil {
				return time.Time{}, false, err
			}
			if n.Restore != "" {
				noteRestore(run, "if the node is lost, type these lines at its console to get the current network back:", n.Restore)
			}
			if params.UndoHost != 0 {
				a, err := s.arm(ctx, run, params, n.Undo)
				if err != nil {
					return time.Time{}, false, err
				}
				run.Note("the node's machine restores its current network at %s unless the rollback timer is stopped", clock(a.Until))
			}
			return time.Now(), false, nil
		},
		// The task does not belong to the step: the node that would report it
		// may be cut off, and is waited for in another way.
		Send: func(ctx context.Context, at hypervisor.Host) (string, error) {
			able, err := host.AsAbility[hypervisor.NetworkManager](at)
			if err != nil {
				return "", err
			}
			ctx, cancel := context.WithTimeout(ctx, sendLimit)
			defer cancel()
			task, err := able.ApplyNetwork(ctx, p.Node)
			if err != nil {
				if job.Refused(err) {
					return "", err
				}
				run.Note("the answer to the request was lost (%s)", job.Explain(err))
				return "", nil
			}
			var known applied
			if err := run.LoadCheckpoint(&known); err != nil {
				return "", err
			}
			known.Task = task
			return "", run.SaveCheckpoint(context.WithoutCancel(ctx), known)
		},
		Query:  func() hypervisor.TaskQuery { return hypervisor.TaskQuery{Node: p.Node} },
		IsOurs: func(hypervisor.Task) bool { return false },
		OnMissing: func(context.Context, time.Time, bool) error {
			return job.Undetermined("it is unknown whether the request was accepted; nothing was sent again")
		},
	}
}

// look reads the network of a node within a limit.
func (s *Store) look(ctx context.Context, p *host.NodeRef) (hypervisor.NodeNetwork, error) {
	return host.CallWithTimeout(ctx, s.Hosts, lookLimit, p.HostID, endpoint.Monitoring,
		func(ctx context.Context, m hypervisor.NetworkManager) (hypervisor.NodeNetwork, error) {
			return m.NodeNetwork(ctx, p.Node)
		})
}

// ask sends a request to the hypervisor with the token that applied the
// changes: other tokens may not see its task.
func ask[T any](ctx context.Context, s *Store, p *host.NodeRef, question func(context.Context, hypervisor.Host) (T, error)) (T, error) {
	return host.CallWithTimeout(ctx, s.Hosts, lookLimit, p.HostID, endpoint.Lifecycle, question)
}

// settle waits until the node answers, and judges the network that it reports.
// A node that will be cut off may answer for a moment; so it is trusted only
// after it has answered for a while after the end of the apply.
func (s *Store) settle(ctx context.Context, run *job.Run, p *host.NodeRef, params applyParams) error {
	var known applied
	if err := run.LoadCheckpoint(&known); err != nil {
		return err
	}
	limit, steady, ends := cmp.Or(s.AnswerLimit, answerLimit), cmp.Or(s.SteadyTime, steadyLimit), cmp.Or(s.ApplyLimit, applyLimit)
	if known.Undo != nil { // until the old network is back, and the node has had its time to answer
		limit += max(0, time.Until(known.Undo.Until)) + undoTime
	}
	begun := time.Now()
	silent, told := begun, false // since when the node has not answered
	logged := 0                  // lines of its task
	var answering time.Time      // since when it has answered without a break after the end; zero where it has not
	var result *hypervisor.TaskResult
	for {
		n, err := s.look(ctx, p)
		if err == nil {
			silent = time.Now()
			if told {
				told = false
				run.Note("the node answers again")
			}
			if known.Task == "" {
				known.Task, err = s.task(ctx, run, p, known.Earlier)
			}
			if err == nil && known.Task != "" && result == nil {
				result, err = s.ended(ctx, run, p, known.Task, &logged)
			} else if err == nil && answering.IsZero() {
				answering = time.Now()
			} else if err == nil && time.Since(answering) >= steady {
				return s.resolve(ctx, run, known.Undo, timeless(n.Diff) == params.Diff, s.verdict(ctx, run, p, params, n, result))
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			answering = time.Time{}
		}
		if err != nil && !told {
			told = true
			run.Note("the node does not answer (%s); waiting up to %s", job.Explain(err), limit.Round(time.Second))
		}
		switch {
		case err != nil && time.Since(silent) >= limit:
			return job.Fail("the node has not answered since its network was applied (%s).%s%s", job.Explain(err), ending(result),
				restoring(run, params))
		case result == nil && known.Task != "" && err == nil && time.Since(begun) >= ends:
			if n, err = s.look(ctx, p); err == nil { // it may have gone while its task was waited for
				return s.resolve(ctx, run, known.Undo, timeless(n.Diff) == params.Diff, job.Undetermined("the node answers, but the "+
					"task %s has not ended within %s. %s.%s", known.Task, ends, whereabouts(n, params), restoring(run, params)))
			}
		}
		if err := pause(ctx, min(lookPause, limit/4+time.Millisecond, steady/4+time.Millisecond)); err != nil {
			return err
		}
	}
}

// pause waits for a duration, or until the context ends, and returns the cause
// then.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ending describes how the last known task has ended.
func ending(result *hypervisor.TaskResult) string {
	if result == nil || result.OK() {
		return ""
	}
	return " Before that, the apply ended: " + result.Message + "."
}

// whereabouts describes where the change is that should have been applied.
func whereabouts(n hypervisor.NodeNetwork, params applyParams) string {
	if timeless(n.Diff) == params.Diff {
		return "All changes are still staged"
	}
	return "The staged changes are in the node's configuration"
}

// maxRestore limits the lines that are to be typed.
const maxRestore = 2000

// noteRestore writes the commands into the transcript, one line each, so that
// they can be copied from there.
func noteRestore(run *job.Run, heading, restore string) {
	run.Note("%s", heading)
	lines := strings.Split(strings.TrimSuffix(restore, "\n"), "\n")
	for _, line := range lines[:min(len(lines), maxRestore)] {
		run.Note("%s", line)
	}
	if len(lines) > maxRestore {
		run.Note("%d more lines are omitted; they are in the diff that was shown before", len(lines)-maxRestore)
	}
}

// restoring writes the commands that restore the network into the transcript,
// and returns a sentence about that.
func restoring(run *job.Run, params applyParams) string {
	const heading = "to get the previous network back, type these lines at the node's console:"
	noteRestore(run, heading, params.Restore)
	return " The transcript has the lines to type at the node's console, after \"" + heading + "\""
}

// ended returns the result of the task, nil while it runs. A task that the
// hypervisor does not know any more has an unknown end. logged counts the lines
// of its log that the job has already.
func (s *Store) ended(ctx context.Context, run *job.Run, p *host.NodeRef, task string, logged *int) (*hypervisor.TaskResult, error) {
	result, err := ask(ctx, s, p, func(ctx context.Context, at hypervisor.Host) (hypervisor.TaskResult, error) {
		return at.WaitTask(ctx, task, *logged, func(line hypervisor.LogLine) error {
			*logged++
			run.Log(line.Text)
			return nil
		})
	})
	switch sdk.KindOf(err) {
	case sdk.NotFound:
		return &hypervisor.TaskResult{Status: hypervisor.TaskUnknown, Message: "the hypervisor no longer knows the task"}, nil
	case sdk.Timeout:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &result, nil
}

// remember stores which applies the node had before the request, so that none
// of them is taken for the requested one.
func (s *Store) remember(ctx context.Context, run *job.Run, p *host.NodeRef) error {
	var known applied
	if err := run.LoadCheckpoint(&known); err != nil {
		return err
	}
	earlier, err := s.applies(ctx, p, time.Now().Add(-2*listed))
	if err != nil {
		return err
	}
	known.Earlier = earlier
	return run.SaveCheckpoint(ctx, known)
}

// applies returns the tasks of a node's applies since a time, by the
// hypervisor's clock, the newest first.
func (s *Store) applies(ctx context.Context, p *host.NodeRef, since time.Time) ([]string, error) {
	list, err := ask(ctx, s, p, func(ctx context.Context, at hypervisor.Host) (hypervisor.TaskList, error) {
		return at.Tasks(ctx, hypervisor.TaskQuery{Node: p.Node, Since: since, Limit: 100})
	})
	if err != nil {
		return nil, err
	}
	ids := []string{}
	for _, t := range list.Tasks {
		if t.Operation == hypervisor.OperationApplyNetwork && !t.Started.Before(since) {
			ids = append(ids, t.ID)
		}
	}
	return ids, nil
}

// task finds the task of a request whose answer was lost. It is none of the
// earlier ones; empty if there is none.
func (s *Store) task(ctx context.Context, run *job.Run, p *host.NodeRef, earlier []string) (string, error) {
	all, err := s.applies(ctx, p, run.SentAt(step).Add(-listed))
	if err != nil {
		return "", err
	}
	for _, id := range all {
		if !slices.Contains(earlier, id) {
			run.Note("found the task %s", id)
			return id, nil
		}
	}
	return "", nil
}

// verdict judges by the network that the node reports, now that it answers.
func (s *Store) verdict(ctx context.Context, run *job.Run, p *host.NodeRef, params applyParams, n hypervisor.NodeNetwork,
	result *hypervisor.TaskResult) error {
	var lacks []string
	for _, want := range params.Want {
		if !satisfies(named(n.Current, want.Name), want) {
			lacks = append(lacks, want.Name)
		}
	}
	for _, name := range params.Gone {
		if named(n.Current, name) != nil {
			lacks = append(lacks, name)
		}
	}
	if n.Diff == "" {
		if err := s.forget(ctx, p); err != nil {
			return err
		}
	}
	switch {
	case timeless(n.Diff) == params.Diff && result == nil:
		return job.Undetermined("the answer to the request was lost, and no matching task is known; all changes are still staged. " +
			"Nothing was sent again: apply again when the node is as you want it")
	case timeless(n.Diff) == params.Diff:
		return job.Fail("%s; all changes are still staged", result.Message)
	case result != nil && !result.OK():
		return job.Fail("%s. The node answers, and the staged changes are in its configuration.%s", result.Message,
			restoring(run, params))
	case len(lacks) > 0:
		return job.Undetermined("the node answers, but %s is not as staged: someone may have changed or reverted it since then",
			strings.Join(lacks, ", "))
	case n.Diff != "":
		run.Note("the node answers, and all staged changes are active; further changes were staged since then")
	default:
		run.Note("the node answers, and all staged changes are active")
	}
	for _, i := range n.Current {
		if named(params.Want, i.Name) != nil {
			run.Note("%s: %s", i.Name, describe(i))
		}
	}
	return nil
}

// describe describes an interface in a few words.
func describe(i hypervisor.Interface) string {
	parts := []string{i.Type}
	if i.Active {
		parts = append(parts, "active")
	} else {
		parts = append(parts, "not active")
	}
	for _, address := range []string{i.CIDR, i.CIDR6} {
		if address != "" {
			parts = append(parts, address)
		}
	}
	if len(i.Ports) > 0 {
		parts = append(parts, "ports "+strings.Join(i.Ports, " "))
	}
	return host.Clean(strings.Join(parts, ", "))
}
