package job

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// follow waits for the end of a known task and copies its log, from the first
// line that the transcript does not have.
func (r *Run) follow(step Step, cp *checkpoint) error {
	lost := r.newRetrier()
	stop := stopper{run: r, taskID: cp.Task}
	open, watched := step.Open, false
	for {
		result, err := r.waitTask(step, open, cp.Task, lost, &stop)
		switch {
		case r.interrupted() != nil:
			return r.interrupted()
		case err == nil:
			cp.State, cp.Status = stepDone, result.Status
			cp.Message = plugin.HideSecrets(result.Message, r.transcript.secrets()...) + grantHint(result.Remedy)
			if result.OK() && !strings.ContainsRune(result.Backup, 0) {
				cp.Backup = result.Backup
			}
			return r.save(r.untilLost, nil)
		case errors.Is(err, ErrCanceled), errors.Is(err, errWaitLimit):
			// The wait was interrupted to stop the task, or to start it again.
			continue
		case plugin.KindOf(err) == plugin.NotFound:
			return Undetermined("the hypervisor no longer knows the task %s: %s", cp.Task, Explain(err))
		case !watched && step.Watch != nil && (Refused(err) || refusedByUs(err)):
			r.Note("the task cannot be read with the token that started it (%s); using the monitoring token instead", Explain(err))
			open, watched = step.Watch, true
			continue
		case !lost.retry(err):
			return Undetermined("could not ask the hypervisor how the task %s ended: %s", cp.Task, Explain(err))
		}
		// A cancellation shortens the pause once, so that the task is stopped
		// soon.
		var hurry <-chan struct{}
		if !r.isCanceled() && !step.Undoes {
			hurry = r.canceled
		}
		lost.wait(r.untilStop, hurry)
	}
}

// errWaitLimit ends a wait that has lasted long.
var errWaitLimit = errors.New("the wait starts over")

// waitTask waits once, on a host that it opens; when the job shall be canceled
// it stops the task first.
func (r *Run) waitTask(step Step, open func(context.Context) (hypervisor.Host, error), taskID string, lost *retrier, stop *stopper) (
	hypervisor.TaskResult, error) {
	ctx, cancel := context.WithCancelCause(r.untilStop)
	defer cancel(nil)
	host, err := open(ctx)
	if err != nil {
		return hypervisor.TaskResult{}, err
	}
	defer func() { _ = host.Close() }()
	if r.givesUp(step) {
		if err := stop.stop(ctx, host); err != nil {
			return hypervisor.TaskResult{}, err
		}
	} else if !step.Undoes {
		waited := make(chan struct{})
		defer close(waited)
		go func() {
			select {
			case <-r.canceled:
				cancel(ErrCanceled)
			case <-waited:
			}
		}()
	}
	again := time.AfterFunc(r.queue.cfg.WaitLimit, func() { cancel(errWaitLimit) })
	defer again.Stop()
	r.queue.hook(r.untilLost, "waiting", r.job.ID)
	from := r.transcript.logged()
	result, err := host.WaitTask(ctx, taskID, from, func(line hypervisor.LogLine) error {
		lost.reset()
		// A driver may start with lines that are already known.
		if line.N > r.transcript.logged() {
			r.transcript.addLine(line)
		}
		return ctx.Err()
	})
	if cause := context.Cause(ctx); err != nil && (errors.Is(cause, ErrCanceled) || errors.Is(cause, errWaitLimit)) {
		return result, cause
	}
	if err == nil {
		lost.reset()
	}
	return result, err
}

// stopper asks the hypervisor to stop a task, until the request was accepted or
// refused.
type stopper struct {
	run    *Run
	taskID string
	asked  bool
}

// stop sends the request to stop the task, once.
func (s *stopper) stop(ctx context.Context, host hypervisor.Host) error {
	if s.asked {
		return nil
	}
	able, ok := hypervisor.As[hypervisor.TaskStopper](host)
	if !ok {
		s.asked = true
		s.run.Note("this hypervisor's driver cannot stop a task; waiting for the task to end")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err := able.StopTask(ctx, s.taskID)
	switch {
	case err == nil:
		s.asked = true
		s.run.Note("requested the hypervisor to stop the task")
	case Refused(err):
		s.asked = true
		s.run.Note("the hypervisor did not stop the task: %s", Explain(err))
	default:
		return err
	}
	return nil
}
