package maintenance

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/setting"
)

type trail struct {
	db   *db.DB
	rows Trail
}

func (t trail) prune(ctx context.Context, p *progress) error {
	days, err := setting.Get(ctx, t.db, setting.AuditRetention)
	if err != nil {
		return err
	}
	if days == 0 {
		p.run.Note("nothing to delete: %s is 0 and keeps the trail for ever", setting.AuditRetention.Name())
		return nil
	}
	before, err := before(ctx, t.db, days)
	if err != nil {
		return err
	}
	n, err := t.rows.Prune(ctx, before)
	p.run.Note("deleted %s of the trail from before %s", plural(n, "row", "rows"), before.Format(time.RFC3339))
	return err
}
