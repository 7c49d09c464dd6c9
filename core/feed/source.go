package feed

import (
	"context"

	"github.com/hostler/hostler/core/alert"
	"github.com/hostler/hostler/core/cluster"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/task"
)

// source reads the objects of one kind in the form of the API's lists.
type source struct {
	// read gives objects by id; those that are not there are left out. It takes
	// a fixed number of statements.
	read func(ctx context.Context, ids []int64) ([]object, error)
	// columns says which fields show a column of the history. A column that is
	// missing here is shown by none.
	columns map[string][]string
	fields  fields
}

// object is the present state of one object.
type object struct {
	id int64
	// team is who sees it; zero is only people with a role in the default team.
	team int64
	// value is a struct with the fields.
	value any
	// cluster and name are those of a node.
	cluster int64
	name    string
}

// shown returns the fields that show the columns; nil if none does.
func (s *source) shown(columns []string) []string {
	var names []string
	for _, column := range columns {
		names = append(names, s.columns[column]...)
	}
	return names
}

// allSources says for each kind how its objects are read, and which fields of
// the API a column of the database shows in.
func (f *Feed) allSources() map[Kind]*source {
	return map[Kind]*source{
		Guest: {f.guests, guestColumns, fieldsOf[guest.Entry]()},
		Host:  {f.hosts, hostColumns, fieldsOf[host.Host]()},
		Node:  {f.nodes, nodeColumns, fieldsOf[cluster.Node]()},
		Job:   {f.jobs, jobColumns, fieldsOf[job.View]()},
		Alert: {f.alerts, alertColumns, fieldsOf[alert.Alert]()},
		Task:  {f.readTasks, taskColumns, fieldsOf[task.Task]()},
	}
}

// guestColumns says which fields of a guest a changed column shows in. The
// figures belong to the state, because a guest that does not run has none.
var guestColumns = map[string][]string{
	"cluster_id": {"cluster_id", "cluster"}, "host_id": {"host_id", "host", "team_id", "team"}, "node": {"node"}, "name": {"name"},
	"status": {"status", "job_id", "cpu", "memory_bytes", "disk_bytes", "net_in_bytes", "net_out_bytes", "disk_read_bytes",
		"disk_write_bytes", "uptime_s", "figures_at"},
	"ref": {"guest_ref"}, "vmid": {"vmid"}, "template": {"template"}, "lock": {"lock"}, "pool": {"pool"}, "tags": {"tags"}, "cpus": {"cpus"},
	"memory_total": {"memory_total_bytes"}, "disk_total": {"disk_total_bytes"}, "addresses": {"addresses", "addresses_at"},
	"app": {"app_id", "app"}, "job": {"status", "job_id"}, "team_id": {"team_id", "team"}, "backup": {"backup_at"},
}

// guests reads guests by id; those that are gone by now are left out, because
// their end has its own row.
func (f *Feed) guests(ctx context.Context, ids []int64) ([]object, error) {
	found, err := f.Guests.EntriesByID(ctx, ids)
	objects := make([]object, len(found))
	for i, g := range found {
		objects[i] = object{id: g.ID, team: g.TeamID, value: g}
	}
	return objects, err
}

// hostColumns says which fields of a host a changed column shows in.
var hostColumns = map[string][]string{
	"name": {"name"}, "address": {"address"}, "team_id": {"team_id"}, "status": {"status", "polled_at", "ok_at"}, "error_reason": {"reason"},
	"error": {"error"}, "version": {"version"}, "cluster_id": {"cluster"}, "entry_node": {"entry_node"},
	"tls_fingerprint": {"tls_fingerprint"}, "verify_tls": {"verify_tls"}, "node_shell_enabled": {"node_shell_enabled"},
	"ssh_host_key_fingerprint": {"ssh_host_key_fingerprint", "ssh"}, "ssh": {"ssh"}, "capabilities": {"capabilities"},
}

// hosts reads hosts by id.
func (f *Feed) hosts(ctx context.Context, ids []int64) ([]object, error) {
	found, err := f.Hosts.ByIDs(ctx, ids)
	objects := make([]object, len(found))
	for i, h := range found {
		objects[i] = object{id: h.ID, team: h.TeamID, value: h}
	}
	return objects, err
}

// nodeColumns says which fields of a node a changed column shows in. The
// figures belong to `status` because they vanish with it when a node goes
// offline.
var nodeColumns = map[string][]string{
	"host_id": {"host_id", "host", "team_id"}, "status": {"status", "cpu", "memory_bytes", "uptime_s"}, "address": {"address"},
	"cpus": {"cpus"}, "memory_total": {"memory_total_bytes"}, "team_id": {"team_id"},
}

// nodes reads nodes by id.
func (f *Feed) nodes(ctx context.Context, ids []int64) ([]object, error) {
	found, err := f.Clusters.NodesByID(ctx, ids)
	objects := make([]object, len(found))
	for i, n := range found {
		objects[i] = object{id: n.ID, team: n.TeamID, value: n, cluster: n.ClusterID, name: n.Node}
	}
	return objects, err
}

// jobColumns says which fields of a job a changed column shows in.
var jobColumns = map[string][]string{
	"status": {"status"}, "share": {"progress"}, "last_line": {"last_line"}, "task_id": {"task_id"}, "error": {"error"},
	"cancel_requested_at": {"cancel_requested"}, "runs": {"runs"}, "started_at": {"started_at", "duration_s"},
	"finished_at": {"finished_at", "duration_s"}, "host_id": {"host_id"}, "target_id": {"target"}, "requested_by": {"requested_by"},
	"schedule_id": {"schedule_id"}, "asked": {"params"},
}

// jobs reads jobs by id.
func (f *Feed) jobs(ctx context.Context, ids []int64) ([]object, error) {
	found, err := f.Jobs.ByIDs(ctx, ids)
	objects := make([]object, len(found))
	for i, j := range found {
		objects[i] = object{id: j.ID, team: teamOf(j.TeamID), value: j.View()}
	}
	return objects, err
}

// alertColumns says which fields of an alert a changed column shows in.
var alertColumns = map[string][]string{
	"rule_id": {"rule_id"}, "rule": {"rule"}, "kind": {"kind"}, "severity": {"severity"}, "target_kind": {"target"}, "target_id": {"target"},
	"target_name": {"target"}, "node": {"target"}, "team_id": {"team_id"}, "host_id": {"host_id"}, "message": {"message"},
	"remedy": {"remedy"}, "labels": {"labels"}, "raised_at": {"raised_at"}, "acknowledged_at": {"acknowledged_at", "acknowledged_by"},
	"acknowledged_by": {"acknowledged_by"}, "ack_note": {"ack_note"}, "silenced_at": {"silenced_by"}, "silenced_until": {"silenced_until"},
	"silenced_by": {"silenced_by"}, "silence_note": {"silence_note"}, "cause_id": {"cause_id"}, "window_id": {"window_id"},
	"folded":      {"folded"},
	"resolved_at": {"state", "resolved_at", "resolved_by"}, "resolved_by": {"resolved_by"}, "resolution": {"resolution"},
}

// alerts reads alerts by id.
func (f *Feed) alerts(ctx context.Context, ids []int64) ([]object, error) {
	found, err := (&alert.Store{DB: f.DB}).ByIDs(ctx, ids)
	objects := make([]object, len(found))
	for i, a := range found {
		objects[i] = object{id: a.ID, team: teamOf(a.TeamID), value: a}
	}
	return objects, err
}

// taskColumns says which fields of a task a changed column shows in: a task
// only ever ends.
var taskColumns = map[string][]string{"status": {"status", "error", "ended_at"}}

// readTasks reads tasks by id.
func (f *Feed) readTasks(ctx context.Context, ids []int64) ([]object, error) {
	found, err := (&task.Store{DB: f.DB}).ByIDs(ctx, ids)
	objects := make([]object, len(found))
	for i, t := range found {
		objects[i] = object{id: t.ID, team: t.TeamID, value: t}
	}
	return objects, err
}
