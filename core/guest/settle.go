package guest

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// settle shows the state of the guest after a step, and reconsiders a failure
// or an unknown end: if the guest is as the step wants it, the step has
// succeeded.
func (a *guestRun) settle(ctx context.Context, s step, err error) error {
	status, verdict := job.Verdict(err)
	kind := sdk.KindOf(err)
	conflict := err != nil && !verdict && (kind == sdk.Conflict || kind == sdk.NotFound)
	// A guest that is locked was not changed. The task that holds the lock is
	// the useful information.
	if err != nil && !verdict && kind == sdk.Busy {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return a.addLockHolder(asking, s, err)
	}
	if !conflict && !a.run.StepStarted(s.name) && !(s.removes && verdict) || err != nil && !conflict && !verdict {
		return err
	}
	// The context of the job may have ended, but the new state should be
	// visible all the same.
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	guest, state, readErr := a.read(reading, s)
	switch {
	case readErr == nil:
		readErr = a.show(reading, a.requested.GuestID, guest)
	// The hypervisor does not have the guest any more, which is what the step
	// wants.
	case s.removes && a.isGone(reading, readErr):
		state, readErr = State{Done: "the guest no longer exists"}, nil
	}
	if readErr != nil {
		a.run.Note("could not read the guest's new state; the next poll will show it")
		return err
	}
	there := state.Done
	if there == "" && status == job.Unknown {
		there = state.Created
	}
	if (conflict || status == job.Failed || status == job.Unknown) && there != "" {
		a.run.Note("%s; but %s, so there is nothing left to do", reason(err), there)
		return nil
	}
	// The manager has only been told. The guest changes later.
	if err == nil && guest.HA && state.Repeatable && there == "" {
		return a.await(ctx, s)
	}
	return a.addLockHolder(reading, s, appendState(err, status, cmp.Or(state.Blocked, state.Left)))
}

// appendState adds the observed state to the text of a failure or an unknown end.
func appendState(err error, status job.Status, there string) error {
	switch {
	case there == "":
	case status == job.Failed:
		return job.Fail("%s; now %s", job.Text(err), there)
	case status == job.Unknown:
		return job.Undetermined("%s; now %s", job.Text(err), there)
	}
	return err
}

// isGone reports whether no node has the guest, after one node did not have it.
func (a *guestRun) isGone(ctx context.Context, err error) bool {
	if sdk.KindOf(err) != sdk.NotFound {
		return false
	}
	found, err := callHost(ctx, a, func(ctx context.Context, host hypervisor.Host) (hypervisor.GuestRef, error) {
		return find(ctx, host, a.ref)
	})
	return err == nil && found.Node == ""
}

// reason returns why a step did not succeed, for a note.
func reason(err error) string {
	if status, _ := job.Verdict(err); status == job.Failed {
		return "the task failed"
	}
	return job.Text(err)
}

// showRead updates a guest that was read directly. One reading of a CPU time
// counter ($8) does not give a usage: the last one stays, unless the guest was
// restarted since, and the next poll uses the counter. The time of the figures
// becomes now only if no figure of the last poll remains beside them.
const showRead = `UPDATE guests g SET status = $2, lock = $3, node = $4, name = COALESCE(NULLIF($9, ''), g.name),
	cpu = r.cpu, memory = $6, uptime = $7,
	figures_at = CASE WHEN num_nonnulls($5::float8, $6::bigint) > 0 AND num_nonnulls(CASE WHEN $5 IS NULL THEN r.cpu END, g.net_in, g.net_out,
		g.disk_read, g.disk_write) = 0 THEN now() ELSE g.figures_at END,
	changed_at = now(), read_at = now()
FROM (SELECT COALESCE($5::float8, CASE WHEN $8::float8 >= cpu_seconds AND $2 IN ('running', 'paused')
	AND COALESCE($7::bigint >= uptime, true) THEN cpu END) AS cpu FROM guests WHERE id = $1) r WHERE g.id = $1`

// show writes the new state of the guest into its row.
func (w *Worker) show(ctx context.Context, guestID int64, guest hypervisor.Guest) error {
	_, err := w.DB.Pool.Exec(ctx, showRead, guestID, guest.Status, guest.Lock, guest.Node, guest.CPU, guest.Memory, guest.Uptime,
		guest.CPUSeconds, guest.Name)
	if err != nil {
		return fmt.Errorf("storing the guest's new state: %w", err)
	}
	return detailStale(ctx, w.DB, guestID)
}
