package alert_test

import "time"

// doubts are about states that nobody tells any more while their cluster answers.
var doubts = []history{
	{"a guest that is down, not known while its node is off, and down again", func(w *world) {
		w.always(1, "gamma")
		w.Exec("UPDATE guests SET status = 'stopped' WHERE name = 'g01'")
		w.minutes(10)
		w.Exec("UPDATE nodes SET status = 'offline' WHERE name = 'gamma'; UPDATE guests SET status = 'unknown' WHERE name = 'g01'")
		w.minutes(10)
		w.Exec("UPDATE nodes SET status = 'online' WHERE name = 'gamma'; UPDATE guests SET status = 'stopped' WHERE name = 'g01'")
		w.minutes(10)
	}, "6 open guest.down g01; 13 open node.offline gamma; 22 resolved node.offline gamma"},
	{"a guest that is down, left out of answers, and runs", func(w *world) {
		w.always(1, "alpha")
		w.Exec("UPDATE guests SET status = 'stopped' WHERE name = 'g01'")
		w.minutes(10)
		w.Exec("UPDATE guests SET status = 'unknown' WHERE name = 'g01'")
		w.minutes(10)
		w.Exec("UPDATE guests SET status = 'running' WHERE name = 'g01'")
		w.minutes(10)
	}, "6 open guest.down g01; 22 resolved guest.down g01"},
	{"an app that is down, left out of answers, and gone", func(w *world) {
		w.rule("guest_down", nil)
		w.Exec("UPDATE guests SET status = 'stopped' WHERE id = 3")
		w.minutes(2)
		w.Exec("UPDATE guests SET status = 'unknown' WHERE id = 3")
		w.minutes(10)
		w.Exec("DELETE FROM guests WHERE id = 3")
		w.minutes(2)
	}, "1 open r mail; 13 resolved r mail"},
	{"a guest that is down for less, and left out of answers", func(w *world) {
		w.always(1, "alpha")
		w.Exec("UPDATE guests SET status = 'stopped' WHERE name = 'g01'")
		w.minutes(4)
		w.Exec("UPDATE guests SET status = 'unknown' WHERE name = 'g01'")
		w.minutes(2)
		w.Exec("UPDATE guests SET status = 'stopped' WHERE name = 'g01'")
		w.minutes(4)
	}, ""},
	{"a guest that is down, begins to run and is left out of answers: it is not over", func(w *world) {
		w.always(1, "alpha")
		w.Exec("UPDATE alert_rules SET clear_for_s = 600 WHERE key = 'guest.down'")
		w.Exec("UPDATE guests SET status = 'stopped' WHERE name = 'g01'")
		w.minutes(10)
		w.Exec("UPDATE guests SET status = 'running' WHERE name = 'g01'")
		w.minutes(2)
		w.Exec("UPDATE guests SET status = 'unknown' WHERE name = 'g01'")
		w.minutes(30)
		w.Exec("UPDATE guests SET status = 'stopped' WHERE name = 'g01'")
		w.minutes(2)
	}, "6 open guest.down g01"},
	{"the rule is not about a guest any more that is left out of answers", func(w *world) {
		w.always(1, "alpha")
		w.Exec("UPDATE guests SET status = 'stopped' WHERE name = 'g01'")
		w.minutes(10)
		w.Exec("UPDATE guests SET status = 'unknown', tags = '{}' WHERE name = 'g01'")
		w.minutes(10)
	}, "6 open guest.down g01; 12 resolved guest.down g01"},
	{"what is left out of answers when its window ends is told when it is known again", func(w *world) {
		w.always(1, "alpha")
		w.window(10 * time.Minute)
		w.Exec("UPDATE guests SET status = 'stopped' WHERE name = 'g01'")
		w.minutes(8)
		w.Exec("UPDATE guests SET status = 'unknown' WHERE name = 'g01'")
		w.minutes(10)
		w.Exec("UPDATE guests SET status = 'stopped' WHERE name = 'g01'")
		w.minutes(3)
	}, "19 open guest.down g01"},
	{"a guest without figures that is left out of answers", func(w *world) {
		w.Exec("UPDATE guests SET figures_at = $1 WHERE id = 2", w.now)
		w.minutes(16)
		w.Exec("UPDATE guests SET status = 'unknown' WHERE id = 2")
		w.minutes(10)
		w.Exec("UPDATE guests SET status = 'running', figures_at = NULL WHERE id = 2")
		w.minutes(2)
	}, "15 open data.missing db; 27 resolved data.missing db"},
	{"a storage without figures, and with figures again", func(w *world) {
		w.Exec("UPDATE storages SET type = 'mute', figures_at = $1 WHERE id = 2", w.now)
		w.minutes(20)
		w.Exec("UPDATE storages SET type = '' WHERE id = 2")
		w.minutes(3)
	}, "15 open data.missing local; 21 resolved data.missing local"},
	{"a storage that two nodes share: one of them shows figures, none, and none is available", func(w *world) {
		w.Exec("UPDATE storages SET type = 'mute', figures_at = $1 WHERE id = 3", w.now)
		w.minutes(30)
		w.Exec("UPDATE storages SET type = 'mute', figures_at = $1 WHERE id = 4", w.now)
		w.minutes(20)
		w.Exec("UPDATE storages SET status = 'unknown', figures_at = NULL WHERE id IN (3, 4)")
		w.minutes(10)
		w.Exec("UPDATE storages SET status = 'available', figures_at = $1, type = '' WHERE id IN (3, 4)", w.now)
		w.minutes(2)
	}, "45 open data.missing nas; 61 resolved data.missing nas"},
	{"a storage of which there never were figures, and one of a kind that the rule is not about", func(w *world) {
		w.Exec("UPDATE storages SET figures_at = NULL WHERE id = 1")
		w.minutes(20)
		w.Exec("UPDATE alert_rules SET kinds = '{vm}' WHERE key = 'data.missing'")
		w.Exec("UPDATE storages SET type = 'mute', figures_at = $1 WHERE id = 2", w.now)
		w.minutes(20)
	}, ""},
	{"a node that is off, left out of answers, and off again", func(w *world) {
		w.Exec("UPDATE nodes SET status = 'offline' WHERE name = 'gamma'")
		w.minutes(5)
		w.Exec("UPDATE nodes SET status = 'unknown' WHERE name = 'gamma'")
		w.minutes(10)
		w.Exec("UPDATE nodes SET status = 'offline' WHERE name = 'gamma'")
		w.minutes(5)
		w.Exec("UPDATE nodes SET status = 'online' WHERE name = 'gamma'")
		w.minutes(5)
	}, "3 open node.offline gamma; 22 resolved node.offline gamma"},
	{"a storage that will be full, is away, and is there again", func(w *world) {
		w.filling(1)
		w.minutes(75)
		w.Exec("UPDATE storages SET status = 'unknown', used = NULL WHERE id = 1")
		w.minutes(100)
		w.Exec("UPDATE storages SET status = 'available', used = (97::bigint << 30) WHERE id = 1")
		w.minutes(20)
	}, "70 open storage.fills local"},
	{"a storage does not tell its backups, and its host does not answer", func(w *world) {
		w.Exec("INSERT INTO backup_storages (cluster_id, host_id, node, name, error_code, error) VALUES (1, 2, 'beta', 'own', 'timeout', 'no')")
		w.minutes(35)
		w.Exec("UPDATE hosts SET status = 'unreachable' WHERE id = 2")
		w.minutes(30)
		w.Exec("UPDATE hosts SET status = 'online' WHERE id = 2")
		w.minutes(5)
	}, "31 open backup.unlisted own; 38 open host.offline h2; 67 resolved host.offline h2"},
	{"a host that is shown less, and does not answer", func(w *world) {
		w.Exec("UPDATE hosts SET error_reason = 'permission', error = 'less' WHERE id = 2")
		w.minutes(2)
		w.Exec("UPDATE hosts SET status = 'unreachable', error_reason = 'unreachable' WHERE id = 2")
		w.minutes(10)
		w.Exec("UPDATE hosts SET status = 'online', error_reason = 'permission' WHERE id = 2")
		w.minutes(5)
	}, "1 open host.permission h2; 5 open host.offline h2; 14 resolved host.offline h2"},
}
