package poll

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
)

// maxClockAhead limits the error of a clock, in seconds: a thousand years.
const maxClockAhead = 1000 * 366 * 86400

// keepClock stores by how much the clock of the answering node is ahead. It
// writes only real changes, because a write in each poll would bloat the table.
func keepClock(ctx context.Context, tx pgx.Tx, cluster int64, v *inventory) error {
	ahead := v.cluster.ClockAhead
	if ahead == nil || math.IsNaN(*ahead) || math.Abs(*ahead) > maxClockAhead {
		return nil
	}
	if _, err := tx.Exec(ctx, `UPDATE nodes SET clock_ahead = $3, clock_at = now() WHERE cluster_id = $1 AND name = $2
		AND (clock_ahead IS NULL OR abs(clock_ahead - $3) >= 1 OR clock_at < now() - interval '5 minutes')`,
		cluster, v.cluster.Entry, *ahead); err != nil {
		return fmt.Errorf("recording a node's clock: %w", err)
	}
	return nil
}
