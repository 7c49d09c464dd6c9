package host

import (
	"context"
	"strconv"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Task is one task of the hypervisor, started by this service or by anybody
// else.
type Task struct {
	ID      string     `json:"upid" doc:"Task ID on the hypervisor"`
	Node    string     `json:"node" example:"pve1"`
	Type    string     `json:"type" example:"qmstart"`
	VMID    *int64     `json:"vmid" example:"100" doc:"VMID of the guest; null if the hypervisor has no VMIDs, and for a task without a guest"`
	Guest   *string    `json:"guest_ref" example:"100" doc:"ID of the guest when the task ran; null for a task without a guest"`
	User    string     `json:"user" example:"service@pve"`
	TokenID *string    `json:"token_id" example:"lifecycle"`
	Status  string     `json:"status" enum:"running,ok,warning,failed,unknown" example:"ok"`
	Error   *string    `json:"error" doc:"Error text of the hypervisor for a task that failed or whose result is not known"`
	Started time.Time  `json:"started_at" example:"2026-01-31T12:00:00Z"`
	Ended   *time.Time `json:"ended_at" example:"2026-01-31T12:00:02Z" doc:"End of the task; null while it runs"`
}

// Tasks asks the hypervisor for its newest tasks, at most limit.
func (s *Store) Tasks(ctx context.Context, id int64, limit int) ([]Task, error) {
	found, err := Call(ctx, s, id, endpoint.Monitoring, func(ctx context.Context, h hypervisor.Host) (hypervisor.TaskList, error) {
		return h.Tasks(ctx, hypervisor.TaskQuery{Limit: limit})
	})
	if err != nil {
		return nil, err
	}
	tasks := make([]Task, 0, len(found.Tasks))
	for _, t := range found.Tasks[:min(len(found.Tasks), limit)] {
		tasks = append(tasks, taskOf(t))
	}
	return tasks, nil
}

// taskOf cleans a task. Errors of tasks may repeat a command line with a
// secret; HideSecrets removes the known forms.
func taskOf(t hypervisor.Task) Task {
	out := Task{
		ID: Clean(t.ID), Node: Clean(t.Node), Type: Clean(t.Type), User: Clean(t.User), TokenID: CleanOrNil(t.TokenID),
		Status: t.Status, Error: CleanOrNil(sdk.HideSecrets(t.Error)), Started: t.Started.UTC(),
	}
	if t.GuestID.Valid() {
		out.Guest = (*string)(&t.GuestID)
		out.VMID = number(t.GuestID)
	}
	if !t.Ended.IsZero() {
		ended := t.Ended.UTC()
		out.Ended = &ended
	}
	return out
}

// number returns a guest's id as a number, and nil unless it is written without
// signs and leading zeros.
func number(id hypervisor.GuestID) *int64 {
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != string(id) {
		return nil
	}
	return &n
}

// LogLine is a line of a task's log, with its number.
type LogLine struct {
	N    int    `json:"n" example:"1" doc:"Line number, from 1"`
	Text string `json:"t" example:"TASK OK"`
}

// Log is a part of a task's log, and the number of all lines.
type Log struct {
	Lines []LogLine `json:"lines"`
	Total int       `json:"total" example:"12" doc:"Total number of lines"`
}

// TaskLog asks the hypervisor for at most limit lines of a task's log,
// beginning with line start, counted from 0.
func (s *Store) TaskLog(ctx context.Context, id int64, task string, start, limit int) (Log, error) {
	found, err := Call(ctx, s, id, endpoint.Monitoring, func(ctx context.Context, h hypervisor.Host) (hypervisor.Log, error) {
		return h.TaskLog(ctx, task, hypervisor.LogQuery{Start: start, Limit: limit})
	})
	if err != nil {
		return Log{}, err
	}
	log := Log{Lines: make([]LogLine, 0, len(found.Lines)), Total: found.Total}
	for _, line := range found.Lines {
		log.Lines = append(log.Lines, LogLine{line.N, Clean(sdk.HideSecrets(line.Text))})
	}
	return log, nil
}
