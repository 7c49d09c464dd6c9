package alert_test

import "time"

// task writes one that others started at the hypervisor of prod, which ended some minutes ago; guest is its id, and empty for none.
func (w *world) task(ref, kind, guest, status string, ago int, more ...bool) {
	w.t.Helper()
	at := w.now.Add(-time.Duration(ago) * time.Minute)
	w.Exec(`INSERT INTO hypervisor_tasks (cluster_id, host_id, ref, node, type, guest_ref, by_user, status, error, started_at, ended_at,
		seen_at, console) VALUES (1, 1, $1, 'alpha', $2, NULLIF($3, ''), 'root@pam', $4, 'no space', $5, $5, $5, $6)`, ref, kind, guest,
		status, at, len(more) > 0)
}

// clock sets by how many seconds the clock of a node is ahead.
func (w *world) clock(node string, ahead float64) {
	w.t.Helper()
	w.Exec("UPDATE nodes SET clock_ahead = $2, clock_at = $3 WHERE name = $1", node, ahead, w.now)
}

// tasks are about tasks of the hypervisor.
var tasks = []history{
	{"a task of others fails on a VM, and goes well the next time", func(w *world) {
		w.task("1", "vzdump", "100", "failed", 0)
		w.minutes(3)
		w.task("2", "vzdump", "100", "warning", 0)
		w.minutes(2)
	}, "1 open task.failed web; 4 resolved task.failed web"},
	{"another type that goes well is not the end", func(w *world) {
		w.task("1", "vzdump", "100", "failed", 0)
		w.minutes(1)
		w.task("2", "qmstart", "100", "ok", 0)
		w.task("3", "vzdump", "101", "ok", 0)
		w.minutes(2)
	}, "1 open task.failed web"},
	{"a task fails again and again: one alert", func(w *world) {
		w.task("1", "vzdump", "102", "failed", 0)
		w.minutes(2)
		w.task("2", "vzdump", "102", "failed", 0)
		w.minutes(2)
		w.task("3", "vzdump", "102", "running", 0)
		w.minutes(2)
	}, "1 open task.failed mail"},
	{"tasks of two types on a node, and of a guest that is not there", func(w *world) {
		w.task("1", "aptupdate", "", "failed", 0)
		w.task("2", "vzdump", "999", "failed", 0)
		w.task("3", "startall", "", "unknown", 0)
		w.minutes(2)
	}, "1 open task.failed alpha; 1 open task.failed alpha"},
	{"a console that nobody came to", func(w *world) {
		w.task("1", "vncproxy", "100", "failed", 0, true)
		w.minutes(2)
	}, ""},
	{"what failed a day ago is over", func(w *world) {
		w.task("1", "vzdump", "100", "failed", 23*60+57)
		w.minutes(5)
	}, "1 open task.failed web; 3 resolved task.failed web"},
	{"the rule about tasks is disabled", func(w *world) {
		w.Exec("UPDATE alert_rules SET enabled = false WHERE key = 'task.failed'")
		w.task("1", "vzdump", "100", "failed", 0)
		w.minutes(2)
	}, ""},
	{"a task fails for the node is off", func(w *world) {
		w.Exec("UPDATE nodes SET status = 'offline' WHERE name = 'alpha'")
		w.task("1", "vzdump", "100", "failed", 0)
		w.minutes(4)
	}, "3 open node.offline alpha"},
}

// skews are about clocks of nodes.
var skews = []history{
	{"a clock is behind, and is set", func(w *world) {
		w.clock("alpha", -95.4)
		w.minutes(12)
		w.clock("alpha", 0.4)
		w.minutes(7)
	}, "11 open clock.skew alpha; 18 resolved clock.skew alpha"},
	{"a clock is ahead, and nearly right", func(w *world) {
		w.clock("beta", 31)
		w.minutes(12)
		w.clock("beta", 12)
		w.minutes(10)
	}, "11 open clock.skew beta"},
	{"a clock that is a little wrong", func(w *world) {
		w.clock("alpha", 29)
		w.clock("beta", -29)
		w.minutes(15)
	}, ""},
	{"a clock that is corrected in time", func(w *world) {
		w.clock("alpha", 3600)
		w.minutes(9)
		w.clock("alpha", 0)
		w.minutes(9)
	}, ""},
	{"the clock of a node that no host is", func(w *world) {
		w.clock("gamma", 3600)
		w.minutes(12)
	}, ""},
	{"nobody tells of the clock any more", func(w *world) {
		w.clock("solo", 3600)
		w.minutes(12)
		w.Exec("UPDATE hosts SET status = 'unreachable' WHERE name = 'solo'; UPDATE nodes SET status = 'unknown' WHERE name = 'solo'")
		w.minutes(12)
	}, "11 open clock.skew solo; 15 open host.offline solo"},
}
