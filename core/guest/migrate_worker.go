package guest

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// migration is the checkpoint of a job that moves a guest: the result of its
// own check.
type migration struct {
	Strategy string                   `json:"strategy"`
	Spec     hypervisor.MigrationSpec `json:"spec,omitzero"`
	Running  bool                     `json:"running,omitempty"`
	Across   *across                  `json:"across,omitempty"`
}

// migrate runs a job that moves a guest.
func (w *Worker) migrate(ctx context.Context, run *job.Run) error {
	var params Params[migrationSpec]
	if err := run.Params(&params); err != nil {
		return err
	}
	a := &guestRun{Worker: w, run: run, requested: params.RequestedGuest}
	if err := run.LoadCheckpoint(&a.progress); err != nil {
		return err
	}
	// After a restart of the service the decision stands. The guest may be
	// half-way.
	if a.progress.Migration == nil {
		if err := a.decideMigration(ctx, params.Spec); err != nil {
			return err
		}
	}
	m := a.progress.Migration
	if m.Across != nil {
		return a.moveAcross(ctx)
	}
	a.steps = []step{migrationStep(m.Spec, m.Running)}
	if err := a.do(ctx); err != nil {
		return err
	}
	if err := a.arrive(ctx, m); err != nil {
		return err
	}
	a.sync(ctx, a.run, a.hostID)
	return nil
}

// decideMigration repeats the whole check and stores how the guest is moved.
// The situation may have changed since the request, but the job must not do
// more than the user has confirmed.
func (a *guestRun) decideMigration(ctx context.Context, spec migrationSpec) error {
	if err := a.locate(ctx); err != nil {
		return err
	}
	self := false
	if a.Self != nil {
		var err error
		if self, err = a.Self(ctx, a.requested.GuestID); err != nil {
			return err
		}
	}
	check := newMigrationCheck(a.DB, a.Hosts, a.readLimit(), a.hostID, a.ref, spec.Order)
	check.self, check.machines = self, a.Machines
	if err := check.run(ctx); err != nil {
		return err
	}
	a.ref = check.ref
	if other := a.requested.another(check.guest, false); other != "" {
		return job.Fail("%s; nothing was done", other)
	}
	for _, f := range check.Warnings {
		a.run.Note("%s", f.Message)
	}
	switch {
	case len(check.Blockers) > 0:
		return job.Fail("the guest cannot be migrated: %s Nothing was done", sentences(check.Blockers))
	case self && !a.requested.ConfirmedSelf:
		return job.Fail("the service itself runs in this guest, and this was not confirmed; nothing was done")
	case check.stops() && !spec.Confirmed:
		return job.Fail("the guest would be stopped for the move, and this was not confirmed; nothing was done")
	}
	m := &migration{Strategy: *check.Strategy, Running: check.Running}
	m.Spec = hypervisor.MigrationSpec{Node: check.TargetNode, Online: check.Running && check.Live, Restart: check.stops()}
	if spec.Order.Storage != nil {
		m.Spec.Storage = *spec.Order.Storage
	}
	if check.across() {
		m.Across = check.decided()
	}
	a.progress.Migration = m
	return a.run.SaveCheckpoint(ctx, a.progress)
}

// readLimit bounds one read from a hypervisor.
func (w *Worker) readLimit() time.Duration {
	if w.ReadLimit == 0 {
		return defaultReadLimit
	}
	return w.ReadLimit
}

// defaultArriveLimit is how long a job waits for a guest whose migration the
// hypervisor delegates to its own manager. Copying disks takes long.
const defaultArriveLimit = 6 * time.Hour

// startingLimit is how long a moved guest may take to run again.
const startingLimit = time.Minute

// arrive waits until the guest is where it should be. The task of the request
// may have ended before.
func (a *guestRun) arrive(ctx context.Context, m *migration) error {
	limit := a.ArriveLimit
	if limit == 0 {
		limit = defaultArriveLimit
	}
	ends, pause, origin := time.Now().Add(limit), 100*time.Millisecond, a.progress.Node
	// astray is the time since which the guest has been on a wrong node, or
	// off. For a moment that is normal during a migration.
	var astray time.Time
	s := migrationStep(m.Spec, m.Running)
	for told := false; ; told = true {
		guest, state, err := a.read(ctx, s)
		if ctx.Err() != nil {
			return a.stopped(ctx)
		}
		if err == nil && state.Done != "" {
			return a.show(context.WithoutCancel(ctx), a.requested.GuestID, guest)
		}
		wrong := ""
		switch kind := sdk.KindOf(err); {
		case err == nil && state.Blocked != "":
			wrong = state.Blocked
		case err == nil && guest.Node != origin:
			wrong = "the guest is on the node " + guest.Node
		case err == nil, kind == sdk.Unreachable, kind == sdk.Timeout:
		case kind == sdk.NotFound:
			wrong = "the guest was not found on the nodes that were checked"
			// The next read uses the node that this finds.
			_, _ = a.relocate(ctx)
		default:
			return err
		}
		switch {
		case wrong == "":
			astray = time.Time{}
		case astray.IsZero():
			astray = time.Now()
		case time.Since(astray) > min(limit/2, startingLimit):
			return job.Fail("the hypervisor accepted the request, but it failed: %s", wrong)
		}
		if time.Now().After(ends) {
			return job.Undetermined("the hypervisor accepted the request, but after %s the guest is not on the node %s; check that node",
				limit,
				m.Spec.Node)
		}
		if !told {
			a.run.Note("the hypervisor's task has ended; waiting for the guest to appear on the node %s", m.Spec.Node)
		}
		if wait(ctx, pause) != nil {
			return a.stopped(ctx)
		}
		pause = min(2*pause, 10*time.Second)
	}
}

// stopped returns why a wait ended early.
func (a *guestRun) stopped(ctx context.Context) error {
	select {
	case <-a.run.Canceled():
		return job.Undetermined("canceled, but the hypervisor's high availability manager continues to work on the guest")
	default:
		return context.Cause(ctx)
	}
}
