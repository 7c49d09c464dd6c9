package poll

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
)

// Sync polls one host now, through this host, and returns when the result is
// written. It waits for a running poll of the same cluster. Problems of the
// host: hypervisor_error, token_rejected, timeout; they are stored as the loop
// does. Success ends the pause after failures. A host whose token does not see
// everything leaves the writing to other hosts of its cluster that do.
func (p *Poller) Sync(ctx context.Context, hostID int64) error {
	_, u, err := p.memberOf(ctx, hostID)
	if err != nil {
		return err
	}
	if err := p.locks.wait(ctx, u.key()); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return problem.New(problem.CodeTimeout, "another poll of the same cluster took too long").WithCause(err)
		}
		return err
	}
	defer p.locks.free(u.key())
	m, _, err := p.memberOf(ctx, hostID)
	if err != nil {
		return err
	}
	others, err := p.others(ctx, m)
	if err != nil {
		return err
	}
	m.fresh = true
	cluster, hostErr, err := p.ask(ctx, m, others)
	switch {
	case errors.Is(err, errGone):
		return problem.New(problem.CodeNotFound, "host not found")
	case err == nil && errors.Is(hostErr, errLimited):
		defer p.Wake()
		return p.dueNow(ctx, u.cluster)
	case hostErr != nil:
		return errors.Join(plugin.Problem(hostErr), p.afterFailure(ctx, u))
	case err != nil:
		return err
	case u.cluster != 0 && cluster != u.cluster:
		// The cluster that the host left is due now.
		return p.dueNow(ctx, u.cluster)
	}
	return nil
}

// others reports whether other hosts of the cluster can answer for it.
func (p *Poller) others(ctx context.Context, m member) (bool, error) {
	if m.cluster == nil {
		return false, nil
	}
	all, err := p.members(ctx, "WHERE c.id = $1", *m.cluster)
	return slices.ContainsFunc(all, func(o member) bool { return o.id != m.id && o.whole() }), err
}

// afterFailure lets other hosts of the cluster take over, or marks the cluster
// if there are none.
func (p *Poller) afterFailure(ctx context.Context, u unit) error {
	if u.cluster == 0 || ctx.Err() != nil {
		return nil
	}
	defer p.Wake()
	others, err := p.members(ctx, "WHERE c.id = $1 AND h.failures = 0", u.cluster)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return p.dueNow(ctx, u.cluster)
	}
	return p.unanswered(ctx, u.cluster)
}

// dueNow makes a cluster due for a poll.
func (p *Poller) dueNow(ctx context.Context, cluster int64) error {
	if _, err := p.db.Pool.Exec(ctx, "UPDATE clusters SET next_poll_at = now() WHERE id = $1", cluster); err != nil {
		return db.Problem(fmt.Errorf("reading the cluster's poll: %w", err))
	}
	return nil
}

// memberOf reads a host as a member of its unit.
func (p *Poller) memberOf(ctx context.Context, hostID int64) (member, unit, error) {
	found, err := p.members(ctx, "WHERE h.id = $1", hostID)
	if err != nil {
		return member{}, unit{}, err
	}
	if len(found) == 0 {
		return member{}, unit{}, problem.New(problem.CodeNotFound, "host not found")
	}
	u := unit{host: hostID}
	if found[0].cluster != nil {
		u = unit{cluster: *found[0].cluster}
	}
	return found[0], u, nil
}
