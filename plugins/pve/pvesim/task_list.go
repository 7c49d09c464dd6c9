package pvesim

import (
	"slices"
	"strings"
)

// taskEndpoints serves tasks.
func taskEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/nodes/{node}/tasks", listTasks),
		serve("GET", "/nodes/{node}/tasks/{upid}/status", readTaskStatus),
		serve("GET", "/nodes/{node}/tasks/{upid}/log", readTaskLog),
		serve("DELETE", "/nodes/{node}/tasks/{upid}", stopTask),
		serve("GET", "/cluster/tasks", listClusterTasks),
	}
}

// listTasks is the task list of one node. Running tasks are there only with
// source active or all; what is there in full stands in total, which is left
// out when it is nothing.
func listTasks(r *request) (result, *apiError) {
	source := r.values.text("source")
	auditor := r.c.allowed(r.who, "/nodes/"+r.node.name, "Sys.Audit")
	var found []map[string]any
	if source == "active" || source == "all" {
		for _, t := range slices.Backward(r.c.tasks.active) {
			if r.listsTask(t, auditor) {
				found = append(found, map[string]any{
					"upid": t.upid.String(), "node": t.upid.node, "pid": t.upid.pid, "pstart": t.upid.pstart, "starttime": t.upid.starttime,
					"type": t.upid.kind, "id": t.upid.id, "user": t.upid.user, "status": "RUNNING", "saved": "0",
				})
			}
		}
	}
	if source != "active" {
		for _, t := range slices.Backward(r.c.tasks.finished) {
			if r.listsTask(t, auditor) {
				row := map[string]any{
					"upid": t.upid.String(), "node": t.upid.node, "pid": t.upid.pid, "pstart": t.upid.pstart, "starttime": t.upid.starttime,
					"endtime": t.end.Unix(), "type": t.upid.kind, "id": t.upid.id, "status": t.exit,
				}
				t.upid.userFields(row)
				found = append(found, row)
			}
		}
	}
	total := len(found)
	start := int(min(r.values.integer("start", 0), int64(total)))
	end := int(min(int64(start)+r.values.integer("limit", 50), int64(total)))
	page := found[start:end]
	if page == nil {
		page = []map[string]any{}
	}
	return result{data: page, total: total}, nil
}

// listsTask applies the filters of the request to one task.
func (r *request) listsTask(t *task, auditor bool) bool {
	v := r.values
	switch {
	case t.upid.node != r.node.name,
		!auditor && !t.visibleTo(r.who),
		v.boolean("errors", false) && !t.failed(),
		v.has("vmid") && t.upid.id != v.text("vmid"),
		v.has("typefilter") && t.upid.kind != v.text("typefilter"),
		v.has("userfilter") && !strings.Contains(t.upid.user, v.text("userfilter")),
		v.has("since") && t.upid.starttime < v.integer("since", 0),
		v.has("until") && t.upid.starttime > v.integer("until", 0):
		return false
	}
	if !v.has("statusfilter") {
		return true
	}
	return t.ended && slices.Contains(v.listOf("statusfilter"), t.outcome())
}

// outcome sorts the end of a task into the words of statusfilter.
func (t *task) outcome() string {
	switch {
	case t.exit == "OK":
		return "ok"
	case strings.HasPrefix(t.exit, "WARNINGS: "):
		return "warning"
	case t.exit == unexpectedStatus:
		return "unknown"
	}
	return "error"
}

// clusterTasksPerNode is how many finished tasks a node broadcasts.
const clusterTasksPerNode = 25

// listClusterTasks shows the last tasks of every node: running ones without
// status, end and process start.
func listClusterTasks(r *request) (result, *apiError) {
	rows := []map[string]any{}
	perNode := map[string]int{}
	visible := func(t *task) bool {
		n := r.c.nodeByName(t.upid.node)
		if n == nil || !n.online.Load() { // what a node broadcast is gone with it
			return false
		}
		return t.visibleTo(r.who) || r.c.allowed(r.who, "/nodes/"+t.upid.node, "Sys.Audit")
	}
	for _, t := range slices.Backward(r.c.tasks.active) {
		if visible(t) {
			row := map[string]any{
				"upid": t.upid.String(), "node": t.upid.node, "pid": t.upid.pid, "starttime": t.upid.starttime, "type": t.upid.kind, "id": t.upid.id,
			}
			t.upid.userFields(row)
			rows = append(rows, row)
		}
	}
	for _, t := range slices.Backward(r.c.tasks.finished) {
		if perNode[t.upid.node] >= clusterTasksPerNode {
			continue
		}
		perNode[t.upid.node]++
		if visible(t) {
			row := map[string]any{
				"upid": t.upid.String(), "node": t.upid.node, "starttime": t.upid.starttime, "endtime": t.end.Unix(), "type": t.upid.kind,
				"id": t.upid.id, "status": t.exit, "saved": "1",
			}
			t.upid.userFields(row)
			rows = append(rows, row)
		}
	}
	return ok(rows)
}
