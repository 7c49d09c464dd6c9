package pve

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// newestTasks lists the newest tasks of all nodes by one request for the
// cluster's list. It also asks a node whose part of that list may be cut off;
// if the node does not answer, its rows in the cluster's list stay. A node
// broadcasts its list when it starts a task and about every ten seconds, which
// is when its own list changes.
func (h *Host) newestTasks(ctx context.Context, limit int) (hypervisor.TaskList, error) {
	var rows []taskRow
	if _, err := h.api.Get(ctx, "/cluster/tasks", nil, &rows); err != nil {
		return hypervisor.TaskList{}, err
	}
	tasks, _ := tasksOf(rows)
	if more := cutOff(tasks, limit); len(more) > 0 {
		told := h.tasksOfNodes(ctx, more, hypervisor.TaskQuery{}, limit)
		tasks = append(told.tasks, tasks...) // of a task that stands in both lists the node's row counts
	}
	return hypervisor.TaskList{Tasks: tasks}, nil
}

// cutOff returns the nodes of which the cluster's list may lack some of the
// newest tasks: those whose part of it is full. A part contains all running
// tasks, and the missing ones ended before those that it has. So none of the
// newest is missing if one of that part ended before the oldest of the newest
// began.
func cutOff(tasks []hypervisor.Task, limit int) []string {
	if limit <= clusterTasks {
		return nil
	}
	var last time.Time // when the oldest of the newest began
	if len(tasks) >= limit {
		newest := slices.SortedFunc(slices.Values(tasks), func(a, b hypervisor.Task) int { return b.Started.Compare(a.Started) })
		last = newest[limit-1].Started
	}
	count, ended := map[string]int{}, map[string]time.Time{}
	for i := range tasks {
		count[tasks[i].Node]++
		ended[tasks[i].Node] = earlier(ended[tasks[i].Node], tasks[i].Ended)
	}
	maps.DeleteFunc(count, func(node string, n int) bool {
		return n < clusterTasks || !ended[node].IsZero() && ended[node].Before(last)
	})
	return slices.Sorted(maps.Keys(count))
}
