package metric

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
)

// Maintain makes partitions ahead and drops those past retention, now and every hour, until the context ends. retention
// is asked each time; zero or less keeps everything. A failure is logged and tried again a minute later.
func Maintain(ctx context.Context, d *db.DB, retention func(context.Context) (time.Duration, error), log hclog.Logger) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		next := time.Hour
		if err := once(ctx, d, time.Now(), retention, log); err != nil && ctx.Err() == nil {
			log.Error("maintaining the partitions of samples failed", "error", err)
			next = time.Minute
		}
		timer.Reset(next)
	}
}

func once(ctx context.Context, d *db.DB, now time.Time, retention func(context.Context) (time.Duration, error), log hclog.Logger) error {
	if err := Ensure(ctx, d, now); err != nil {
		return err
	}
	keep, err := retention(ctx)
	if err != nil {
		return fmt.Errorf("reading the retention of samples: %w", err)
	}
	if keep <= 0 {
		return nil
	}
	dropped, err := Drop(ctx, d, now.Add(-keep))
	if len(dropped) > 0 && err == nil {
		log.Info("dropped old samples", "days", len(dropped), "newest", dropped[len(dropped)-1].Format(time.DateOnly))
	}
	return err
}
