package auth

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
)

// Preferences are what the caller has chosen for pages.
type Preferences struct {
	Value     op.Object  `json:"value" example:"{\"theme\":\"dark\"}" doc:"As it was stored last; an empty object before"`
	Revision  int64      `json:"revision" example:"3" doc:"Counts the changes; 0 before the first"`
	ChangedAt *time.Time `json:"changed_at" doc:"Time of the last change; null before the first"`
}

func preferencesOf(p identity.Preferences) *op.Body[Preferences] {
	shown := Preferences{Value: op.Object(p.Value), Revision: p.Revision}
	if p.ChangedAt != nil {
		at := p.ChangedAt.UTC()
		shown.ChangedAt = &at
	}
	return &op.Body[Preferences]{Body: shown}
}

func (h handlers) preferences(ctx context.Context, _ *struct{}) (*op.Body[Preferences], error) {
	p, err := h.users.Preferences(ctx, identity.FromContext(ctx).UserID)
	if err != nil {
		return nil, err
	}
	return preferencesOf(p), nil
}

type preferencesInput struct {
	Body struct {
		Value    op.Object `json:"value" example:"{\"theme\":\"dark\"}" doc:"A JSON object of 8192 bytes at most, which replaces what is stored. The service does not read it"`
		Revision *int64    `json:"revision,omitempty" nullable:"true" minimum:"0" example:"2" doc:"The revision that the change was made from. Without it what is stored is replaced whatever it is"`
	}
}

func (h handlers) setPreferences(ctx context.Context, in *preferencesInput) (*op.Body[Preferences], error) {
	p, err := h.users.SetPreferences(ctx, identity.FromContext(ctx).UserID, json.RawMessage(in.Body.Value), in.Body.Revision)
	if err != nil {
		return nil, err
	}
	return preferencesOf(p), nil
}
