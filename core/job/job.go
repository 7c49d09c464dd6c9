// Package job runs what takes longer than a request: one job is one change that a user asked for, with a transcript
// that can be followed from any instance of the service.
//
// Actors. A handler calls Queue.Enqueue in the transaction of its request; that writes our row, which users see, and a
// row of River, which only carries the id. On some instance River hands the id to a runner. The runner takes the job's
// advisory lock, waits for one of a few slots that all instances share, and calls the Worker that was registered for
// the job's kind. The worker sees the job through a Run: parameters, checkpoints, transcript.
//
// A process may die at any moment. Its advisory locks die with it, and every instance looks every few seconds for
// unfinished jobs that nobody holds; it gives such a job a new row of River. Jobs.river_id names the one row of River
// that may run the job, and everything that a run writes is conditional on it, so a runner that lost its lock without
// knowing can no longer change anything. What was sent to a hypervisor is not sent a second time: see Run.Do. A job on
// which two processes in a row have died ends without another run: see crash.go.
package job

import (
	"encoding/json"
	"time"
)

// Status is where a job stands.
type Status string

// The states. A job that is queued or running is unfinished; all others are final.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Canceled  Status = "canceled"
	// Unknown is the end of a job whose effect on the hypervisor could not be found out.
	Unknown Status = "unknown"
)

// Finished reports whether the state is final.
func (s Status) Finished() bool { return s != Queued && s != Running }

// Target is the thing that a job works on, in the words of the API: "vm", "app", "host" and so on.
type Target struct {
	Kind string `json:"kind" example:"vm" doc:"Kind of the object: vm, app, host and so on"`
	ID   int64  `json:"id" example:"12"`
	Name string `json:"name" example:"web-1" doc:"Name of the object when the job was requested"`
}

// Spec says what to enqueue.
type Spec struct {
	// Kind names the worker, such as "vm.start".
	Kind   string
	Target Target
	// TeamID is the team that may see the job; zero means only callers with a role in the default team.
	TeamID int64
	// HostID is the host that the job uses; zero for none.
	HostID int64
	// Exclusive is what only one unfinished job may hold, such as "guest:12"; empty for none.
	Exclusive string
	// Place is where the job must run, as Config.Place of the instances that may; empty for anywhere.
	Place string
	// Params is kept as JSON and given to the worker. A secret among them is a field of type secret.String, not in a map: it is
	// sealed apart, and forgotten when the job has ended.
	Params any
	// Asked is what was asked for besides the target, as users see it: a struct or map in the words of the operation that asks for
	// it, without what is secret. The operation is asked again by it. Nil for nothing.
	Asked any
}

// Job is a job as users see it.
type Job struct {
	ID     int64
	Kind   string
	Status Status
	Target Target
	TeamID *int64
	HostID *int64
	// RequestedBy is nil for what the service does by itself and for a user who is gone; the e-mail stays.
	RequestedBy      *int64
	RequestedByEmail string
	// ScheduleID is the schedule that asked for it; nil for none and for one that is gone.
	ScheduleID *int64
	// Asked is Spec.Asked as JSON, an object.
	Asked json.RawMessage
	// Share is how much of the present task is done, from 0 to 1, as its log tells; nil where nothing has told.
	Share *float64
	// LastLine is the last line of the transcript, cut; empty while there is none.
	LastLine string
	// TaskID is the hypervisor's task that the job started last; empty when there is none yet.
	TaskID string
	// Error says why a job failed or is unknown.
	Error string
	// CancelRequestedAt is set once somebody asked to cancel the job.
	CancelRequestedAt *time.Time
	// Runs counts how often a worker began the job: more than once when a process died.
	Runs       int
	CreatedAt  time.Time
	StartedAt  *time.Time
	FinishedAt *time.Time

	params   json.RawMessage
	sealed   []byte
	progress json.RawMessage
	// riverID is the row of River that may run the job.
	riverID *int64
	// place is Spec.Place.
	place string
	// taskLines counts the lines of the task's log that the transcript has.
	taskLines int
}
