package guest

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// absent decides about a request for which the hypervisor lists no task.
//
// A task list that reaches back to the request proves that the hypervisor never
// accepted it, unless the token was replaced in between: the list of a token
// does not contain the tasks of another one. If the list does not reach back
// far enough, the state of the guest decides. Absent returns nil if the request
// may be sent again, and the end of the job otherwise.
func (a *guestRun) absent(ctx context.Context, s step, sent time.Time, reaches bool) error {
	now, err := a.tokenID(ctx, s.needs)
	if err != nil {
		return err
	}
	if now != a.progress.TokenID {
		return job.Undetermined("a request was sent but its answer was lost; the host's %s token has changed since then, and the new "+
			"token may not see the tasks of the old one", s.needs)
	}
	// The list is complete for the time of the request, so the request never
	// arrived and may be repeated.
	if reaches {
		return nil
	}
	guest, state, err := a.read(ctx, s)
	switch {
	case sdk.KindOf(err) == sdk.NotFound:
		return unlisted("the guest is not where the request was sent")
	case err != nil:
		return err
	// The state that this step would end was entered after the request, so the
	// request cannot have been carried out.
	case state.Repeatable && !state.Since.After(sent):
		return nil
	}
	// If the guest shows what the step wants, the job still ends well when the
	// step is settled.
	return unlisted(seen(guest))
}

// unlisted returns the end of a job whose request may or may not have been
// carried out. The argument says what was seen instead, so that people can find
// out.
func unlisted(seen string) error {
	return job.Undetermined("a request was sent but its answer was lost; the hypervisor's task list does not reach back that far, so "+
		"it is unknown whether the request was carried out; it was not sent again; check the guest before you request it again: %s", seen)
}

// seen describes the state of the guest and since when it has been running, in
// UTC.
func seen(guest hypervisor.Guest) string {
	started := since(guest)
	if guest.Status != hypervisor.GuestRunning || started.IsZero() {
		return "it is " + guest.Status
	}
	return fmt.Sprintf("it has been running since %s", started.UTC().Format("2006-01-02 15:04:05 UTC"))
}

// since returns the time at which a guest was started, by the hypervisor's
// clock. It is zero if that is unknown.
func since(guest hypervisor.Guest) time.Time {
	if guest.Uptime == nil || guest.At.IsZero() {
		return time.Time{}
	}
	return guest.At.Add(-time.Duration(*guest.Uptime) * time.Second)
}
