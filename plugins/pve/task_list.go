package pve

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// These are properties of the task lists of Proxmox VE.
const (
	// clusterTasks is how many of the newest tasks of each node the cluster's
	// own list is sure to have: it keeps about 25.
	clusterTasks = 20
	// archiving is how long after the end of a task others that ended later may
	// stand before it in the archive: a node moves what has ended there in
	// batches, when it starts the next task or at the latest about every ten
	// seconds. A task's end is the moment of that move (RESTEnvironment.pm,
	// active_workers), so that only a clock that is set back, or an archive
	// that could not be written at first, brings the order into disorder: the
	// minute is spare.
	archiving = time.Minute
	// atOnce is how many nodes are asked for their tasks at the same time.
	atOnce = 4
)

// taskRow is one row of either task list. In the list of the cluster a running
// task has neither status nor end; in that of a node its status is RUNNING. The
// status of an ended task is the text of its end.
type taskRow struct {
	UPID    pveapi.Text `json:"upid"`
	Status  pveapi.Text `json:"status"`
	User    pveapi.Text `json:"user"`
	TokenID pveapi.Text `json:"tokenid"`
	Start   pveapi.Int  `json:"starttime"`
	End     pveapi.Int  `json:"endtime"`
}

// Tasks lists tasks. The newest ones without a filter come from the cluster's
// list, in one request, as far as it reaches. For all other queries each node
// is asked, because that list is short and has no filters. A token sees its own
// tasks, and with Sys.Audit all of them. The cluster's list is what the nodes
// broadcast last, so that nothing is said about its completeness; see nodeTasks
// for the nodes' lists.
func (h *Host) Tasks(ctx context.Context, query hypervisor.TaskQuery) (hypervisor.TaskList, error) {
	limit := query.Limit
	if limit < 1 || limit > 500 {
		limit = min(max(limit, 1), 500)
	}
	var list hypervisor.TaskList
	var err error
	switch {
	case query.Node != "":
		list, err = h.nodeTasks(ctx, query.Node, query, limit)
	case query.Guest == nil && !query.Errors && (limit <= clusterTasks || query.Since.IsZero()):
		list, err = h.newestTasks(ctx, limit)
	default:
		list, err = h.allTasks(ctx, query, limit)
	}
	if err != nil {
		return hypervisor.TaskList{}, err
	}
	return selectTasks(list, query, limit), nil
}

// nodeTasks lists the tasks of one node: the running ones, and those of its
// archive, which is ordered by end and loses the tasks that ended first. A task
// that is found there proves that all later ones are there too; see archived.
func (h *Host) nodeTasks(ctx context.Context, node string, query hypervisor.TaskQuery, limit int) (hypervisor.TaskList, error) {
	path, err := nodePath(node, "tasks")
	if err != nil {
		return hypervisor.TaskList{}, err
	}
	params := url.Values{"source": {"all"}, "limit": {strconv.Itoa(limit)}}
	if query.Guest != nil {
		id, err := vmid(query.Guest.ID)
		if err != nil {
			return hypervisor.TaskList{}, err
		}
		params.Set("vmid", strconv.FormatInt(id, 10))
	}
	if query.Errors {
		params.Set("errors", "1")
	}
	if query.Since.Unix() > 0 {
		params.Set("since", strconv.FormatInt(query.Since.Unix(), 10))
	}
	var rows []taskRow
	if _, err := h.api.Get(ctx, path, params, &rows); err != nil {
		return hypervisor.TaskList{}, h.explain(ctx, node, err)
	}
	tasks, all := tasksOf(rows)
	if !all {
		return hypervisor.TaskList{Tasks: tasks}, nil
	}
	list := hypervisor.TaskList{Tasks: tasks, CompleteSince: archived(tasks)}
	before := query.Since.Add(-archiving)
	if len(rows) >= limit || list.ReachesBackTo(query.Since) || before.Unix() <= 0 {
		return list, nil
	}
	// The page is not full, and its own rows do not reach back to the beginning
	// of the query. An older task shows whether the archive does.
	params = url.Values{"source": {"archive"}, "limit": {strconv.Itoa(vouching)}, "until": {strconv.FormatInt(before.Unix(), 10)}}
	rows = nil
	if _, err := h.api.Get(ctx, path, params, &rows); err != nil {
		return hypervisor.TaskList{}, h.explain(ctx, node, err)
	}
	older, _ := tasksOf(rows)
	return hypervisor.TaskList{Tasks: tasks, CompleteSince: earlier(list.CompleteSince, archived(older))}, nil
}

// allTasks asks all online nodes. A node that does not answer is left out,
// except in a query for a guest: who looks for the trace of an action must not
// read that there is none. If a node is missing, also because it is off, the
// time since which the list is complete is unknown.
func (h *Host) allTasks(ctx context.Context, query hypervisor.TaskQuery, limit int) (hypervisor.TaskList, error) {
	nodes, err := h.nodes(ctx)
	if err != nil {
		return hypervisor.TaskList{}, err
	}
	var names []string
	for _, n := range nodes {
		if n.Status != hypervisor.NodeOffline {
			names = append(names, string(n.Node))
		} else if query.Guest != nil && query.Guest.Node == string(n.Node) {
			return hypervisor.TaskList{}, plugin.Errorf(plugin.Unreachable, "node %s is offline, so its tasks cannot be read", n.Node)
		}
	}
	told := h.tasksOfNodes(ctx, names, query, limit)
	if len(told.fails) > 0 && (query.Guest != nil || len(told.fails) == len(names)) {
		return hypervisor.TaskList{}, told.fails[0]
	}
	list := hypervisor.TaskList{Tasks: told.tasks}
	if since := told.since; len(since) > 0 && len(since) == len(nodes) && !slices.ContainsFunc(since, time.Time.IsZero) {
		list.CompleteSince = slices.MaxFunc(since, time.Time.Compare)
	}
	return list, nil
}

// nodesTold is the answer of several nodes.
type nodesTold struct {
	tasks []hypervisor.Task
	since []time.Time // of each node that answered from when on its own list is complete
	fails []error
}

// tasksOfNodes asks several nodes for their tasks, a few at a time.
func (h *Host) tasksOfNodes(ctx context.Context, names []string, query hypervisor.TaskQuery, limit int) (told nodesTold) {
	var (
		mu    sync.Mutex
		wait  sync.WaitGroup
		slots = make(chan struct{}, atOnce)
	)
	for _, name := range names {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found, err := h.nodeTasks(ctx, name, query, limit)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				told.fails = append(told.fails, err)
				return
			}
			told.tasks = append(told.tasks, found.Tasks...)
			told.since = append(told.since, found.CompleteSince)
		})
	}
	wait.Wait()
	if len(told.fails) > 0 {
		h.log.Debug("tasks of some nodes not readable", "nodes", len(told.fails), "error", errors.Join(told.fails...))
	}
	return told
}

// tasksOf converts the rows of a list; all is false if one of them has a name
// of an unknown form.
func tasksOf(rows []taskRow) (tasks []hypervisor.Task, all bool) {
	tasks = make([]hypervisor.Task, 0, len(rows))
	for _, row := range rows {
		if t, ok := taskOf(row); ok {
			tasks = append(tasks, t)
		}
	}
	return tasks, len(tasks) == len(rows)
}

// taskOf converts a row. It returns false for a row whose UPID cannot be
// parsed. A task without an end is running; the status of an ended one is OK, a
// number of warnings, or the text of the error.
func taskOf(row taskRow) (hypervisor.Task, bool) {
	u, err := parseUPID(string(row.UPID))
	if err != nil {
		return hypervisor.Task{}, false
	}
	t := hypervisor.Task{
		ID: u.text, Node: u.node, Type: u.kind, Operation: u.operation(), GuestID: u.guestID(),
		User: u.user, TokenID: u.tokenID, Started: u.started, Status: hypervisor.TaskRunning,
	}
	// The field may contain the user alone or the whole auth id; the UPID
	// always has the latter.
	if user, token := splitToken(string(row.User)); user != "" {
		t.User = user
		if token != "" {
			t.TokenID = token
		}
	}
	if row.TokenID != "" {
		t.TokenID = string(row.TokenID)
	}
	if row.Start.Set && row.Start.N > 0 {
		t.Started = time.Unix(row.Start.N, 0).UTC()
	}
	if row.End.Set && row.End.N > 0 {
		t.Ended = time.Unix(row.End.N, 0).UTC()
		result := taskResult(string(row.Status))
		t.Status = result.Status
		if result.Status == hypervisor.TaskFailed || result.Status == hypervisor.TaskUnknown {
			t.Error = result.Message
		}
	}
	return t, true
}

// taskResult reads the text of a task's end.
func taskResult(exit string) hypervisor.TaskResult {
	exit = strings.TrimSpace(exit)
	switch {
	case exit == "OK":
		return hypervisor.TaskResult{Status: hypervisor.TaskOK, Message: exit}
	case strings.HasPrefix(exit, "WARNINGS:"):
		return hypervisor.TaskResult{Status: hypervisor.TaskWarning, Message: exit}
	case exit == "", exit == "unexpected status":
		// The worker was killed, or its node went down: nobody wrote an end.
		return hypervisor.TaskResult{Status: hypervisor.TaskUnknown, Message: exit}
	}
	return hypervisor.TaskResult{Status: hypervisor.TaskFailed, Message: exit}
}

// selectTasks applies the filters that Proxmox VE does not have, and sorts the
// newest first.
func selectTasks(list hypervisor.TaskList, query hypervisor.TaskQuery, limit int) hypervisor.TaskList {
	tasks := slices.DeleteFunc(list.Tasks, func(t hypervisor.Task) bool {
		return query.Guest != nil && t.GuestID != query.Guest.ID ||
			query.Node != "" && t.Node != query.Node ||
			query.Errors && t.Status != hypervisor.TaskFailed && t.Status != hypervisor.TaskUnknown ||
			!query.Since.IsZero() && t.Started.Before(query.Since.Truncate(time.Second))
	})
	slices.SortStableFunc(tasks, func(a, b hypervisor.Task) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID))
	})
	// A task that ends while the lists are read can be in both of its node's
	// lists.
	tasks = slices.CompactFunc(tasks, func(a, b hypervisor.Task) bool { return a.ID == b.ID })
	if len(tasks) > limit {
		// A task that was cut off may have begun in the same second as the last
		// one that is left.
		if cut := tasks[limit-1].Started.Add(time.Second); !list.CompleteSince.IsZero() && cut.After(list.CompleteSince) {
			list.CompleteSince = cut
		}
		tasks = tasks[:limit]
	}
	list.Tasks = tasks
	return list
}
