package poll

import (
	"context"
	"errors"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// cycle polls a unit once, if it is still due and no other instance is at it. Its error is a failure of ours, such as
// the database being away; a host's failure is recorded and no error.
func (p *Poller) cycle(ctx context.Context, u unit) error {
	got, err := p.locks.try(ctx, u.key())
	if err != nil || !got {
		return err
	}
	defer p.locks.free(u.key())
	candidates, err := p.candidates(ctx, u)
	if err != nil {
		return err
	}
	if u.probe {
		for _, m := range candidates {
			if err := p.probe(ctx, m); err != nil {
				return err
			}
		}
		return nil
	}
	for _, m := range candidates {
		cluster, hostErr, err := p.ask(ctx, m)
		switch {
		case errors.Is(err, errGone):
			continue
		case err != nil:
			return err
		// A host that left its cluster has answered for another one; this one still needs its poll.
		case hostErr == nil && (u.cluster == 0 || cluster == u.cluster):
			return nil
		}
	}
	if u.cluster == 0 {
		return nil
	}
	return p.unanswered(ctx, u.cluster)
}

// unanswered ends a cycle in which no host spoke for the cluster.
func (p *Poller) unanswered(ctx context.Context, cluster int64) error {
	left, err := p.members(ctx, "WHERE c.id = $1", cluster)
	if err != nil || len(left) == 0 {
		return err
	}
	return p.silence(ctx, cluster)
}

// ask polls one host. The first error is the host's and recorded, the second one is ours.
func (p *Poller) ask(ctx context.Context, m member) (cluster int64, hostErr, err error) {
	began := time.Now()
	interval := p.every(ctx)
	inv := p.spare.Get().(*inventory)
	defer p.spare.Put(inv)
	g, hostErr := p.fetch(ctx, m, inv, interval)
	if hostErr == nil {
		cluster, err = p.store(ctx, g)
		p.count.done(time.Since(began), err == nil)
		if inv.dropped > 0 {
			p.log.Warn("a gap in the samples was too long to be filled", "host", m.id, "dropped", inv.dropped)
		}
		return cluster, nil, err
	}
	// The service is stopping: that says nothing of the host.
	if ctx.Err() != nil {
		return 0, hostErr, ctx.Err()
	}
	p.count.done(time.Since(began), false)
	if p.ours(m, hostErr, interval) {
		return 0, hostErr, hostErr
	}
	return 0, hostErr, p.note(ctx, m, hostErr, interval)
}

// ours reports whether an error says nothing of the host: the database is away, or the plugin is being started again
// and what is known is not old yet.
func (p *Poller) ours(m member, hostErr error, interval time.Duration) bool {
	switch problem.From(plugin.Problem(hostErr)).Code {
	case problem.CodeDatabaseUnavailable:
		return true
	case problem.CodePluginUnavailable:
		return m.failures == 0 && m.since != nil && time.Since(*m.since) < 3*interval
	}
	return false
}

// store writes what was found, once there is room for another writer.
func (p *Poller) store(ctx context.Context, g good) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	select {
	case p.writes <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-p.writes }()
	return p.write(ctx, g)
}

// note records a host's failure.
func (p *Poller) note(ctx context.Context, m member, hostErr error, interval time.Duration) error {
	reason, sentence := host.Reason(hostErr)
	if m.failures == 0 {
		p.log.Warn("a host does not answer", "host", m.id, "reason", reason, "error", hostErr)
	}
	return p.fail(ctx, m.id, reason, sentence, interval)
}

// fetch takes the host's inventory under the time limit.
func (p *Poller) fetch(ctx context.Context, m member, inv *inventory, interval time.Duration) (good, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	now := time.Now()
	g := good{host: m.id, inv: inv, interval: interval}
	query := hypervisor.InventoryQuery{}
	var since time.Time
	if m.since != nil {
		since = *m.since
	}
	if m.detail != nil {
		query.Since = *m.detail
	}
	// After a time without polls, what was missed is asked for at once.
	query.Detail = m.cluster != nil && (now.Sub(query.Since) >= detailEvery || now.Sub(since) > 3*interval)
	g.detail = query.Detail
	inv.begin(since, now, interval)
	at, err := p.hosts.Open(ctx, m.id, hypervisor.Monitoring)
	if err != nil {
		return g, err
	}
	defer func() { _ = at.Close() }()
	// A host that failed is first asked for the cheapest thing there is; it may also come back as another release.
	if m.failures > 0 {
		version, err := at.Version(ctx)
		if err != nil {
			return g, err
		}
		g.version = clean(version.Version, maxWord)
	}
	if err := at.Inventory(ctx, query, inv.page); err != nil {
		return g, err
	}
	if err := inv.check(); err != nil {
		return g, err
	}
	return g, doubt(ctx, at, m, inv)
}

// doubt looks twice when most of the guests have gone at once: a token that lost its right to see them is shown a short
// list and no error. What such a list leaves out is kept.
func doubt(ctx context.Context, at hypervisor.Host, m member, inv *inventory) error {
	if inv.cluster.Partial || inv.guests.n*2 >= m.guests {
		return nil
	}
	p, err := at.Permissions(ctx)
	if err == nil && len(p.Missing) > 0 {
		inv.cluster.Partial = true
	}
	return err
}

// probe tries a failed host of a cluster that others answer for.
func (p *Poller) probe(ctx context.Context, m member) error {
	interval := p.every(ctx)
	version, hostErr := p.version(ctx, m.id)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if hostErr != nil {
		return p.note(ctx, m, hostErr, interval)
	}
	p.log.Info("a host answers again", "host", m.id)
	_, err := p.db.Pool.Exec(ctx, `UPDATE hosts SET status = 'online', error_reason = '', error = '', failures = 0, ok_at = now(), version = $2 WHERE id = $1`,
		m.id, clean(version.Version, maxWord))
	return err
}

func (p *Poller) version(ctx context.Context, id int64) (hypervisor.Version, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	at, err := p.hosts.Open(ctx, id, hypervisor.Monitoring)
	if err != nil {
		return hypervisor.Version{}, err
	}
	defer func() { _ = at.Close() }()
	return at.Version(ctx)
}
