package poll

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// cycle polls a unit once, if it is still due and no other instance polls it.
// Its error is a failure of this service, such as a lost database. The failure
// of a host is stored and is no error.
func (p *Poller) cycle(ctx context.Context, u unit) error {
	got, err := p.locks.try(ctx, u.key())
	if err != nil || !got {
		return err
	}
	defer p.locks.free(u.key())
	candidates, due, err := p.candidates(ctx, u)
	if err != nil || !due {
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
	for i, m := range candidates {
		cluster, hostErr, err := p.ask(ctx, m, slices.ContainsFunc(candidates[i+1:], member.whole))
		switch {
		case errors.Is(err, errGone):
			continue
		case err != nil:
			return err
		// A host that left its cluster has answered for another one; this
		// cluster still needs its poll.
		case hostErr == nil && (u.cluster == 0 || cluster == u.cluster):
			return nil
		}
	}
	if u.cluster == 0 {
		return nil
	}
	return p.unanswered(ctx, u.cluster)
}

// unanswered ends a cycle in which no host answered for the cluster.
func (p *Poller) unanswered(ctx context.Context, cluster int64) error {
	left, err := p.members(ctx, "WHERE c.id = $1", cluster)
	if err != nil || len(left) == 0 {
		return err
	}
	return p.silence(ctx, cluster)
}

// errLimited reports that the host's token does not see everything and that
// another host of the cluster may. Nothing of the answer was written.
var errLimited = errors.New("another host of the cluster sees more")

// ask polls one host. others reports that hosts which see everything can answer
// in its place. The first error is the host's and is stored; the second one is
// the service's.
func (p *Poller) ask(ctx context.Context, m member, others bool) (cluster int64, hostErr, err error) {
	began := time.Now()
	interval := p.every(ctx)
	inv := p.spare.Get().(*inventory)
	defer p.spare.Put(inv)
	g, hostErr := p.fetch(ctx, m, inv, interval)
	if hostErr == nil {
		cluster, hostErr, err = p.record(ctx, &g, others)
	}
	if hostErr == nil || errors.Is(hostErr, errLimited) {
		p.count.done(time.Since(began), err == nil)
		if inv.dropped > 0 {
			p.log.Warn("a gap in the samples was too long to fill", "host", m.id, "dropped", inv.dropped)
		}
		if hostErr == nil && err == nil && m.factsOf != "" && !m.fresh && m.cluster != nil && *m.cluster == cluster {
			err = p.readFacts(ctx, m.id, cluster, m.factsOf)
		}
		if hostErr == nil && err == nil {
			err = p.readTasks(ctx, m.id, cluster)
		}
		return cluster, hostErr, err
	}
	p.forget(m)
	hostErr = p.suspect(ctx, m, hostErr)
	// The service is stopping. That says nothing about the host.
	if ctx.Err() != nil {
		return 0, hostErr, ctx.Err()
	}
	p.count.done(time.Since(began), false)
	if p.ours(m, hostErr, interval) {
		return 0, hostErr, hostErr
	}
	return 0, hostErr, p.note(ctx, m, hostErr, interval)
}

// record stores an answer. If rows are missing, or are back, it asks the host
// for the reason first.
func (p *Poller) record(ctx context.Context, g *good, others bool) (cluster int64, hostErr, err error) {
	if others && g.limited() {
		return 0, errLimited, p.limit(ctx, g)
	}
	cluster, err = p.store(ctx, *g)
	var doubt *doubtError
	if errors.As(err, &doubt) && g.inv.cluster.Kept {
		// The rows may be missing because the host is in another cluster now.
		again := g.member
		again.fresh = true
		var hostErr error
		if *g, hostErr = p.fetch(ctx, again, g.inv, g.interval); hostErr != nil {
			return 0, hostErr, nil
		}
		doubt = nil
		cluster, err = p.store(ctx, *g)
	}
	if errors.As(err, &doubt) {
		if hostErr := p.verify(ctx, g, doubt.guests); hostErr != nil {
			return 0, hostErr, nil
		}
		if others && g.limited() {
			return 0, errLimited, p.limit(ctx, g)
		}
		cluster, err = p.store(ctx, *g)
	}
	if err == nil {
		p.tell(g)
	}
	return cluster, nil, err
}

// ours reports whether an error says nothing about the host: the database is
// away, this instance has an old copy of the key file, or the plugin restarts
// and the last answer is still recent. The same applies to a key that may
// arrive in a moment.
func (p *Poller) ours(m member, hostErr error, interval time.Duration) bool {
	code := problem.From(plugin.Problem(hostErr)).Code
	switch {
	case code == problem.CodeDatabaseUnavailable, code == problem.CodeKeyOutdated:
		return true
	case code == problem.CodePluginUnavailable, errors.Is(hostErr, secret.ErrKeyWrong):
		return m.failures == 0 && m.since != nil && time.Since(*m.since) < 3*interval
	}
	return false
}

// store writes an answer when there is room for another writer.
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

// fetch reads the host's inventory within the time limit.
func (p *Poller) fetch(ctx context.Context, m member, inv *inventory, interval time.Duration) (good, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	now := p.now()
	g := good{member: m, inv: inv, interval: interval}
	query := hypervisor.InventoryQuery{}
	var since time.Time
	if m.since != nil {
		since = *m.since
	}
	if m.detail != nil {
		query.Since = *m.detail
	}
	// After a time without polls the missed samples are requested at once.
	query.Detail = m.cluster != nil && (now.Sub(query.Since) >= detailEvery || now.Sub(since) > 3*interval)
	g.detail = query.Detail
	query.Known = p.recall(m, now, interval)
	inv.begin(since, now, interval)
	at, err := p.hosts.Open(ctx, m.id, endpoint.Monitoring)
	if err != nil {
		return g, err
	}
	defer func() { _ = at.Close() }()
	// A host that failed is first asked the cheapest question; it may also have
	// another release now.
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
	if m.rightsDue(now, interval) || inv.cluster.Partial != m.partial {
		err = g.askRights(ctx, at)
	}
	return g, err
}

// probe tries a failed host of a cluster for which others answer.
func (p *Poller) probe(ctx context.Context, m member) error {
	interval := p.every(ctx)
	g := good{member: m, interval: interval}
	hostErr := p.within(ctx, m.id, func(ctx context.Context, at hypervisor.Host) error {
		version, err := at.Version(ctx)
		if err != nil {
			return err
		}
		g.version = clean(version.Version, maxWord)
		return g.askRights(ctx, at)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if hostErr != nil {
		return p.note(ctx, m, hostErr, interval)
	}
	p.log.Info("a host answers again", "host", m.id)
	return p.recovered(ctx, &g)
}

// within opens a host with the monitoring token for questions within the time
// limit.
func (p *Poller) within(ctx context.Context, id int64, questions func(context.Context, hypervisor.Host) error) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	at, err := p.hosts.Open(ctx, id, endpoint.Monitoring)
	if err != nil {
		return err
	}
	defer func() { _ = at.Close() }()
	return questions(ctx, at)
}
