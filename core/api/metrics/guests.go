package metrics

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/problem"
)

func (h handlers) guests(ctx context.Context, _ *struct{}, file *op.File) error {
	if err := file.Open(metric.OpenMetrics, "guests.txt"); err != nil {
		return err
	}
	select {
	case h.scrapes <- struct{}{}:
		defer func() { <-h.scrapes }()
	default:
		busy := problem.New(problem.CodeRateLimited, "%d readers are already reading; try again when one has ended", scrapes)
		busy.RetryAfter = 10
		return busy
	}
	return metric.WriteGuests(ctx, h.Metrics.DB, file, identity.FromContext(ctx).Visible())
}
