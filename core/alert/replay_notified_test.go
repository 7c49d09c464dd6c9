package alert_test

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/alert"
	"github.com/hostler/hostler/core/identity"
)

// causes are about what follows from something greater.
var causes = []history{
	{"a node with 40 guests reboots", func(w *world) {
		w.always(40, "gamma")
		w.Exec("UPDATE nodes SET status = 'offline' WHERE name = 'gamma'; UPDATE guests SET status = 'unknown' WHERE node = 'gamma'")
		w.minutes(4)
		w.Exec("UPDATE nodes SET status = 'online' WHERE name = 'gamma'; UPDATE guests SET status = 'stopped' WHERE node = 'gamma'")
		w.minutes(7)
		w.Exec("UPDATE guests SET status = 'running' WHERE node = 'gamma'")
		w.minutes(20)
	}, "3 open node.offline gamma; 6 resolved node.offline gamma"},
	{"a node with 40 guests reboots that are shown as stopped at once", func(w *world) {
		w.always(40, "gamma")
		w.Exec("UPDATE nodes SET status = 'offline' WHERE name = 'gamma'; UPDATE guests SET status = 'stopped' WHERE node = 'gamma'")
		w.minutes(12)
		w.Exec("UPDATE nodes SET status = 'online' WHERE name = 'gamma'")
		w.minutes(3)
		w.Exec("UPDATE guests SET status = 'running' WHERE node = 'gamma'")
		w.minutes(20)
	}, "3 open node.offline gamma; 14 resolved node.offline gamma"},
	{"an enrolled node reboots", func(w *world) {
		w.always(40, "beta")
		w.Exec("UPDATE hosts SET status = 'unreachable' WHERE id = 2; UPDATE nodes SET status = 'offline' WHERE name = 'beta'")
		w.Exec("UPDATE guests SET status = 'stopped' WHERE node = 'beta'")
		w.minutes(10)
		w.Exec("UPDATE hosts SET status = 'online' WHERE id = 2; UPDATE nodes SET status = 'online' WHERE name = 'beta'")
		w.Exec("UPDATE guests SET status = 'running' WHERE node = 'beta'")
		w.minutes(5)
	}, "3 open host.offline h2; 12 resolved host.offline h2"},
	{"an enrolled node is off, and its host is missed later", func(w *world) {
		w.always(3, "beta")
		w.Exec("UPDATE alert_rules SET for_s = 60 WHERE key = 'node.offline'")
		w.Exec("UPDATE nodes SET status = 'offline' WHERE name = 'beta'; UPDATE guests SET status = 'stopped' WHERE node = 'beta'")
		w.minutes(1)
		w.Exec("UPDATE hosts SET status = 'unreachable' WHERE id = 2")
		w.minutes(10)
		w.Exec("UPDATE hosts SET status = 'online' WHERE id = 2; UPDATE nodes SET status = 'online' WHERE name = 'beta'")
		w.Exec("UPDATE guests SET status = 'running' WHERE node = 'beta'")
		w.minutes(5)
	}, "4 open host.offline h2; 13 resolved host.offline h2"},
	{"the storages of a host that is dead: another member tells that they fill, and they are cleaned up with its return", func(w *world) {
		w.Exec("UPDATE hosts SET status = 'unreachable' WHERE id = 2")
		w.minutes(1)
		w.level("storage:2", "disk", 97)
		w.minutes(19)
		w.folded("storage", 2) // that it is filling, and that it is full
		w.Exec("UPDATE hosts SET status = 'online' WHERE id = 2")
		w.level("storage:2", "disk", 50)
		w.minutes(30)
	}, "3 open host.offline h2; 22 resolved host.offline h2"},
	{"a storage of a host that was dead stays full, and stands alone once its host is back for a while", func(w *world) {
		w.Exec("UPDATE hosts SET status = 'unreachable' WHERE id = 2")
		w.minutes(1)
		w.level("storage:2", "disk", 97)
		w.level("storage:1", "disk", 97)
		w.minutes(19)
		w.folded("storage", 2)
		w.Exec("UPDATE hosts SET status = 'online' WHERE id = 2")
		w.minutes(20)
	}, "3 open host.offline h2; 7 open storage.full local; 12 open storage.filling local; 22 resolved host.offline h2; " +
		"32 open storage.full local; 32 open storage.filling local"},
	{"guests that stay down after their node is back", func(w *world) {
		w.always(3, "gamma")
		w.Exec("UPDATE nodes SET status = 'offline' WHERE name = 'gamma'; UPDATE guests SET status = 'stopped' WHERE node = 'gamma'")
		w.minutes(10)
		w.Exec("UPDATE nodes SET status = 'online' WHERE name = 'gamma'; UPDATE guests SET status = 'running' WHERE name = 'g02'")
		w.minutes(20)
		w.Exec("UPDATE guests SET status = 'running' WHERE name = 'g03'")
		w.minutes(3)
	},
		"3 open node.offline gamma; 12 resolved node.offline gamma; 22 open guest.down g01; 22 open guest.down g03; 32 resolved guest.down g03"},
	{"guests that are down without their node", func(w *world) {
		w.always(3, "gamma")
		w.Exec("UPDATE guests SET status = 'stopped' WHERE node = 'gamma'")
		w.minutes(7)
	}, "6 " + every(1, "open guest.down") + "; 6 open guest.down g02; 6 open guest.down g03"},
	{"what is noticed before the node waits for it", func(w *world) {
		w.always(2, "gamma")
		w.Exec("UPDATE alert_rules SET for_s = 0 WHERE key = 'guest.down'; UPDATE alert_rules SET for_s = 300 WHERE key = 'node.offline'")
		w.Exec("UPDATE nodes SET status = 'offline' WHERE name = 'gamma'; UPDATE guests SET status = 'stopped' WHERE node = 'gamma'")
		w.minutes(10)
	}, "6 open node.offline gamma"},
	{"what waits for a node that was not off for long enough", func(w *world) {
		w.always(1, "gamma")
		w.Exec("UPDATE alert_rules SET for_s = 0 WHERE key = 'guest.down'; UPDATE alert_rules SET for_s = 300 WHERE key = 'node.offline'")
		w.Exec("UPDATE nodes SET status = 'offline' WHERE name = 'gamma'; UPDATE guests SET status = 'stopped' WHERE node = 'gamma'")
		w.minutes(3)
		w.Exec("UPDATE nodes SET status = 'online' WHERE name = 'gamma'")
		w.minutes(2)
	}, "4 open guest.down g01"},
	{"a cluster loses its quorum with two nodes", func(w *world) {
		w.always(4, "gamma")
		w.Exec("UPDATE clusters SET quorate = false WHERE id = 1; UPDATE nodes SET status = 'offline' WHERE name IN ('beta', 'gamma')")
		w.Exec("UPDATE hosts SET status = 'unreachable' WHERE id = 2; UPDATE guests SET status = 'stopped' WHERE node = 'gamma'")
		w.minutes(10)
		w.Exec("UPDATE clusters SET quorate = true; UPDATE nodes SET status = 'online'; UPDATE hosts SET status = 'online'")
		w.Exec("UPDATE guests SET status = 'running'")
		w.minutes(5)
	}, "2 open cluster.quorum prod; 12 resolved cluster.quorum prod"},
	{"a host that does not answer, with all its guests", func(w *world) {
		w.busy(map[string]string{"for_s": "60"})
		w.Exec("UPDATE alert_rules SET enabled = true WHERE key IN ('host.offline', 'data.missing', 'guest.down')")
		w.level("guest:4", "cpu", 10)
		w.minutes(2)
		w.mute("guest:4")
		w.Exec("UPDATE hosts SET status = 'unreachable' WHERE id = 3; UPDATE guests SET status = 'unknown', tags = '{always-on}' WHERE id = 4")
		w.minutes(30)
		w.Exec("UPDATE hosts SET status = 'online' WHERE id = 3; UPDATE guests SET status = 'running' WHERE id = 4")
		w.minutes(5)
	}, "5 open host.offline solo; 34 resolved host.offline solo"},
	{"guests that are busy while they start after their node", func(w *world) {
		w.busy(nil)
		w.Exec("UPDATE alert_rules SET enabled = true WHERE key = 'node.offline'; UPDATE guests SET node = 'gamma' WHERE id = 1")
		w.Exec("UPDATE nodes SET status = 'offline' WHERE name = 'gamma'")
		w.minutes(5)
		w.Exec("UPDATE nodes SET status = 'online' WHERE name = 'gamma'")
		w.level("guest:1", "cpu", 99)
		w.minutes(8)
		w.level("guest:1", "cpu", 5)
		w.minutes(10)
	}, "3 open node.offline gamma; 7 resolved node.offline gamma"},
	{"a rule about the greater matter that is off folds nothing", func(w *world) {
		w.always(1, "gamma")
		w.Exec("UPDATE alert_rules SET enabled = false WHERE key = 'node.offline'")
		w.Exec("UPDATE nodes SET status = 'offline' WHERE name = 'gamma'; UPDATE guests SET status = 'stopped' WHERE node = 'gamma'")
		w.minutes(7)
	}, "6 open guest.down g01"},
	{"what does not follow from a host that is away", func(w *world) {
		w.Exec("UPDATE hosts SET status = 'unreachable', certificate_ends_at = $1 WHERE id = 3", w.now.AddDate(0, 0, 3))
		w.minutes(4)
	}, "1 open certificate.ending solo; 3 open host.offline solo"},
	{"guests of another node do not follow", func(w *world) {
		w.always(1, "alpha")
		w.Exec("UPDATE nodes SET status = 'offline' WHERE name = 'gamma'; UPDATE guests SET status = 'stopped' WHERE name = 'g01'")
		w.minutes(7)
	}, "3 open node.offline gamma; 6 open guest.down g01"},
}

// windows are about maintenance.
var windows = []history{
	{"nothing is said in a window, and then what still is so", func(w *world) {
		w.window(20 * time.Minute)
		w.Exec("UPDATE hosts SET status = 'unreachable' WHERE id = 3")
		w.minutes(22)
	}, "20 open host.offline solo"},
	{"what begins and ends in a window is never said", func(w *world) {
		w.window(20 * time.Minute)
		w.Exec("UPDATE hosts SET status = 'unreachable' WHERE id = 3")
		w.minutes(10)
		w.Exec("UPDATE hosts SET status = 'online' WHERE id = 3")
		w.minutes(15)
	}, ""},
	{"the end within a window of what was said before is said after it", func(w *world) {
		w.Exec("UPDATE hosts SET status = 'unreachable' WHERE id = 3")
		w.minutes(5)
		w.window(20 * time.Minute)
		w.minutes(5)
		w.Exec("UPDATE hosts SET status = 'online' WHERE id = 3")
		w.minutes(17)
	}, "3 open host.offline solo; 25 resolved host.offline solo"},
	{"the nightly backups", func(w *world) {
		zone, err := time.LoadLocation("Europe/Berlin")
		if err != nil {
			w.t.Fatal(err)
		}
		starts := w.now.Add(5 * time.Minute).In(zone)
		w.busy(map[string]string{"clear_for_s": "60"})
		w.Exec("UPDATE alert_rules SET enabled = true WHERE key IN ('node.cpu', 'storage.filling', 'guest.down')")
		w.Exec("INSERT INTO maintenance_windows (name, cron, timezone, duration_s) VALUES ('nightly', $1, 'Europe/Berlin', 3600)",
			starts.Format("4 15")+" * * *")
		w.minutes(5)
		for _, guest := range []string{"guest:1", "guest:2", "guest:3"} {
			w.level(guest, "cpu", 99)
		}
		w.level("node:1", "cpu", 99)
		w.level("storage:3", "disk", 90)
		w.minutes(40)
		for _, guest := range []string{"guest:1", "guest:2", "guest:3"} {
			w.level(guest, "cpu", 9)
		}
		w.level("node:1", "cpu", 9)
		w.level("storage:3", "disk", 9)
		w.minutes(30)
	}, ""},
	{"a window of guests with a tag", func(w *world) {
		w.busy(nil)
		w.window(time.Hour, "tags", "'{Prod}'") // in other letters than the guests' own
		w.level("guest:1", "cpu", 99)
		w.level("guest:3", "cpu", 99)
		w.minutes(8)
	}, "6 open r mail"},
	{"a window of a team", func(w *world) {
		w.busy(nil)
		w.window(time.Hour, "team_id", "2")
		w.level("guest:1", "cpu", 99)
		w.level("guest:4", "cpu", 99)
		w.minutes(8)
	}, "6 open r web"},
	{"a window of a host, and its cluster", func(w *world) {
		w.busy(nil)
		w.Exec("UPDATE alert_rules SET enabled = true WHERE key = 'cluster.quorum'; UPDATE clusters SET quorate = false WHERE id = 1")
		w.window(time.Hour, "host_id", "2")
		w.level("guest:2", "cpu", 99)
		w.level("guest:4", "cpu", 99)
		w.minutes(8)
	}, "6 open r tiny"},
	{"a window that is off", func(w *world) {
		w.busy(nil)
		w.window(time.Hour, "enabled", "false")
		w.level("guest:1", "cpu", 99)
		w.minutes(7)
	}, "6 open r web"},
	{"a window that is removed ends at once", func(w *world) {
		w.busy(nil)
		w.window(time.Hour)
		w.level("guest:1", "cpu", 99)
		w.minutes(8)
		w.Exec("DELETE FROM maintenance_windows")
		w.minutes(1)
	}, "9 open r web"},
}

// owner may do everything, and sees everything.
var everything = identity.VisibleTeams{All: true, Teams: []int64{}}

func (w *world) store() *alert.Store { return &alert.Store{DB: w.d} }

// act does something to the newest alert.
func (w *world) act(what func(ctx context.Context, s *alert.Store, id int64) (*alert.Detail, error)) {
	w.t.Helper()
	ctx := identity.WithCaller(w.t.Context(), &identity.Caller{Email: "ann@example.org", Teams: map[int64]identity.Role{1: identity.Owner}})
	id := int64(0)
	if err := w.d.Pool.QueryRow(ctx, "SELECT max(id) FROM alerts").Scan(&id); err != nil {
		w.t.Fatal(err)
	}
	if _, err := what(ctx, w.store(), id); err != nil {
		w.t.Fatal(err)
	}
}

// acts are about what people do to alerts.
var acts = []history{
	{"the end of what was acknowledged is told", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 99)
		w.minutes(7)
		w.act(func(ctx context.Context, s *alert.Store, id int64) (*alert.Detail, error) {
			return s.Acknowledge(ctx, id, "mine", everything)
		})
		w.level("guest:1", "cpu", 9)
		w.minutes(7)
	}, "6 open r web; 13 resolved r web"},
	{"what is silenced before it is told is told when it is not any more", func(w *world) {
		w.busy(nil)
		w.window(7 * time.Minute)
		w.level("guest:1", "cpu", 99)
		w.minutes(6)
		w.act(func(ctx context.Context, s *alert.Store, id int64) (*alert.Detail, error) {
			return s.Silence(ctx, id, new(w.now.Add(10*time.Minute)), 0, "later", everything)
		})
		w.minutes(11)
	}, "16 open r web"},
	{"a silence holds for the next alert of the same", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 99)
		w.minutes(6)
		w.act(func(ctx context.Context, s *alert.Store, id int64) (*alert.Detail, error) {
			return s.Silence(ctx, id, new(w.now.Add(time.Hour)), 0, "", everything)
		})
		for range 2 {
			w.level("guest:1", "cpu", 9)
			w.minutes(7)
			w.level("guest:1", "cpu", 99)
			w.minutes(7)
		}
	}, "6 open r web"},
	{"resolved by hand it is not raised again before it was over", func(w *world) {
		w.busy(nil)
		w.level("guest:1", "cpu", 99)
		w.minutes(7)
		w.act(func(ctx context.Context, s *alert.Store, id int64) (*alert.Detail, error) {
			return s.Resolve(ctx, id, "known", everything)
		})
		w.minutes(20)
		w.level("guest:1", "cpu", 9)
		w.minutes(7)
		w.level("guest:1", "cpu", 99)
		w.minutes(7)
	}, "6 open r web; 8 resolved r web; 40 open r web"},
}

// scopes are about which things a rule is about.
var scopes = []history{
	{"a team", func(w *world) {
		w.busy(map[string]string{"team_id": "2"})
		w.level("guest:1", "cpu", 99)
		w.level("guest:4", "cpu", 99)
		w.minutes(7)
	}, "6 open r tiny"},
	{"a host", func(w *world) {
		w.busy(map[string]string{"host_id": "2"})
		w.level("guest:1", "cpu", 99)
		w.level("guest:2", "cpu", 99)
		w.level("node:2", "cpu", 99)
		w.minutes(7)
	}, "6 open r beta; 6 open r db"},
	{"tags, in any letters", func(w *world) {
		w.busy(map[string]string{"tags": "'{PROD,other}'"})
		w.level("guest:2", "cpu", 99)
		w.level("guest:3", "cpu", 99)
		w.level("node:2", "cpu", 99)
		w.minutes(7)
	}, "6 open r db"},
	{"kinds", func(w *world) {
		w.busy(map[string]string{"kinds": "'{app}'"})
		w.level("guest:1", "cpu", 99)
		w.level("guest:3", "cpu", 99)
		w.minutes(7)
	}, "6 open r mail"},
	{"single targets", func(w *world) {
		w.busy(map[string]string{"targets": "'{vm:2,app:1,node:1/gamma}'"})
		for _, thing := range []string{"guest:1", "guest:2", "guest:3", "guest:4", "node:1", "node:3"} {
			w.level(thing, "cpu", 99)
		}
		w.minutes(7)
	}, "6 open r mail; 6 open r gamma; 6 open r db"},
	{"a storage of one node and one that is shared, by any host of the cluster", func(w *world) {
		w.rule("disk", map[string]string{"threshold": "90", "clear_level": "80", "targets": "'{storage:2/local/beta,storage:2/nas}'"})
		for _, thing := range []string{"storage:1", "storage:2", "storage:3"} {
			w.level(thing, "disk", 99)
		}
		w.minutes(2)
	}, "1 open r local; 1 open r nas"},
	{"a single host's state", func(w *world) {
		w.rule("host_away", map[string]string{"targets": "'{host:3}'"})
		w.Exec("UPDATE hosts SET status = 'unreachable'")
		w.minutes(2)
	}, "1 open r solo"},
	{"a single node's state", func(w *world) {
		w.rule("node_away", map[string]string{"targets": "'{node:2/gamma}'"})
		w.Exec("UPDATE nodes SET status = 'offline'")
		w.minutes(2)
	}, "1 open r gamma"},
	{"an app's state by its tag", func(w *world) {
		w.rule("guest_down", map[string]string{"tags": "'{vital}'"})
		w.Exec("UPDATE guests SET status = 'stopped'; UPDATE guests SET tags = '{vital}' WHERE id = 3")
		w.minutes(2)
	}, "1 open r mail"},
}
