// Package schedule asks for jobs at times that users wrote down as cron expressions.
//
// A schedule names a Kind and its parameters. It runs with the rights of the user who last wrote it: each time that it is
// due, Kind.Prepare checks that user's present roles. A schedule that came with the service and that nobody has changed
// runs as the service itself.
//
// Every instance runs the ticker (Store.Run). The transaction that starts a schedule's job also moves the schedule's next
// time on, and does neither when another instance was first: a time that is due starts one job, and a process that dies
// before the commit has done nothing. A schedule that is late, because no instance ran, starts one job and not one for
// each time that was missed.
package schedule

import (
	"encoding/json"
	"time"
)

// Schedule is a schedule as the API shows it; the JSON names are those of the
// API.
type Schedule struct {
	ID       int64           `json:"id" example:"4"`
	Name     string          `json:"name" example:"Nightly stop"`
	Cron     string          `json:"cron" example:"30 2 * * MON-FRI" doc:"Minute, hour, day of month, month, day of week"`
	Timezone string          `json:"timezone" example:"Europe/Berlin"`
	JobKind  string          `json:"job_kind" example:"vm.shutdown"`
	Params   json.RawMessage `json:"params" example:"{\"vm_id\":3}" doc:"Parameters of the job"`
	Enabled  bool            `json:"enabled"`
	// NextRunAt is nil while the schedule is off, and for a moment after it came with an update of the service.
	NextRunAt *time.Time `json:"next_run_at" doc:"Next run; null while the schedule is disabled"`
	LastRunAt *time.Time `json:"last_run_at" doc:"When the schedule last started a job at its due time"`
	LastJobID *int64     `json:"last_job_id" example:"57" doc:"The job that it started at last_run_at"`
	LastError string     `json:"last_error" doc:"Why it started no job when it was last due; empty if it started one"`
	// DisabledReason is set when the service itself has switched the schedule off.
	DisabledReason string `json:"disabled_reason" doc:"Why the service disabled the schedule; empty if it did not"`
	// Writer is nil for a schedule that came with the service.
	Writer    *Writer   `json:"writer" doc:"User who last saved the schedule; it runs with this user's rights. Null for a built-in schedule, which runs as the service"`
	Seeded    bool      `json:"seeded" doc:"true for a built-in schedule that nobody has changed"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at" doc:"When it was last saved"`
}

// Writer is the last user who wrote a schedule.
type Writer struct {
	ID    *int64 `json:"id" example:"1" doc:"ID of the user; null if the user was deleted, in which case the schedule no longer runs"`
	Email string `json:"email" example:"ann@example.org"`
}
