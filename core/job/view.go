package job

import (
	"bytes"
	"encoding/json"
	"time"
)

// View is a job as the API shows it. The JSON names are those of the API.
type View struct {
	ID     int64  `json:"id" example:"57"`
	Kind   string `json:"kind" example:"vm.start"`
	Status Status `json:"status" enum:"queued,running,succeeded,failed,canceled,unknown" doc:"unknown: it could not be determined whether the job had its effect"`
	Target Target `json:"target"`
	HostID *int64 `json:"host_id" example:"1" doc:"Host on which the job works"`
	// RequestedBy is null for what the service does by itself.
	RequestedBy     *Requester     `json:"requested_by" doc:"User who requested it; null for jobs of the service"`
	ScheduleID      *int64         `json:"schedule_id" example:"4" doc:"Schedule that started it; null for none or if the schedule was deleted"`
	TaskID          string         `json:"task_id" doc:"ID of the last task that it started on the hypervisor; empty if there is none" example:"UPID:pve1:00001A2B:0C3D4E5F:6720F00D:qmstart:101:service@pve!lifecycle:"`
	Error           string         `json:"error" doc:"Why it failed or its result is unknown"`
	Progress        *float64       `json:"progress" example:"0.42" doc:"Progress of the hypervisor's task as reported in its log, or of a file transfer, from 0 to 1; null if not reported"`
	LastLine        string         `json:"last_line" example:"transferred 13.4 GiB of 32.0 GiB (41.87%)" doc:"Last line of the transcript, at most 256 characters"`
	Params          map[string]any `json:"params" doc:"Parameters of the request besides the target, named as in the operation and without secrets. Parameters of more than 16 KiB are replaced by truncated_from_bytes"`
	CancelRequested bool           `json:"cancel_requested"`
	Runs            int            `json:"runs" example:"1" doc:"Number of times that it was started; more than one if the service was interrupted"`
	CreatedAt       time.Time      `json:"created_at"`
	StartedAt       *time.Time     `json:"started_at"`
	FinishedAt      *time.Time     `json:"finished_at"`
	DurationS       *float64       `json:"duration_s" example:"3.2" doc:"Duration in seconds"`
}

// Requester is the user who requested a job.
type Requester struct {
	ID    *int64 `json:"id" doc:"ID of the user; null if the user was deleted"`
	Email string `json:"email" example:"ann@example.org"`
}

// View converts the job for the API.
func (j *Job) View() View {
	v := View{
		ID: j.ID, Kind: j.Kind, Status: j.Status, Target: j.Target, HostID: j.HostID, ScheduleID: j.ScheduleID, TaskID: j.TaskID, Error: j.Error,
		Progress: j.Progress, LastLine: j.LastLine, Params: map[string]any{},
		CancelRequested: j.CancelRequestedAt != nil, Runs: j.Runs, CreatedAt: j.CreatedAt, StartedAt: j.StartedAt, FinishedAt: j.FinishedAt,
	}
	asked := json.NewDecoder(bytes.NewReader(j.PublicParams))
	asked.UseNumber()           // a size in bytes stays exact
	_ = asked.Decode(&v.Params) // it was encoded by Enqueue; without an object there is nothing to show
	if j.RequestedBy != nil || j.RequestedByEmail != "" {
		v.RequestedBy = &Requester{ID: j.RequestedBy, Email: j.RequestedByEmail}
	}
	if j.StartedAt != nil && j.FinishedAt != nil {
		seconds := float64(j.FinishedAt.Sub(*j.StartedAt).Milliseconds()) / 1000
		v.DurationS = &seconds
	}
	return v
}

// Views returns the views of jobs, in their order.
func Views(jobs []*Job) []View {
	views := make([]View, len(jobs))
	for i, j := range jobs {
		views[i] = j.View()
	}
	return views
}
