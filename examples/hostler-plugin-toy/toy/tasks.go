package toy

import (
	"context"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// task is a task in the toy's words.
type task struct {
	ID      string
	Node    string
	Kind    string
	Guest   string
	Client  string
	State   string
	Message string
	Started time.Time
	Ended   time.Time
}

// words are the toy's words for all that we can ask for: its task has the same as the path that started it.
var words = map[hypervisor.Operation]string{
	hypervisor.Start.Operation(): "start", hypervisor.Stop.Operation(): "kill", hypervisor.Shutdown.Operation(): "stop",
	hypervisor.Restart.Operation(): "restart", hypervisor.Pause.Operation(): "freeze", hypervisor.Resume.Operation(): "thaw",
	hypervisor.Reset.Operation(): "reset", hypervisor.OperationSnapshotCreate: "snapshot",
	hypervisor.OperationSnapshotDelete: "forget", hypervisor.OperationSnapshotRollback: "restore",
}

var ends = map[string]string{"running": hypervisor.TaskRunning, "done": hypervisor.TaskOK, "failed": hypervisor.TaskFailed}

func (t task) status() string {
	if status, ok := ends[t.State]; ok {
		return status
	}
	return hypervisor.TaskUnknown
}

func (t task) task() hypervisor.Task {
	out := hypervisor.Task{
		ID: t.ID, Node: t.Node, Type: t.Kind, GuestID: hypervisor.GuestID(t.Guest),
		// In the form of endpoint.Credential.ID, so that the service knows its own tasks.
		TokenID: t.Client, Status: t.status(), Started: t.Started, Ended: t.Ended,
	}
	for operation, word := range words {
		if word == t.Kind {
			out.Operation = operation
		}
	}
	if out.Status == hypervisor.TaskFailed {
		out.Error = t.Message
	}
	return out
}

// Tasks implements hypervisor.Host. The toy forgets no task, and its list is cut by the limit only.
func (h *Host) Tasks(ctx context.Context, query hypervisor.TaskQuery) (hypervisor.TaskList, error) {
	if query.Limit < 1 || query.Limit > 500 {
		return hypervisor.TaskList{}, invalid("limit", "limit must be between 1 and 500")
	}
	q := url.Values{"limit": {strconv.Itoa(query.Limit)}}
	if query.Node != "" {
		q.Set("node", query.Node)
	}
	if query.Guest != nil {
		// No two guests have the same name, so that it says the kind too.
		q.Set("guest", string(query.Guest.ID))
	}
	if !query.Since.IsZero() {
		q.Set("since", query.Since.Format(time.RFC3339Nano))
	}
	if query.Errors {
		q.Set("failed", "1")
	}
	var rows []task
	if _, err := h.client.get(ctx, "/v1/tasks", q, &rows); err != nil {
		return hypervisor.TaskList{}, err
	}
	list := hypervisor.TaskList{Tasks: make([]hypervisor.Task, len(rows)), CompleteSince: time.Unix(0, 0)}
	for i, r := range rows {
		list.Tasks[i] = r.task()
	}
	if len(rows) >= query.Limit {
		// What was cut off may have begun in the same moment as the last one that is listed.
		list.CompleteSince = list.Tasks[len(rows)-1].Started.Add(1)
	}
	return list, nil
}

// taskID is the form of a task's id. Ids come from the service's users: what has another form must not become a part of a
// path.
var taskID = regexp.MustCompile(`^T[0-9]{1,18}$`)

func taskPath(id string) (string, error) {
	if !taskID.MatchString(id) {
		return "", plugin.Errorf(plugin.NotFound, "task %q does not exist", id)
	}
	return "/v1/tasks/" + id, nil
}

// TaskLog implements hypervisor.Host.
func (h *Host) TaskLog(ctx context.Context, id string, query hypervisor.LogQuery) (hypervisor.Log, error) {
	if query.Start < 0 || query.Limit < 0 {
		return hypervisor.Log{}, invalid("start", "start and limit must not be negative")
	}
	path, err := taskPath(id)
	if err != nil {
		return hypervisor.Log{}, err
	}
	var answer struct {
		Lines []string
		Total int
	}
	q := url.Values{"start": {strconv.Itoa(query.Start)}, "limit": {strconv.Itoa(query.Limit)}}
	if _, err := h.client.get(ctx, path+"/log", q, &answer); err != nil {
		return hypervisor.Log{}, err
	}
	log := hypervisor.Log{Total: answer.Total}
	for i, text := range answer.Lines {
		log.Lines = append(log.Lines, hypervisor.LogLine{N: query.Start + i + 1, Text: text})
	}
	return log, nil
}
