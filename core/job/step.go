package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Step is a request to a hypervisor that starts a task, together with what is needed to find that task again when the
// answer was lost. Its functions are called with contexts that outlive a cancel of the job.
type Step struct {
	// Name is unique within the job and the same in every run of it.
	Name string
	// Open opens the host with the credential that starts the task. The same one follows and stops the task and looks
	// for it: others may not see it. It is called again for every try and its host is closed after it.
	Open func(ctx context.Context) (hypervisor.Host, error)
	// Watch opens the host with another credential, which follows the task, or looks for it, where that of Open is refused: it may have been
	// removed or revoked since. Nil for none.
	Watch func(ctx context.Context) (hypervisor.Host, error)
	// Before is called before each request. It checks that the request is still right, and gives the hypervisor's own
	// clock; done is true when what the step wants is there already.
	Before func(ctx context.Context) (clock time.Time, done bool, err error)
	// Send makes the request, once, and gives the task's id; an empty one when the request was carried out at once.
	Send func(ctx context.Context, host hypervisor.Host) (taskID string, err error)
	// Query narrows the task list to where the task of the last request would be; Since and Limit are filled in.
	Query func() hypervisor.TaskQuery
	// Ours tells the step's task from others in that list.
	Ours func(task hypervisor.Task) bool
	// Long says that Send lasts for as long as what it carries takes, so that Config.SendLimit does not bound it.
	Long bool
	// Undoes says that the step puts back what the job has done: it is made, and its task left alone, also when the job shall be canceled.
	Undoes bool
	// Absent is asked before a request is made again because its task is not in the list. reaches says that the list is
	// complete back to the request, so that the task would be there; where it is not, the task may have ended and been forgotten.
	// sent is when the request was made, by the hypervisor's clock. A verdict of it ends the job; another error is tried again as
	// that of a hypervisor that is lost. Nil takes a list that reaches for proof, and ends the job as unknown with any other.
	Absent func(ctx context.Context, sent time.Time, reaches bool) error
}

// checkpoint is what is stored of a step.
type checkpoint struct {
	State string `json:"state"`
	// Mark is the hypervisor's clock before the request.
	Mark time.Time `json:"mark"`
	// Sends counts the requests, those included of which it is not known whether they left.
	Sends int `json:"sends"`
	// LookingSince is when the first run began to look for the task of the last request, on the database's clock: no run
	// has sent anything since.
	LookingSince time.Time `json:"looking_since,omitzero"`
	Task         string    `json:"task,omitempty"`
	// Status and Message are the task's result.
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
	// skew is how far the clocks of a cluster's nodes, and the seconds to which they are cut, may lie apart.
	skew = 2 * time.Minute
	// maxSends bounds the requests of one step: one, and one more when the first is known to have gone nowhere.
	maxSends = 2
)

// Do sends a step's request once and follows its task to the end, its log going into the transcript.
//
// The rule is that a request is never made again while the first may have been taken. Before the request Do stores that
// it will be made; after it, the task's id. A run that finds the first and not the second looks for the task in the
// hypervisor's list for a settling time, and only when the task is not there although the list is complete back to the
// request, it sends again. Where the list is not, Step.Absent decides by what else is known. A task that is known is only
// followed. A hypervisor that is lost for a while is tried again.
//
// A task that ended well gives its result and no error; one that ended badly also a verdict of Fail, and one whose end
// nobody knows one of Undetermined. A refused request gives the hypervisor's error; the step may then be done again. When
// the job is canceled, the task is stopped, and its end, if it is a bad one, becomes a verdict of Stopped. Any other
// error means that the run must end.
func (r *Run) Do(ctx context.Context, step Step) (hypervisor.TaskResult, error) {
	cp := r.progress.Steps[step.Name]
	if cp == nil {
		cp = &checkpoint{}
		r.progress.Steps[step.Name] = cp
	}
	for {
		// The worker's context may have ended only because the job shall be canceled.
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

// Begun reports whether the request of a step was made, or may have been: what has to be checked before it is late then.
func (r *Run) Begun(name string) bool {
	cp := r.progress.Steps[name]
	return cp != nil && cp.State != "" && cp.State != stepRefused
}

// Sent is when the last request of a step was made, or was about to be, by the hypervisor's clock; zero where none was.
func (r *Run) Sent(name string) time.Time {
	if cp := r.progress.Steps[name]; cp != nil {
		return cp.Mark
	}
	return time.Time{}
}

// MadeBackup is the hypervisor's id of the backup that the task of a step has made; empty where it made none or does not tell.
func (r *Run) MadeBackup(name string) string {
	if cp := r.progress.Steps[name]; cp != nil {
		return cp.Backup
	}
	return ""
}

// open names a task that may still run, for the end of a sentence.
func (r *Run) open() string {
	for _, cp := range r.progress.Steps {
		switch cp.State {
		case stepFollowing:
			return fmt.Sprintf("; its task %s may still be running", cp.Task)
		case stepSending:
			return "; a task that it may have started was not found"
		}
	}
	return ""
}

// result is the end of a finished step.
func (r *Run) result(step Step, cp *checkpoint) (hypervisor.TaskResult, error) {
	result := hypervisor.TaskResult{Status: cp.Status, Message: cp.Message, Backup: cp.Backup}
	switch {
	case result.OK():
		if r.gives(step) && cp.Task != "" {
			r.Note("the task had ended well before it could be stopped")
		}
		if result.Status == hypervisor.TaskWarning {
			r.Note("the task ended with warnings: %s", result.Message)
		}
		return result, nil
	case r.gives(step):
		return result, Stopped("the task was stopped: %s", cp.Message)
	case result.Status == hypervisor.TaskFailed:
		return result, Fail("%s", cp.Message)
	default:
		return result, Undetermined("the hypervisor does not know how its task ended: %s", cp.Message)
	}
}

// send makes the request, between two checkpoints. again says why it is made once more; empty for the first one.
func (r *Run) send(step Step, cp *checkpoint, again string) error {
	if r.gives(step) {
		return r.unsent(step)
	}
	clock, done, err := step.Before(r.untilStop)
	for try := 1; errors.Is(err, plugin.ErrGone) && try < 5; try++ {
		// A plugin that died is soon there again, and a question may be asked twice.
		pause(r.untilStop, time.Second)
		clock, done, err = step.Before(r.untilStop)
	}
	if err != nil {
		return r.orInterrupted(err)
	}
	if done {
		*cp = checkpoint{State: stepDone, Status: hypervisor.TaskOK, Mark: cp.Mark}
		return nil
	}
	host, err := step.Open(r.untilStop)
	if err != nil {
		return r.orInterrupted(err)
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
	if err := r.holds(); err != nil {
		return err
	}
	if r.gives(step) {
		cp.State = stepRefused
		if err := r.save(r.untilLost, nil); err != nil {
			return err
		}
		return r.unsent(step)
	}
	// Neither a stop of the service nor a cancel of the job cuts the request off: its answer is worth the wait.
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

// gives reports whether a step is given up because the job shall be canceled.
func (r *Run) gives(step Step) bool { return r.isCanceled() && !step.Undoes }

// unsent is the end of a job that was canceled before a step was sent.
func (r *Run) unsent(step Step) error {
	for name, cp := range r.progress.Steps {
		if name != step.Name && cp.State == stepDone {
			return Stopped("canceled before the step %s was sent to the hypervisor; those before it were done", step.Name)
		}
	}
	return Stopped("canceled before anything was sent to the hypervisor")
}

// adopt stores the id of the step's task.
func (r *Run) adopt(cp *checkpoint, taskID string) error {
	cp.State, cp.Task = stepFollowing, taskID
	return r.save(r.untilLost, &taskID)
}

// Refused reports whether an error of a request means that it was surely not taken.
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

// orInterrupted is the reason why the run must end, when there is one, and else err: a call that was cut off because the
// run ends fails for no reason of its own.
func (r *Run) orInterrupted(err error) error {
	if cause := r.interrupted(); cause != nil {
		return cause
	}
	return err
}
