// Package schedules is the HTTP resource of schedules, which create jobs at
// certain times. Besides the schedules themselves, it returns the kinds of jobs
// that can be scheduled and the next times of a cron expression.
package schedules

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/schedule"
)

// Deps has what the operations of this package need.
type Deps struct{ Schedules *schedule.Store }

type handlers struct {
	schedules *schedule.Store
	shapes    shapes
}

const tag = "Schedules"

// clocks is the part of the description that all operations which write a time
// share.
const clocks = "`cron` has exactly five fields: minute, hour, day of month, month and day of week, with lists, " +
	"ranges, steps and names such as `MON` and `JAN`; the shortest interval is a minute. Seconds, macros such as " +
	"`@daily`, and expressions that never match are not accepted. If both day fields are given, a day that matches " +
	"either of them is due.\n\n" +
	"`timezone` is a name in the IANA database. When its clock is set forward, a skipped time is due right after " +
	"the gap; when it is set back, a repeated time is due the first time. An hourly expression follows elapsed time " +
	"instead: it is due once in each hour.\n\n" +
	"A schedule runs with the rights of the user who last saved it, which are checked at each run. If they are no " +
	"longer sufficient, or the target no longer exists, the service disables the schedule and explains why in " +
	"`disabled_reason`. A run that is not possible at the moment is skipped, and `last_error` explains why. A " +
	"schedule that is overdue because the service was down runs once.\n\n" +
	"Schedules of backups and snapshots can select their guests at each run: `select` has either a `tag` or a " +
	"`host_id`, and selects guests that the owner of the schedule can work on at that time. Refused and busy guests " +
	"are left out. With `keep`, a successful run deletes all but the newest `keep` items that the schedule created " +
	"for a guest; other items and protected backups are kept. Therefore `keep` together with `protected` is 422. " +
	"Parameters must name guests in exactly one way; otherwise 422."

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	if deps.Schedules == nil { // for the document alone
		deps.Schedules = schedule.New(schedule.Config{})
	}
	h := handlers{deps.Schedules, newShapes(deps.Schedules.Kinds())}
	op.Get(a, "/api/v1/schedules", h.list, op.Spec{
		ID: "list_schedules", Summary: "List schedules", Tag: tag, Role: identity.Viewer,
		Description: "Lists schedules in the order of their creation.",
	})
	op.Get(a, "/api/v1/schedules/kinds", h.kinds, op.Spec{
		ID: "list_schedule_kinds", Summary: "List the kinds of jobs that can be scheduled", Tag: tag, Role: identity.Viewer,
		Description: "Lists the kinds of jobs that require no typed confirmation, each with the JSON schema of its " +
			"parameters. The list is not paged.",
	})
	op.Get(a, "/api/v1/schedules/times", h.times, op.Spec{
		ID: "list_schedule_times", Summary: "Preview the next times of a cron expression", Tag: tag, Role: identity.Viewer,
		Description: "Returns the next five times at which a schedule with this `cron` and `timezone` would be due. An " +
			"invalid expression or time zone is 422.",
	})
	op.Post(a, "/api/v1/schedules", h.create, op.Spec{
		ID: "create_schedule", Summary: "Create a schedule", Tag: tag, Role: identity.Admin, Status: http.StatusCreated,
		Unsupported: true, Audit: op.Audit{Action: "schedule.create"}, Replay: h.created, Faults: h.createFaults,
		Description: clocks +
			"\n\n" +
			"You need the rights for the job when you create the schedule: the request is refused for the same " +
			"reasons as one that starts the job. An API key with scopes needs the scope of the job's target, too, " +
			"such as `vms:write`. Names need not be unique. An instance has at most 1000 schedules; creating more " +
			"is 409 `conflict`.",
	})
	op.Patch(a, "/api/v1/schedules/:schedule_id", h.update, op.Spec{
		ID: "update_schedule", Summary: "Change a schedule", Tag: tag, Role: identity.Admin,
		Unsupported: true, Audit: op.Audit{Action: "schedule.update", Target: "schedule_id"}, Faults: h.updateFaults,
		Description: "The caller becomes the owner of the schedule, which runs with the caller's rights from now on, " +
			"and `disabled_reason` is cleared. Kind and parameters are checked together as for a new schedule, unless " +
			"the change disables the schedule and keeps both: disabling is always possible. `next_run_at` changes only " +
			"if `cron`, `timezone` or `enabled` changes. `params` null means `{}`, `timezone` null means `UTC`.\n\n" +
			clocks,
	})
	op.Delete(a, "/api/v1/schedules/:schedule_id", h.remove, op.Spec{
		ID: "delete_schedule", Summary: "Delete a schedule", Tag: tag, Role: identity.Admin, Status: http.StatusNoContent,
		Audit: op.Audit{Action: "schedule.delete", Target: "schedule_id"}, Description: "Deletes the schedule; its " +
			"jobs are kept.",
	})
	op.Post(a, "/api/v1/schedules/:schedule_id/run", h.run, op.Spec{
		ID: "run_schedule", Summary: "Run a schedule now", Tag: tag, Role: identity.Operator, Status: http.StatusAccepted,
		Unsupported: true, Audit: op.Audit{Action: "schedule.run", Target: "schedule_id"}, Replay: h.ran,
		Description: "Starts an additional run, even of a disabled schedule, and returns its jobs, one for each " +
			"guest; `next_run_at`, `last_run_at` and all other fields do not change. `requested_by` of the job is " +
			"the caller; the job has the rights of the schedule's owner. An API key with scopes needs the scope of " +
			"the job's target, too.",
	})
}

type listInput struct{ op.Page }

func (h handlers) list(ctx context.Context, in *listInput) (*op.List[*schedule.Schedule], error) {
	found, total, err := h.schedules.List(ctx, in.Offset(), in.Limit())
	return &op.List[*schedule.Schedule]{Total: total, Body: found}, err
}

// Kind is a kind of job that a schedule can create.
type Kind struct {
	Kind    string          `json:"kind" example:"vm.start"`
	Summary string          `json:"summary" example:"Start a VM"`
	Params  json.RawMessage `json:"params" doc:"JSON schema of the parameters"`
}

func (h handlers) kinds(context.Context, *struct{}) (*op.List[Kind], error) {
	all := h.schedules.Kinds()
	list := &op.List[Kind]{Total: len(all)}
	for _, kind := range all {
		list.Body = append(list.Body, Kind{Kind: kind.Name, Summary: kind.Summary, Params: h.shapes[kind.Name].Document()})
	}
	return list, nil
}

type createInput struct {
	Body struct {
		Name     string    `json:"name" minLength:"1" maxLength:"200" example:"Nightly stop" doc:"Name of the schedule"`
		Cron     string    `json:"cron" minLength:"1" maxLength:"256" example:"30 2 * * MON-FRI" doc:"Minute, hour, day of month, month, day of week"`
		Timezone *string   `json:"timezone,omitempty" default:"UTC" minLength:"1" maxLength:"64" example:"Europe/Berlin" doc:"Time zone, a name in the IANA database; UTC if absent"`
		JobKind  string    `json:"job_kind" minLength:"1" maxLength:"64" example:"vm.shutdown" doc:"One of the kinds from GET /schedules/kinds"`
		Params   op.Object `json:"params,omitempty" nullable:"true" example:"{\"vm_id\":2}" doc:"Parameters of the job; null for none"`
		Enabled  *bool     `json:"enabled,omitempty" default:"true" doc:"Run the schedule"`
	}
}

func (h handlers) create(ctx context.Context, in *createInput) (*op.Body[*schedule.Schedule], error) {
	b := &in.Body
	d := schedule.Input{Name: b.Name, Cron: b.Cron, JobKind: b.JobKind, Params: params(b.Params), Timezone: schedule.DefaultZone,
		Enabled: true}
	if b.Timezone != nil {
		d.Timezone = *b.Timezone
	}
	if b.Enabled != nil {
		d.Enabled = *b.Enabled
	}
	made, err := h.schedules.Create(ctx, d, h.shapes.check)
	return &op.Body[*schedule.Schedule]{Body: made}, err
}

type updateInput struct {
	ID   int64 `path:"schedule_id" minimum:"1"`
	Body struct {
		Name     op.Optional[string]    `json:"name,omitzero" minLength:"1" maxLength:"200" nullable:"false" example:"Nightly stop" doc:"Name of the schedule"`
		Cron     op.Optional[string]    `json:"cron,omitzero" minLength:"1" maxLength:"256" nullable:"false" example:"30 2 * * MON-FRI" doc:"Minute, hour, day of month, month, day of week"`
		Timezone op.Optional[string]    `json:"timezone,omitzero" minLength:"1" maxLength:"64" example:"Europe/Berlin" doc:"null for UTC"`
		JobKind  op.Optional[string]    `json:"job_kind,omitzero" minLength:"1" maxLength:"64" nullable:"false" example:"vm.shutdown" doc:"One of the kinds from GET /schedules/kinds"`
		Params   op.Optional[op.Object] `json:"params,omitzero" example:"{\"vm_id\":2}" doc:"null for none"`
		Enabled  op.Optional[bool]      `json:"enabled,omitzero" nullable:"false" doc:"Run the schedule"`
	}
}

func (h handlers) update(ctx context.Context, in *updateInput) (*op.Body[*schedule.Schedule], error) {
	b := &in.Body
	written, err := h.schedules.Update(ctx, in.ID, func(d *schedule.Input) {
		set(&d.Name, b.Name)
		set(&d.Cron, b.Cron)
		set(&d.JobKind, b.JobKind)
		set(&d.Enabled, b.Enabled)
		if b.Timezone.Set {
			d.Timezone = schedule.DefaultZone
			set(&d.Timezone, b.Timezone)
		}
		if b.Params.Set {
			d.Params = params(b.Params.Value)
		}
	}, h.shapes.check)
	return &op.Body[*schedule.Schedule]{Body: written}, err
}

func set[T any](field *T, given op.Optional[T]) {
	if value := given.Pointer(); value != nil {
		*field = *value
	}
}

// params returns the parameters in the form in which they are stored. No
// parameters are an empty object.
func params(o op.Object) json.RawMessage {
	if len(o) == 0 || string(o) == "null" {
		return json.RawMessage("{}")
	}
	return json.RawMessage(o)
}

type oneInput struct {
	ID int64 `path:"schedule_id" minimum:"1"`
}

func (h handlers) remove(ctx context.Context, in *oneInput) (*op.Empty, error) {
	return nil, h.schedules.Delete(ctx, in.ID)
}

// RunResult is the answer of run.
type RunResult struct {
	Job  job.View   `json:"job" doc:"The first job"`
	Jobs []job.View `json:"jobs" doc:"All jobs that the run started, including job"`
}

func started(jobs []job.View) RunResult { return RunResult{Job: jobs[0], Jobs: jobs} }

func (h handlers) run(ctx context.Context, in *oneInput) (*op.Body[RunResult], error) {
	made, err := h.schedules.RunNow(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &op.Body[RunResult]{Body: started(job.Views(made))}, nil
}

// created rebuilds the answer of create for a repeated Idempotency-Key.
func (h handlers) created(ctx context.Context, made idempotency.Result) (any, error) {
	return h.schedules.Get(ctx, made.Target())
}

// ran rebuilds the answer of run for a repeated Idempotency-Key.
func (h handlers) ran(ctx context.Context, made idempotency.Result) (any, error) {
	var kept []job.View
	if made.Decode(&kept) != nil { // kept by an earlier release, which returned the first job only
		kept = make([]job.View, 1)
		if err := made.Decode(&kept[0]); err != nil {
			return nil, err
		}
	}
	return started(kept), nil
}
