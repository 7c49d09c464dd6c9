package poll

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// These are the times of questions about facts of a node that rarely change:
// release, certificate and subscription. They are asked once a day and after
// the node was off, by at most three small requests: one node of a cluster in a
// cycle, after the list was written. A node that does not answer is asked again
// after an hour.
const (
	factsTimeout = 10 * time.Second
	factsAgain   = 23 * time.Hour // that much of the day counts as over
)

// readFacts asks a host for such facts of one node, and stores them. A node
// that does not answer is no error.
func (p *Poller) readFacts(ctx context.Context, id, cluster int64, node string) error {
	found, err := host.CallWithTimeout(ctx, p.hosts, factsTimeout, id, endpoint.Monitoring,
		func(ctx context.Context, r hypervisor.MemberReader) (hypervisor.Member, error) {
			return r.Member(ctx, node)
		})
	if ctx.Err() != nil {
		return nil // the service stops
	}
	tried := time.Duration(0)
	if err != nil && sdk.KindOf(err) != sdk.Unsupported {
		p.log.Debug("a node does not report its details", "host", id, "node", node, "error", err)
		tried = factsAgain
	}
	subscription := hypervisor.Subscription{}
	if found.Subscription != nil {
		subscription = *found.Subscription
	}
	var end *time.Time
	if year := found.NotAfter.UTC().Year(); !found.NotAfter.IsZero() && year >= 0 && year <= 9999 {
		end = &found.NotAfter
	}
	if _, err := p.db.Pool.Exec(ctx, `UPDATE nodes SET facts_tried_at = now() - $3::interval,
		facts_at = CASE WHEN $4 THEN now() ELSE facts_at END,
		version = CASE WHEN $4 THEN $5 ELSE version END, certificate_ends_at = CASE WHEN $4 THEN $6 ELSE certificate_ends_at END,
		subscription = CASE WHEN $4 THEN $7 ELSE subscription END, subscription_due = CASE WHEN $4 THEN $8 ELSE subscription_due END
		WHERE cluster_id = $1 AND name = $2`,
		cluster, node, tried, err == nil, clean(found.Version, maxWord), end, clean(subscription.Status, maxWord),
		clean(subscription.Due, maxWord)); err != nil {
		return db.Problem(fmt.Errorf("storing the details of a node: %w", err))
	}
	return nil
}
