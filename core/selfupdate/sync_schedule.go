package selfupdate

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/schedule"
)

// SyncSchedule enables the schedule that checks for releases when a source and
// a channel appear in the configuration, and disables it when they disappear.
// In between the schedule belongs to the users: it does not enable one again
// that they disabled or deleted.
func (s *Store) SyncSchedule(ctx context.Context) error {
	c, err := s.configuration()
	if err != nil {
		// It is neither there nor gone: what holds stays.
		s.log.Warn("cannot read the updater's configuration; the schedule for release checks stays as it is", "error", err)
		return nil
	}
	follows := c != nil && c.HasSource()
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		var followed bool
		var id *int64
		if err := tx.Pgx.QueryRow(ctx, "SELECT followed, schedule_id FROM update_check FOR UPDATE").Scan(&followed, &id); err != nil {
			return fmt.Errorf("reading whether releases are checked: %w", err)
		}
		if followed == follows {
			return nil
		}
		if follows {
			seed := schedule.Seed{Name: "Check for new releases", Cron: someTime(), JobKind: CheckKind}
			made, err := schedule.SwitchOn(ctx, tx, id, seed, "a source and a channel of releases were configured")
			if err != nil {
				return err
			}
			id = &made
		} else if err := schedule.SwitchOff(ctx, tx, id, CheckKind, "no source and channel of releases are configured"); err != nil {
			return err
		}
		if _, err := tx.Pgx.Exec(ctx, "UPDATE update_check SET followed = $1, schedule_id = $2", follows, id); err != nil {
			return fmt.Errorf("recording whether releases are checked: %w", err)
		}
		return nil
	})
}

// someTime returns a random minute of the day as a cron expression, so that not
// all installations check at the same time.
func someTime() string { return fmt.Sprintf("%d %d * * *", rand.IntN(60), rand.IntN(24)) }
