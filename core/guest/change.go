package guest

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/change"
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
	// recordLimit bounds the keeping of what was read by the way.
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
// audit row of its own that tells it too. Problems besides those of do: guest_busy while a job or another change works on the guest,
// and invalid_state when its id is another guest's by now.
func (a *Actor) Do(ctx context.Context, r Request, do func(ctx context.Context, c *Change) error) error {
	c := &Change{hosts: a.Hosts, guest: r.Guest}
	return change.Change{DB: a.DB, Exclusive: Exclusive(r.Guest.ID), Limit: changeLimit, Tell: c.tell}.
		Do(ctx, func(ctx context.Context) error {
			if err := Same(ctx, c.hosts, c.guest); err != nil {
				return err
			}
			return do(ctx, c)
		})
}

// Same refuses, as problem invalid_state, another guest than the one that is known under an id: the list knows of one that took its id
// since the last poll only then. It asks the hypervisor; a guest that is gone there is problem not_found.
func Same(ctx context.Context, hosts host.Opener, g *Guest) error {
	now, err := Look(ctx, Subject{Guest: g, hosts: hosts}, hypervisor.Host.Guest)
	if err != nil {
		return err
	}
	asked := Asked{Kind: g.At().Kind, Ref: g.At().ID, UID: g.At().UID, Name: g.Name}
	if other := asked.another(now, false); other != "" {
		return problem.New(problem.CodeInvalidState, "%s; nothing was done", other)
	}
	return nil
}

// tell is a failure with what was done before it, also in its audit row. A fault of the body says nothing of that: where something was
// done, the hypervisor has refused the rest.
func (c *Change) tell(err error, row *audit.Entry) *problem.Error {
	row.Detail("done", append([]string{}, c.done...))
	if len(c.unknown) > 0 {
		row.Detail("unknown", c.unknown)
	}
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
	was, unread := there(ctx)
	if unread != nil {
		c.unknown = fields
	}
	if err = change.Lost(err, "the guest", was, unread); err == nil {
		c.done = append(c.done, fields...)
	}
	return err
}
