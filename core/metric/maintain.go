package metric

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/heartbeat"
)

// MaintainPartitions creates partitions ahead of time, now and every hour, until the
// context ends: samples need a partition even if the job that rolls up and
// drops fails. An error is logged, and it tries again after a minute. The
// heartbeat may be nil.
func MaintainPartitions(ctx context.Context, d *db.DB, log hclog.Logger, monitor *heartbeat.Monitor) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	monitor.Beat(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		next := time.Hour
		if err := EnsurePartitions(ctx, d, time.Now()); err != nil && ctx.Err() == nil {
			log.Error("could not create the partitions of samples", "error", err)
			next = time.Minute
		}
		monitor.Beat(next)
		timer.Reset(next)
	}
}
