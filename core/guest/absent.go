package guest

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// absent judges a request of which the hypervisor lists no task. A list that reaches back to the request proves that it was
// never taken, unless the token was changed meanwhile: a list tells nothing of the tasks of another. Where the list does not
// reach, the guest's state decides.
func (a *act) absent(ctx context.Context, s step, sent time.Time, reaches bool) error {
	now, err := a.tokenID(ctx, s.needs)
	if err != nil {
		return err
	}
	if now != a.progress.TokenID {
		return job.Undetermined("a request was sent and its answer was lost: the host's %s token was changed meanwhile, and the new "+
			"one may "+
			"not see the old one's tasks", s.needs)
	}
	if reaches {
		return nil
	}
	guest, state, err := a.read(ctx, s)
	switch {
	case sdk.KindOf(err) == sdk.NotFound:
		return unlisted("the guest is not where the request was sent to")
	case err != nil:
		return err
	case state.Again && !state.Since.After(sent):
		return nil
	}
	// What is there of what the step wants makes this a good end when the step is settled.
	return unlisted(seen(guest))
}

// unlisted is the end of a job whose request may have been carried out or not; what was seen instead helps to find out.
func unlisted(seen string) error {
	return job.Undetermined("a request was sent and its answer was lost; the hypervisor's task list does not reach back to it, so "+
		"that it "+
		"is not known whether it was carried out, and it was not sent again; look at the guest before you ask for it once more: %s", seen)
}

// seen says how the guest is, and since when it has been running.
func seen(guest hypervisor.Guest) string {
	started := since(guest)
	if guest.Status != hypervisor.GuestRunning || started.IsZero() {
		return "it is " + guest.Status
	}
	return fmt.Sprintf("it is running since %s", started.UTC().Format("2006-01-02 15:04:05 UTC"))
}

// since is when a guest was started, by the hypervisor's clock; zero where that is not known.
func since(guest hypervisor.Guest) time.Time {
	if guest.Uptime == nil || guest.At.IsZero() {
		return time.Time{}
	}
	return guest.At.Add(-time.Duration(*guest.Uptime) * time.Second)
}
