package maintenance

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/setting"
)

type trail struct {
	db   *db.DB
	rows AuditLog
}

func (t trail) prune(ctx context.Context, p *progress) error {
	if err := t.delete(ctx, p); err != nil {
		return err
	}
	return t.blank(ctx, p)
}

// blank takes old addresses out of the rows that stay.
func (t trail) blank(ctx context.Context, p *progress) error {
	days, err := setting.Get(ctx, t.db, setting.AuditAddressDays)
	if err != nil || days == 0 {
		return err
	}
	before, err := before(ctx, t.db, days)
	if err != nil {
		return err
	}
	n, err := t.rows.RemoveAddresses(ctx, before)
	p.run.Note("removed the addresses from %s of the audit log from before %s", plural(n, "row", "rows"), before.Format(time.RFC3339))
	return err
}

func (t trail) delete(ctx context.Context, p *progress) error {
	days, err := setting.Get(ctx, t.db, setting.AuditRetention)
	if err != nil {
		return err
	}
	if days == 0 {
		p.run.Note("nothing to delete: %s is 0, so the audit log is kept forever", setting.AuditRetention.Name())
		return nil
	}
	before, err := before(ctx, t.db, days)
	if err != nil {
		return err
	}
	n, err := t.rows.Prune(ctx, before)
	p.run.Note("deleted %s of the audit log from before %s", plural(n, "row", "rows"), before.Format(time.RFC3339))
	return err
}
