package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/problem"
)

// verifications at a time in one instance: each reads the whole trail.
const verifications = 2

// Verification is what verifying the trail has found.
type Verification struct {
	At       time.Time `json:"at" example:"2026-01-31T12:00:00Z" doc:"When it was read"`
	Good     bool      `json:"good" doc:"Everything is as the service wrote it"`
	Verified int64     `json:"verified" example:"4711" doc:"Rows that fit, up to the first that does not"`
	Cleared  int64     `json:"cleared" example:"0" doc:"Rows that were cleared by somebody who may, or because of their age"`
	Unsealed int64     `json:"unsealed" example:"1" doc:"Rows of the last seconds that have no place in the chain yet"`
	Seq      int64     `json:"seq" example:"4711" doc:"The last place of the chain"`
	Hash     string    `json:"hash" example:"9f2c41d07b" doc:"The hash of the last place, in hexadecimal digits"`
	Break    *Break    `json:"break" doc:"What is wrong first; null when nothing is"`
}

// Break is the first place of the trail that is not what the service wrote.
type Break struct {
	Kind string `json:"kind" enum:"altered,removed,reordered,inserted,head,anchor" example:"altered"`
	Seq  *int64 `json:"seq" example:"12" doc:"The place in the chain; null where there is none"`
	ID   *int64 `json:"id" example:"12" doc:"The row; null where it is not known"`
	Text string `json:"text" example:"row 12 (id 12) was altered"`
}

func (h handlers) verify(ctx context.Context, _ *struct{}) (*op.Body[Verification], error) {
	select {
	case h.verifications <- struct{}{}:
		defer func() { <-h.verifications }()
	case <-ctx.Done():
		return nil, problem.From(fmt.Errorf("waiting for others that verify the trail: %w", ctx.Err()))
	}
	at := time.Now().UTC()
	report, err := h.chain.Verify(ctx)
	if err != nil {
		return nil, err
	}
	found := Verification{At: at, Good: report.Break == nil, Verified: report.Verified, Cleared: report.Cleared, Unsealed: report.Unsealed,
		Seq: report.Seq, Hash: report.Hash}
	if b := report.Break; b != nil {
		found.Break = &Break{Kind: b.Kind, Seq: known(b.Seq), ID: known(b.ID), Text: b.Text}
	}
	return &op.Body[Verification]{Body: found}, nil
}

// known is a number that is there; 0 is none.
func known(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}
