package audit

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/api/op"
)

type clearInput struct {
	op.PlanParams
	Body *ClearRequest
}

// ClearRequest says which entries of the audit log to delete.
type ClearRequest struct {
	Before  *time.Time `json:"before,omitempty" nullable:"true" example:"2026-01-01T00:00:00Z" doc:"Delete only entries older than this; absent or null for all entries"`
	Confirm *string    `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"The phrase: clear audit log"`
}

// ClearResult is the answer of clear.
type ClearResult struct {
	Deleted int64 `json:"deleted" example:"4711" doc:"Number of deleted entries"`
}

func (h handlers) clear(ctx context.Context, in *clearInput) (*op.Body[ClearResult], error) {
	var before *time.Time
	confirm := ""
	if in.Body != nil {
		before = in.Body.Before
		if in.Body.Confirm != nil {
			confirm = *in.Body.Confirm
		}
	}
	deleted, err := h.chain.Clear(ctx, before, confirm)
	return &op.Body[ClearResult]{Body: ClearResult{Deleted: deleted}}, err
}
