package hypervisor

import (
	"context"
	"time"
)

// TaskQuery narrows Host.Tasks.
type TaskQuery struct {
	// Limit is the most tasks to return, 1 to 500.
	Limit int
	// Node narrows to one node; empty means all. The task of a request about a
	// guest is of the node in the guest's ref.
	Node string
	// Guest narrows to one guest by its kind and ID, on whichever node its
	// tasks ran: the tasks of an earlier guest of the same ID may be among
	// them.
	Guest *GuestRef
	// Since leaves out tasks that started before it, by the hypervisor's clock.
	Since time.Time
	// Errors leaves only tasks that ended and did not end well: failed ones and
	// those of unknown end.
	Errors bool
}

// TaskList is the answer of Host.Tasks.
type TaskList struct {
	// Tasks are ordered newest first.
	Tasks []Task
	// CompleteSince is from when on the list misses nothing, by the
	// hypervisor's clock: each task that matches the query, that the credential
	// has started itself, and that started at this time or later but before the
	// call, is in Tasks, whether it runs or has ended. A hypervisor that lists
	// a task late has some seconds for it. Zero says that there is no such
	// time, or that it is not known; running tasks are listed all the same.
	// What the query leaves out counts as listed, except what Limit cut off. A
	// hypervisor that never forgets a task gives time.Unix(0, 0).
	//
	// The service takes a request whose task is not listed to have gone nowhere
	// only as far back as this, and may then make it again. A driver in doubt
	// says a later time, or zero.
	CompleteSince time.Time
}

// ReachesBackTo reports whether the list misses nothing from t on.
func (l TaskList) ReachesBackTo(t time.Time) bool {
	return !l.CompleteSince.IsZero() && !l.CompleteSince.After(t)
}

// Task states.
const (
	TaskRunning = "running"
	TaskOK      = "ok"
	TaskWarning = "warning" // ended well, with warnings
	TaskFailed  = "failed"
	TaskUnknown = "unknown" // it ended and the hypervisor does not know how
)

// Operation is what a task does, in one word of ours: an Action or one of the
// Operation constants of the optional interfaces. It says what was asked, not
// for which guest.
type Operation string

// Task is one task of the hypervisor.
type Task struct {
	// ID is the hypervisor's own identifier, such as a UPID: 1 to 300 bytes,
	// which people may hand in as well.
	ID   string
	Node string
	// Type is the hypervisor's word for what the task does, such as "qmstart".
	Type string
	// Operation is our word for it where there is one; empty for all other tasks.
	Operation Operation
	// GuestID is the id that the guest had then; empty for a task that is about no guest.
	GuestID GuestID
	// User and TokenID are who started it: TokenID is the Credential.ID, or
	// what follows "!" in one whose first part is User. By it the service knows
	// its own tasks: where the hypervisor does not tell, TokenID is empty and
	// TaskList.CompleteSince zero, for else a request that was carried out
	// counts as one that never arrived, and is sent again.
	User    string
	TokenID string
	Status  string
	// Error is the hypervisor's text for a task that failed, and what it has of
	// one whose end is unknown.
	Error   string
	Started time.Time
	// Ended is zero while the task runs.
	Ended time.Time
}

// TaskResult is how a task ended.
type TaskResult struct {
	// Status is any of the task states but running.
	Status string
	// Message is the hypervisor's own word for the end.
	Message string
	// Missing, Path and Remedy are those of plugin.Error, for a task that
	// failed for want of privileges.
	Missing []string
	Path    string
	Remedy  string
	// Backup is the id of the backup that the task made, where its log tells it; empty otherwise.
	Backup string
}

// OK reports whether the task did what it was asked.
func (r TaskResult) OK() bool { return r.Status == TaskOK || r.Status == TaskWarning }

// LogQuery is a window of a task's log.
type LogQuery struct {
	// Start is the first line, 0-based; Limit the most lines, 0 for all.
	Start int
	Limit int
}

// Log is a window of a task's log.
type Log struct {
	Lines []LogLine
	// Total is the number of lines there are.
	Total int
}

// LogLine is one line; N counts from 1.
type LogLine struct {
	N    int
	Text string
	// Share is how much of the task is done by this line, more than 0 and 1 at
	// most; 0 where the line does not tell. What a driver cannot know it leaves
	// out: people wait by it.
	Share float64
}

// TaskStopper is satisfied by hosts that can stop a running task. Needs the Lifecycle capability.
type TaskStopper interface {
	// StopTask asks the hypervisor to stop a task. A task that has ended is no
	// error; an unknown one is NotFound. It returns when the hypervisor has
	// taken the request: WaitTask tells the end.
	StopTask(ctx context.Context, taskID string) error
}
