package lxd

import (
	"context"
	"slices"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// maxTasks is the most tasks of one list.
const maxTasks = 500

// Tasks implements hypervisor.Host. It lists what runs and what ended less than
// 5 s ago, with one request per project, because an operation does not name the
// project of its guest. CompleteSince is never set: a restarted server has
// forgotten everything and does not say when it was restarted.
func (h *Host) Tasks(ctx context.Context, query hypervisor.TaskQuery) (hypervisor.TaskList, error) {
	if query.Limit < 1 || query.Limit > maxTasks {
		return hypervisor.TaskList{}, invalid("limit", "the limit must be between 1 and %d", maxTasks)
	}
	server, _, err := h.about(ctx)
	if err != nil {
		return hypervisor.TaskList{}, err
	}
	scopes, err := h.taskScopes(ctx, query.Guest)
	if err != nil {
		return hypervisor.TaskList{}, err
	}
	var list hypervisor.TaskList
	at, listed := place{server: server.Environment.Name}, map[string]bool{}
	for _, scope := range scopes {
		all, meta, err := h.api.Operations(ctx, scope)
		if err != nil {
			return hypervisor.TaskList{}, h.judge(ctx, err, scope.Project)
		}
		now := meta.Date
		if now.IsZero() {
			now = time.Now()
		}
		for i := range all {
			t := at.task(&all[i], now)
			if wanted(query, &t) && !listed[t.ID] { // one of no project is in every list
				listed[t.ID] = true
				list.Tasks = append(list.Tasks, t)
			}
		}
		slices.SortStableFunc(list.Tasks, func(a, b hypervisor.Task) int { return b.Started.Compare(a.Started) })
		list.Tasks = list.Tasks[:min(len(list.Tasks), query.Limit)]
	}
	return list, nil
}

// taskScopes are the projects whose operations are asked for.
func (h *Host) taskScopes(ctx context.Context, guest *hypervisor.GuestRef) ([]lxdapi.Scope, error) {
	if guest != nil {
		address, err := instanceRef(guest.ID)
		return []lxdapi.Scope{{Project: address.Project}}, err
	}
	// The server shows a restricted certificate the projects that it is for.
	projects, err := h.api.Projects(ctx)
	if err != nil {
		return nil, h.judge(ctx, err, "")
	}
	var scopes []lxdapi.Scope
	for _, p := range projects[:min(len(projects), maxProjects)] {
		scopes = append(scopes, lxdapi.Scope{Project: p.Name})
	}
	return scopes, nil
}

// wanted reports whether a task matches the query.
func wanted(query hypervisor.TaskQuery, t *hypervisor.Task) bool {
	switch {
	case query.Node != "" && t.Node != query.Node, query.Guest != nil && t.GuestID != query.Guest.ID:
		return false
	case query.Errors && (t.Status == hypervisor.TaskRunning || t.Status == hypervisor.TaskOK):
		return false
	}
	return query.Since.IsZero() || !t.Started.Before(query.Since)
}
