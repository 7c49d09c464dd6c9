package alerts

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/hostler/hostler/core/alert"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
)

// opening is the part of the description that all operations which write a
// maintenance window share.
const opening = "A window is open once, from `starts_at` to `ends_at`, or repeatedly, for `duration_s` seconds " +
	"from each time of `cron` (minute, hour, day of month, month, day of week, as in schedules) in the time " +
	"zone `timezone`. `on` selects the objects whose alerts it silences: those that match all of its fields. " +
	"Without `on`, it silences all alerts."

func registerWindows(a *op.API, h handlers) {
	op.Get(a, "/api/v1/maintenance-windows", h.windows, op.Spec{
		ID: "list_maintenance_windows", Summary: "List maintenance windows", Tag: tag, Role: identity.Viewer,
		Description: "Lists the windows in the order of their creation. `open` is true for windows that are open now.",
	})
	op.Post(a, "/api/v1/maintenance-windows", h.createWindow, op.Spec{
		ID: "create_maintenance_window", Summary: "Create a maintenance window", Tag: tag, Role: identity.Admin,
		Status: http.StatusCreated, Audit: op.Audit{Action: "maintenance_window.create"}, Replay: h.windowMade, Faults: windowFaults,
		Description: "While a window is open, the alerts that it covers send no notifications when they are raised " +
			"or resolved. These alerts are listed with the ID of the window. When the window ends, alerts that are " +
			"still open are sent, and so is the resolution of alerts that were sent before. Alerts that were raised " +
			"and resolved during the window are never sent.\n\n" +
			opening +
			"\n\n" +
			"An instance has at most 500 windows; creating more is 409 `conflict`.",
	})
	op.Get(a, "/api/v1/maintenance-windows/:window_id", h.window, op.Spec{
		ID: "get_maintenance_window", Summary: "Get a maintenance window", Tag: tag, Role: identity.Viewer,
		Description: "`open` is true if the window is open now.",
	})
	op.Patch(a, "/api/v1/maintenance-windows/:window_id", h.updateWindow, op.Spec{
		ID: "update_maintenance_window", Summary: "Change a maintenance window", Tag: tag, Role: identity.Admin,
		Audit: op.Audit{Action: "maintenance_window.update", Target: "window_id"},
		Description: "`cron` and `duration_s` replace `starts_at` and `ends_at`, and vice versa. `timezone` null means " +
			"`UTC`. `on` is replaced as a whole; null selects all objects.\n\n" +
			opening,
	})
	op.Delete(a, "/api/v1/maintenance-windows/:window_id", h.removeWindow, op.Spec{
		ID: "delete_maintenance_window", Summary: "Delete a maintenance window", Tag: tag, Role: identity.Admin,
		Status: http.StatusNoContent, Audit: op.Audit{Action: "maintenance_window.delete", Target: "window_id"},
		Description: "Deletes the window. If it is open, it ends.",
	})
}

func (h handlers) windows(ctx context.Context, in *struct{ op.Page }) (*op.List[*alert.Window], error) {
	found, total, err := h.alerts.Windows(ctx, in.Offset(), in.Limit())
	return &op.List[*alert.Window]{Total: total, Body: found}, err
}

type windowInput struct {
	ID int64 `path:"window_id" minimum:"1"`
}

func (h handlers) window(ctx context.Context, in *windowInput) (*op.Body[*alert.Window], error) {
	found, err := h.alerts.Window(ctx, in.ID)
	return &op.Body[*alert.Window]{Body: found}, err
}

// MuteScope selects the things whose alerts a maintenance window mutes.
type MuteScope struct {
	TeamID *int64   `json:"team_id,omitempty" nullable:"true" minimum:"1" example:"2" doc:"Only objects of this team"`
	HostID *int64   `json:"host_id,omitempty" nullable:"true" minimum:"1" example:"1" doc:"Only this host and the objects on it"`
	Tags   []string `json:"tags,omitempty" nullable:"true" maxItems:"500" example:"[\"prod\"]" doc:"Only guests with one of these tags"`
}

func (s *MuteScope) scope() alert.WindowScope {
	if s == nil {
		return alert.WindowScope{}
	}
	return alert.WindowScope{TeamID: s.TeamID, HostID: s.HostID, Tags: s.Tags}
}

type createWindowInput struct {
	Body struct {
		Name      string                 `json:"name" minLength:"1" maxLength:"200" example:"Nightly backups"`
		StartsAt  *time.Time             `json:"starts_at,omitempty" doc:"Start of a one-time window"`
		EndsAt    *time.Time             `json:"ends_at,omitempty"`
		Cron      *string                `json:"cron,omitempty" minLength:"1" maxLength:"256" example:"0 1 * * *"`
		DurationS *int64                 `json:"duration_s,omitempty" minimum:"60" maximum:"604800" example:"7200"`
		Timezone  *string                `json:"timezone,omitempty" default:"UTC" minLength:"1" maxLength:"64" example:"Europe/Berlin"`
		On        op.Optional[MuteScope] `json:"on,omitzero"`
		Enabled   *bool                  `json:"enabled,omitempty" default:"true"`
	}
}

func (in *createWindowInput) draft() alert.WindowInput {
	b := &in.Body
	d := alert.WindowInput{Name: b.Name, Enabled: b.Enabled == nil || *b.Enabled, StartsAt: b.StartsAt, EndsAt: b.EndsAt, Cron: b.Cron,
		DurationS: b.DurationS, Timezone: schedule.DefaultZone, On: b.On.Pointer().scope()}
	if b.Timezone != nil {
		d.Timezone = *b.Timezone
	}
	return d
}

// windowFaults returns the faults that the schema cannot express. The body
// already fits its schema.
func windowFaults(body []byte) []problem.Fault {
	var in createWindowInput
	if json.Unmarshal(body, &in.Body) != nil || in.Body.Name == "" {
		return nil // the schema says what it is instead
	}
	d := in.draft()
	return d.Faults()
}

func (h handlers) createWindow(ctx context.Context, in *createWindowInput) (*op.Body[*alert.Window], error) {
	made, err := h.alerts.CreateWindow(ctx, in.draft())
	return &op.Body[*alert.Window]{Body: made}, err
}

// windowMade rebuilds the answer of createWindow for a repeated
// Idempotency-Key.
func (h handlers) windowMade(ctx context.Context, made idempotency.Result) (any, error) {
	return h.alerts.Window(ctx, made.Target())
}

type updateWindowInput struct {
	ID   int64 `path:"window_id" minimum:"1"`
	Body struct {
		Name      op.Optional[string]    `json:"name,omitzero" minLength:"1" maxLength:"200" nullable:"false" example:"Nightly backups"`
		StartsAt  op.Optional[time.Time] `json:"starts_at,omitzero" nullable:"false"`
		EndsAt    op.Optional[time.Time] `json:"ends_at,omitzero" nullable:"false"`
		Cron      op.Optional[string]    `json:"cron,omitzero" minLength:"1" maxLength:"256" nullable:"false" example:"0 1 * * *"`
		DurationS op.Optional[int64]     `json:"duration_s,omitzero" minimum:"60" maximum:"604800" nullable:"false" example:"7200"`
		Timezone  op.Optional[string]    `json:"timezone,omitzero" minLength:"1" maxLength:"64" example:"Europe/Berlin" doc:"null for UTC"`
		On        op.Optional[MuteScope] `json:"on,omitzero"`
		Enabled   op.Optional[bool]      `json:"enabled,omitzero" nullable:"false"`
	}
}

func (h handlers) updateWindow(ctx context.Context, in *updateWindowInput) (*op.Body[*alert.Window], error) {
	b := &in.Body
	written, err := h.alerts.UpdateWindow(ctx, in.ID, func(d *alert.WindowInput) {
		set(&d.Name, b.Name)
		set(&d.Enabled, b.Enabled)
		once, again := b.StartsAt.Set || b.EndsAt.Set, b.Cron.Set || b.DurationS.Set
		if again && !once {
			d.StartsAt, d.EndsAt = nil, nil
		}
		if once && !again {
			d.Cron, d.DurationS = nil, nil
		}
		pointed(&d.StartsAt, b.StartsAt)
		pointed(&d.EndsAt, b.EndsAt)
		pointed(&d.Cron, b.Cron)
		pointed(&d.DurationS, b.DurationS)
		if b.Timezone.Set {
			d.Timezone = schedule.DefaultZone
			set(&d.Timezone, b.Timezone)
		}
		if b.On.Set {
			d.On = b.On.Pointer().scope()
		}
	})
	return &op.Body[*alert.Window]{Body: written}, err
}

// pointed assigns a pointer field if the body has the field. Null makes it nil.
func pointed[T any](field **T, given op.Optional[T]) {
	if given.Set {
		*field = given.Pointer()
	}
}

func (h handlers) removeWindow(ctx context.Context, in *windowInput) (*op.Empty, error) {
	return nil, h.alerts.DeleteWindow(ctx, in.ID)
}
