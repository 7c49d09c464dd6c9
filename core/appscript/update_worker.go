package appscript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/nodeunit"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// update is one run of an update's job. The steps: wait for the turn; observe
// the app; take a snapshot of the container, or make a backup if that is
// impossible; run the bundle in the container; observe the app again; keep the
// result, or set the container back. Each step is done once, however often the
// service dies.
type update struct {
	*Store
	run      *job.Run
	params   params
	progress progress
	// hold ends when the service stops, but not when the job is canceled. Steps
	// that must be completed once begun use it.
	hold context.Context
	// ref is where the container is.
	ref hypervisor.GuestRef
}

// progress is the checkpoint.
type progress struct {
	// Begun says that the job had its turn. Run is the name of its run in the
	// container.
	Begun bool   `json:"begun,omitempty"`
	Run   string `json:"run,omitempty"`
	// Before is the app before the script ran, and After the app afterwards.
	Before *observation `json:"before,omitempty"`
	After  *observation `json:"after,omitempty"`
	// Way is the snapshot or backup for rolling back.
	Way *restorePoint `json:"way,omitempty"`
	// Parts are the checkpoints of the steps that change the container.
	Parts map[string]json.RawMessage `json:"parts,omitempty"`
	// Starting says that the script may have been started, and Started that it
	// was. Offset is how many bytes of its output are in the transcript.
	// Succeeded says that the output has the text that reports success.
	Starting  bool  `json:"starting,omitempty"`
	Started   bool  `json:"started,omitempty"`
	Offset    int64 `json:"offset,omitempty"`
	Succeeded bool  `json:"succeeded,omitempty"`
	// Ran says how the script ended, and Verdict what follows from that.
	Ran     *ran     `json:"ran,omitempty"`
	Verdict *outcome `json:"verdict,omitempty"`
}

// Register makes the store the worker of the jobs that update apps. They run
// beside other jobs, because they mostly wait: for their turn, and for scripts.
func (s *Store) Register(q *job.Queue) { q.RegisterUnslotted(UpdateKind, job.WorkerFunc(s.perform)) }

// perform runs the job, from its checkpoint if it was interrupted.
func (s *Store) perform(ctx context.Context, run *job.Run) error {
	u := &update{Store: s, run: run}
	if err := run.Params(&u.params); err != nil {
		return err
	}
	if err := run.LoadCheckpoint(&u.progress); err != nil {
		return err
	}
	if u.progress.Parts == nil {
		u.progress.Parts = map[string]json.RawMessage{}
	}
	for _, v := range u.params.Environment {
		if v.Secret {
			run.Redact(v.Value.Reveal())
		}
	}
	hold, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	ended := context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); !errors.Is(cause, job.ErrCanceled) {
			cancel(cause)
		}
	})
	defer ended()
	go func() {
		select {
		case <-run.Stopping():
			cancel(job.ErrStopping)
		case <-hold.Done():
		}
	}()
	u.hold = hold
	if !u.progress.Begun {
		if err := u.begin(ctx); err != nil {
			return err
		}
	} else if err := u.wait(hold); err != nil { // another service died with it, and has the machine as long as nobody else does
		return err
	}
	return u.update(ctx)
}

// begin waits for the job's turn, and checks again whether the agreement still
// applies: hours may have passed.
func (u *update) begin(ctx context.Context) error {
	if err := u.turn(ctx); err != nil {
		return err
	}
	given, err := u.Bundles.FindConsent(ctx, u.params.HostID, sdk.Update, u.params.Sum)
	if err != nil {
		return err
	}
	if given == nil {
		return job.Fail("the consent to run this bundle there no longer exists; nothing was done")
	}
	newest, err := version(ctx, u.DB.Pool, u.params.AppID, 0)
	if err != nil {
		return err
	}
	if newest.number() != u.params.Version {
		return job.Fail("the app's script has a newer version; nothing was done")
	}
	u.run.Note("consented to by %s on %s", given.ActorEmail, given.GivenAt.Format(time.RFC3339))
	u.progress.Begun, u.progress.Run = true, nodeunit.NewRun("update")
	return u.save(ctx)
}

// update runs the remaining steps.
func (u *update) update(ctx context.Context) error {
	if u.progress.Ran == nil && u.progress.Verdict == nil {
		if err := u.change(ctx); err != nil {
			return err
		}
	}
	if u.progress.Verdict == nil {
		if err := u.decideOutcome(u.hold); err != nil {
			return err
		}
	}
	if u.progress.Verdict.Back {
		if err := u.rollBackAndCheck(u.hold); err != nil {
			return err
		}
	}
	return u.finish(u.hold)
}

// change observes the app, makes a way back and runs the script. A verdict as
// error means that the script was not started.
func (u *update) change(ctx context.Context) error {
	if u.progress.Before == nil {
		u.run.Note("checking the app")
		var before *observation
		err := u.run.RetryUnreachable(ctx, func(ctx context.Context) (err error) {
			before, err = u.observe(ctx)
			return err
		})
		if err != nil {
			return u.early(err, "the app cannot be checked")
		}
		u.progress.Before = before
		u.tellBefore()
		if err := u.save(ctx); err != nil {
			return err
		}
	} else if err := u.locate(ctx); err != nil {
		return err
	}
	if u.progress.Way == nil {
		if err := u.createRestorePoint(ctx); err != nil {
			return err
		}
	}
	if u.canceled() && !u.progress.Starting {
		return u.early(nil, "")
	}
	err := u.runScript(ctx)
	if err == nil || u.hold.Err() != nil || errors.Is(err, job.ErrLost) {
		return err
	}
	if !u.progress.Starting {
		return u.early(err, "the script could not be copied into the container")
	}
	if u.progress.Ran == nil {
		// The script may have run: its start was refused, or the answer was
		// lost. The container tells.
		u.run.Note("it is not certain whether the script was started: %s", job.Explain(err))
		if err := u.keepFromStarting(ctx); err != nil {
			return err
		}
		u.progress.Started = true
		if err := u.runScript(ctx); err != nil {
			return err
		}
	}
	return nil
}

// keepFromStarting makes sure that a run which was not started never starts,
// also by a late request.
func (u *update) keepFromStarting(ctx context.Context) error {
	node := nodeunit.InGuest(u.container(callLimit))
	err := u.run.RetryUnreachable(u.hold, func(ctx context.Context) error {
		state, _, err := nodeunit.ReadState(ctx, node, u.runName(), 0, 0)
		if err == nil && state.Phase == nodeunit.Prepared {
			err = nodeunit.Stop(ctx, node, u.runName())
		}
		return err
	})
	if u.hold.Err() != nil {
		return context.Cause(u.hold)
	}
	if err != nil && ctx.Err() == nil {
		u.run.Note("could not determine whether the script is running: %s", job.Explain(err))
	}
	return nil
}

// early returns the end of a job that has run nothing.
func (u *update) early(err error, what string) error {
	if u.hold.Err() != nil {
		return context.Cause(u.hold)
	}
	left := ""
	if w := u.progress.Way; w != nil {
		if w.Snapshot != "" && !w.Deleted {
			gone, err := u.forget(u.hold, "forget", w.Snapshot)
			if err != nil {
				return err
			}
			w.Deleted = gone
		}
		left = "; " + w.left()
	}
	switch status, verdict := job.Verdict(err); {
	case u.canceled():
		return job.Stopped("canceled before the script was run%s", left)
	case verdict && status == job.Unknown:
		return job.Undetermined("%s: %s; nothing was run%s", what, job.Text(err), left)
	}
	return job.Fail("%s: %s; nothing was run%s", what, job.Text(err), left)
}

// tellBefore writes the state of the app before the update into the transcript.
func (u *update) tellBefore() {
	o := u.progress.Before
	if o.Version != "" {
		u.run.Note("the app is at version %s", o.Version)
	}
	if o.Web > 0 {
		u.run.Note("%s answers", o.At)
	} else if len(o.Ports) > 0 {
		u.run.Note("the app listens on the ports %v", o.Ports)
	}
	if other := u.otherSystem(); other != "" {
		u.run.Note("%s: the script may refuse to run", other)
	}
}

// otherSystem says that the script is for another operating system than the
// container's; empty if it is not.
func (u *update) otherSystem() string {
	o, p := u.progress.Before, &u.params
	if o == nil || p.OS == "" || o.OS == "" || o.OS == p.OS && (p.OSVersion == "" || o.OSVersion == p.OSVersion) {
		return ""
	}
	return fmt.Sprintf("the container has %s %s, but the script is for %s %s", o.OS, o.OSVersion, p.OS, p.OSVersion)
}

// save stores the checkpoint even if the job was just canceled.
func (u *update) save(ctx context.Context) error {
	return u.run.SaveCheckpoint(context.WithoutCancel(ctx), &u.progress)
}

// canceled reports whether somebody has canceled the job.
func (u *update) canceled() bool {
	select {
	case <-u.run.Canceled():
		return true
	default:
		return false
	}
}

// parts returns the steps that change the container.
func (u *update) parts() *guest.Parts {
	return &guest.Parts{Worker: u.Worker, Run: u.run, Asked: u.params.Asked, Checkpoints: u.progress.Parts, Save: u.save}
}

// container returns access to the app's container, with a limit for each call.
func (u *update) container(limit time.Duration) container {
	return container{hosts: u.Hosts, hostID: u.params.HostID, ref: u.ref, limit: limit}
}

// locate finds the container. It must still be on the machine to which the
// agreement applies.
func (u *update) locate(ctx context.Context) error {
	hostID, _, err := u.machine(ctx, u.params.AppID)
	if err != nil {
		return err
	}
	if hostID != u.params.HostID {
		return job.Fail("the container is on another machine than when the update was requested")
	}
	u.ref = hypervisor.GuestRef{Kind: hypervisor.Container}
	err = u.DB.Pool.QueryRow(ctx, "SELECT node, ref, coalesce(uid, '') FROM guests WHERE id = $1", u.params.Asked.GuestID).
		Scan(&u.ref.Node, &u.ref.ID, &u.ref.UID)
	if err != nil {
		return db.Problem(fmt.Errorf("reading the container: %w", err))
	}
	return nil
}

// pause waits, unless the context ends.
func (u *update) pause(ctx context.Context, wanted, usual time.Duration) error {
	if wanted == 0 {
		wanted = usual
	}
	timer := time.NewTimer(wanted)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
