package guest

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Worker runs the jobs on guests. Its fields are set once and not changed
// afterwards.
type Worker struct {
	DB    *db.DB
	Hosts host.Opener
	// Machines are the machines of the hosts. Nil means that logins are not
	// available.
	Machines Machines
	// Self reports whether the service runs in the guest. Nil means never.
	Self func(ctx context.Context, guestID int64) (bool, error)
	// Sync polls a host now. The worker calls it after a job has created or
	// removed a guest. Nil leaves that to the next poll.
	Sync func(ctx context.Context, hostID int64) error
	// List lists the backups of a storage as a node sees it. The worker calls
	// it after a job has changed them. Nil leaves that to the next listing.
	List func(ctx context.Context, hostID int64, storage, node string) error
	// ReadLimit bounds each read from the hypervisor. Zero means 2 minutes.
	ReadLimit time.Duration
	// ArriveLimit is how long a job waits for a guest that the hypervisor's
	// manager moves. Zero means 6 hours.
	ArriveLimit time.Duration
	// StateLimit is how long a job waits for a guest that the hypervisor's
	// manager starts or stops. Zero means 10 minutes.
	StateLimit time.Duration
	// OffLimit is how long a guest may take to be off before it is moved to
	// another cluster. Zero means 5 minutes.
	OffLimit time.Duration
	// ProofLimit is how long a backup may take to become visible to another
	// host with the same storage. Zero means a minute.
	ProofLimit time.Duration
}

// Register registers the worker for every kind of job of this package.
func (w *Worker) Register(q *job.Queue) {
	for _, action := range hypervisor.Actions(hypervisor.VM) { // which knows them all
		Register(q, w, Lifecycle(action))
	}
	Register(q, w, TakeSnapshot)
	Register(q, w, DeleteSnapshot)
	Register(q, w, RollBack)
	Register(q, w, Destroy)
	Register(q, w, Uninstall)
	Register(q, w, Discard)
	for _, guest := range clone.guests() {
		q.Register(targets[guest]+"."+clone.Kind, job.WorkerFunc(w.clone))
	}
	q.Register(createKind, job.WorkerFunc(w.create))
	Register(q, w, RunBackup)
	q.Register(restoreKind, job.WorkerFunc(w.restore))
	for _, guest := range migrate.guests() {
		q.Register(targets[guest]+"."+migrate.Kind, job.WorkerFunc(w.migrate))
	}
}

// Register registers the worker for one kind of work, for each kind of guest
// that it applies to.
func Register[P any](q *job.Queue, w *Worker, work Work[P]) {
	kinds := map[string]bool{}
	for _, guest := range work.guests() {
		kinds[work.kind(targets[guest])] = true
	}
	for kind := range kinds {
		q.Register(kind, job.WorkerFunc(func(ctx context.Context, run *job.Run) error { return work.perform(ctx, w, run) }))
	}
}

// perform runs one job.
func (w Work[P]) perform(ctx context.Context, worker *Worker, run *job.Run) error {
	var params Params[P]
	if err := run.Params(&params); err != nil {
		return err
	}
	w = w.interrupting(params.Spec)
	a := &guestRun{Worker: worker, run: run, requested: params.RequestedGuest, interrupts: w.Interrupts}
	for _, step := range w.Steps {
		step.Needs = cmp.Or(step.Needs, w.Needs)
		a.steps = append(a.steps, step.with(params.Spec))
	}
	if err := a.do(ctx); err != nil {
		return err
	}
	if w.Destroys {
		if err := worker.disappear(ctx, params.RequestedGuest.GuestID); err != nil {
			return err
		}
	}
	if w.Appears || w.Destroys {
		worker.sync(ctx, run, a.hostID)
	}
	if w.End == nil {
		return nil
	}
	last := a.steps[len(a.steps)-1]
	return w.End(context.WithoutCancel(ctx), &CompletedJob[P]{Worker: worker, Run: run, Asked: params.RequestedGuest, Spec: params.Spec,
		HostID: a.hostID,
		At:     a.ref, begun: run.SentAt(last.name), backup: run.CreatedBackup(last.name)})
}

// Exclusive returns the key that every job on a guest holds, so that only one
// works on it at a time.
func Exclusive(guestID int64) string { return fmt.Sprintf("guest:%d", guestID) }

// guestRun is one run of a job on a guest.
type guestRun struct {
	*Worker
	run        *job.Run
	requested  RequestedGuest
	interrupts bool
	steps      []step
	progress   progress
	// keep stores the checkpoint if the work is a part of another job. It is
	// nil otherwise.
	keep func(ctx context.Context, p progress) error
	// hostID and ref are where the guest was last found.
	hostID int64
	ref    hypervisor.GuestRef
}

// progress is the checkpoint of a job.
type progress struct {
	// TokenID is the token of the current step's request.
	TokenID string `json:"token_id,omitempty"`
	// HostID and Node are where the current step was sent to. Ref is the
	// guest's ID at that time.
	HostID int64              `json:"host_id,omitempty"`
	Node   string             `json:"node,omitempty"`
	Ref    hypervisor.GuestID `json:"ref,omitempty"`
	// Settled is the number of finished steps, including those whose failure
	// turned out to be a success.
	Settled int `json:"settled,omitempty"`
	// Copy is the checkpoint of a job that copies a guest. It is nil while the
	// planned ID is used.
	Copy *copying `json:"copy,omitempty"`
	// Migration is the checkpoint of a job that moves a guest.
	Migration *migration `json:"migration,omitempty"`
}

// step is a Step bound to its parameters.
type step struct {
	name      string
	needs     endpoint.Capability
	reads     endpoint.Capability
	operation hypervisor.Operation
	removes   bool
	// undoes is true if the step is sent even after a cancellation; see
	// job.Step.
	undoes bool
	// to is the node on which the guest is after the step has moved it. It is
	// empty for other steps.
	to    string
	note  string
	send  func(ctx context.Context, host hypervisor.Host, ref hypervisor.GuestRef) (task string, err error)
	state func(ctx context.Context, host hypervisor.Host, guest hypervisor.Guest, sent time.Time) (State, error)
}

// with binds a step to its parameters.
func (s Step[P]) with(spec P) step {
	bound := step{
		name: s.Name, needs: s.Needs, reads: s.Reads, operation: s.Operation, removes: s.Removes,
		send: func(ctx context.Context, host hypervisor.Host, ref hypervisor.GuestRef) (string, error) {
			return s.Send.send(ctx, host, ref, spec)
		},
		state: func(context.Context, hypervisor.Host, hypervisor.Guest, time.Time) (State, error) {
			return State{}, nil
		},
	}
	if s.Note != nil {
		bound.note = s.Note(spec)
	}
	switch {
	case s.Since != nil:
		bound.state = func(ctx context.Context, host hypervisor.Host, guest hypervisor.Guest, sent time.Time) (State, error) {
			return s.Since(ctx, host, guest, spec, sent)
		}
	case s.State != nil:
		bound.state = func(ctx context.Context, host hypervisor.Host, guest hypervisor.Guest, _ time.Time) (State, error) {
			return s.State(ctx, host, guest, spec)
		}
	}
	return bound
}

// do does the steps that are left. Each reads the guest's state with the
// monitoring token, sends its request with the token of the capability that the
// work needs unless what it wants is there, follows the task, and shows the new
// state without waiting for the next poll.
func (a *guestRun) do(ctx context.Context) error {
	if a.keep == nil {
		if err := a.run.LoadCheckpoint(&a.progress); err != nil {
			return err
		}
	}
	if err := a.find(ctx, a.steps[min(a.progress.Settled, len(a.steps)-1)]); err != nil {
		return err
	}
	for a.progress.Settled < len(a.steps) {
		present := a.steps[a.progress.Settled]
		if err := a.settle(ctx, present, a.follow(ctx, present)); err != nil {
			return err
		}
		a.progress.Settled++
		if a.progress.Settled == len(a.steps) {
			break // the job's own end says so
		}
		if err := a.save(ctx); err != nil {
			return err
		}
	}
	return nil
}

// save stores the checkpoint.
func (a *guestRun) save(ctx context.Context) error {
	if a.keep != nil {
		return a.keep(ctx, a.progress)
	}
	return a.run.SaveCheckpoint(ctx, a.progress)
}

// maxMoves bounds how often a guest that went to another node is followed.
const maxMoves = 3

// follow sends a step and follows its task, on another node or under another id
// when the guest has moved or was renamed.
func (a *guestRun) follow(ctx context.Context, s step) error {
	for try := 1; ; try++ {
		_, err := a.run.Do(ctx, a.request(s))
		if err == nil || try == maxMoves || sdk.KindOf(err) != sdk.NotFound {
			return err
		}
		if _, verdict := job.Verdict(err); verdict {
			return err
		}
		before := a.ref
		if moved, failed := a.relocate(ctx); failed != nil {
			return failed
		} else if !moved {
			return err
		}
		if a.ref.ID != before.ID {
			a.run.Note("%s %s now has another name: %s", a.requested.Kind, before.ID, a.ref.ID)
		}
		if a.ref.Node != before.Node {
			a.run.Note("%s %s has moved from node %s to node %s", a.requested.Kind, a.ref.ID, before.Node, a.ref.Node)
		}
	}
}

// find locates the guest. Where a task may run already, a cancel must not keep
// the run from stopping it.
func (a *guestRun) find(ctx context.Context, s step) error {
	if !a.run.StepStarted(s.name) {
		return a.locate(ctx)
	}
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := a.locate(reading)
	if status, verdict := job.Verdict(err); verdict && status == job.Failed {
		if s.removes && a.progress.HostID != 0 {
			a.hostID, a.ref = a.progress.HostID, a.requested.ref()
			a.ref.Node, a.ref.ID = a.progress.Node, cmp.Or(a.progress.Ref, a.ref.ID)
			return nil
		}
		return job.Undetermined("%s %s no longer exists; its task was started and cannot be followed", a.requested.Kind, a.requested.Ref)
	}
	return err
}
