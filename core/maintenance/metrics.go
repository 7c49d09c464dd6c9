package maintenance

import (
	"context"
	"errors"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/setting"
)

type metrics struct{ db *db.DB }

// retentions are in the order in which partitions are dropped.
var retentions = []struct {
	resolution metric.Resolution
	days       setting.Key[int]
	what       string
}{
	{metric.Raw, setting.MetricsRetentionRaw, "samples"},
	{metric.FiveMinutes, setting.MetricsRetention5m, "five minutes"},
	{metric.OneHour, setting.MetricsRetention1h, "hours"},
}

func (m metrics) maintain(ctx context.Context, p *progress) error {
	now, err := before(ctx, m.db, 0)
	if err != nil {
		return err
	}
	if err := metric.EnsurePartitions(ctx, m.db, now); err != nil {
		return err
	}
	if err := m.rollUp(ctx, p, now); err != nil {
		return err
	}
	for _, r := range retentions {
		days, err := setting.Get(ctx, m.db, r.days)
		if err != nil {
			return err
		}
		if err := m.drop(ctx, p, r.resolution, r.what, now.Add(-time.Duration(days)*24*time.Hour)); err != nil {
			return err
		}
	}
	return nil
}

func (m metrics) rollUp(ctx context.Context, p *progress, now time.Time) error {
	interval, err := setting.Get(ctx, m.db, setting.PollInterval)
	if err != nil {
		return err
	}
	told := map[metric.Resolution]*metric.Step{}
	late := 0
	err = metric.RollUp(ctx, m.db, now, time.Duration(interval)*time.Second, func(s metric.Step) error {
		if s.Late && s.Resolution == metric.FiveMinutes {
			late++
		}
		if sum := told[s.Resolution]; sum == nil {
			told[s.Resolution] = &s
		} else {
			sum.Rows += s.Rows
			if s.To.After(sum.To) {
				sum.To = s.To
			}
		}
		return context.Cause(ctx)
	})
	for _, resolution := range []metric.Resolution{metric.FiveMinutes, metric.OneHour} {
		if s := told[resolution]; s != nil {
			p.run.Note("rolled up %s to %s: %s new or changed", resolution, s.To.Format(time.RFC3339), plural(s.Rows, "row", "rows"))
		}
	}
	if late > 0 {
		p.run.Note("rolled up %s again because their samples were late", plural(int64(late), "hour", "hours"))
	}
	return err
}

// drop removes the partitions from before the time, but none that has to be rolled up yet.
func (m metrics) drop(ctx context.Context, p *progress, resolution metric.Resolution, what string, before time.Time) error {
	needed, err := metric.Droppable(ctx, m.db, resolution)
	if err != nil {
		return err
	}
	if needed.Before(before) {
		before = needed
	}
	dropped, err := metric.DropPartitions(ctx, m.db, resolution, before)
	for _, start := range dropped {
		p.run.Note("dropped the %s of the partition that starts on %s", what, start.Format(time.DateOnly))
	}
	if errors.Is(err, metric.ErrInUse) {
		p.run.Note("a partition of %s is in use and is left to the next run", what)
		err = nil
	}
	return errors.Join(err, p.count(ctx, int64(len(dropped))))
}
