package memdriver

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// task is one task. The cluster's lock protects it.
type task struct {
	hypervisor.Task
	kind    hypervisor.GuestKind
	message string
	backup  *string // that the task has made, if it makes one
	lines   []string
	// changed is closed and replaced at each change.
	changed chan struct{}
}

// newTask makes a running task. The caller holds the lock.
func (c *Cluster) newTask(node, kind string, guest hypervisor.GuestRef, user endpoint.Credential) *task {
	c.sequence++
	t := &task{
		Task: hypervisor.Task{
			ID:   fmt.Sprintf("MEM:%s:%08X:%s:%s:%s", node, c.sequence, kind, guest.ID, user.ID),
			Node: node, Type: kind, GuestID: guest.ID, Status: hypervisor.TaskRunning, Started: time.Now().UTC(),
		},
		kind:    guest.Kind,
		changed: make(chan struct{}),
	}
	t.User, _, _ = strings.Cut(user.ID, "!")
	t.TokenID = user.ID
	c.tasks = append(c.tasks, t)
	return t
}

// add adds a line to the log. The caller holds the lock.
func (t *task) add(line string) {
	t.lines = append(t.lines, line)
	t.tell()
}

// end ends the task. The caller holds the lock.
func (t *task) end(status, message string) {
	if t.Status != hypervisor.TaskRunning {
		return
	}
	t.Status, t.message, t.Ended = status, message, time.Now().UTC()
	if status == hypervisor.TaskFailed || status == hypervisor.TaskUnknown {
		t.Error = message
	}
	t.tell()
}

// tell wakes everybody who waits for a change of the task.
func (t *task) tell() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// NewTask makes a task that runs until EndTask or StopTask, with lines of log,
// and returns its id.
func (c *Cluster) NewTask(kind string, lines int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.newTask(c.nodes[0], kind, hypervisor.GuestRef{}, endpoint.Credential{ID: "root@mem"})
	for i := range lines {
		t.add(fmt.Sprintf("line %d of %s", i+1, kind))
	}
	return t.ID
}

// line returns line n of a log. A line that ends like "42 %" reports progress.
func line(n int, text string) hypervisor.LogLine {
	l := hypervisor.LogLine{N: n, Text: text}
	if told, ok := strings.CutSuffix(text, " %"); ok {
		percent, _ := strconv.Atoi(told[strings.LastIndexByte(told, ' ')+1:]) // 0 for what is no number: it tells nothing
		l.Share = float64(percent) / 100
	}
	return l
}

// AddLine appends a line to a task's log. A line that ends like "42 %" reports
// progress.
func (c *Cluster) AddLine(taskID, line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t, err := c.task(taskID); err == nil {
		t.add(line)
	}
}

// EndTask ends a running task in one of the task states.
func (c *Cluster) EndTask(taskID, status, message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t, err := c.task(taskID); err == nil {
		t.end(status, message)
	}
}

// task needs the lock. A CertificateDriver knows a task for some time after its end.
func (c *Cluster) task(id string) (*task, error) {
	for _, t := range c.tasks {
		if t.ID == id && (!c.certified || t.Status == hypervisor.TaskRunning || time.Since(t.Ended) < c.taskMemory) {
			return t, nil
		}
	}
	return nil, plugin.Errorf(plugin.NotFound, "no task %q", id)
}

// Tasks implements hypervisor.Host. A CertificateDriver lists no task that has ended;
// WaitTask and TaskLog know it for a while.
func (h *Host) Tasks(ctx context.Context, query hypervisor.TaskQuery) (hypervisor.TaskList, error) {
	c, _, err := h.begin(ctx, "tasks")
	if err != nil {
		return hypervisor.TaskList{}, err
	}
	if query.Limit < 1 || query.Limit > 500 {
		err := plugin.Errorf(plugin.Invalid, "limit must be from 1 to 500")
		err.Field = "limit"
		return hypervisor.TaskList{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := hypervisor.TaskList{CompleteSince: time.Unix(0, 0).UTC()}
	if c.certified {
		list.CompleteSince = time.Time{}
	}
	for _, t := range slices.Backward(c.tasks) {
		if !t.matches(query) || c.certified && t.Status != hypervisor.TaskRunning {
			continue
		}
		if len(list.Tasks) == query.Limit {
			// What was cut off may have begun in the same moment as the last one that is listed.
			if !c.certified {
				list.CompleteSince = list.Tasks[query.Limit-1].Started.Add(1)
			}
			break
		}
		list.Tasks = append(list.Tasks, t.Task)
	}
	return list, nil
}

// Tasks are all tasks that there ever were, newest first, those included that a
// Certified no longer lists.
func (c *Cluster) Tasks() []hypervisor.Task {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []hypervisor.Task
	for _, t := range slices.Backward(c.tasks) {
		all = append(all, t.Task)
	}
	return all
}

// matches reports whether the task is in the answer to a query.
func (t *task) matches(query hypervisor.TaskQuery) bool {
	switch {
	case query.Node != "" && t.Node != query.Node,
		query.Guest != nil && (t.GuestID != query.Guest.ID || t.kind != query.Guest.Kind),
		t.Started.Before(query.Since),
		query.Errors && t.Status != hypervisor.TaskFailed && t.Status != hypervisor.TaskUnknown:
		return false
	}
	return true
}

// TaskLog implements hypervisor.Host.
func (h *Host) TaskLog(ctx context.Context, taskID string, query hypervisor.LogQuery) (hypervisor.Log, error) {
	c, _, err := h.begin(ctx, "tasklog")
	if err != nil {
		return hypervisor.Log{}, err
	}
	if query.Start < 0 || query.Limit < 0 {
		err := plugin.Errorf(plugin.Invalid, "start and limit must not be negative")
		err.Field = "start"
		return hypervisor.Log{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t, err := c.task(taskID)
	if err != nil {
		return hypervisor.Log{}, err
	}
	log := hypervisor.Log{Total: len(t.lines)}
	for i := query.Start; i < len(t.lines) && (query.Limit == 0 || i-query.Start < query.Limit); i++ {
		log.Lines = append(log.Lines, line(i+1, t.lines[i]))
	}
	return log, nil
}

// WaitTask implements hypervisor.Host.
func (h *Host) WaitTask(ctx context.Context, taskID string, from int, tell func(hypervisor.LogLine) error) (hypervisor.TaskResult, error) {
	c, _, err := h.begin(ctx, "waittask")
	if err != nil {
		return hypervisor.TaskResult{}, err
	}
	late := c.fault("waittask")
	for next := max(from, 0); ; {
		lines, result, changed, err := c.follow(taskID, next)
		if err != nil {
			return hypervisor.TaskResult{}, err
		}
		for _, text := range lines {
			next++
			if err := tell(line(next, text)); err != nil {
				return hypervisor.TaskResult{}, err
			}
			if late.Late {
				if err := late.apply(ctx, h.target); err != nil {
					return hypervisor.TaskResult{}, err
				}
			}
		}
		if result.Status != hypervisor.TaskRunning {
			return result, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return hypervisor.TaskResult{}, ctx.Err()
		}
	}
}

// follow gives the lines from `from` on, the state, and what is closed at the next change.
func (c *Cluster) follow(taskID string, from int) (lines []string, result hypervisor.TaskResult, changed <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, err := c.task(taskID)
	if err != nil {
		return nil, result, nil, err
	}
	if from < len(t.lines) {
		lines = slices.Clone(t.lines[from:])
	}
	result.Status, result.Message = t.Status, t.message
	if t.backup != nil && result.OK() {
		result.Backup = *t.backup
	}
	return lines, result, t.changed, nil
}

// StopTask implements hypervisor.TaskStopper. A stopped shutdown of a container
// is killed before it can say how it ended.
func (h *Host) StopTask(ctx context.Context, taskID string) error {
	c, _, err := h.begin(ctx, "stoptask")
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t, err := c.task(taskID)
	if err != nil {
		return err
	}
	if t.Operation == hypervisor.Shutdown.Operation() && t.kind == hypervisor.Container {
		t.end(hypervisor.TaskUnknown, "")
	} else {
		t.end(hypervisor.TaskFailed, "stopped on request")
	}
	return nil
}
