package alert_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/alert"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/metric"
)

const gib = int64(1) << 30

// world is an inventory whose time is the test's. In each of its minutes everything that has levels is sampled as by a poll, and the rules
// are evaluated; what people outside would be told is written down with the minute.
//
// The cluster prod has the hosts h1 (node alpha) and h2 (node beta), and the node gamma; solo is a machine alone, of team 2. Guests
// of prod: the VMs web (1) and db (2) with the tag prod, on alpha and beta, the app mail (container 3, app 1) on alpha;
// of solo the VM tiny (4).
type world struct {
	dbtest.SQL
	t       *testing.T
	d       *db.DB
	url     string
	now     time.Time
	began   time.Time
	engines []*alert.Engine
	update  string
	// levels are what is sampled, by what keeps the samples, as "guest:1", and the figure.
	levels map[string]map[string]int64
	// traffic is what counters grow by in a minute.
	traffic map[string]map[string]int64
	polling bool
	said    []string
	seen    int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, url: dbtest.URL(t), levels: map[string]map[string]int64{}, traffic: map[string]map[string]int64{}, polling: true}
	w.d = dbtest.Open(t, w.url)
	w.SQL = dbtest.On(t, w.d)
	inventorytest.Write(t, w.d,
		inventorytest.Cluster{Name: "prod", Hosts: []inventorytest.Host{
			{Name: "h1", Node: "alpha", Status: "online", Capabilities: []string{"monitoring"}},
			{Name: "h2", Node: "beta", Status: "online", Capabilities: []string{"monitoring"}}},
			Nodes: []inventorytest.Node{{Name: "alpha", CPU: 0.1, CPUs: 8, Memory: gib, MemoryTotal: 8 * gib, Disk: gib, DiskTotal: 8 * gib},
				{Name: "beta", CPU: 0.1, CPUs: 8, Memory: gib, MemoryTotal: 8 * gib, Disk: gib, DiskTotal: 8 * gib},
				{Name: "gamma", CPU: 0.1, CPUs: 8, Memory: gib, MemoryTotal: 8 * gib, Disk: gib, DiskTotal: 8 * gib}},
			Storages: []inventorytest.Storage{{Node: "alpha", Name: "local", Used: gib, Total: 100 * gib},
				{Node: "beta", Name: "local", Used: gib, Total: 100 * gib},
				{Node: "alpha", Name: "nas", Shared: true, Used: gib, Total: 100 * gib},
				{Node: "beta", Name: "nas", Shared: true, Used: gib, Total: 100 * gib}},
			Guests: []inventorytest.Guest{{VMID: 100, Node: "alpha", Name: "web", Tags: []string{"prod"}},
				{VMID: 101, Node: "beta", Name: "db", Tags: []string{"prod"}}, {Container: true, VMID: 102, Node: "alpha", Name: "ct", App: "mail"}}},
		inventorytest.Cluster{Team: 2, Hosts: []inventorytest.Host{{Name: "solo", Node: "solo", Status: "online",
			Capabilities: []string{"monitoring"}}},
			Nodes:  []inventorytest.Node{{Name: "solo", CPU: 0.1, CPUs: 8, Memory: gib, MemoryTotal: 8 * gib}},
			Guests: []inventorytest.Guest{{VMID: 100, Node: "solo", Name: "tiny"}}})
	// Partitions are there for yesterday and the next two days, and a clock that is put forward stays within them.
	w.now = time.Now().UTC().Truncate(time.Minute).Add(-6 * time.Hour)
	w.began = w.now
	if err := metric.EnsurePartitions(t.Context(), w.d, time.Now()); err != nil {
		t.Fatal(err)
	}
	w.engines = []*alert.Engine{w.engine(w.d)}
	w.cycle()
	if len(w.said) > 0 {
		t.Fatalf("in the beginning: %q", w.said)
	}
	return w
}

func (w *world) engine(d *db.DB) *alert.Engine {
	return alert.NewEngine(alert.Config{DB: d, Every: time.Minute, KeepPlans: true, Now: func() time.Time { return w.now },
		Update: func(context.Context) (string, error) { return w.update, nil }})
}

// level sets what is sampled from now on; of parts of a whole it is percent.
func (w *world) level(thing, figure string, value int64) {
	if w.levels[thing] == nil {
		w.levels[thing] = map[string]int64{}
	}
	w.levels[thing][figure] = value
}

// mute lets a thing have no samples from now on.
func (w *world) mute(thing string) { delete(w.levels, thing) }

// flow sets what a counter grows by in a minute from now on.
func (w *world) flow(thing, counter string, bytes int64) {
	w.level(thing, "cpu", 1)
	w.traffic[thing] = map[string]int64{counter: bytes}
}

// minutes lets time go on.
func (w *world) minutes(n int) {
	w.t.Helper()
	for range n {
		w.now = w.now.Add(time.Minute)
		w.sample()
		w.cycle()
	}
}

// pass lets time go on in which nobody polls and nobody evaluates.
func (w *world) pass(d time.Duration) { w.now = w.now.Add(d) }

func (w *world) sample() {
	w.t.Helper()
	if w.polling {
		w.Exec("UPDATE clusters SET figures_at = $1", w.now)
		w.Exec("UPDATE nodes SET figures_at = $1 WHERE figures_at IS NOT NULL AND status = 'online' AND name <> 'mute'", w.now)
		w.Exec("UPDATE hosts SET polled_at = $1", w.now)
		w.Exec("UPDATE storages SET figures_at = $1 WHERE figures_at IS NOT NULL AND status = 'available' AND type <> 'mute'", w.now)
	}
	for thing, levels := range w.levels {
		kind, id, _ := strings.Cut(thing, ":")
		columns, values := []string{"at", "target_kind", "target_id"}, []string{"$1", "'" + kind + "'", id}
		for figure, value := range levels {
			switch figure {
			case "cpu":
				columns, values = append(columns, "cpu"), append(values, fmt.Sprintf("%d / 100.0", value))
			case "memory", "disk":
				columns = append(columns, figure, figure+"_total")
				values = append(values, fmt.Sprint(value*gib), fmt.Sprint(100*gib))
			default:
				columns, values = append(columns, figure), append(values, fmt.Sprint(value))
			}
		}
		w.Exec("INSERT INTO metric_samples ("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(values, ", ")+")", w.now)
		for counter, n := range w.traffic[thing] {
			w.level(thing, counter, levels[counter]+n)
		}
	}
}

// cycle lets every instance evaluate, and writes down what was said.
func (w *world) cycle() {
	w.t.Helper()
	done := 0
	for _, e := range w.engines {
		did, err := e.Cycle(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if did {
			done++
		}
	}
	if done != 1 {
		w.t.Fatalf("%d instances evaluated", done)
	}
	w.listen()
}

// listen writes down what was said.
func (w *world) listen() {
	w.t.Helper()
	rows, err := w.d.Pool.Query(w.t.Context(), `SELECT id, state || ' ' || rule || ' ' || target_name,
		kind || ' ' || (incident LIKE 'alert:%')
		FROM notification_events WHERE id > $1 ORDER BY id`, w.seen)
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	minute := int(w.now.Sub(w.began).Minutes())
	for rows.Next() {
		var text, kind string
		if err := rows.Scan(&w.seen, &text, &kind); err != nil {
			w.t.Fatal(err)
		}
		if kind != "alert true" {
			w.t.Errorf("%s is told as %s", text, kind)
		}
		w.said = append(w.said, fmt.Sprintf("%d %s", minute, text))
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
}

// rule writes a rule of a test's own, which has the name r, in the place of all that came with the service.
func (w *world) rule(kind string, more map[string]string) {
	w.t.Helper()
	w.Exec("UPDATE alert_rules SET enabled = false")
	columns, values := []string{"name", "kind"}, []string{"'r'", "'" + kind + "'"}
	more = maps.Clone(more)
	if more == nil {
		more = map[string]string{}
	}
	if more["severity"] == "" {
		more["severity"] = "'warning'"
	}
	for _, column := range slices.Sorted(maps.Keys(more)) {
		columns, values = append(columns, column), append(values, more[column])
	}
	w.Exec("INSERT INTO alert_rules (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")")
}

// busy is a rule about processors: 90 and over for five minutes, below 80 for five minutes.
func (w *world) busy(more map[string]string) {
	w.t.Helper()
	all := map[string]string{"threshold": "90", "clear_level": "80", "for_s": "300", "clear_for_s": "300"}
	maps.Copy(all, more)
	w.rule("cpu", all)
}

// always has guests on a node that should run.
func (w *world) always(n int, node string) {
	w.t.Helper()
	w.Exec(`INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status, tags)
		SELECT 1, CASE $2 WHEN 'beta' THEN 2 ELSE 1 END, 'vm', 200 + i, 200 + i, $2, 'g' || lpad(i::text, 2, '0'), 'running', '{always-on}'
		FROM generate_series(1, $1::int) i`, n, node)
}

// filling lets a storage have grown for five days, so that it will be full in a few.
func (w *world) filling(storage int64) {
	w.t.Helper()
	w.Exec(`INSERT INTO metric_1h (at, target_kind, target_id, samples, disk, disk_total) SELECT h, 'storage', $2::bigint, 120,
		(100::bigint << 30) - (3::bigint << 30) - extract(epoch FROM $1::timestamptz - h)::bigint * 13000, 100::bigint << 30
		FROM generate_series($1::timestamptz - interval '5 days', $1, interval '1 hour') h`, w.now, storage)
	w.Exec("UPDATE storages SET used = (97::bigint << 30) WHERE id = $1", storage)
}

// window is a maintenance window that is open from now on for a time, of what the columns and values in more say.
func (w *world) window(lasts time.Duration, more ...string) {
	w.t.Helper()
	columns, values := "name, starts_at, ends_at", "'w', $1, $2"
	for i := 0; i < len(more); i += 2 {
		columns, values = columns+", "+more[i], values+", "+more[i+1]
	}
	w.Exec("INSERT INTO maintenance_windows ("+columns+") VALUES ("+values+")", w.now, w.now.Add(lasts))
}

// folded wants so many open alerts about things of a kind to follow from something greater.
func (w *world) folded(kind string, want int) {
	w.t.Helper()
	if got := w.Value("SELECT count(*) FROM alerts WHERE resolved_at IS NULL AND cause_id IS NOT NULL AND target_kind = $1", kind); got !=
		fmt.Sprint(want) {
		w.t.Errorf("%s alerts about a %s are folded, want %d", got, kind, want)
	}
}
