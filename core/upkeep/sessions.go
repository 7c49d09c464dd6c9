package upkeep

import "context"

type sessions struct{ store Sessions }

func (s sessions) prune(ctx context.Context, p *pass) error {
	n, err := p.drain(ctx, s.store.Prune)
	p.run.Note("deleted %s of sessions and log-in tries that are over", plural(n, "row", "rows"))
	return err
}
