// Package settings is the HTTP resource of the settings of the instance, and of
// the features that can be disabled.
package settings

import (
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/setting"
)

// Deps has what the operations of this package need.
type Deps struct{ Settings *setting.Store }

type handlers struct{ settings *setting.Store }

const tag = "Settings"

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Settings}
	op.Get(a, "/api/v1/settings", h.list, op.Spec{
		ID: "list_settings", Summary: "List settings", Tag: tag, Role: identity.Admin,
		Description: "Lists every setting with its value, its default, its documentation, and the user who last " +
			"changed it. `set` is false while the default applies.",
	})
	op.Patch(a, "/api/v1/settings", h.patch, op.Spec{
		ID: "patch_settings", Summary: "Change settings", Tag: tag, Role: identity.Admin, Audit: op.Audit{Action: "settings.update"},
		Description: "Changes settings by name; absent settings are kept, and null resets a setting to its default. " +
			"Either all are changed or none. Changes apply at once on every instance. The audit log records the " +
			"names of the changed settings but not their values; setting the current value is not a change. " +
			"`self.host_id` must be an existing host; `audit.retention_days` requires the role owner, like clearing " +
			"the audit log. The response lists all settings.",
	})
	op.Get(a, "/api/v1/entitlements", h.entitlements, op.Spec{
		ID: "list_entitlements", Summary: "List features that can be disabled", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists the features of this release that can be disabled, for the whole instance, with their state in `enabled`. " +
			"The setting " +
			"`entitlements.disabled` disables them; an operation of a disabled feature is refused with `entitlement_required`. A feature that " +
			"is not listed is disabled.",
	})
}

// Setting is one setting with its value.
type Setting struct {
	Key     string `json:"key" example:"poll.interval_s"`
	Value   any    `json:"value" doc:"Current value"`
	Default any    `json:"default" doc:"Default value"`
	Doc     string `json:"doc" example:"Seconds from one poll of a cluster to the next, 5 to 3600" doc:"Description with unit and limits"`
	Set     bool   `json:"set" doc:"false while the default applies"`
	// The form of the values, for who asks people for them.
	Kind      string     `json:"kind" enum:"number,flag,text,texts,host" example:"number" doc:"Type of the value: an integer, true or false, a text, a list of texts, the ID of a host or null"`
	Minimum   *int       `json:"minimum" example:"5" doc:"Minimum; null for other types"`
	Maximum   *int       `json:"maximum" example:"3600" doc:"Maximum; null for other types"`
	ChangedAt *time.Time `json:"changed_at" example:"2026-01-31T12:00:00Z" doc:"When the value was set; null while the default applies"`
	ChangedBy *string    `json:"changed_by" example:"anna@example.com" doc:"User who set it; null for the service, if the account was deleted, and while the default applies"`
}

func (h handlers) list(ctx context.Context, _ *struct{}) (*op.Body[[]Setting], error) {
	return listed(h.settings.List(ctx))
}

func listed(values []setting.Value, err error) (*op.Body[[]Setting], error) {
	if err != nil {
		return nil, err
	}
	all := make([]Setting, len(values))
	for i, v := range values {
		all[i] = Setting{Key: v.Key, Value: v.Value, Default: v.Default, Doc: v.Doc, Set: v.Set, Kind: string(v.Type),
			ChangedAt: v.ChangedAt, ChangedBy: v.ChangedBy}
		if v.Bounds != nil {
			all[i].Minimum, all[i].Maximum = &v.Bounds.Least, &v.Bounds.Most
		}
	}
	return &op.Body[[]Setting]{Body: all}, nil
}

// SettingsPatch has the new values by name. Package core/setting checks the
// names and values, all at once.
type SettingsPatch map[string]json.RawMessage

var _ huma.SchemaProvider = SettingsPatch{}

// Schema implements huma.SchemaProvider. It accepts every object and lists for
// people the settings that exist.
func (SettingsPatch) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Properties: map[string]*huma.Schema{},
		Examples: []any{map[string]any{"poll.interval_s": 30}}}
	for _, v := range setting.Defaults() {
		s.Properties[v.Key] = &huma.Schema{Description: v.Doc}
	}
	return s
}

type patchInput struct{ Body SettingsPatch }

func (h handlers) patch(ctx context.Context, in *patchInput) (*op.Body[[]Setting], error) {
	return listed(h.settings.Update(ctx, setting.Changes(in.Body)))
}

// Entitlement is a feature that can be disabled.
type Entitlement struct {
	Name        string `json:"name" example:"store.catalog"`
	Enabled     bool   `json:"enabled"`
	Description string `json:"description" example:"The catalog of apps and its status"`
}

func (h handlers) entitlements(ctx context.Context, _ *struct{}) (*op.Body[[]Entitlement], error) {
	known, err := setting.Entitlements(ctx, h.settings.DB)
	if err != nil {
		return nil, err
	}
	all := make([]Entitlement, len(known))
	for i, e := range known {
		all[i] = Entitlement{Name: e.Name, Enabled: e.Enabled, Description: e.Description}
	}
	return &op.Body[[]Entitlement]{Body: all}, nil
}
