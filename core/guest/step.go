package guest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// request returns a step in the form of package job.
func (a *guestRun) request(s step) job.Step {
	return job.Step{
		Name: s.name, Undoes: s.undoes,
		Open: func(ctx context.Context) (hypervisor.Host, error) {
			return a.Hosts.Open(ctx, a.hostID, s.needs)
		},
		Watch: func(ctx context.Context) (hypervisor.Host, error) {
			return a.Hosts.Open(ctx, a.hostID, endpoint.Monitoring)
		},
		Before: func(ctx context.Context) (time.Time, bool, error) { return a.before(ctx, s) },
		Send: func(ctx context.Context, host hypervisor.Host) (string, error) {
			return s.send(ctx, host, a.ref)
		},
		Query:  a.sentTo,
		IsOurs: func(task hypervisor.Task) bool { return a.ours(s, task) },
		OnMissing: func(ctx context.Context, sent time.Time, reaches bool) error {
			return a.absent(ctx, s, sent, reaches)
		},
	}
}

// sentTo returns the query for the task of the last request, with the node and
// ID that the guest had then. It may have moved or been renamed since.
func (a *guestRun) sentTo() hypervisor.TaskQuery {
	ref := a.ref
	ref.ID = cmp.Or(a.progress.Ref, ref.ID)
	return hypervisor.TaskQuery{Guest: &ref, Node: cmp.Or(a.progress.Node, ref.Node)}
}

// before reads the guest immediately before a step, and fails the job if it is
// another guest than the requested one, if the service would stop itself
// without confirmation, or if something is in the way. It returns done if there
// is nothing to do.
func (a *guestRun) before(ctx context.Context, s step) (clock time.Time, done bool, err error) {
	guest, state, err := a.read(ctx, s)
	if err != nil {
		return time.Time{}, false, err
	}
	if other := a.requested.another(guest, s.removes); other != "" {
		return time.Time{}, false, job.Fail("%s; nothing was done", other)
	}
	if a.Self != nil && a.interrupts && !a.requested.ConfirmedSelf {
		self, err := a.Self(ctx, a.requested.GuestID)
		if err != nil {
			return time.Time{}, false, err
		}
		if self {
			return time.Time{}, false, job.Fail("the service itself runs in this guest, and this was not confirmed; nothing was done")
		}
	}
	if state.Done != "" {
		a.run.Note("nothing to do: %s", state.Done)
		return guest.At, true, nil
	}
	if state.Created != "" && a.run.StepStarted(s.name) {
		a.run.Note("%s: the request was carried out, although its task was not found", state.Created)
		return guest.At, true, nil
	}
	if state.Blocked != "" {
		return time.Time{}, false, job.Fail("%s; nothing was done", state.Blocked)
	}
	// The token is stored before the request. The task list of another token
	// would not contain its task.
	if a.progress.TokenID, err = a.tokenID(ctx, s.needs); err != nil {
		return time.Time{}, false, err
	}
	a.progress.HostID, a.progress.Node, a.progress.Ref = a.hostID, a.ref.Node, a.ref.ID
	if s.note != "" {
		a.run.Note("%s", s.note)
	}
	if err := a.save(ctx); err != nil {
		return time.Time{}, false, err
	}
	return guest.At, false, nil
}

// defaultReadLimit bounds one read. A driver that hangs would otherwise occupy
// one of the few slots for jobs for ever.
const defaultReadLimit = 2 * time.Minute

// callHost calls the guest's host with the monitoring token, within the limit.
func callHost[T any](ctx context.Context, a *guestRun, question func(context.Context, hypervisor.Host) (T, error)) (T, error) {
	return callHostAs(ctx, a, endpoint.Monitoring, question)
}

// callHostAs is ask with the token of another capability.
func callHostAs[T any](ctx context.Context, a *guestRun, capability endpoint.Capability,
	question func(context.Context, hypervisor.Host) (T, error)) (T, error) {
	return host.CallWithTimeout(ctx, a.Hosts, a.readLimit(), a.hostID, capability, question)
}

// read reads the guest and what the step needs to know about it. After a step
// that moves the guest, it also looks on the destination.
func (a *guestRun) read(ctx context.Context, s step) (guest hypervisor.Guest, state State, err error) {
	var sent time.Time
	if a.run.StepStarted(s.name) {
		sent = a.run.SentAt(s.name)
	}
	guest, err = callHost(ctx, a, func(ctx context.Context, host hypervisor.Host) (hypervisor.Guest, error) {
		guest, err := host.Guest(ctx, a.ref)
		if s.to != "" && s.to != a.ref.Node && sdk.KindOf(err) == sdk.NotFound {
			moved := a.ref
			moved.Node = s.to
			if there, failed := host.Guest(ctx, moved); failed == nil {
				a.ref, guest, err = moved, there, nil
			}
		}
		if err == nil && s.reads == "" {
			state, err = s.state(ctx, host, guest, sent)
		}
		return guest, err
	})
	if err == nil && s.reads != "" {
		state, err = callHostAs(ctx, a, s.reads, func(ctx context.Context, host hypervisor.Host) (State, error) {
			return s.state(ctx, host, guest, sent)
		})
	}
	return guest, state, err
}

// ours reports whether a task belongs to the step: by its operation and by the
// token of the request.
func (a *guestRun) ours(s step, task hypervisor.Task) bool {
	return task.Operation == s.operation && SentBy(task, a.progress.TokenID)
}

// SentBy reports whether a task was started with a token. An empty token
// matches all tasks.
func SentBy(task hypervisor.Task, token string) bool {
	return token == "" || task.TokenID == token || task.User+"!"+task.TokenID == token
}

// tokenID returns the ID of the host's present token for the capability, or an
// empty string if there is none.
func (a *guestRun) tokenID(ctx context.Context, needs endpoint.Capability) (id string, err error) {
	err = a.DB.Pool.QueryRow(ctx, "SELECT token_id FROM host_credentials WHERE host_id = $1 AND capability = $2", a.hostID, needs).
		Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", db.Problem(fmt.Errorf("reading the token's id: %w", err))
	}
	return id, nil
}
