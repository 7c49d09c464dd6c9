package guest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
)

// ReplayActOnAll rebuilds the answer of ActOnAll for a repeated request, with the
// present state of its jobs. Jobs that the caller may not see any more are left
// out.
func (a *Actor) ReplayActOnAll(ctx context.Context, made idempotency.Result) (BulkResult, error) {
	var was kept
	if err := json.Unmarshal(made.Data, &was); err != nil {
		return BulkResult{}, fmt.Errorf("decoding the job's parameters: %w", err)
	}
	done := BulkResult{Jobs: []job.View{}, Skipped: was.Skipped}
	if len(was.Jobs) == 0 {
		return done, nil
	}
	found, _, err := a.Queue.List(ctx, job.Filter{IDs: was.Jobs, PerPage: len(was.Jobs)}, identity.FromContext(ctx).Visible())
	if err != nil {
		return BulkResult{}, err
	}
	byID := map[int64]job.View{}
	for _, j := range found {
		byID[j.ID] = j.View()
	}
	for _, id := range was.Jobs {
		if view, ok := byID[id]; ok {
			done.Jobs = append(done.Jobs, view)
		}
	}
	return done, nil
}
