package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Step is a request to a hypervisor that starts a task, with everything needed
// to find that task again if the answer is lost. Its functions are called with
// contexts that outlive a cancellation of the job.
type Step struct {
	// Name is unique within the job and the same in every run of it.
	Name string
	// Open opens the host with the credential that starts the task. The same
	// credential follows, stops and finds the task, because others may not see
	// it. Open is called for every attempt, and the host is closed after it.
	Open func(ctx context.Context) (hypervisor.Host, error)
	// Watch opens the host with another credential, which follows or finds the
	// task if that of Open is refused: it may have been revoked in the
	// meantime. Nil means none.
	Watch func(ctx context.Context) (hypervisor.Host, error)
	// Before is called before each request. It checks that the request is still
	// right and returns the hypervisor's clock. It returns done if the wanted
	// state exists already.
	Before func(ctx context.Context) (clock time.Time, done bool, err error)
	// Send sends the request, once, and returns the ID of the task. An empty ID
	// means that the request was complete at once.
	Send func(ctx context.Context, host hypervisor.Host) (taskID string, err error)
	// Query returns the part of the task list in which the task of the last
	// request would be. Since and Limit are filled in.
	Query func() hypervisor.TaskQuery
	// IsOurs reports whether a task in that list belongs to the step.
	IsOurs func(task hypervisor.Task) bool
	// Long is true if Send lasts as long as the data that it transfers needs.
	// Config.SendLimit does not apply then.
	Long bool
	// Undoes is true for a step that undoes what the job has done. It is sent,
	// and its task is not stopped, even if the job is canceled.
	Undoes bool
	// OnMissing is called before a request is repeated because its task is not in
	// the list. The argument reaches says that the list is complete back to the
	// request; otherwise the task may have ended and been forgotten. The
	// argument sent is the time of the request by the hypervisor's clock. A
	// verdict ends the job. Any other error is retried like that of an
	// unreachable hypervisor. Nil accepts a complete list as proof, and ends
	// the job as unknown otherwise.
	OnMissing func(ctx context.Context, sent time.Time, reaches bool) error
}

// checkpoint is the stored state of a step.
type checkpoint struct {
	State string `json:"state"`
	// Mark is the hypervisor's clock before the request.
	Mark time.Time `json:"mark"`
	// Sends counts the requests, including those that may not have left.
	Sends int `json:"sends"`
	// LookingSince is when the first run began to look for the task of the last
	// request, by the database's clock. No run has sent anything since.
	LookingSince time.Time `json:"looking_since,omitzero"`
	Task         string    `json:"task,omitempty"`
	// Status, Message and Backup are the result of the task.
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
	Backup  string `json:"backup,omitempty"`
}

// States of a step.
const (
	stepSending   = "sending"   // the request may have been made; its task is not known
	stepRefused   = "refused"   // the hypervisor did not take the request
	stepFollowing = "following" // the task is known
	stepDone      = "done"
)

const (
	// skew is the largest expected difference between the clocks of a cluster's
	// nodes, including the rounding to seconds.
	skew = 2 * time.Minute
	// maxSends limits the requests of one step: one, and another one if the
	// first is known to have had no effect.
	maxSends = 2
)

// Do sends a step's request once and follows its task to the end. The task's
// log goes into the transcript.
//
// A request is never repeated while the first one may have been accepted. Do
// stores a checkpoint before the request, and the ID of the task after it. A
// run that finds the first and not the second looks for the task in the
// hypervisor's list for a settling time. It sends again only if the task is not
// there although the list is complete back to the request. If the list is not
// complete, Step.OnMissing decides from other information. A known task is only
// followed. An unreachable hypervisor is retried for a while.
//
// A task that ended well returns its result without error. One that failed
// returns also a verdict of Fail, and one with an unknown end a verdict of
// Undetermined. A refused request returns the hypervisor's error; the step may
// be done again. If the job is canceled, the task is stopped, and a bad end of
// it becomes a verdict of Stopped. Any other error means that the run must end.
func (r *Run) Do(ctx context.Context, step Step) (hypervisor.TaskResult, error) {
	cp := r.progress.Steps[step.Name]
	if cp == nil {
		cp = &checkpoint{}
		r.progress.Steps[step.Name] = cp
	}
	for {
		// The worker's context may have ended only because the job is canceled.
		if err := r.interrupted(); err != nil {
			return hypervisor.TaskResult{}, err
		}
		if ctx.Err() != nil && !r.isCanceled() {
			return hypervisor.TaskResult{}, context.Cause(ctx)
		}
		var err error
		switch cp.State {
		case stepDone:
			return r.result(step, cp)
		case stepFollowing:
			err = r.follow(step, cp)
		case stepSending:
			err = r.find(step, cp)
		default:
			err = r.send(step, cp, "")
		}
		if err != nil {
			return hypervisor.TaskResult{}, err
		}
	}
}

// StepStarted reports whether the request of a step was sent or may have been sent.
// It is too late then for checks that must precede it.
func (r *Run) StepStarted(name string) bool {
	cp := r.progress.Steps[name]
	return cp != nil && cp.State != "" && cp.State != stepRefused
}

// SentAt returns the time of a step's last request by the hypervisor's clock, or
// the time at which it was about to be sent. It is zero if there was none.
func (r *Run) SentAt(name string) time.Time {
	if cp := r.progress.Steps[name]; cp != nil {
		return cp.Mark
	}
	return time.Time{}
}

// CreatedBackup returns the hypervisor's ID of the backup that the task of a step
// has created. It is empty if there is none or if the task did not report it.
func (r *Run) CreatedBackup(name string) string {
	if cp := r.progress.Steps[name]; cp != nil {
		return cp.Backup
	}
	return ""
}

// open returns the end of a sentence about a task that may still be running, or
// an empty string.
func (r *Run) open() string {
	for _, cp := range r.progress.Steps {
		switch cp.State {
		case stepFollowing:
			return fmt.Sprintf("; its task %s may still be running", cp.Task)
		case stepSending:
			return "; a task that the job may have started was not found"
		}
	}
	return ""
}

// result returns the end of a finished step.
func (r *Run) result(step Step, cp *checkpoint) (hypervisor.TaskResult, error) {
	result := hypervisor.TaskResult{Status: cp.Status, Message: cp.Message, Backup: cp.Backup}
	switch {
	case result.OK():
		if r.givesUp(step) && cp.Task != "" {
			r.Note("the task succeeded before it could be stopped")
		}
		if result.Status == hypervisor.TaskWarning {
			r.Note("the task ended with warnings: %s", result.Message)
		}
		return result, nil
	case r.givesUp(step):
		return result, Stopped("the task was stopped: %s", cp.Message)
	case result.Status == hypervisor.TaskFailed:
		return result, Fail("%s", cp.Message)
	default:
		return result, Undetermined("the hypervisor does not know how the task ended: %s", cp.Message)
	}
}

// send sends the request between two checkpoints. The argument again says why
// it is repeated; it is empty for the first one.
func (r *Run) send(step Step, cp *checkpoint, again string) error {
	if r.givesUp(step) {
		return r.unsent(step)
	}
	clock, done, err := step.Before(r.untilStop)
	for try := 1; errors.Is(err, plugin.ErrGone) && try < 5; try++ {
		// A plugin that died is restarted soon, and a read may be repeated.
		pause(r.untilStop, time.Second)
		clock, done, err = step.Before(r.untilStop)
	}
	if err != nil {
		return r.interruptedOr(err)
	}
	if done {
		*cp = checkpoint{State: stepDone, Status: hypervisor.TaskOK, Mark: cp.Mark}
		return nil
	}
	host, err := step.Open(r.untilStop)
	if err != nil {
		return r.interruptedOr(err)
	}
	defer func() { _ = host.Close() }()
	if again != "" {
		r.Note("%s", again)
	}
	*cp = checkpoint{State: stepSending, Mark: clock, Sends: cp.Sends + 1}
	if err := r.save(r.untilLost, nil); err != nil {
		return err
	}
	r.queue.hook(r.untilLost, "before-send", r.job.ID)
	// This is the last moment to find out that another run has the job.
	if err := r.holds(); err != nil {
		return err
	}
	if r.givesUp(step) {
		cp.State = stepRefused
		if err := r.save(r.untilLost, nil); err != nil {
			return err
		}
		return r.unsent(step)
	}
	// Neither a stop of the service nor a cancellation cuts the request off.
	// Its answer is worth the wait, since nobody would know otherwise whether
	// it was accepted.
	sending, cancel := context.WithTimeout(r.untilLost, r.queue.cfg.SendLimit)
	if step.Long {
		sending, cancel = r.untilLost, func() {}
	}
	taskID, err := step.Send(sending, host)
	cancel()
	r.queue.hook(r.untilLost, "after-send", r.job.ID)
	switch {
	case r.untilLost.Err() != nil:
		return context.Cause(r.untilLost)
	case err != nil && Refused(err):
		cp.State = stepRefused
		return errors.Join(r.save(r.untilLost, nil), err)
	case err != nil:
		r.Note("the answer to the request was lost (%s); looking for its task", Explain(err))
		return nil
	case taskID == "":
		cp.State, cp.Status = stepDone, hypervisor.TaskOK
		return r.save(r.untilLost, nil)
	}
	return r.adopt(cp, taskID)
}

// givesUp reports whether a step is given up because the job is canceled.
func (r *Run) givesUp(step Step) bool { return r.isCanceled() && !step.Undoes }

// unsent returns the end of a job that was canceled before a step was sent.
func (r *Run) unsent(step Step) error {
	for name, cp := range r.progress.Steps {
		if name != step.Name && cp.State == stepDone {
			return Stopped("canceled before the step %s was sent to the hypervisor; the earlier steps were done", step.Name)
		}
	}
	return Stopped("canceled before anything was sent to the hypervisor")
}

// adopt stores the ID of the step's task.
func (r *Run) adopt(cp *checkpoint, taskID string) error {
	cp.State, cp.Task = stepFollowing, taskID
	return r.save(r.untilLost, &taskID)
}

// Refused reports whether an error of a request means that the request
// certainly had no effect.
func Refused(err error) bool {
	var h *plugin.Error
	if !errors.As(err, &h) {
		return false
	}
	switch h.Kind {
	case plugin.NotFound, plugin.Denied, plugin.TokenRejected, plugin.Unsupported, plugin.Untrusted,
		plugin.Forbidden, plugin.Conflict, plugin.Invalid, plugin.Busy, plugin.Refused:
		return true
	}
	return false
}

// interruptedOr returns the reason why the run must end, or else err. A call
// that was cut off because the run ends has not failed for a reason of its own.
func (r *Run) interruptedOr(err error) error {
	if cause := r.interrupted(); cause != nil {
		return cause
	}
	return err
}
