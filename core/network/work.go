package network

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

const (
	// step is the name of the job's one request.
	step = "apply"
	// answerLimit is how long a node may take to answer again, applyLimit how long its task may last while it answers.
	answerLimit = time.Minute
	applyLimit  = 10 * time.Minute
	// lookLimit bounds one look at the node, and lookPause is the time between two.
	lookLimit = 15 * time.Second
	lookPause = time.Second
	// listed is how much earlier than the request its task may have begun by the hypervisor's clock.
	listed = 2 * time.Minute
)

// applied is the job's own checkpoint.
type applied struct {
	// Task is the task of the request; empty where its answer was lost.
	Task string `json:"task"`
}

// apply does a job that puts staged changes into force. Everything is looked at again before the request, which is sent once, whatever
// becomes of its answer: afterwards the node tells, as soon as it answers.
func (s *Store) apply(ctx context.Context, run *job.Run) error {
	var params applyParams
	if err := run.Params(&params); err != nil {
		return err
	}
	p, err := s.find(ctx, params.HostID, params.Node)
	if err != nil {
		return err
	}
	if run.Begun(step) {
		run.Note("the service was interrupted after it had asked, or was about to; looking what has come of it")
		return s.settle(ctx, run, &p, params)
	}
	if _, err := run.Do(ctx, s.step(run, &p, params)); err != nil {
		return err
	}
	return s.settle(ctx, run, &p, params)
}

func (s *Store) step(run *job.Run, p *place, params applyParams) job.Step {
	return job.Step{
		Name: step,
		Open: func(ctx context.Context) (hypervisor.Host, error) {
			return s.Hosts.Open(ctx, p.hostID, endpoint.Lifecycle)
		},
		Before: func(ctx context.Context) (time.Time, bool, error) {
			n, err := s.look(ctx, p)
			if err != nil {
				return time.Time{}, false, err
			}
			if timeless(n.Diff) != params.Diff {
				return time.Time{}, false, job.Fail("what is staged is not what was confirmed any more; nothing was applied")
			}
			v, err := s.judgePath(ctx, p, n)
			if err != nil {
				return time.Time{}, false, err
			}
			if v.asks() && !params.Self {
				return time.Time{}, false, job.Fail("%s That was not so when it was confirmed; nothing was applied", pathText(p.node, v))
			}
			run.Note("%s", pathText(p.node, v))
			if n.Restore != "" {
				run.Note("to get the present network back when the node is lost, type at its console:\n%s", n.Restore)
			}
			return time.Now(), false, nil
		},
		// The task is not the step's: the node that would tell of it may be cut off, and is waited for otherwise.
		Send: func(ctx context.Context, at hypervisor.Host) (string, error) {
			able, err := host.Able[hypervisor.NetworkManager](at)
			if err != nil {
				return "", err
			}
			ctx, cancel := context.WithTimeout(ctx, sendLimit)
			defer cancel()
			task, err := able.ApplyNetwork(ctx, p.node)
			if err != nil {
				if job.Refused(err) {
					return "", err
				}
				run.Note("the answer to the request was lost (%s)", job.Explain(err))
				return "", nil
			}
			return "", run.SaveProgress(context.WithoutCancel(ctx), applied{Task: task})
		},
		Query: func() hypervisor.TaskQuery { return hypervisor.TaskQuery{Node: p.node} },
		Ours:  func(hypervisor.Task) bool { return false },
		Absent: func(context.Context, time.Time, bool) error {
			return job.Undetermined("it is not known whether the request was taken; nothing was sent again")
		},
	}
}

// look reads the node's network within a limit.
func (s *Store) look(ctx context.Context, p *place) (hypervisor.NodeNetwork, error) {
	return host.AskWithin(ctx, s.Hosts, lookLimit, p.hostID, endpoint.Monitoring,
		func(ctx context.Context, m hypervisor.NetworkManager) (hypervisor.NodeNetwork, error) {
			return m.NodeNetwork(ctx, p.node)
		})
}

// ask puts a question with the token that has applied.
func ask[T any](ctx context.Context, s *Store, p *place, question func(context.Context, hypervisor.Host) (T, error)) (T, error) {
	return host.AskWithin(ctx, s.Hosts, lookLimit, p.hostID, endpoint.Lifecycle, question)
}

// settle waits until the node answers, and judges what it sees.
func (s *Store) settle(ctx context.Context, run *job.Run, p *place, params applyParams) error {
	var known applied
	if err := run.Progress(&known); err != nil {
		return err
	}
	limit := s.Answers
	if limit == 0 {
		limit = answerLimit
	}
	begun := time.Now()
	silent, told := begun, false // since when the node has not answered
	logged := 0                  // lines of its task
	var result *hypervisor.TaskResult
	for {
		_, err := s.look(ctx, p)
		if err == nil {
			silent = time.Now()
			if told {
				told = false
				run.Note("the node answers again")
			}
			if known.Task == "" {
				known.Task, err = s.task(ctx, run, p)
			}
			if err == nil && known.Task != "" && result == nil {
				result, err = s.ended(ctx, run, p, known.Task, &logged)
			}
			if err == nil && (known.Task == "" || result != nil) {
				// The task may have ended after the first look.
				var n hypervisor.NodeNetwork
				if n, err = s.look(ctx, p); err == nil {
					return s.verdict(ctx, run, p, params, n, result)
				}
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && !told {
			told = true
			run.Note("the node does not answer (%s); waiting for it up to %s", job.Explain(err), limit)
		}
		switch {
		case err != nil && time.Since(silent) >= limit:
			return job.Fail("the node does not answer since its network was applied (%s). At its console, type this to get the network back "+
				"that was in force before:\n%s", job.Explain(err), params.Restore)
		case time.Since(begun) >= applyLimit:
			return job.Undetermined("the node answers, and the task %s has not ended within %s", known.Task, applyLimit)
		}
		timer := time.NewTimer(min(lookPause, limit/4+time.Millisecond))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// ended is the result of the task, nil while it runs. One that the hypervisor does not know any more has an unknown end. logged counts
// the lines of its log that the job has by now.
func (s *Store) ended(ctx context.Context, run *job.Run, p *place, task string, logged *int) (*hypervisor.TaskResult, error) {
	result, err := ask(ctx, s, p, func(ctx context.Context, at hypervisor.Host) (hypervisor.TaskResult, error) {
		return at.WaitTask(ctx, task, *logged, func(line hypervisor.LogLine) error {
			*logged++
			run.Log(line.Text)
			return nil
		})
	})
	switch sdk.KindOf(err) {
	case sdk.NotFound:
		return &hypervisor.TaskResult{Status: hypervisor.TaskUnknown, Message: "the hypervisor does not know its task any more"}, nil
	case sdk.Timeout:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &result, nil
}

// task looks for the task of a request whose answer was lost; empty where there is none.
func (s *Store) task(ctx context.Context, run *job.Run, p *place) (string, error) {
	since := run.Sent(step).Add(-listed)
	list, err := ask(ctx, s, p, func(ctx context.Context, at hypervisor.Host) (hypervisor.TaskList, error) {
		return at.Tasks(ctx, hypervisor.TaskQuery{Node: p.node, Since: since, Limit: 100})
	})
	if err != nil {
		return "", err
	}
	for _, t := range list.Tasks {
		if t.Operation == hypervisor.OperationApplyNetwork && !t.Started.Before(since) {
			run.Note("found the task %s", t.ID)
			return t.ID, nil
		}
	}
	return "", nil
}

// verdict judges by what the node says, now that it answers.
func (s *Store) verdict(ctx context.Context, run *job.Run, p *place, params applyParams, n hypervisor.NodeNetwork,
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
	restore := fmt.Sprintf(" To get the network back that was in force before, type at the node's console:\n%s", params.Restore)
	if n.Diff == "" {
		if err := s.forget(ctx, p); err != nil {
			return err
		}
	}
	switch {
	case timeless(n.Diff) == params.Diff && result == nil:
		return job.Undetermined("the answer to the request was lost, and no task of it is known; all is still staged. Nothing was sent again: " +
			"apply it once more when the node is as you want it")
	case timeless(n.Diff) == params.Diff:
		return job.Fail("%s; all is still staged", result.Message)
	case result != nil && !result.OK():
		return job.Fail("%s. The node answers, and what was staged is in its configuration.%s", result.Message, restore)
	case len(lacks) > 0:
		return job.Undetermined("the node answers, and %s is not as it was staged: somebody may have changed or reverted it since",
			strings.Join(lacks, ", "))
	case n.Diff != "":
		run.Note("the node answers, and all that was staged is in force; something else was staged since")
	default:
		run.Note("the node answers, and all that was staged is in force")
	}
	for _, i := range n.Current {
		if named(params.Want, i.Name) != nil {
			run.Note("%s: %s", i.Name, describe(i))
		}
	}
	return nil
}

// describe is an interface in a few words.
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
