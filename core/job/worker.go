package job

import (
	"context"
	"errors"
	"fmt"
)

// Worker does the jobs of one kind. One value serves all of them, several at the same time.
type Worker interface {
	// Run does the job, or goes on with it when an earlier run was cut off: it reads its checkpoints first.
	//
	// The context ends when the service stops or does no jobs for now, when somebody cancels the job, and when the run lost
	// its right to the job; Run then returns soon, with any error. A nil error ends the job as succeeded, Fail, Undetermined and
	// Stopped make the other ends, a problem or an error of the hypervisor fails the job with its text, and any other
	// error fails it with a text that says no more than to look into the log.
	Run(ctx context.Context, run *Run) error
}

// WorkerFunc is a function as a Worker.
type WorkerFunc func(ctx context.Context, run *Run) error

var _ Worker = WorkerFunc(nil)

// Run calls the function.
func (f WorkerFunc) Run(ctx context.Context, run *Run) error { return f(ctx, run) }

// outcome is a worker's verdict on its job.
type outcome struct {
	status Status
	text   string
	cause  error
}

func (o *outcome) Error() string { return fmt.Sprintf("%s: %s", o.status, o.text) }

func (o *outcome) Unwrap() error { return o.cause }

// Fail ends the job as failed. The text is shown to users: it must hold no secret.
func Fail(format string, args ...any) error { return verdict(Failed, format, args) }

// Undetermined ends the job as unknown: it may or may not have had its effect. The text is shown to users.
func Undetermined(format string, args ...any) error { return verdict(Unknown, format, args) }

// Stopped ends the job as canceled. The text is shown to users.
func Stopped(format string, args ...any) error { return verdict(Canceled, format, args) }

func verdict(status Status, format string, args []any) error {
	err := fmt.Errorf(format, args...)
	return &outcome{status: status, text: err.Error(), cause: errors.Unwrap(err)}
}

// Verdict is the state that err, returned by a worker, would end its job with, and false when err is no verdict of
// Fail, Undetermined or Stopped.
func Verdict(err error) (Status, bool) {
	var o *outcome
	if !errors.As(err, &o) {
		return "", false
	}
	return o.status, true
}

// Text is what users are told of err, returned by a worker: a verdict's own text, else what Explain says.
func Text(err error) string {
	var o *outcome
	if errors.As(err, &o) {
		return o.text
	}
	return Explain(err)
}

// Causes of a run's context.
var (
	// ErrStopping ends a run because the service stops; the job stays as it is and is resumed.
	ErrStopping = errors.New("the service is stopping")
	// ErrCanceled ends a run because somebody asked to cancel its job.
	ErrCanceled = errors.New("the job was canceled")
	// ErrLost ends a run that no longer has the right to its job: its connection to the database broke, or another
	// run took over. The job is resumed.
	ErrLost = errors.New("the run lost its job")
)
