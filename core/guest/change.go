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
	// changeLimit bounds all requests of a change, and sendLimit one of them.
	// Some storages take long to enlarge a disk.
	changeLimit = 100 * time.Second
	sendLimit   = 60 * time.Second
	// recordLimit bounds the storing of what was read in passing.
	recordLimit = 5 * time.Second
)

// Change is a change of a guest while the caller waits, in requests that are
// each sent once. It remembers what was done, so that a failure half-way can be
// reported exactly.
type Change struct {
	hosts Hosts
	guest *Guest
	// done lists the fields that the hypervisor has accepted. unknown lists
	// those of a request whose result is unknown.
	done, unknown []string
}

// Do changes the guest of a request. It keeps jobs off the guest, writes the
// audit row before anything is sent, and then calls do. If the caller
// disconnects, the change is still completed.
//
// A failure has the member done with what was changed before it, and an audit
// row that says the same. Problems in addition to those of do: guest_busy while
// a job or another change works on the guest, and invalid_state if the ID
// belongs to another guest now.
func (a *Actor) Do(ctx context.Context, r Request, do func(ctx context.Context, c *Change) error) error {
	c := &Change{hosts: a.Hosts, guest: r.Guest}
	return change.Change{DB: a.DB, Exclusive: Exclusive(r.Guest.ID), Limit: changeLimit, Problem: c.failure}.
		Do(ctx, func(ctx context.Context) error {
			if err := CheckSameGuest(ctx, c.hosts, c.guest); err != nil {
				return err
			}
			return do(ctx, c)
		})
}

// CheckSameGuest returns the problem invalid_state if another guest has the ID now. The
// list would notice that only at the next poll, so CheckSameGuest reads the guest from
// the hypervisor. A guest that does not exist there is not_found.
func CheckSameGuest(ctx context.Context, hosts host.Opener, g *Guest) error {
	now, err := Call(ctx, Subject{Guest: g, hosts: hosts}, hypervisor.Host.Guest)
	if err != nil {
		return err
	}
	asked := RequestedGuest{Kind: g.At().Kind, Ref: g.At().ID, UID: g.At().UID, Name: g.Name}
	if other := asked.another(now, false); other != "" {
		return problem.New(problem.CodeInvalidState, "%s; nothing was done", other)
	}
	return nil
}

// failure returns the problem of a failed change, with the fields that were done
// before, and adds them to the audit row. A validation fault becomes a
// hypervisor error if something was already done: the answer 422 would say that
// nothing was changed.
func (c *Change) failure(err error, row *audit.Entry) *problem.Error {
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
	failure := told.With("done", append([]string{}, c.done...)).WithCause(err)
	if len(c.unknown) > 0 {
		failure = failure.With("unknown", c.unknown)
	}
	return failure
}

// SendTo sends one request of a change with the lifecycle token, once, and
// records its fields as done. If the answer is lost, the function there checks
// whether the guest is as the request wants it. The request is not repeated. If
// the check fails too, the problem is outcome_unknown.
func SendTo[A any](ctx context.Context, c *Change, fields []string,
	request func(able A, ctx context.Context, ref hypervisor.GuestRef) error, there func(ctx context.Context) (bool, error)) error {
	return c.Send(ctx, fields, func(ctx context.Context, sent func()) error {
		_, err := CallAtNode(ctx, c.hosts, c.guest, func(ref hypervisor.GuestRef) (struct{}, error) {
			return host.CallWithTimeout(ctx, c.hosts, sendLimit, c.guest.HostID, endpoint.Lifecycle, func(ctx context.Context, able A) (struct{},
				error) {
				sent()
				return struct{}{}, request(able, ctx, ref)
			})
		})
		return err
	}, there)
}

// Send is SendTo for a request that is made in another way, such as to the
// hypervisor's firewall. The function request calls sent immediately before it
// sends, so that a failure before that is known to have changed nothing.
func (c *Change) Send(ctx context.Context, fields []string, request func(ctx context.Context, sent func()) error,
	there func(ctx context.Context) (bool, error)) error {
	left := false
	err := request(ctx, func() { left = true })
	switch {
	case err == nil:
		c.done = append(c.done, fields...)
		return nil
	// Nothing was sent, or the hypervisor refused it: the guest is unchanged.
	case !left || job.Refused(err):
		return err
	}
	was, unread := there(ctx)
	if unread != nil {
		c.unknown = fields
	}
	if err = change.ResolveLost(err, "the guest", was, unread); err == nil {
		c.done = append(c.done, fields...)
	}
	return err
}
