package job

import (
	"context"
	"errors"
	"fmt"
)

// Worker does the jobs of one kind. One value does all of them, several at the
// same time.
type Worker interface {
	// Run does the job, or continues it if an earlier run was interrupted: it
	// reads its checkpoints first.
	//
	// The context ends when the service stops or is suspended, when somebody
	// cancels the job, and when the run lost its right to the job. Run then
	// returns soon, with any error. A nil error ends the job as succeeded.
	// Fail, Undetermined and Stopped return the other ends. A problem, or an
	// error of the hypervisor, fails the job with its text. Any other error
	// fails it with a text that only refers to the log.
	Run(ctx context.Context, run *Run) error
}

// WorkerFunc adapts a function to Worker.
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

// Fail returns the error that ends the job as failed. The text is shown to
// users and must not contain a secret.
func Fail(format string, args ...any) error { return verdict(Failed, format, args) }

// Undetermined returns the error that ends the job as unknown: it may or may
// not have had its effect. The text is shown to users.
func Undetermined(format string, args ...any) error { return verdict(Unknown, format, args) }

// Stopped returns the error that ends the job as canceled. The text is shown to
// users.
func Stopped(format string, args ...any) error { return verdict(Canceled, format, args) }

// verdict formats the text of an outcome and keeps its cause.
func verdict(status Status, format string, args []any) error {
	err := fmt.Errorf(format, args...)
	return &outcome{status: status, text: err.Error(), cause: errors.Unwrap(err)}
}

// Verdict returns the state with which err, returned by a worker, would end its
// job. It returns false if err is not a verdict of Fail, Undetermined or
// Stopped.
func Verdict(err error) (Status, bool) {
	var o *outcome
	if !errors.As(err, &o) {
		return "", false
	}
	return o.status, true
}

// Text returns the text that users see of an error returned by a worker: that
// of a verdict, otherwise the result of Explain.
func Text(err error) string {
	var o *outcome
	if errors.As(err, &o) {
		return o.text
	}
	return Explain(err)
}

// Causes of the end of a run's context.
var (
	// ErrStopping ends a run because the service stops. The job stays
	// unfinished and is resumed.
	ErrStopping = errors.New("the service is stopping")
	// ErrCanceled ends a run because somebody canceled its job.
	ErrCanceled = errors.New("the job was canceled")
	// ErrLost ends a run that has no right to its job any more: its connection
	// to the database broke, or another run has taken over. The job is resumed.
	ErrLost = errors.New("another run has taken over the job")
)
