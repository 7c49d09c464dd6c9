package maintenance

import (
	"context"
)

type sessions struct{ store, replays Sessions }

func (s sessions) prune(ctx context.Context, p *progress) error {
	n, err := p.drain(ctx, s.store.Prune)
	if s.replays != nil && err == nil {
		var keys int64
		keys, err = p.drain(ctx, s.replays.Prune)
		n += keys
	}
	p.run.Note("deleted %s of sessions, log-in tries and idempotency keys that are over", plural(n, "row", "rows"))
	return err
}
