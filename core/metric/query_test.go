package metric_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/problem"
)

// everything is what an owner may see.
var everything = identity.VisibleTeams{All: true, Teams: []int64{}}

// past is a whole hour some hours ago: samples of it are kept, and its partitions are there.
func past() time.Time { return time.Now().UTC().Truncate(time.Hour).Add(-3 * time.Hour) }

// charted is an inventory to draw: the VMs 1 of host 1 and 2 of host 2, which is another team's, a container without an app, and the
// app 1.
func charted(t testing.TB) *db.DB {
	t.Helper()
	d := dbtest.New(t)
	inventorytest.Write(t, d,
		inventorytest.Cluster{Name: "one", Hosts: []inventorytest.Host{{Name: "a", Node: "n1"}},
			Nodes: []inventorytest.Node{{Name: "n1"}, {Name: "n2"}},
			Storages: []inventorytest.Storage{{Node: "n1", Name: "nas", Shared: true}, {Node: "n2", Name: "nas", Shared: true},
				{Node: "n1", Name: "local"}, {Node: "n2", Name: "local"}},
			Guests: []inventorytest.Guest{{VMID: 100, Node: "n1", Name: "web"}}},
		inventorytest.Cluster{Name: "two", Team: 2, Hosts: []inventorytest.Host{{Name: "b", Node: "m1"}},
			Guests: []inventorytest.Guest{{VMID: 100, Node: "m1", Name: "db"}, {VMID: 101, Node: "m1", Name: "files", Container: true,
				App: "files"}}})
	if err := metric.EnsurePartitions(t.Context(), d, time.Now()); err != nil {
		t.Fatal(err)
	}
	return d
}

func put(t testing.TB, d *db.DB, kind string, id int64, when time.Time, columns string, values ...any) {
	t.Helper()
	args := append([]any{when, kind, id}, values...)
	places := make([]string, len(values))
	for i := range values {
		places[i] = fmt.Sprintf("$%d", i+4)
	}
	dbtest.Exec(t, d, "INSERT INTO metric_samples (at, target_kind, target_id, "+columns+") VALUES ($1, $2, $3, "+
		strings.Join(places, ", ")+")", args...)
}

// points asks for one series and writes its points as JSON.
func points(t testing.TB, d *db.DB, q metric.Query) string {
	t.Helper()
	a, err := (&metric.Store{DB: d}).Query(t.Context(), q, everything)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Series) != 1 {
		t.Fatalf("%d series", len(a.Series))
	}
	return string(a.Series[0].Points.AppendJSON(nil))
}

func TestSamplesAsSeries(t *testing.T) {
	t.Parallel()
	d := charted(t)
	from := past()
	for i, s := range []struct {
		after   time.Duration
		cpu     float64
		counter any
	}{
		{-25 * time.Second, .5, 1000}, {5 * time.Second, .25, 4000}, {35 * time.Second, 0, 4000},
		// a poll that is late: no gap; and then one
		{91 * time.Second, .75, 4560},
		// the counter begins anew; a sample without counters comes between
		{275 * time.Second, .1, 100}, {290 * time.Second, .2, nil}, {305 * time.Second, .3, 400},
	} {
		_ = i
		put(t, d, "guest", 1, from.Add(s.after), "cpu, net_in", s.cpu, s.counter)
	}
	put(t, d, "guest", 2, from, "cpu, net_in", .9, 1)
	q := metric.Query{Targets: []string{"vm:1"}, Metrics: []string{"cpu"}, From: from, To: from.Add(5*time.Minute + 30*time.Second)}
	for name, test := range map[string]struct{ metric, want string }{
		"a gauge": {"cpu", "[0.25,0,0.75,0.75,null,null,null,null,null,0.15,0.3]"},
		// 3000 bytes in 30 s; none; 560 in 56 s; a gap of which the growth is not known; the counter fell; 300 in 30 s.
		"a counter": {"net_in", "[100,0,10,10,null,null,null,null,null,null,10]"},
		"the most":  {"cpu_max", "[0.25,0,0.75,0.75,null,null,null,null,null,0.2,0.3]"},
	} {
		q.Metrics = []string{test.metric}
		if got := points(t, d, q); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, test.want)
		}
	}
}

func TestRollUpsAsSeries(t *testing.T) {
	t.Parallel()
	d := charted(t)
	from := past()
	add := func(table string, kind string, id int64, when time.Time, samples int, cpu any, disk any, in any) {
		dbtest.Exec(t, d, `INSERT INTO `+table+` (at, target_kind, target_id, samples, cpu_avg, cpu_max, disk, net_in) VALUES ($1, $2, $3, $4,
			$5::real, $5::real * 2, $6::bigint, $7::bigint)`, when, kind, id, samples, cpu, disk, in)
	}
	add("metric_5m", "guest", 1, from, 10, .1, 5, 3000)
	add("metric_5m", "guest", 1, from.Add(10*time.Minute), 10, .3, 6, nil)
	add("metric_1h", "guest", 1, from, 120, .2, 7, 3600)
	add("metric_5m", "storage", 1, from, 10, nil, 100, nil)
	add("metric_5m", "storage", 2, from, 10, nil, 100, nil)
	add("metric_5m", "storage", 2, from.Add(5*time.Minute), 10, nil, 101, nil)
	add("metric_5m", "storage", 3, from, 10, nil, 33, nil)
	quarter := metric.Query{From: from, To: from.Add(15 * time.Minute), Resolution: metric.FiveMinutes}
	for _, test := range []struct{ target, metric, want string }{
		{"vm:1", "cpu", "[0.1,null,0.3]"}, {"vm:1", "cpu_max", "[0.2,null,0.6]"}, {"vm:1", "net_in", "[10,null,null]"},
		{"vm:1", "disk", "[5,null,6]"}, {"storage:1/nas", "disk", "[100,101,null]"}, {"storage:1/local/n1", "disk", "[33,null,null]"},
		{"vm:2", "cpu", "[null,null,null]"}, {"app:1", "cpu", "[null,null,null]"}, {"node:1/n2", "cpu", "[null,null,null]"},
	} {
		q := quarter
		q.Targets, q.Metrics = []string{test.target}, []string{test.metric}
		if got := points(t, d, q); got != test.want {
			t.Errorf("%s %s: got %s, want %s", test.target, test.metric, got, test.want)
		}
	}
	hours := metric.Query{Targets: []string{"vm:1"}, Metrics: []string{"net_in"}, From: from, To: from.Add(2 * time.Hour),
		Resolution: metric.OneHour}
	if got := points(t, d, hours); got != "[1,null]" {
		t.Errorf("hours: %s", got)
	}
	// 20,000 hours do not fit: a point is made of ten, weighted by their samples.
	add("metric_1h", "guest", 2, from, 30, .5, 1, 3600)
	add("metric_1h", "guest", 2, from.Add(-time.Hour), 10, .1, 2, 7200)
	wide := metric.Query{Targets: []string{"vm:2"}, From: from.Add(-20_000 * time.Hour), To: from.Add(time.Hour)}
	for name, want := range map[string]string{"cpu": "0.4", "cpu_max": "1", "disk": "1", "net_in": "1.5"} {
		wide.Metrics = []string{name}
		a, err := (&metric.Store{DB: d}).Query(t.Context(), wide, everything)
		if err != nil {
			t.Fatal(err)
		}
		p := &a.Series[0].Points
		got := string(p.AppendJSON(nil))
		if p.Len() > metric.MaxPoints || a.Resolution != metric.OneHour || a.Step != 11*time.Hour {
			t.Errorf("%d points of %s, %s", p.Len(), a.Step, a.Resolution)
		}
		values := strings.ReplaceAll(strings.ReplaceAll(strings.Trim(got, "[]"), "null,", ""), ",null", "")
		// Both hours may fall into two points, by the hour of the day.
		if values != want && !strings.Contains(values, ",") {
			t.Errorf("%s: %s, want %s", name, values, want)
		}
	}
}

func TestTheResolutionFitsTheSpan(t *testing.T) {
	t.Parallel()
	d := charted(t)
	now := time.Now()
	for _, test := range []struct {
		from, span time.Duration
		want       metric.Resolution
	}{
		{time.Hour, time.Hour, metric.Raw}, {16 * time.Hour, 16 * time.Hour, metric.Raw}, {17 * time.Hour, 17 * time.Hour, metric.FiveMinutes},
		// no longer kept as polled, or in five minutes
		{72 * time.Hour, time.Hour, metric.FiveMinutes}, {6 * 24 * time.Hour, 6 * 24 * time.Hour, metric.FiveMinutes},
		{7 * 24 * time.Hour, 7 * 24 * time.Hour, metric.OneHour}, {31 * 24 * time.Hour, time.Hour, metric.OneHour},
		{700 * 24 * time.Hour, 700 * 24 * time.Hour, metric.OneHour},
	} {
		from := now.Add(-test.from)
		a, err := (&metric.Store{DB: d}).Query(t.Context(), metric.Query{Targets: []string{"vm:1"}, Metrics: []string{"cpu"}, From: from,
			To: from.Add(test.span)}, everything)
		if err != nil {
			t.Fatal(err)
		}
		if n := a.Series[0].Points.Len(); a.Resolution != test.want || n > metric.MaxPoints || n == 0 ||
			a.From.After(from) || a.To.Before(from.Add(test.span)) || a.To.Sub(a.From) != time.Duration(n)*a.Step {
			t.Errorf("%s of %s ago: %s, %d points of %s", test.span, test.from, a.Resolution, n, a.Step)
		}
	}
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	d := charted(t)
	store := &metric.Store{DB: d}
	now := time.Now()
	good := metric.Query{Targets: []string{"vm:1"}, Metrics: []string{"cpu"}}
	many := make([]string, 501)
	for i := range many {
		many[i] = fmt.Sprintf("vm:%d", i+1)
	}
	for name, change := range map[string]func(*metric.Query){
		"no kind":             func(q *metric.Query) { q.Targets = []string{"guest:1"} },
		"no number":           func(q *metric.Query) { q.Targets = []string{"vm:x"} },
		"zero":                func(q *metric.Query) { q.Targets = []string{"vm:0"} },
		"a sign":              func(q *metric.Query) { q.Targets = []string{"vm:+1"} },
		"huge":                func(q *metric.Query) { q.Targets = []string{"vm:99999999999999999999"} },
		"nothing":             func(q *metric.Query) { q.Targets = []string{""} },
		"a node without name": func(q *metric.Query) { q.Targets = []string{"node:1"} },
		"an empty name":       func(q *metric.Query) { q.Targets = []string{"node:1/"} },
		"a name too many":     func(q *metric.Query) { q.Targets = []string{"vm:1/n1"} },
		"NUL":                 func(q *metric.Query) { q.Targets = []string{"node:1/a\x00"} },
		"several storages":    func(q *metric.Query) { q.Targets, q.Metrics = []string{"storage:1/local"}, []string{"disk"} },
		"no metric":           func(q *metric.Query) { q.Metrics = []string{"cpu; DROP TABLE hosts"} },
		"none of the kind":    func(q *metric.Query) { q.Targets = []string{"storage:1/nas"} },
		"order":               func(q *metric.Query) { q.From, q.To = now, now.Add(-time.Hour) },
		"nothing between":     func(q *metric.Query) { q.From, q.To = now, now },
		"long ago":            func(q *metric.Query) { q.From = time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC) },
		"far ahead":           func(q *metric.Query) { q.To = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) },
		"a huge span":         func(q *metric.Query) { q.From, q.To = now.AddDate(-11, 0, 0), now },
		"raw of a month":      func(q *metric.Query) { q.From, q.Resolution = now.AddDate(0, -1, 0), metric.Raw },
		"5m of a year":        func(q *metric.Query) { q.From, q.Resolution = now.AddDate(-1, 0, 0), metric.FiveMinutes },
		"many series":         func(q *metric.Query) { q.Targets, q.Metrics = many, []string{"cpu", "memory"} },
		"many rows":           func(q *metric.Query) { q.Targets, q.From = many, now.AddDate(-9, 0, 0) },
	} {
		q := good
		change(&q)
		_, err := store.Query(t.Context(), q, everything)
		if p := problem.From(err); err == nil || p.Code != problem.CodeInvalid || len(p.Faults) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, target := range []string{"vm:3", "app:2", "host:3", "node:1/n3", "node:3/n1", "storage:1/none", "storage:1/nas/n3"} {
		q := good
		q.Targets, q.Metrics = []string{"vm:1", target}, []string{"cpu", "disk"}
		if _, err := store.Query(t.Context(), q, everything); problem.CodeOf(err) != problem.CodeNotFound || err == nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	// A container is no VM, and what is another team's is not there.
	one := identity.VisibleTeams{Teams: []int64{1}}
	for target, there := range map[string]bool{"vm:1": true, "host:1": true, "node:1/n1": true, "storage:1/nas": true, "vm:2": false,
		"app:1": false, "host:2": false, "node:2/m1": false} {
		q := good
		q.Targets, q.Metrics = []string{target}, []string{"cpu", "disk"}
		_, err := store.Query(t.Context(), q, one)
		if !there && problem.CodeOf(err) != problem.CodeNotFound || there && err != nil {
			t.Errorf("%s of team 1: %v", target, err)
		}
	}
}

func TestMarksAreJobsAndAlertsOfTheTargets(t *testing.T) {
	t.Parallel()
	d := charted(t)
	from := past()
	job := func(kind string, vm, team int64, began, ended any) {
		dbtest.Exec(t, d, `INSERT INTO jobs (kind, status, team_id, target_kind, target_id, target_name, created_at, started_at, finished_at)
			VALUES ($1, 'succeeded', $2, 'vm', $3, 'x', $4, $4, $5)`, kind, team, vm, began, ended)
	}
	job("vm.start", 1, 1, from.Add(time.Minute), from.Add(2*time.Minute))
	job("vm.before", 1, 1, from.Add(-2*time.Minute), from.Add(-time.Minute))
	job("vm.into", 1, 1, from.Add(-2*time.Minute), from)
	job("vm.after", 1, 1, from.Add(time.Hour), nil)
	job("vm.other", 2, 2, from.Add(time.Minute), nil)
	job("vm.then_of_team_2", 1, 2, from.Add(time.Minute), nil)
	for guest, kind := range map[int]string{1: "backup.restore", 2: "backup.other"} {
		dbtest.Exec(t, d, `INSERT INTO jobs (kind, status, team_id, target_kind, target_id, target_name, exclusive, created_at)
			VALUES ($1, 'succeeded', 1, 'backup', 7, 'x', 'guest:' || $2::int, $3)`, kind, guest, from.Add(2*time.Minute))
	}
	dbtest.Exec(t, d, `INSERT INTO alerts (team_id, target_kind, target_id, target_name, rule, severity, raised_at)
		VALUES (1, 'vm', 1, 'x', 'cpu high', 'critical', $1)`, from.Add(3*time.Minute))
	q := metric.Query{Targets: []string{"vm:1"}, Metrics: []string{"cpu"}, From: from, To: from.Add(time.Hour)}
	for _, test := range []struct {
		visible identity.VisibleTeams
		want    []string
	}{
		{identity.VisibleTeams{Teams: []int64{1}}, []string{"job vm.into", "job vm.start", "job backup.restore", "alert cpu high"}},
		{everything, []string{"job vm.into", "job vm.start", "job vm.then_of_team_2", "job backup.restore",
			"alert cpu high"}},
	} {
		a, err := (&metric.Store{DB: d}).Query(t.Context(), q, test.visible)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range a.Marks {
			got = append(got, m.Kind+" "+m.Title)
			if m.Target != "vm:1" || m.At.IsZero() {
				t.Errorf("%+v", m)
			}
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// Jobs on nodes and storages have the id of the host that was asked, and the name.
func TestMarksOfNodesAndStorages(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	inventorytest.Write(t, d,
		inventorytest.Cluster{Name: "one", Hosts: []inventorytest.Host{{Name: "a", Node: "n1"}, {Name: "b", Node: "n2"}},
			Nodes: []inventorytest.Node{{Name: "n1"}, {Name: "n2"}},
			Storages: []inventorytest.Storage{{Node: "n1", Name: "nas", Shared: true}, {Node: "n2", Name: "nas", Shared: true},
				{Node: "n1", Name: "local"}, {Node: "n2", Name: "local"}}},
		inventorytest.Cluster{Name: "two", Hosts: []inventorytest.Host{{Name: "c", Node: "n1"}}, Nodes: []inventorytest.Node{{Name: "n1"}},
			Storages: []inventorytest.Storage{{Node: "n1", Name: "local"}}})
	from := past()
	for _, j := range []struct {
		kind, on, name, asked string
		host                  int64
	}{
		{"reboot n1 by a", "node", "n1", "{}", 1}, {"apply n1 by b", "node", "n1", "{}", 2}, {"reboot n2", "node", "n2", "{}", 1},
		{"reboot of two", "node", "n1", "{}", 3},
		{"nas by b", "storage", "nas", `{"node":"n2"}`, 2}, {"local on n1", "storage", "local", `{"node":"n1"}`, 2},
		{"local on n2", "storage", "local", `{"node":"n2"}`, 1}, {"local of two", "storage", "local", `{"node":"n1"}`, 3},
	} {
		dbtest.Exec(t, d, `INSERT INTO jobs (kind, status, team_id, host_id, target_kind, target_id, target_name, asked, started_at, finished_at)
			VALUES ($1, 'succeeded', 1, $2, $3, $2, $4, $5, $6, $6)`, j.kind, j.host, j.on, j.name, j.asked, from.Add(time.Minute))
	}
	for target, want := range map[string][]string{
		"node:1/n1": {"reboot n1 by a", "apply n1 by b"}, "node:2/n2": {"reboot n2"}, "node:3/n1": {"reboot of two"},
		"storage:1/nas": {"nas by b"}, "storage:2/nas/n1": {"nas by b"}, "storage:1/local/n1": {"local on n1"},
		"storage:2/local/n2": {"local on n2"}, "storage:3/local": {"local of two"}, "host:1": nil,
	} {
		a, err := (&metric.Store{DB: d}).Query(t.Context(), metric.Query{Targets: []string{target}, Metrics: []string{"disk"}, From: from,
			To: from.Add(time.Hour)}, everything)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range a.Marks {
			got = append(got, m.Title)
			if m.Target != target {
				t.Errorf("%+v of %s", m, target)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", target, got, want)
		}
	}
}

func TestThroughputOfAllHosts(t *testing.T) {
	t.Parallel()
	d := charted(t)
	at := time.Now().Truncate(time.Minute).Add(-10 * time.Minute)
	for i := range int64(3) {
		put(t, d, "host", 1, at.Add(time.Duration(i)*30*time.Second), "net_in, net_out", i*300, i*600)
	}
	store := &metric.Store{DB: d}
	for hours, resolution := range map[int]metric.Resolution{1: metric.Raw, 48: metric.FiveMinutes} {
		a, err := store.Throughput(t.Context(), hours, everything)
		if err != nil || a.Resolution != resolution || len(a.Series) != 4 || a.Series[0].Name != "a" || a.Series[3].Target != "host:2" {
			t.Fatalf("%d h: %+v, %v", hours, a, err)
		}
	}
	a, err := store.Throughput(t.Context(), 1, identity.VisibleTeams{Teams: []int64{1}})
	if err != nil || len(a.Series) != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	for i, want := range []string{"10,10", "20,20"} {
		got := string(a.Series[i].Points.AppendJSON(nil))
		if got = strings.Trim(strings.ReplaceAll(got, "null", ""), "[,]"); got != want {
			t.Errorf("%s: %s, want %s", a.Series[i].Metric, got, want)
		}
	}
	if a, err := store.Throughput(t.Context(), 1, identity.VisibleTeams{}); err != nil || len(a.Series) != 0 {
		t.Errorf("nobody: %+v, %v", a, err)
	}
}

func TestTheAnswerIsJSON(t *testing.T) {
	t.Parallel()
	d := charted(t)
	dbtest.Exec(t, d, `UPDATE guests SET name = E'<"\\\n\u2028é' WHERE id = 1`)
	from := past()
	put(t, d, "guest", 1, from, "memory, disk, cpu", int64(1)<<60, 0, 1)
	a, err := (&metric.Store{DB: d}).Query(t.Context(), metric.Query{Targets: []string{"vm:1"}, Metrics: []string{"memory", "disk", "cpu"},
		From: from, To: from.Add(time.Minute)}, everything)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := a.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	var got struct {
		StepS      int  `json:"step_s"`
		CompleteTo *any `json:"complete_to"`
		Series     []struct {
			Name, Unit string
			Points     []*float64
		}
		Marks []any
	}
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, &text)
	}
	if got.StepS != 30 || got.CompleteTo == nil || len(got.Series) != 3 || got.Series[0].Name != "<\"\\\n\u2028é" || got.Marks == nil {
		t.Errorf("%s", &text)
	}
	for i, want := range []float64{1 << 60, 0, 1} {
		if p := got.Series[i].Points; len(p) != 2 || p[0] == nil || *p[0] != want || p[1] != nil {
			t.Errorf("%s", &text)
		}
	}
}
