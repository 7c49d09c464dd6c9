package guest

import (
	"context"
	"fmt"
	"strings"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// copying is the checkpoint of a job whose copy got another id than was foreseen.
type copying struct {
	ID hypervisor.GuestID `json:"id"`
	// Tries counts the ids.
	Tries int `json:"tries"`
}

// clone does a job that copies a guest, under another id where its own was taken meanwhile and was not asked for.
func (w *Worker) clone(ctx context.Context, run *job.Run) error {
	var params Params[cloneSpec]
	if err := run.Params(&params); err != nil {
		return err
	}
	a := &act{Worker: w, run: run, asked: params.Asked}
	if err := run.Progress(&a.progress); err != nil {
		return err
	}
	for {
		spec, made := params.Spec, clone.Steps[0]
		made.Needs = clone.Needs
		if c := a.progress.Copy; c != nil {
			spec.ID, made.Name = c.ID, fmt.Sprintf("%s %s", made.Name, c.ID)
		}
		a.steps = []step{made.with(spec)}
		err := a.do(ctx)
		if err == nil {
			return clone.End(context.WithoutCancel(ctx), &Ending[cloneSpec]{Worker: w, Run: run, Asked: params.Asked, Spec: spec,
				HostID: a.hostID, At: a.ref, begun: run.Sent(a.steps[0].name)})
		}
		if spec.Order.NewID != nil || !a.idTaken(spec, err) {
			return err
		}
		if again := a.nextCopy(ctx, spec); again != nil {
			return again
		}
	}
}

// idTaken reports whether a copy was not made because another guest has its id: it was there before the request, or the request was
// refused for it.
func (a *act) idTaken(spec cloneSpec, err error) bool {
	if status, verdict := job.Verdict(err); verdict && status == job.Failed && !a.run.Begun(a.steps[0].name) {
		return strings.HasPrefix(job.Text(err), spec.taken())
	}
	return collided(err)
}

// nextCopy asks for another id.
func (a *act) nextCopy(ctx context.Context, spec cloneSpec) error {
	made := spec.copied(a.ref)
	id, err := a.freeID(ctx, a.hostID, hypervisor.PlacementQuery{Kind: made.Kind, Node: made.Node, Name: spec.Name, ID: true})
	c := copying{ID: id, Tries: 1}
	if a.progress.Copy != nil {
		c.Tries += a.progress.Copy.Tries
	}
	switch {
	case err != nil:
		return job.Fail("%s was taken by another guest, and no other id could be asked for: %s", spec.ID, job.Explain(err))
	case id == "" || id == spec.ID || c.Tries > maxIDs:
		return job.Fail("%s was taken by another guest; no copy was made", spec.ID)
	}
	a.run.Note("%s was taken by another guest; the copy becomes %s", spec.ID, id)
	a.progress.Copy = &c
	return a.run.SaveProgress(ctx, a.progress)
}
