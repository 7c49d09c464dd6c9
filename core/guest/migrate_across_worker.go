package guest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// across is the checkpoint of a migration to another cluster.
type across struct {
	HostID   int64  `json:"host_id"`
	HostName string `json:"host_name"`
	Node     string `json:"node"`
	// ID is the ID that the guest gets there. It differs from the first one if
	// that was taken. Tries counts them.
	ID    hypervisor.GuestID `json:"id"`
	Tries int                `json:"tries,omitempty"`
	Name  string             `json:"name"`
	// MACs are the addresses of the guest's NICs, sorted. A guest that was
	// restored from its backup has the same, which is how it is recognised.
	MACs []string `json:"macs,omitempty"`
	// SourceStorage and TargetStorage are the names of the storage of backups
	// on each side.
	SourceStorage string `json:"source_storage"`
	TargetStorage string `json:"target_storage"`
	// Before lists the backups that existed before ours, without the storage's
	// name. BeforeThere lists those of the target.
	Before      []string `json:"before,omitempty"`
	BeforeThere []string `json:"before_there,omitempty"`
	Listed      bool     `json:"listed,omitempty"`
	// Transfer describes how the backup gets there if the sides have no common
	// storage. It is nil otherwise.
	Transfer *transfer `json:"transfer,omitempty"`
	// Backup is our backup as the target lists it.
	Backup *hypervisor.Backup `json:"backup,omitempty"`
	// TokenID is the token of the current request to the target.
	TokenID string `json:"token_id,omitempty"`
	// Arrived is true once the guest exists there and runs if it should. From
	// then on the migration is not undone.
	Arrived bool `json:"arrived,omitempty"`
	// Failure is the reason why the migration is being undone. It is stored
	// first, so that a restarted job continues to undo it.
	Failure *failure `json:"failure,omitempty"`
}

// failure is the end that the job will have.
type failure struct {
	Status job.Status `json:"status"`
	Text   string     `json:"text"`
}

// Names of the steps, except those of the restores, which contain the ID. They
// are stored in checkpoints and must not change.
const (
	stepLeave  = "stop"
	stepBackup = "backup"
	stepEnter  = "start there"
)

// moveAcross moves the guest to another cluster. A failure before the guest
// runs there is undone: the original is started again.
func (a *guestRun) moveAcross(ctx context.Context) error {
	x := a.progress.Migration.Across
	if x.Failure == nil && !x.Arrived {
		err := a.migrateAcross(ctx, x)
		// If this instance stops, another one continues with the checkpoint.
		select {
		case <-a.run.Stopping():
			return err
		default:
		}
		switch {
		case err == nil:
		case errors.Is(err, job.ErrLost), errors.Is(err, job.ErrStopping):
			return err
		// Nothing has been done yet, so there is nothing to undo.
		case !a.run.StepStarted(stepLeave) && !a.run.StepStarted(stepBackup):
			return err
		default:
			x.Failure = a.failed(err)
			if err := a.run.SaveCheckpoint(context.WithoutCancel(ctx), a.progress); err != nil {
				return err
			}
		}
	}
	// From here on a cancellation has no effect: the guest must end up running
	// somewhere.
	if x.Failure != nil {
		return a.undoMigration(context.WithoutCancel(ctx), x)
	}
	return a.settleOnTarget(context.WithoutCancel(ctx), x)
}

// failed returns the end of a job for an error.
func (a *guestRun) failed(err error) *failure {
	if status, verdict := job.Verdict(err); verdict {
		return &failure{Status: status, Text: job.Text(err)}
	}
	select {
	case <-a.run.Canceled():
		return &failure{Status: job.Canceled, Text: "canceled"}
	default:
		return &failure{Status: job.Failed, Text: job.Text(err)}
	}
}

// migrateAcross does everything until the guest runs on the target.
func (a *guestRun) migrateAcross(ctx context.Context, x *across) error {
	if err := a.locate(ctx); err != nil {
		return err
	}
	// The machine to copy from was decided when the job began. The guest has
	// moved since.
	if t := x.Transfer; t != nil && t.Made == nil && a.ref.Node != t.Node {
		return job.Fail("the guest was on the node %s, from whose machine its backup was to be copied, but is now on %s",
			t.Node, a.ref.Node)
	}
	if !x.Listed {
		if err := a.listBefore(ctx, x); err != nil {
			return err
		}
	}
	if a.progress.Migration.Running {
		s := lifecycleStep(stepLeave, hypervisor.Shutdown, "shutting down the guest")
		if err := a.settle(ctx, s, a.follow(ctx, s)); err != nil {
			return err
		}
	}
	if x.Backup == nil {
		if err := a.awaitOff(ctx); err != nil {
			return err
		}
		if err := a.backUp(ctx, x); err != nil {
			return err
		}
	}
	if err := a.restoreOnTarget(ctx, x); err != nil {
		return err
	}
	if a.progress.Migration.Running {
		if err := a.startOnTarget(ctx, x); err != nil {
			return err
		}
	}
	x.Arrived = true
	return a.run.SaveCheckpoint(context.WithoutCancel(ctx), a.progress)
}

// defaultOffLimit is how long a guest may take to be off after it was shut
// down. Under a high availability manager that happens only after the task of
// the request has ended.
const defaultOffLimit = 5 * time.Minute

// awaitOff waits until the guest is off. Data that it writes after the backup
// would be lost.
func (a *guestRun) awaitOff(ctx context.Context) error {
	limit := cmp.Or(a.OffLimit, defaultOffLimit)
	if !a.progress.Migration.Running {
		limit = 0 // nobody has shut it down
	}
	for ends, told := time.Now().Add(limit), false; ; told = true {
		var guest hypervisor.Guest
		err := a.run.RetryUnreachable(ctx, func(ctx context.Context) (err error) {
			guest, err = callHost(ctx, a, func(ctx context.Context, at hypervisor.Host) (hypervisor.Guest, error) { return at.Guest(ctx, a.ref) })
			return err
		})
		switch {
		case err != nil:
			return err
		case guest.Status == hypervisor.GuestStopped, guest.Status == hypervisor.GuestSuspended:
			return nil
		case time.Now().After(ends):
			return job.Fail("the guest is %s and was not backed up: data that it writes now would be lost", guest.Status)
		}
		if !told {
			a.run.Note("the hypervisor's task has ended; waiting for the guest to stop")
		}
		if err := wait(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
}

// lifecycleStep returns a step that performs a power action.
func lifecycleStep(name string, action hypervisor.Action, says string) step {
	return step{
		name: name, needs: endpoint.Lifecycle, operation: action.Operation(), note: says,
		send: func(ctx context.Context, at hypervisor.Host, ref hypervisor.GuestRef) (string, error) {
			able, err := host.AsAbility[hypervisor.LifecycleManager](at)
			if err != nil {
				return "", err
			}
			return able.Act(ctx, ref, action)
		},
		state: func(_ context.Context, _ hypervisor.Host, guest hypervisor.Guest, _ time.Time) (State, error) {
			return lifecycleState(action, guest), nil
		},
	}
}

// wait waits for a duration, or until the context ends. A cancellation by a
// user becomes the end of the job.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), job.ErrCanceled) {
			return job.Stopped("canceled")
		}
		return context.Cause(ctx)
	}
}

// targetRef returns the reference of the guest on the target.
func (a *guestRun) targetRef(x *across) hypervisor.GuestRef {
	return hypervisor.GuestRef{Kind: a.requested.Kind, Node: x.Node, ID: x.ID}
}

// readOnTarget reads the guest on the target. It returns nil if no guest has the
// ID. The result ours is true if the guest was restored from our backup: it has
// the same MAC addresses, or the same name if it has no NICs.
func (a *guestRun) readOnTarget(ctx context.Context, x *across) (guest *hypervisor.Guest, ours bool, err error) {
	_, err = host.CallWithTimeout(ctx, a.Hosts, a.readLimit(), x.HostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Host) (none struct{}, err error) {
			found, err := at.Guest(ctx, a.targetRef(x))
			if err != nil {
				return none, err
			}
			guest, ours = &found, found.Name == x.Name
			reader, failed := host.AsAbility[hypervisor.ConfigReader](at)
			if failed != nil || len(x.MACs) == 0 {
				return none, nil
			}
			config, err := reader.Config(ctx, a.targetRef(x))
			var macs []string
			for _, nic := range config.NICs {
				macs = append(macs, strings.ToUpper(nic.MAC))
			}
			slices.Sort(macs)
			ours = slices.Equal(macs, x.MACs)
			return none, err
		})
	if sdk.KindOf(err) == sdk.NotFound {
		return nil, false, nil
	}
	return guest, ours, err
}

// awaitReadOnTarget is readOnTarget with retries until the target answers.
func (a *guestRun) awaitReadOnTarget(ctx context.Context, x *across) (guest *hypervisor.Guest, ours bool, err error) {
	err = a.run.RetryUnreachable(ctx, func(ctx context.Context) (err error) {
		guest, ours, err = a.readOnTarget(ctx, x)
		return err
	})
	return guest, ours, err
}

// restoring returns the name of the step that restores the guest under its
// current ID.
func (x *across) restoring() string { return fmt.Sprintf("restore %s", x.ID) }

// restoreOnTarget restores the guest on the target, under another ID if its own
// was taken.
func (a *guestRun) restoreOnTarget(ctx context.Context, x *across) error {
	spec := a.progress.Migration.Spec
	for {
		name := x.restoring()
		_, err := a.run.Do(ctx, a.requestOnTarget(x, name, hypervisor.OperationRestore, endpoint.Backup,
			func(ctx context.Context) (time.Time, bool, error) {
				guest, ours, err := a.readOnTarget(ctx, x)
				switch {
				case err != nil:
					return time.Time{}, false, err
				case guest != nil && ours && a.run.StepStarted(name):
					a.run.Note("guest %s has appeared since the request: it was carried out, although its task was not found", x.ID)
					return time.Now(), true, nil
				case guest != nil:
					return time.Time{}, false, sdk.Errorf(sdk.Conflict, "guest %s already exists", x.ID)
				}
				a.run.Note("restoring it on the host %s, node %s, as %s", x.HostName, x.Node, x.ID)
				return time.Now(), false, nil
			},
			func(ctx context.Context, at hypervisor.Host) (string, error) {
				able, err := host.AsAbility[hypervisor.BackupManager](at)
				if err != nil {
					return "", err
				}
				return able.Restore(ctx, hypervisor.RestoreSpec{Backup: *x.Backup, ID: x.ID, Node: x.Node, Storage: spec.Storage})
			}))
		if err == nil {
			return nil
		}
		if !collided(err) || x.Tries >= maxIDs {
			return err
		}
		if err := a.nextTargetID(ctx, x); err != nil {
			return err
		}
	}
}

// nextTargetID selects another ID and stores it in the checkpoint. It must not
// be the guest's own ID, which may stand for the same volumes.
func (a *guestRun) nextTargetID(ctx context.Context, x *across) error {
	id, err := a.freeID(ctx, x.HostID, hypervisor.PlacementQuery{Kind: a.requested.Kind, Node: x.Node, Name: x.Name, ID: true})
	switch {
	case err != nil:
		return job.Fail("%s was taken by another guest, and no other ID could be requested: %s", x.ID, job.Explain(err))
	case id == "" || id == x.ID || id == a.requested.Ref:
		return job.Fail("%s was taken by another guest", x.ID)
	}
	a.run.Note("%s was taken by another guest; the guest gets the ID %s", x.ID, id)
	x.ID = id
	x.Tries++
	return a.run.SaveCheckpoint(ctx, a.progress)
}

// requestOnTarget returns a step on the target host in the form of package job.
func (a *guestRun) requestOnTarget(x *across, name string, does hypervisor.Operation, needs endpoint.Capability,
	before func(context.Context) (time.Time, bool, error), send func(context.Context, hypervisor.Host) (string, error)) job.Step {
	ref := a.targetRef(x)
	return job.Step{
		Name: name,
		Open: func(ctx context.Context) (hypervisor.Host, error) { return a.Hosts.Open(ctx, x.HostID, needs) },
		Before: func(ctx context.Context) (clock time.Time, done bool, err error) {
			if clock, done, err = before(ctx); err != nil || done {
				return clock, done, err
			}
			if x.TokenID, err = (&guestRun{Worker: a.Worker, hostID: x.HostID}).tokenID(ctx, needs); err != nil {
				return clock, false, err
			}
			return clock, false, a.run.SaveCheckpoint(ctx, a.progress)
		},
		Watch: func(ctx context.Context) (hypervisor.Host, error) {
			return a.Hosts.Open(ctx, x.HostID, endpoint.Monitoring)
		},
		Send:   send,
		Query:  func() hypervisor.TaskQuery { return hypervisor.TaskQuery{Guest: &ref, Node: ref.Node} },
		IsOurs: func(task hypervisor.Task) bool { return task.Operation == does && SentBy(task, x.TokenID) },
		OnMissing: func(ctx context.Context, _ time.Time, reaches bool) error {
			guest, ours, err := a.readOnTarget(ctx, x)
			if err != nil {
				return err
			}
			now, err := (&guestRun{Worker: a.Worker, hostID: x.HostID}).tokenID(ctx, needs)
			switch {
			case err != nil:
				return err
			case guest != nil && ours || reaches && now == x.TokenID: // the list of another token proves nothing
				return nil // what is there is seen before anything is sent
			}
			return job.Undetermined("a request to the host %s was sent but its answer was lost; the hypervisor's task list does not "+
				"reach back that far, and guest %s does not exist there", x.HostName, x.ID)
		},
	}
}

// checkStillOff fails the job if somebody has started the original guest in the
// meantime: two copies would run.
func (a *guestRun) checkStillOff(ctx context.Context) error {
	guest, err := callHost(ctx, a, func(ctx context.Context, at hypervisor.Host) (hypervisor.Guest, error) { return at.Guest(ctx, a.ref) })
	if err == nil && guest.Status != hypervisor.GuestStopped {
		err = job.Fail("the original guest is %s again, so the new one was not started", guest.Status)
	}
	return err
}

// startOnTarget starts the guest on the target and verifies that it runs.
func (a *guestRun) startOnTarget(ctx context.Context, x *across) error {
	_, err := a.run.Do(ctx, a.requestOnTarget(x, stepEnter, hypervisor.Start.Operation(), endpoint.Lifecycle,
		func(ctx context.Context) (time.Time, bool, error) {
			guest, ours, err := a.readOnTarget(ctx, x)
			switch {
			case err != nil:
				return time.Time{}, false, err
			case guest == nil || !ours:
				return time.Time{}, false, job.Fail("the guest %s on %s is not the restored one", x.ID, x.HostName)
			case guest.Status == hypervisor.GuestRunning:
				return guest.At, true, nil
			}
			if err := a.checkStillOff(ctx); err != nil {
				return time.Time{}, false, err
			}
			a.run.Note("starting the guest there")
			return guest.At, false, nil
		},
		func(ctx context.Context, at hypervisor.Host) (string, error) {
			able, err := host.AsAbility[hypervisor.LifecycleManager](at)
			if err != nil {
				return "", err
			}
			return able.Act(ctx, a.targetRef(x), hypervisor.Start)
		}))
	guest, _, readErr := a.awaitReadOnTarget(context.WithoutCancel(ctx), x)
	if readErr == nil && guest != nil && guest.Status == hypervisor.GuestRunning {
		return nil
	}
	switch {
	case err != nil:
		return err
	case readErr != nil:
		return job.Undetermined("could not find out whether the guest runs on %s: %s", x.HostName, job.Explain(readErr))
	}
	return job.Fail("the guest was started on %s but is not running there", x.HostName)
}
