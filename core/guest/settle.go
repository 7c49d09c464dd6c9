package guest

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// settle shows the state that the guest is in after a step, and judges a failure by it: a step that fails because what it
// wants is there already has nothing left to do.
func (a *act) settle(ctx context.Context, s step, err error) error {
	status, verdict := job.Verdict(err)
	kind := sdk.KindOf(err)
	conflict := err != nil && !verdict && (kind == sdk.Conflict || kind == sdk.NotFound)
	if err != nil && !verdict && kind == sdk.Busy {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return a.blame(asking, s, err)
	}
	if !conflict && !a.run.Begun(s.name) || err != nil && !conflict && !verdict {
		return err
	}
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	guest, state, readErr := a.read(reading, s)
	if readErr == nil {
		readErr = a.show(reading, guest)
	}
	if readErr != nil {
		a.run.Note("the guest's new state could not be read; the next poll shows it")
		return err
	}
	if (conflict || status == job.Failed) && state.Done != "" {
		a.run.Note("%s; but %s, so there is nothing left to do", reason(err), state.Done)
		return nil
	}
	if status == job.Failed && state.Blocked != "" {
		err = job.Fail("%s; now %s", job.Text(err), state.Blocked)
	}
	return a.blame(reading, s, err)
}

func reason(err error) string {
	if _, verdict := job.Verdict(err); verdict {
		return "the task failed"
	}
	return job.Explain(err)
}

// show writes the guest's new state into its row.
func (a *act) show(ctx context.Context, guest hypervisor.Guest) error {
	_, err := a.DB.Pool.Exec(ctx, `UPDATE guests SET status = $2, lock = $3, node = $4, cpu = $5, memory = $6, uptime = $7,
		changed_at = now(), read_at = now() WHERE id = $1 AND vmid = $8`,
		a.asked.GuestID, guest.Status, guest.Lock, guest.Node, guest.CPU, guest.Memory, guest.Uptime, a.asked.VMID)
	if err != nil {
		return fmt.Errorf("showing the guest's new state: %w", err)
	}
	return nil
}
