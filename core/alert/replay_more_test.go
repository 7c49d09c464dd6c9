package alert_test

import (
	"strings"
	"time"
)

// clocks are about time, restarts and instances.
var clocks = []history{
	{"the clock is put forward while it does not last long enough", func(w *world) {
		w.busy(map[string]string{"for_s": "1800"})
		w.level("guest:1", "cpu", 95)
		w.minutes(5)
		w.pass(2 * time.Hour)
		w.minutes(20)
	}, ""},
	{"the clock is put back while it does not last long enough", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(3)
		w.pass(-time.Hour)
		w.minutes(5)
	}, "-53 open r web"},
	{"the clock is put back while it is open", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(7)
		w.pass(-time.Hour)
		w.minutes(10)
		w.level("guest:1", "cpu", 10)
		w.minutes(8)
	}, "6 open r web; -37 resolved r web"},
	{"the clock is put forward while it is open", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(7)
		w.level("guest:1", "cpu", 10)
		w.minutes(1)
		w.pass(4 * time.Hour)
		w.minutes(1)
		w.level("guest:1", "cpu", 95)
		w.minutes(10)
	}, "6 open r web"},
	{"the service was down", func(w *world) {
		w.busy(map[string]string{"for_s": "900"})
		w.level("guest:1", "cpu", 95)
		w.minutes(5)
		w.pass(3 * time.Hour)
		w.engines[0] = w.engine(w.d)
		w.minutes(8)
		w.level("guest:1", "cpu", 10)
		w.minutes(5)
	}, ""},
	{"restart in the middle", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(3)
		w.engines[0] = w.engine(w.d)
		w.minutes(4)
		w.engines[0] = w.engine(w.d)
		w.level("guest:1", "cpu", 10)
		w.minutes(3)
		w.engines[0] = w.engine(w.d)
		w.minutes(4)
	}, "6 open r web; 13 resolved r web"},
	{"two instances", func(w *world) {
		w.busy(nil)
		w.engines = append(w.engines, w.engine(w.d), w.engine(w.d))
		w.level("guest:1", "cpu", 95)
		w.minutes(7)
		w.engines = w.engines[1:]
		w.level("guest:1", "cpu", 10)
		w.minutes(7)
	}, "6 open r web; 13 resolved r web"},
}

// edits are about rules that are changed.
var edits = []history{
	{"the threshold is raised while it is open", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(7)
		w.Exec("UPDATE alert_rules SET threshold = 99, clear_level = 97 WHERE name = 'r'")
		w.minutes(7)
	}, "6 open r web; 13 resolved r web"},
	{"the threshold alone is raised while it is open", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(7)
		w.Exec("UPDATE alert_rules SET threshold = 99 WHERE name = 'r'")
		w.minutes(12)
	}, "6 open r web"},
	{"the threshold is lowered", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 85)
		w.minutes(7)
		w.Exec("UPDATE alert_rules SET threshold = 82 WHERE name = 'r'")
		w.minutes(7)
	}, "13 open r web"},
	{"what must last is made shorter", func(w *world) {
		w.busy(map[string]string{"for_s": "3600"})
		w.level("guest:1", "cpu", 95)
		w.minutes(7)
		w.Exec("UPDATE alert_rules SET for_s = 60 WHERE name = 'r'")
		w.minutes(2)
	}, "8 open r web"},
	{"a rule is switched off while it is open, and on again", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(7)
		w.Exec("UPDATE alert_rules SET enabled = false WHERE name = 'r'")
		w.minutes(3)
		w.Exec("UPDATE alert_rules SET enabled = true WHERE name = 'r'")
		w.minutes(7)
	}, "6 open r web; 8 resolved r web; 16 open r web"},
	{"a rule is removed while it is open", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(7)
		w.Exec("DELETE FROM alert_rules WHERE name = 'r'")
		w.minutes(3)
	}, "6 open r web; 8 resolved r web"},
	{"a rule is about other things while it is open", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.level("guest:2", "cpu", 95)
		w.minutes(7)
		w.Exec("UPDATE alert_rules SET host_id = 2 WHERE name = 'r'")
		w.minutes(3)
	}, "6 open r web; 6 open r db; 8 resolved r web"},
	{"another severity while it is open", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(7)
		w.Exec("UPDATE alert_rules SET severity = 'critical', name = 'r' WHERE name = 'r'")
		w.minutes(7)
	}, "6 open r web"},
	{"a rule of a kind that a later release knows", func(w *world) {
		w.rule("moon_phase", nil)
		w.minutes(3)
	}, ""},
	{"a team is deleted with its rule", func(w *world) {
		w.busy(map[string]string{"team_id": "2"})
		w.level("guest:4", "cpu", 95)
		w.minutes(7)
		w.Exec("UPDATE hosts SET team_id = 1; UPDATE clusters SET team_id = 1; DELETE FROM teams WHERE id = 2")
		w.minutes(2)
	}, "6 open r tiny; 8 resolved r tiny"},
}

// states are about what is so or not.
var states = []history{
	{"a host that does not answer for a moment", func(w *world) {
		w.Exec("UPDATE hosts SET status = 'unreachable' WHERE id = 3")
		w.minutes(2)
		w.Exec("UPDATE hosts SET status = 'online' WHERE id = 3")
		w.minutes(5)
	}, ""},
	{"a host that does not answer", func(w *world) {
		w.Exec("UPDATE hosts SET status = 'unreachable', error_reason = 'unreachable' WHERE id = 3")
		w.minutes(10)
		w.Exec("UPDATE hosts SET status = 'online', error_reason = '' WHERE id = 3")
		w.minutes(5)
	}, "3 open host.offline solo; 12 resolved host.offline solo"},
	{"a node that is off", func(w *world) {
		w.Exec("UPDATE nodes SET status = 'offline' WHERE name = 'gamma'")
		w.minutes(10)
		w.Exec("UPDATE nodes SET status = 'online' WHERE name = 'gamma'")
		w.minutes(5)
	}, "3 open node.offline gamma; 12 resolved node.offline gamma"},
	{"nobody tells any more of a node that is off", func(w *world) {
		w.Exec("UPDATE nodes SET status = 'offline' WHERE name = 'gamma'")
		w.minutes(5)
		w.Exec("UPDATE hosts SET status = 'unreachable' WHERE cluster_id = 1; UPDATE nodes SET status = 'unknown' WHERE cluster_id = 1")
		w.minutes(30)
	}, "3 open node.offline gamma; 8 open host.offline h1; 8 open host.offline h2"},
	{"a cluster without quorum", func(w *world) {
		w.Exec("UPDATE clusters SET quorate = false WHERE id = 1")
		w.minutes(5)
		w.Exec("UPDATE clusters SET quorate = true WHERE id = 1")
		w.minutes(5)
	}, "2 open cluster.quorum prod; 7 resolved cluster.quorum prod"},
	{"a guest that should run", func(w *world) {
		w.always(1, "alpha")
		w.Exec("UPDATE guests SET status = 'stopped' WHERE name IN ('g01', 'web')")
		w.minutes(10)
		w.Exec("UPDATE guests SET status = 'running' WHERE name = 'g01'")
		w.minutes(3)
	}, "6 open guest.down g01; 12 resolved guest.down g01"},
	{"a job restarts a guest that should run", func(w *world) {
		w.always(1, "alpha")
		w.Exec(`UPDATE guests SET status = 'stopped' WHERE name = 'g01';
			INSERT INTO jobs (kind, status, target_kind, target_id, target_name, exclusive)
			SELECT 'vm.snapshot_rollback', 'running', 'vm', id, name, 'guest:' || id FROM guests WHERE name = 'g01'`)
		w.minutes(20)
	}, ""},
	{"a template does not run", func(w *world) {
		w.always(1, "alpha")
		w.Exec("UPDATE guests SET status = 'stopped', template = true WHERE name = 'g01'")
		w.minutes(10)
	}, ""},
	{"a guest without a backup, and then with one", func(w *world) {
		w.Exec("UPDATE guests SET tags = '{backup-none}' WHERE id <> 1; INSERT INTO backup_storages (cluster_id, host_id, node, name, as_of) " +
			"VALUES (1, 1, '', 'nas', now())")
		w.minutes(75)
		w.Exec("INSERT INTO backups (cluster_id, storage_id, ref, node, kind, guest_ref, guest_id, taken_at) "+
			"VALUES (1, 1, 'b', '', 'vm', '100', 1, $1)", w.now)
		w.minutes(20)
	}, "70 open backup.stale web; 80 resolved backup.stale web"},
	{"a storage that does not tell its backups", func(w *world) {
		w.Exec("INSERT INTO backup_storages (cluster_id, host_id, node, name, error_code, error) VALUES (1, 1, '', 'nas', 'timeout', 'no')")
		w.minutes(35)
	}, "31 open backup.unlisted nas"},
	{"a certificate that ends, and is renewed", func(w *world) {
		w.Exec("UPDATE hosts SET certificate_ends_at = $1, version_at = now() WHERE id = 3", w.now.AddDate(0, 0, 13))
		w.minutes(3)
		w.Exec("UPDATE hosts SET certificate_ends_at = $1 WHERE id = 3", w.now.AddDate(1, 0, 0))
		w.minutes(2)
	}, "1 open certificate.ending solo; 4 resolved certificate.ending solo"},
	{"a certificate that ends in three weeks", func(w *world) {
		w.Exec("UPDATE hosts SET certificate_ends_at = $1, version_at = now() WHERE id = 3", w.now.AddDate(0, 0, 21))
		w.minutes(3)
	}, ""},
	{"a token that ends", func(w *world) {
		w.Exec("UPDATE host_credentials SET ends_at = $1 WHERE host_id = 3", w.now.AddDate(0, 0, 5))
		w.minutes(3)
	}, "1 open token.ending solo"},
	{"a token that lacks privileges, and has them again", func(w *world) {
		w.Exec("UPDATE host_credentials SET missing = '{VM.Audit}' WHERE host_id = 3; UPDATE hosts SET error_reason = 'permission' WHERE id = 3")
		w.minutes(3)
		w.Exec("UPDATE host_credentials SET missing = '{}'; UPDATE hosts SET error_reason = ''")
		w.minutes(2)
	}, "1 open host.permission solo; 4 resolved host.permission solo"},
	{"a host that is shown less, and nobody knows why", func(w *world) {
		w.Exec("UPDATE hosts SET error_reason = 'permission', error = 'less' WHERE id = 3")
		w.minutes(2)
	}, "1 open host.permission solo"},
	{"a job that fails, and succeeds the next time", func(w *world) {
		w.Exec("UPDATE alert_rules SET enabled = true WHERE key = 'job.failed'")
		w.Exec("INSERT INTO jobs (kind, status, host_id, target_kind, target_id, target_name, finished_at) VALUES "+
			"('vm.start', 'failed', 1, 'vm', 1, 'web', $1)", w.now)
		w.minutes(3)
		w.Exec("INSERT INTO jobs (kind, status, host_id, target_kind, target_id, target_name, finished_at) VALUES "+
			"('vm.start', 'succeeded', 1, 'vm', 1, 'web', $1)", w.now)
		w.minutes(2)
	}, "1 open job.failed web; 4 resolved job.failed web"},
	{"an app whose container is gone", func(w *world) {
		w.Exec("UPDATE apps SET guest_id = NULL, absent_for = '20 minutes'")
		w.minutes(2)
	}, "1 open app.missing mail"},
	{"a newer release, and it is installed", func(w *world) {
		w.minutes(2)
		w.update = "2.0.0"
		w.minutes(10)
		w.update = ""
		w.minutes(10)
	}, "10 open update.available Hostler; 20 resolved update.available Hostler"},
	{"a host is removed with its alerts open", func(w *world) {
		w.Exec("UPDATE host_credentials SET missing = '{VM.Audit}' WHERE host_id = 3")
		w.minutes(3)
		w.Exec("DELETE FROM guests WHERE host_id = 3; DELETE FROM hosts WHERE id = 3")
		w.minutes(2)
	}, "1 open host.permission solo; 4 resolved host.permission solo"},
}

// every is what is said of each of n guests.
func every(n int, what string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = what + " g" + string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10))
	}
	return strings.Join(all, "; ")
}
