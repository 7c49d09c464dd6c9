package auth

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
)

// Preferences are the choices of the caller for the user interface.
type Preferences struct {
	Value     op.Object  `json:"value" example:"{\"theme\":\"dark\"}" doc:"Preferences as last saved; an empty object if none were saved"`
	Revision  int64      `json:"revision" example:"3" doc:"Number of changes; 0 before the first"`
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
		Value    op.Object `json:"value" example:"{\"theme\":\"dark\"}" doc:"A JSON object of at most 8192 bytes that replaces the stored one. The service does not interpret it"`
		Revision *int64    `json:"revision,omitempty" nullable:"true" minimum:"0" example:"2" doc:"Revision that the change is based on. Without it, the stored preferences are replaced in any case"`
	}
}

func (h handlers) setPreferences(ctx context.Context, in *preferencesInput) (*op.Body[Preferences], error) {
	p, err := h.users.SetPreferences(ctx, identity.FromContext(ctx).UserID, json.RawMessage(in.Body.Value), in.Body.Revision)
	if err != nil {
		return nil, err
	}
	return preferencesOf(p), nil
}
