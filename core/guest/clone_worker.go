package guest

import (
	"context"
	"fmt"
	"strings"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// copying is the checkpoint of a job whose copy got another ID than planned.
type copying struct {
	ID hypervisor.GuestID `json:"id"`
	// Tries is the number of IDs that were tried.
	Tries int `json:"tries"`
}

// clone runs a job that copies a guest. If another guest took the ID in the
// meantime and the user did not request that ID, it tries others.
func (w *Worker) clone(ctx context.Context, run *job.Run) error {
	var params Params[cloneSpec]
	if err := run.Params(&params); err != nil {
		return err
	}
	a := &guestRun{Worker: w, run: run, requested: params.RequestedGuest}
	if err := run.LoadCheckpoint(&a.progress); err != nil {
		return err
	}
	for {
		spec, made := params.Spec, clone.Steps[0]
		made.Needs = clone.Needs
		// The step gets a name of its own for each ID. Its checkpoint must not
		// be taken for that of the first attempt.
		if c := a.progress.Copy; c != nil {
			spec.ID, made.Name = c.ID, fmt.Sprintf("%s %s", made.Name, c.ID)
		}
		a.steps = []step{made.with(spec)}
		err := a.do(ctx)
		if err == nil {
			return clone.End(context.WithoutCancel(ctx), &CompletedJob[cloneSpec]{Worker: w, Run: run, Asked: params.RequestedGuest, Spec: spec,
				HostID: a.hostID, At: a.ref, begun: run.SentAt(a.steps[0].name)})
		}
		if spec.Order.NewID != nil || !a.idTaken(spec, err) {
			return err
		}
		if again := a.nextCopy(ctx, spec); again != nil {
			return again
		}
	}
}

// idTaken reports whether no copy was made because another guest has its ID:
// the guest existed before the request, or the request was refused for that
// reason.
func (a *guestRun) idTaken(spec cloneSpec, err error) bool {
	if status, verdict := job.Verdict(err); verdict && status == job.Failed && !a.run.StepStarted(a.steps[0].name) {
		return strings.HasPrefix(job.Text(err), spec.taken())
	}
	return collided(err)
}

// nextCopy reserves another free ID and stores it as a checkpoint.
func (a *guestRun) nextCopy(ctx context.Context, spec cloneSpec) error {
	made := spec.copied(a.ref)
	id, err := a.freeID(ctx, a.hostID, hypervisor.PlacementQuery{Kind: made.Kind, Node: made.Node, Name: spec.Name, ID: true})
	c := copying{ID: id, Tries: 1}
	if a.progress.Copy != nil {
		c.Tries += a.progress.Copy.Tries
	}
	switch {
	case err != nil:
		return job.Fail("%s was taken by another guest, and no other ID could be requested: %s", spec.ID, job.Explain(err))
	case id == "" || id == spec.ID || c.Tries > maxIDs:
		return job.Fail("%s was taken by another guest; no clone was created", spec.ID)
	}
	a.run.Note("%s was taken by another guest; the clone gets the ID %s", spec.ID, id)
	a.progress.Copy = &c
	return a.run.SaveCheckpoint(ctx, a.progress)
}
