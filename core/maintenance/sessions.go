package maintenance

import (
	"context"
)

type sessions struct{ store, replays, consoles, bundles, drafts Sessions }

func (s sessions) prune(ctx context.Context, p *progress) error {
	var total int64
	var err error
	for _, of := range []Sessions{s.store, s.replays, s.consoles, s.bundles, s.drafts} {
		if of != nil && err == nil {
			var n int64
			n, err = p.drain(ctx, of.Prune)
			total += n
		}
	}
	p.run.Note("deleted %s: expired sessions, log-in counters, idempotency keys, consoles, unused bundles and ended firewall drafts",
		plural(total, "row", "rows"))
	return err
}
