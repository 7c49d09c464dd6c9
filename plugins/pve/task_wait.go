package pve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// These are the times and limits of waiting for a task.
const (
	// logWindow is how many lines of a running task's log are read at once.
	logWindow = 1000
	// endings is how many looks an ended task without a result is given: its
	// status file is written a moment later.
	endings = 5
	// statusEvery is how many looks go by between two questions for the status
	// of a task whose log tells no end: a worker that was killed writes none.
	statusEvery = 4
)

// WaitTask reads the task's log and then its status, less and less often while
// nothing happens. Lost connections are normal on the way: pveproxy restarts
// after an update, and the reload of a network cuts its own task off. They end
// the wait only after Timing.Silence.
func (h *Host) WaitTask(ctx context.Context, taskID string, from int, line func(hypervisor.LogLine) error) (hypervisor.TaskResult, error) {
	u, err := parseUPID(taskID)
	if err != nil {
		return hypervisor.TaskResult{}, err
	}
	w := &waiter{host: h, task: u, from: max(0, from), next: max(0, from), line: line, heard: time.Now()}
	wait, unclear, began := h.pace.PollFirst, 0, time.Now()
	for {
		before := w.next
		running, result, err := w.look(ctx)
		switch {
		case errors.Is(err, errUnheard):
			h.log.Debug("waiting for a task: no answer", "task", u.text, "error", err)
		case err != nil:
			return hypervisor.TaskResult{}, err
		case !running && result.Message == "" && unclear < endings:
			unclear++
		case !running:
			return result, nil
		case w.next > before:
			wait = h.pace.PollFirst
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return hypervisor.TaskResult{}, fmt.Errorf("waiting for task %s: %w", u.text, ctx.Err())
		case <-timer.C:
		}
		wait = h.pace.slower(wait, time.Since(began))
	}
}

// errUnheard marks a failure after which the wait goes on.
var errUnheard = errors.New("no answer")

// waiter follows one task.
type waiter struct {
	host  *Host
	task  upid
	from  int
	next  int // first line not handed on, 0-based
	line  func(hypervisor.LogLine) error
	heard time.Time
	looks int
	// ended is true once the log's last line, "TASK OK" and the like, was seen.
	ended bool
	// cause is what the log told of errors, and backup what that of a backup told.
	cause  taskCause
	backup backupLog
}

// look reads the new lines of the log, then the status if the log does not tell
// the end, and the rest of the log of an ended task. Each request costs the
// host a connection, so that a long task is asked only for its log.
func (w *waiter) look(ctx context.Context) (running bool, result hypervisor.TaskResult, err error) {
	if err := w.log(ctx); err != nil {
		return false, result, w.patience(ctx, err)
	}
	w.looks++
	if !w.ended && w.looks%statusEvery != 1 {
		return true, result, nil
	}
	running, exit, err := w.host.taskStatus(ctx, w.task)
	if err != nil {
		return false, result, w.patience(ctx, err)
	}
	w.heard = time.Now()
	if running {
		return true, result, nil
	}
	if err := w.log(ctx); err != nil {
		return false, result, w.patience(ctx, err)
	}
	result = taskResult(exit)
	if w.task.kind == backupTask || result.Status == hypervisor.TaskFailed {
		if err := w.passed(ctx); err != nil {
			return false, hypervisor.TaskResult{}, w.patience(ctx, err)
		}
	}
	if w.task.kind == backupTask {
		w.backup.tell(&result)
	}
	if result.Status == hypervisor.TaskFailed {
		result.Message = w.cause.of(result.Message)
		result.Missing, result.Path = pveapi.ParseMissingPrivileges(result.Message)
		result.Remedy = w.host.api.RemedyOf(ctx, result.Missing, result.Path)
	}
	return false, result, nil
}

// passed reads the lines before those that were asked for: the beginning of a
// backup's log, and the end of a failed task's.
func (w *waiter) passed(ctx context.Context) error {
	if w.from == 0 {
		return nil
	}
	limit := min(w.from, logWindow)
	if w.task.kind == backupTask {
		log, _, err := w.host.readLog(ctx, w.task, hypervisor.LogQuery{Limit: limit})
		if err != nil {
			return err
		}
		for _, l := range log.Lines {
			w.backup.read(l.Text)
		}
	}
	if w.cause.last != "" {
		return nil
	}
	log, _, err := w.host.readLog(ctx, w.task, hypervisor.LogQuery{Start: w.from - limit, Limit: limit})
	for _, l := range log.Lines {
		w.cause.read(l.Text)
	}
	return err
}

// log passes on the lines from next on.
func (w *waiter) log(ctx context.Context) error {
	for {
		log, missing, err := w.host.readLog(ctx, w.task, hypervisor.LogQuery{Start: w.next, Limit: logWindow})
		if err != nil {
			return err
		}
		w.heard = time.Now()
		if missing {
			return nil // the status tells whether there is such a task
		}
		for _, l := range log.Lines {
			if err := w.line(l); err != nil {
				return &ownError{err}
			}
			w.next++
			w.ended = strings.HasPrefix(l.Text, "TASK ")
			w.cause.read(l.Text)
			if w.task.kind == backupTask {
				w.backup.read(l.Text)
			}
		}
		if len(log.Lines) < logWindow {
			return nil
		}
	}
}

// ownError is an error of the caller's function. It ends the wait and is
// returned unchanged.
type ownError struct{ err error }

// Error and Unwrap implement error.
func (e *ownError) Error() string { return e.err.Error() }
func (e *ownError) Unwrap() error { return e.err }

// patience turns a failure that may pass into errUnheard, until nothing was
// heard for too long.
func (w *waiter) patience(ctx context.Context, err error) error {
	var own *ownError
	if errors.As(err, &own) {
		return own.err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("waiting for task %s: %w", w.task.text, ctx.Err())
	}
	switch plugin.KindOf(err) {
	case plugin.Unreachable, plugin.Timeout, plugin.Busy:
		if time.Since(w.heard) < w.host.pace.Silence {
			return fmt.Errorf("%w: %w", errUnheard, err)
		}
		if e, ok := asError(err); ok {
			return plugin.Errorf(plugin.Unreachable, "the hypervisor did not answer about task %s for %s: %s",
				w.task.text, w.host.pace.Silence, e.Message)
		}
	}
	return err
}

// taskStatus asks the task's node whether the task runs, and for the text of
// its end.
func (h *Host) taskStatus(ctx context.Context, u upid) (running bool, exit string, err error) {
	path, err := u.path("status")
	if err != nil {
		return false, "", err
	}
	var answer struct {
		Status pveapi.Text `json:"status"`
		Exit   pveapi.Text `json:"exitstatus"`
	}
	if _, err := h.api.Get(ctx, path, nil, &answer); err != nil {
		return false, "", h.explain(ctx, u.node, u.unknown(err))
	}
	switch answer.Status {
	case "running":
		return true, "", nil
	case "stopped":
		return false, string(answer.Exit), nil
	}
	return false, "", plugin.Errorf(plugin.Protocol, "the status of a task is %q; expected running or stopped", answer.Status)
}

// asError returns the plugin.Error in err.
func asError(err error) (*plugin.Error, bool) {
	var e *plugin.Error
	ok := errors.As(err, &e)
	return e, ok
}
