package cluster

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/backup"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/setting"
)

// Coverage counts guests by the state of their backups, as GET
// /backups/coverage lists them.
type Coverage struct {
	Covered int64 `json:"covered" example:"38" doc:"Guests whose newest backup is complete and not too old"`
	Partial int64 `json:"partial" example:"1" doc:"Guests whose newest backup lacks a volume"`
	Stale   int64 `json:"stale" example:"2" doc:"Guests whose newest backup is missing or too old"`
	Unknown int64 `json:"unknown" example:"0" doc:"Guests whose backups have not been listed yet"`
	Exempt  int64 `json:"exempt" example:"4" doc:"Guests that need no backup, such as templates"`
}

const selectCoverage = backup.Judged + ` SELECT count(*) FILTER (WHERE state = 'covered'), count(*) FILTER (WHERE state = 'partial'),
	count(*) FILTER (WHERE state = 'stale'), count(*) FILTER (WHERE state = 'unknown'), count(*) FILTER (WHERE state = 'exempt') FROM judged`

// coverage counts the guests that may be seen, in one query.
func (s *Store) coverage(ctx context.Context, visible identity.Visible) (c Coverage, err error) {
	days, err := setting.Get(ctx, s.DB, setting.BackupMaxAge)
	if err != nil {
		return c, err
	}
	err = s.DB.Pool.QueryRow(ctx, selectCoverage, visible.All, visible.Teams, days).Scan(&c.Covered, &c.Partial, &c.Stale, &c.Unknown,
		&c.Exempt)
	if err != nil {
		return c, db.Problem(fmt.Errorf("counting guests by their backups: %w", err))
	}
	return c, nil
}
