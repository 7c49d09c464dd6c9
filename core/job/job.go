package job

import (
	"encoding/json"
	"time"
)

// Status is the state of a job.
type Status string

// The states of a job. Queued and Running are unfinished, all others are final.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Canceled  Status = "canceled"
	// Unknown is the end of a job whose effect on the hypervisor could not be
	// determined.
	Unknown Status = "unknown"
)

// Finished reports whether the state is final.
func (s Status) Finished() bool { return s != Queued && s != Running }

// Target is the object that a job works on, in the words of the API: "vm",
// "app", "host" and others.
type Target struct {
	Kind string `json:"kind" example:"vm" doc:"Kind of the object: vm, app, host and so on"`
	ID   int64  `json:"id" example:"12"`
	Name string `json:"name" example:"web-1" doc:"Name of the object when the job was requested"`
}

// Spec describes a job to enqueue.
type Spec struct {
	// Kind selects the worker, such as "vm.start".
	Kind   string
	Target Target
	// TeamID is the team that sees the job. Zero means that only callers with a
	// role in the default team see it.
	TeamID int64
	// HostID is the host that the job uses. Zero means none.
	HostID int64
	// Exclusive is a key that at most one unfinished job has, such as
	// "guest:12". An empty key excludes nothing.
	Exclusive string
	// Place is the place where the job must run: only instances whose
	// Config.Place is the same run it. Empty means anywhere.
	Place string
	// Params is stored as JSON and passed to the worker. A secret in it is a
	// field of type secret.String, not inside a map: it is encrypted
	// separately, and deleted when the job has ended.
	Params any
	// PublicParams contains the parameters as users see them, without secrets: a
	// struct or map in the words of the operation that enqueues the job,
	// because the API can repeat the operation from it. Nil means no
	// parameters.
	PublicParams any
}

// Job is a job as users see it.
type Job struct {
	ID     int64
	Kind   string
	Status Status
	Target Target
	TeamID *int64
	HostID *int64
	// RequestedBy is nil for a job of the service itself, and for a user who
	// was deleted; the e-mail address stays.
	RequestedBy      *int64
	RequestedByEmail string
	// ScheduleID is the schedule that enqueued the job. It is nil if there is
	// none or if it was deleted.
	ScheduleID *int64
	// PublicParams is Spec.PublicParams as a JSON object.
	PublicParams json.RawMessage
	// Progress is the finished part of the current task, 0 to 1, as its log
	// reports it. It is nil if the log has reported nothing.
	Progress *float64
	// LastLine is the last line of the transcript, shortened. It is empty if
	// there is none.
	LastLine string
	// TaskID is the hypervisor's task that the job started last. It is empty if
	// there is none.
	TaskID string
	// Error says why a job failed, or why its result is unknown.
	Error string
	// CancelRequestedAt is set when somebody has requested to cancel the job.
	CancelRequestedAt *time.Time
	// Runs counts how often a worker began the job. It is more than one if a
	// process died.
	Runs       int
	CreatedAt  time.Time
	StartedAt  *time.Time
	FinishedAt *time.Time

	params     json.RawMessage
	sealed     []byte
	checkpoint json.RawMessage
	// riverID is the only row of River that may run the job.
	riverID *int64
	// place is Spec.Place.
	place string
	// taskLines is the number of lines of the task's log in the transcript.
	taskLines int
}
