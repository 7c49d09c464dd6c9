package pve

import (
	"slices"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

func TestSelectTasks(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	task := func(id, node string, guest hypervisor.GuestID, second int, status string) hypervisor.Task {
		return hypervisor.Task{ID: id, Node: node, GuestID: guest, Started: at.Add(time.Duration(second) * time.Second), Status: status}
	}
	tasks := []hypervisor.Task{
		task("b", "pve1", "100", 1, hypervisor.TaskOK), task("d", "pve2", "101", 3, hypervisor.TaskFailed),
		task("a", "pve1", "100", 0, hypervisor.TaskUnknown),
		// It ended while the node's two lists were read, and stands in both.
		task("c", "pve1", "100", 2, hypervisor.TaskRunning), task("e", "pve1", "100", 3, hypervisor.TaskWarning),
		task("c", "pve1", "100", 2, hypervisor.TaskOK),
	}
	for name, c := range map[string]struct {
		query hypervisor.TaskQuery
		limit int
		want  []string
	}{
		"newest first and each once":  {hypervisor.TaskQuery{}, 500, []string{"e", "d", "c", "b", "a"}},
		"limit counts each once":      {hypervisor.TaskQuery{}, 4, []string{"e", "d", "c", "b"}},
		"of a guest":                  {hypervisor.TaskQuery{Guest: &hypervisor.GuestRef{ID: "101"}}, 500, []string{"d"}},
		"of a node":                   {hypervisor.TaskQuery{Node: "pve2"}, 500, []string{"d"}},
		"errors":                      {hypervisor.TaskQuery{Errors: true}, 500, []string{"d", "a"}},
		"since the very second":       {hypervisor.TaskQuery{Since: at.Add(2 * time.Second)}, 500, []string{"e", "d", "c"}},
		"since within that second":    {hypervisor.TaskQuery{Since: at.Add(2900 * time.Millisecond)}, 500, []string{"e", "d", "c"}},
		"since the end of the second": {hypervisor.TaskQuery{Since: at.Add(3 * time.Second)}, 500, []string{"e", "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, task := range selectTasks(hypervisor.TaskList{Tasks: slices.Clone(tasks)}, c.query, c.limit).Tasks {
				got = append(got, task.ID)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
