package guest

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plan"
)

// toldBackups is how many backups a plan names.
const toldBackups = 5

// backups tells which backups of the guest remain, as their storages were last listed. But is one that is told of elsewhere.
func (on Subject) backups(ctx context.Context, p *plan.Plan, but int64) error {
	if on.db == nil {
		return nil
	}
	type known struct {
		TakenAt *time.Time
		Storage string
		Size    *int64
		Damaged bool
	}
	rows, err := on.db.Pool.Query(ctx, `SELECT b.taken_at, s.name, b.size, b.verified = 'failed' FROM backups b
		JOIN backup_storages s ON s.id = b.storage_id WHERE b.guest_id = $1 AND b.id <> $2 ORDER BY b.taken_at DESC NULLS LAST, b.id DESC`,
		on.Guest.ID, but)
	if err != nil {
		return db.Problem(fmt.Errorf("looking for the guest's backups: %w", err))
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[known])
	if err != nil {
		return db.Problem(fmt.Errorf("looking for the guest's backups: %w", err))
	}
	if len(all) == 0 && but == 0 {
		p.Warn("No backup of %s is known.", on.Guest.Name)
	}
	for _, b := range all[:min(len(all), toldBackups)] {
		var at time.Time
		if b.TakenAt != nil {
			at = *b.TakenAt
		}
		damaged := ""
		if b.Damaged {
			damaged = ", which was found damaged,"
		}
		p.AddSince(plan.KindBackup, b.Storage, at, "A backup on %s%s remains.", b.Storage, damaged)
		p.Effects[len(p.Effects)-1].SizeBytes = b.Size
	}
	if more := len(all) - toldBackups; more > 0 {
		p.Add(plan.KindBackup, "", "%d older backups remain.", more)
	}
	return nil
}
