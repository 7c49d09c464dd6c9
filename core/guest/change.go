package guest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

const (
	// changeLimit bounds all requests of a change, and sendLimit one of them. Storages may take long to make a disk larger.
	changeLimit = 100 * time.Second
	sendLimit   = 60 * time.Second
	// holdLimit is longer than a change may take.
	holdLimit = changeLimit + 20*time.Second
	// recordLimit bounds the audit row of a change that failed.
	recordLimit = 5 * time.Second
)

// Change is what is done to a guest at once, in requests that are each sent once, while a caller waits.
type Change struct {
	hosts Hosts
	guest *Guest
	// done are the fields that the hypervisor has taken, and unknown those of a request of which it is not known.
	done, unknown []string
}

// Do changes the guest of a request: it keeps jobs off the guest, writes the audit row before anything is sent, and then has do send.
// What was begun is brought to its end when the caller leaves. A failure tells what was done before it in the member done, and has an
// audit row of its own that tells it too. Problems besides those of do: guest_busy while a job or another change works on the guest.
func (a *Actor) Do(ctx context.Context, r Request, do func(ctx context.Context, c *Change) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeLimit)
	defer cancel()
	var hold *job.Hold
	err := a.DB.Tx(ctx, func(tx *db.Tx) (err error) {
		if hold, err = job.HoldOff(ctx, a.DB, tx, Exclusive(r.Guest.ID), holdLimit); err != nil {
			return err
		}
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return err
	}
	c := &Change{hosts: a.Hosts, guest: r.Guest}
	err = do(ctx, c)
	if failed := hold.Release(ctx); failed != nil && err == nil {
		err = failed // until it has ended by itself no job is taken
	}
	if err == nil {
		return nil
	}
	return a.failed(ctx, err, c)
}

// failed adds to a failure what was done before it, and writes it into the trail.
func (a *Actor) failed(ctx context.Context, err error, c *Change) error {
	failure := c.tell(err)
	attempt := audit.FromContext(ctx)
	if attempt == nil {
		return failure
	}
	entry := attempt.Entry()
	entry.Result, entry.Error = audit.ResultFailed, string(failure.Code)
	entry.Detail("done", append([]string{}, c.done...))
	if len(c.unknown) > 0 {
		entry.Detail("unknown", c.unknown)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	if unwritten := (audit.Recorder{DB: a.DB}).Record(ctx, entry); unwritten != nil {
		return failure.Because(errors.Join(err, fmt.Errorf("writing the audit row of a failed change: %w", unwritten)))
	}
	return failure
}

// tell is a failure with what was done before it. A fault of the body says nothing of that: where something was done, the hypervisor
// has refused the rest.
func (c *Change) tell(err error) *problem.Error {
	known := problem.From(plugin.Problem(err))
	told := *known
	told.Members = maps.Clone(known.Members)
	if known.Code == problem.CodeInvalid {
		if len(c.done) == 0 {
			return known
		}
		var why []string
		for _, fault := range known.Faults {
			why = append(why, fault.Msg)
		}
		told = *problem.New(problem.CodeHypervisorError, "%s", strings.Join(why, "; ")).With("reason", plugin.ReasonRefused)
	}
	failure := told.With("done", append([]string{}, c.done...)).Because(err)
	if len(c.unknown) > 0 {
		failure = failure.With("unknown", c.unknown)
	}
	return failure
}

// SendTo makes one request of a change with the lifecycle token, once, and notes the fields that it is about as done. Where its answer
// is lost, there shows whether the guest is as the request wants it; nothing is sent again, and what cannot be shown is problem
// outcome_unknown.
func SendTo[A any](ctx context.Context, c *Change, fields []string,
	request func(able A, ctx context.Context, ref hypervisor.GuestRef) error, there func(ctx context.Context) (bool, error)) error {
	return c.Send(ctx, fields, func(ctx context.Context, sent func()) error {
		_, err := Follow(ctx, c.hosts, c.guest, func(ref hypervisor.GuestRef) (struct{}, error) {
			return host.AskWithin(ctx, c.hosts, sendLimit, c.guest.HostID, endpoint.Lifecycle, func(ctx context.Context, able A) (struct{}, error) {
				sent()
				return struct{}{}, request(able, ctx, ref)
			})
		})
		return err
	}, there)
}

// Send is SendTo for a request that is made otherwise, such as to the hypervisor's firewall: request says when it is about
// to be sent.
func (c *Change) Send(ctx context.Context, fields []string, request func(ctx context.Context, sent func()) error,
	there func(ctx context.Context) (bool, error)) error {
	left := false
	err := request(ctx, func() { left = true })
	switch {
	case err == nil:
		c.done = append(c.done, fields...)
		return nil
	case !left || job.Refused(err):
		return err
	}
	was, unseen := there(ctx)
	known := problem.From(plugin.Problem(err))
	switch {
	case unseen != nil:
		c.unknown = fields
		return problem.New(problem.CodeOutcomeUnknown, "the hypervisor's answer was lost (%s), and whether it was done cannot be found out now "+
			"(%s); nothing was sent again: look at the guest before you ask once more", known.Detail, problem.From(unseen).Detail).Because(err)
	case was:
		c.done = append(c.done, fields...)
		return nil
	}
	told := *known
	told.Members = maps.Clone(known.Members)
	told.Detail = fmt.Sprintf("%s; the guest was read afterwards and is as before, and nothing was sent again", known.Detail)
	return told.Because(err)
}
