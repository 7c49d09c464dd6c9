package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/problem"
)

// verifications is how many verifications one instance runs at a time. Each
// reads the whole audit log.
const verifications = 2

// Verification is the result of a verification of the audit log.
type Verification struct {
	At       time.Time `json:"at" example:"2026-01-31T12:00:00Z" doc:"Time of the check"`
	Good     bool      `json:"good" doc:"true if no entry differs from what the service wrote"`
	Verified int64     `json:"verified" example:"4711" doc:"Number of entries that match, up to the first that does not"`
	Cleared  int64     `json:"cleared" example:"0" doc:"Number of entries that were cleared by an authorized user or because of their age"`
	Unsealed int64     `json:"unsealed" example:"1" doc:"Number of entries from the last few seconds that are not part of the chain yet"`
	Seq      int64     `json:"seq" example:"4711" doc:"Last sequence number of the chain"`
	Hash     string    `json:"hash" example:"9f2c41d07b" doc:"Hash of the chain at seq, in hexadecimal"`
	Break    *Break    `json:"break" doc:"First fault; null if there is none"`
}

// Break is the first place of the audit log that differs from what the service
// wrote.
type Break struct {
	Kind string `json:"kind" enum:"altered,removed,reordered,inserted,head,anchor" example:"altered"`
	Seq  *int64 `json:"seq" example:"12" doc:"Sequence number in the chain; null if there is none"`
	ID   *int64 `json:"id" example:"12" doc:"ID of the entry; null if not known"`
	Text string `json:"text" example:"entry 12 (ID 12) was altered"`
}

func (h handlers) verify(ctx context.Context, _ *struct{}) (*op.Body[Verification], error) {
	select {
	case h.verifications <- struct{}{}:
		defer func() { <-h.verifications }()
	case <-ctx.Done():
		return nil, problem.From(fmt.Errorf("waiting for other verifications of the audit log: %w", ctx.Err()))
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

// known returns a pointer to n, or nil if n is 0.
func known(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}
