package pvesim

import (
	"strings"
	"time"
)

// taskOf parses the UPID of the path and checks that the caller may see the
// task, or with modify end it: its owner may, others need Sys.Audit or
// Sys.Modify on the node. The task itself may not exist: then it is nil.
func (r *request) taskOf(priv string) (upid, *task, *apiError) {
	u, valid := parseUPID(r.values.text("upid"))
	if !valid {
		return upid{}, nil, badParameter("upid", "unable to parse worker upid")
	}
	if !ownsTask(u.user, r.who) {
		if err := r.c.check(r.who, "/nodes/"+r.node.name, priv); err != nil {
			return upid{}, nil, err
		}
	}
	if u.node != r.node.name { // the log of a task lies on the node that ran it
		return u, nil, nil
	}
	return u, r.c.tasks.byUPID[u.String()], nil
}

// errNoSuchTask is the error of an unknown task.
var errNoSuchTask = badParameter("upid", "no such task")

// readTaskStatus returns the state of a task.
func readTaskStatus(r *request) (result, *apiError) {
	u, t, err := r.taskOf("Sys.Audit")
	if err != nil {
		return fail(err)
	}
	if t == nil {
		return fail(errNoSuchTask)
	}
	row := map[string]any{
		"upid": u.String(), "node": u.node, "pid": u.pid, "pstart": u.pstart, "starttime": u.starttime, "type": u.kind, "id": u.id,
		"status": "running",
	}
	u.userFields(row)
	if t.ended {
		row["status"] = "stopped"
		if !r.now.Before(t.end.Add(time.Duration(r.c.server.exitLag.Load()))) {
			row["exitstatus"] = t.exit
		}
	}
	return ok(row)
}

// readTaskLog pages through the log; a limit of 0 means all, and download the
// log as plain text. A log that is not there is answered with 200 and one line.
func readTaskLog(r *request) (result, *apiError) {
	_, t, err := r.taskOf("Sys.Audit")
	if err != nil {
		return fail(err)
	}
	var lines []string
	switch {
	case t == nil:
		lines = []string{"unable to open file - No such file or directory"}
	default:
		lines = t.lines(r.now)
	}
	if len(lines) == 0 {
		lines = []string{"no content"}
	}
	if r.values.boolean("download", false) {
		return result{raw: []byte(strings.Join(lines, "\n") + "\n"), plain: true}, nil
	}
	start := min(r.values.integer("start", 0), int64(len(lines)))
	end := int64(len(lines))
	if limit := r.values.integer("limit", 50); limit > 0 {
		end = min(start+limit, end)
	}
	rows := []map[string]any{}
	for i := start; i < end; i++ {
		rows = append(rows, map[string]any{"n": i + 1, "t": lines[i]})
	}
	return result{data: rows, total: len(lines)}, nil
}

// stopTask asks a task to stop. One that has finished is fine.
func stopTask(r *request) (result, *apiError) {
	_, t, err := r.taskOf("Sys.Modify")
	if err != nil {
		return fail(err)
	}
	if t == nil {
		return fail(errNoSuchTask)
	}
	r.c.tasks.abort(r.c, t, r.now)
	return ok(nil)
}
