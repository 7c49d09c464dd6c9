package alert_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/sampletest"
)

// history is what happens, and all that is said of it, with the minute.
type history struct {
	name string
	do   func(w *world)
	want string
}

// TestReplay plays histories and holds what is said, and when.
func TestReplay(t *testing.T) {
	t.Parallel()
	all := slices.Concat(levels, silences, clocks, edits, states, causes, windows, acts, scopes, tasks, skews, doubts)
	if len(all) < 60 {
		t.Fatalf("there are %d histories", len(all))
	}
	for _, h := range all {
		if !sampletest.Selected(h.name, 4) {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			h.do(w)
			if got := strings.Join(w.said, "; "); got != h.want {
				t.Errorf("said is\n%s\nand not\n%s\nalerts:\n%s", got, h.want, w.Value(`SELECT string_agg(concat_ws(' ', rule, subject,
					CASE WHEN resolved_at IS NULL THEN 'open' ELSE 'over' END, 'told', told, 'cause', cause_id, 'window', window_id, message,
					resolution), E'\n' ORDER BY id) FROM alerts`))
			}
		})
	}
}

// levels are about thresholds, how long something lasts, and the level at which it is over. Rules that are named by a key came with the
// service.
var levels = []history{
	{"a node that is busy for half an hour, and calm again", func(w *world) {
		w.level("node:1", "cpu", 97)
		w.minutes(40)
		w.level("node:1", "cpu", 40)
		w.minutes(20)
	}, "31 open node.cpu alpha; 51 resolved node.cpu alpha"},
	{"a node that is busy for less", func(w *world) {
		w.level("node:1", "cpu", 100)
		w.minutes(29)
		w.level("node:1", "cpu", 40)
		w.minutes(20)
	}, ""},
	{"the threshold itself is a breach", func(w *world) {
		w.level("node:2", "cpu", 95)
		w.minutes(32)
	}, "31 open node.cpu beta"},
	{"just below the threshold is none", func(w *world) {
		w.level("node:2", "cpu", 94)
		w.minutes(40)
	}, ""},
	{"between the levels it stays what it was: open", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(8)
		w.level("guest:1", "cpu", 85)
		w.minutes(30)
	}, "6 open r web"},
	{"between the levels it stays what it was: closed", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 85)
		w.minutes(30)
	}, ""},
	{"the clear level itself is not over", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(6)
		w.level("guest:1", "cpu", 80)
		w.minutes(10)
		w.level("guest:1", "cpu", 79)
		w.minutes(10)
	}, "6 open r web; 22 resolved r web"},
	{"flapping at the threshold, each minute", func(w *world) {
		w.busy(nil)
		for range 20 {
			w.level("guest:1", "cpu", 95)
			w.minutes(1)
			w.level("guest:1", "cpu", 85)
			w.minutes(1)
		}
	}, ""},
	{"flapping at the threshold once it is open", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(6)
		for range 15 {
			w.level("guest:1", "cpu", 85)
			w.minutes(1)
			w.level("guest:1", "cpu", 95)
			w.minutes(1)
		}
	}, "6 open r web"},
	{"flapping over both levels, each minute", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(6)
		for range 15 {
			w.level("guest:1", "cpu", 10)
			w.minutes(1)
			w.level("guest:1", "cpu", 95)
			w.minutes(1)
		}
	}, "6 open r web"},
	{"flapping over both levels, slower than what must last: one in each window", func(w *world) {
		w.busy(nil)
		for range 3 {
			w.level("guest:1", "cpu", 95)
			w.minutes(10)
			w.level("guest:1", "cpu", 10)
			w.minutes(10)
		}
	}, "6 open r web; 16 resolved r web; 26 open r web; 36 resolved r web; 46 open r web; 56 resolved r web"},
	{"without times it is told at once", func(w *world) {
		w.busy(map[string]string{"for_s": "0", "clear_for_s": "0"})
		w.minutes(2)
		w.level("guest:1", "cpu", 95)
		w.minutes(2)
		w.level("guest:1", "cpu", 10)
		w.minutes(2)
	}, "3 open r web; 5 resolved r web"},
	{"memory of a node", func(w *world) {
		w.level("node:1", "memory", 96)
		w.minutes(17)
		w.level("node:1", "memory", 89)
		w.minutes(12)
	}, "16 open node.memory alpha; 28 resolved node.memory alpha"},
	{"system disk of a node", func(w *world) {
		w.level("node:3", "disk", 91)
		w.minutes(12)
	}, "11 open node.disk gamma"},
	{"a storage that fills and is cleaned up", func(w *world) {
		w.level("storage:1", "disk", 88)
		w.minutes(12)
		w.level("storage:1", "disk", 96)
		w.minutes(10)
		w.level("storage:1", "disk", 50)
		w.minutes(12)
	}, "11 open storage.filling local; 18 open storage.full local; 33 resolved storage.filling local; 33 resolved storage.full local"},
	{"a storage that two nodes share", func(w *world) {
		w.level("storage:3", "disk", 88)
		w.level("storage:4", "disk", 88)
		w.minutes(13)
	}, "11 open storage.filling nas"},
	{"storages of one name that each node has for itself", func(w *world) {
		w.level("storage:1", "disk", 88)
		w.level("storage:2", "disk", 88)
		w.minutes(13)
	}, "11 open storage.filling local; 11 open storage.filling local"},
	{"the root disk of an app", func(w *world) {
		w.level("guest:3", "disk", 92)
		w.minutes(13)
	}, "11 open container.disk mail"},
	{"the disk of a VM is not known by its figures", func(w *world) {
		w.level("guest:1", "disk", 0)
		w.minutes(13)
	}, ""},
	{"a rule that is off", func(w *world) {
		w.level("guest:1", "cpu", 100)
		w.minutes(70)
	}, ""},
	{"a rule that came with the service and was switched on", func(w *world) {
		w.Exec("UPDATE alert_rules SET enabled = true WHERE key = 'guest.cpu'")
		w.level("guest:1", "cpu", 100)
		w.minutes(63)
	}, "61 open guest.cpu web"},
	{"a host as the sum of its nodes", func(w *world) {
		w.busy(map[string]string{"kinds": "'{host}'"})
		w.level("host:2", "cpu", 95)
		w.minutes(7)
	}, "6 open r h2"},
	{"traffic", func(w *world) {
		w.rule("net_in", map[string]string{"threshold": "1e6", "clear_level": "5e5", "for_s": "120", "clear_for_s": "60"})
		w.flow("guest:1", "net_in", 120e6)
		w.minutes(6)
		w.flow("guest:1", "net_in", 1e6)
		w.minutes(5)
	}, "5 open r web; 9 resolved r web"},
	{"a counter that begins anew is no traffic", func(w *world) {
		w.rule("net_out", map[string]string{"threshold": "1e6", "clear_level": "5e5"})
		w.level("guest:1", "net_out", 9e15)
		w.flow("guest:1", "net_out", 6e5)
		w.minutes(3)
		w.level("guest:1", "net_out", 0)
		w.minutes(3)
	}, ""},
	{"a storage that will be full", func(w *world) {
		w.filling(1)
		w.minutes(85)
		w.Exec("UPDATE storages SET used = (10::bigint << 30) WHERE id = 1")
		w.minutes(75)
	}, "70 open storage.fills local; 150 resolved storage.fills local"},
}

// silences are about data that do not come.
var silences = []history{
	{"no data while it does not last long enough begins anew", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(4)
		w.mute("guest:1")
		w.minutes(5)
		w.level("guest:1", "cpu", 95)
		w.minutes(7)
	}, "15 open r web"},
	{"a poll that is late is no gap", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(4)
		w.mute("guest:1")
		w.minutes(1)
		w.level("guest:1", "cpu", 95)
		w.minutes(3)
	}, "6 open r web"},
	{"no data is no end", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(7)
		w.mute("guest:1")
		w.minutes(60)
		w.level("guest:1", "cpu", 10)
		w.minutes(7)
	}, "6 open r web; 73 resolved r web"},
	{"a guest that is stopped uses nothing", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(7)
		w.mute("guest:1")
		w.Exec("UPDATE guests SET status = 'stopped' WHERE id = 1")
		w.minutes(10)
	}, "6 open r web; 13 resolved r web"},
	{"a guest whose state is not known is not stopped", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(7)
		w.mute("guest:1")
		w.Exec("UPDATE guests SET status = 'unknown' WHERE id = 1")
		w.minutes(30)
	}, "6 open r web"},
	{"a guest that is destroyed", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(7)
		w.mute("guest:1")
		w.Exec("DELETE FROM guests WHERE id = 1")
		w.minutes(5)
	}, "6 open r web; 8 resolved r web"},
	{"a guest that moves and is renamed is the same", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 95)
		w.minutes(7)
		w.Exec("UPDATE guests SET node = 'beta', host_id = 2, name = 'shop' WHERE id = 1")
		w.minutes(20)
	}, "6 open r web"},
	{"a node that runs and shows no figures", func(w *world) {
		w.Exec("UPDATE nodes SET name = 'mute', figures_at = $1 WHERE id = 3", w.now)
		w.minutes(20)
		w.Exec("UPDATE nodes SET name = 'gamma' WHERE id = 3")
		w.minutes(2)
	}, "15 open data.missing mute; 21 resolved data.missing mute"},
	{"guests that run and show no figures", func(w *world) {
		w.Exec("UPDATE guests SET figures_at = $1 WHERE id = 2", w.now)
		w.minutes(16)
	}, "15 open data.missing db"},
	{"nobody polls: hosts, nodes and guests are silent", func(w *world) {
		w.Exec("DELETE FROM guests WHERE id <> 4; DELETE FROM nodes; DELETE FROM hosts WHERE id <> 3")
		w.minutes(1)
		w.polling = false
		w.minutes(17)
	}, "16 open data.missing solo; 16 open data.missing tiny"},
}
