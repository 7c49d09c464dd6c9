package metric_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/metric"
)

// noon is when the tests' clocks begin; samples are of the hours before.
var noon = date(10).Add(12 * time.Hour)

func at(clock string) time.Time {
	t, err := time.Parse("15:04:05", clock)
	if err != nil {
		panic(err)
	}
	return t.AddDate(2031, 2, 9)
}

func newSeries(t testing.TB) *db.DB {
	t.Helper()
	d := dbtest.New(t)
	if err := metric.EnsurePartitions(t.Context(), d, noon); err != nil {
		t.Fatal(err)
	}
	return d
}

// sample adds a guest's sample; counter -1 stands for none.
func sample(t testing.TB, d *db.DB, id int64, when time.Time, cpu float64, disk, counter int64) {
	t.Helper()
	var count *int64
	if counter >= 0 {
		count = &counter
	}
	dbtest.Exec(t, d, `INSERT INTO metric_samples (at, target_kind, target_id, cpu, memory, memory_total, disk, disk_total, net_in,
		net_out, disk_read, disk_write)
		VALUES ($1, 'guest', $2, $3, $4, 1000, $5, 5000, $6::bigint, $6::bigint * 2, $6, $6 - $6)`, when, id, cpu, int64(cpu*1000), disk, count)
}

func rollUp(t testing.TB, d *db.DB, now time.Time) (steps []metric.Step) {
	t.Helper()
	err := metric.RollUp(t.Context(), d, now, 30*time.Second, func(s metric.Step) error {
		steps = append(steps, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// rows are the rollups of a guest, a line each.
func rows(t testing.TB, d *db.DB, table string, id int64) string {
	t.Helper()
	found, err := d.Pool.Query(t.Context(), `SELECT to_char(at AT TIME ZONE 'UTC',
		'HH24:MI') || ' n' || samples || ' cpu ' || round(cpu_avg::numeric, 3) || '/' || cpu_max || ' mem ' || memory_avg || '/'
		|| memory_max || ' disk ' || coalesce(disk::text, '-') || ' in ' || coalesce(net_in::text, '-') || ' out ' || coalesce(net_out::text,
		'-') || ' w ' || coalesce(disk_write::text, '-')
		FROM `+table+` WHERE target_kind = 'guest' AND target_id = $1 ORDER BY at`, id)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

func same(t testing.TB, got string, want ...string) {
	t.Helper()
	if w := strings.Join(want, "\n"); got != w {
		t.Errorf("got\n%s\nwant\n%s", got, w)
	}
}

func TestRollUpFigures(t *testing.T) {
	t.Parallel()
	d := newSeries(t)
	for _, s := range []struct {
		clock   string
		cpu     float64
		disk    int64
		counter int64
	}{
		{"10:00:00", 0.1, 50, 100},
		{"10:02:00", 0.3, 60, 150},
		{"10:04:59", 0.2, 55, 180}, // the last of its five minutes
		{"10:05:00", 0.5, 70, 200}, // its increase crosses the border
		{"10:07:00", 0.5, 70, -1},  // without counters: the next increase is since 10:05:00
		{"10:08:00", 0.5, 70, 260},
		{"10:11:00", 0.4, 80, 10}, // began anew
		{"10:12:00", 0.4, 80, 40},
		{"10:55:00", 1.0, 90, 5000}, // a long time after: what passed is not known
		{"11:01:00", 0.8, 95, 5100},
		{"11:59:59", 0.7, 99, 9999}, // too long after as well
		{"12:00:00", 0.9, 99, 10000},
	} {
		sample(t, d, 1, at(s.clock), s.cpu, s.disk, s.counter)
	}
	sample(t, d, 2, at("10:01:00"), 0.5, 1, 7)
	// One that began anew is as unknown as one that is not there.
	sample(t, d, 3, at("10:04:00"), 0.5, 1, 700)
	sample(t, d, 3, at("10:06:00"), 0.5, 1, 7)
	rollUp(t, d, noon.Add(time.Minute))
	same(t, rows(t, d, "metric_5m", 1),
		"10:00 n3 cpu 0.200/0.3 mem 200/300 disk 55 in 80 out 160 w 0",
		"10:05 n3 cpu 0.500/0.5 mem 500/500 disk 70 in 80 out 160 w 0",
		"10:10 n2 cpu 0.400/0.4 mem 400/400 disk 80 in 30 out 60 w 0",
		"10:55 n1 cpu 1.000/1 mem 1000/1000 disk 90 in - out - w -",
		"11:00 n1 cpu 0.800/0.8 mem 800/800 disk 95 in 100 out 200 w 0",
		"11:55 n1 cpu 0.700/0.7 mem 700/700 disk 99 in - out - w -")
	same(t, rows(t, d, "metric_1h", 1),
		"10:00 n9 cpu 0.433/1 mem 433/1000 disk 90 in 190 out 380 w 0",
		"11:00 n2 cpu 0.750/0.8 mem 750/800 disk 99 in 100 out 200 w 0")
	same(t, rows(t, d, "metric_5m", 2), "10:00 n1 cpu 0.500/0.5 mem 500/500 disk 1 in - out - w -")
	same(t, rows(t, d, "metric_5m", 3), "10:00 n1 cpu 0.500/0.5 mem 500/500 disk 1 in - out - w -",
		"10:05 n1 cpu 0.500/0.5 mem 500/500 disk 1 in - out - w 0")
}

// A thing without counters or cpu, such as a storage, has none in its rollups.
func TestRollUpOfWhatHasNoFigures(t *testing.T) {
	t.Parallel()
	d := newSeries(t)
	dbtest.Exec(t, d, `INSERT INTO metric_samples (at, target_kind, target_id, disk) VALUES ($1, 'storage', 3, 5), ($2, 'storage', 3, `+
		`9000000000000000000), ($2, 'storage', 4, NULL)`,
		at("10:01:00"), at("10:02:00"))
	rollUp(t, d, noon)
	for _, table := range []string{"metric_5m", "metric_1h"} {
		var n int
		if err := d.Pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table+` WHERE num_nulls(cpu_avg, cpu_max, memory_avg, memory_max,
			memory_total, disk_total, net_in, net_out, disk_read, disk_write) = 10
			AND disk IS NOT DISTINCT FROM CASE target_id WHEN 3 THEN 9000000000000000000 END`).Scan(&n); err != nil || n != 2 {
			t.Errorf("%s: %d, %v", table, n, err)
		}
	}
}

func TestRollUpAgainChangesNothingAndTakesUpWhatIsNew(t *testing.T) {
	t.Parallel()
	d := newSeries(t)
	for i := range 24 {
		sample(t, d, 1, at("10:00:00").Add(time.Duration(i)*5*time.Minute+time.Minute), 0.5, 1, int64(i)*100)
	}
	rollUp(t, d, noon)
	before5, before1 := rows(t, d, "metric_5m", 1), rows(t, d, "metric_1h", 1)
	for _, s := range rollUp(t, d, noon) {
		t.Errorf("nothing was new, and yet: %+v", s)
	}
	for _, s := range rollUp(t, d, noon.Add(5*time.Minute)) {
		if s.Rows != 0 || s.From.Before(noon.Add(-time.Hour)) {
			t.Errorf("%+v", s)
		}
	}
	same(t, rows(t, d, "metric_5m", 1), before5)
	same(t, rows(t, d, "metric_1h", 1), before1)
	// Within the overlap no note is needed.
	sample(t, d, 1, at("11:43:00"), 0.9, 1, 2050)
	rollUp(t, d, noon.Add(10*time.Minute))
	if got := rows(t, d, "metric_5m", 1); !strings.Contains(got, "11:40 n2 cpu 0.700/0.9 mem 700/900 disk 1 in 150 ") ||
		!strings.Contains(got, "11:45 n1 cpu 0.500/0.5 mem 500/500 disk 1 in 50 ") {
		t.Errorf("late samples of the last minutes:\n%s", got)
	}
	rollUp(t, d, noon.Add(time.Hour))
	if got := rows(t, d, "metric_1h", 1); !strings.Contains(got, "11:00 n13 cpu 0.531/0.9") {
		t.Errorf("the hour was not redone:\n%s", got)
	}
}

func TestLateSamplesAreRolledUpOnceTheyAreNoted(t *testing.T) {
	t.Parallel()
	d := newSeries(t)
	sample(t, d, 1, at("07:58:00"), 0.5, 1, 100)
	sample(t, d, 1, at("09:02:00"), 0.5, 1, 1000)
	rollUp(t, d, noon)
	for _, clock := range []string{"08:03:00", "08:58:00"} {
		sample(t, d, 1, at(clock), 0.7, 1, 400)
	}
	dbtest.Exec(t, d, "INSERT INTO metric_late (hour) VALUES ($1), ($1)", at("08:00:00"))
	steps := rollUp(t, d, noon)
	if len(steps) != 2 || !steps[0].Late || steps[0].Rows != 3 || steps[1].Rows != 2 {
		t.Errorf("%+v", steps)
	}
	same(t, rows(t, d, "metric_5m", 1),
		"07:55 n1 cpu 0.500/0.5 mem 500/500 disk 1 in - out - w -",
		"08:00 n1 cpu 0.700/0.7 mem 700/700 disk 1 in 300 out 600 w 0",
		"08:55 n1 cpu 0.700/0.7 mem 700/700 disk 1 in - out - w -",
		"09:00 n1 cpu 0.500/0.5 mem 500/500 disk 1 in 600 out 1200 w 0")
	same(t, rows(t, d, "metric_1h", 1),
		"07:00 n1 cpu 0.500/0.5 mem 500/500 disk 1 in - out - w -",
		"08:00 n2 cpu 0.700/0.7 mem 700/700 disk 1 in 300 out 600 w 0",
		"09:00 n1 cpu 0.500/0.5 mem 500/500 disk 1 in 600 out 1200 w 0")
	var left int
	if err := d.Pool.QueryRow(t.Context(), "SELECT count(*) FROM metric_late").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d notes are left, %v", left, err)
	}
}

// A run that is cut off after any step is taken up by the next one.
func TestRollUpResumes(t *testing.T) {
	t.Parallel()
	d := newSeries(t)
	for i := range 60 {
		sample(t, d, 1, at("09:00:00").Add(time.Duration(i)*3*time.Minute), 0.5, 1, int64(i)*100)
	}
	cut := errors.New("cut off")
	for i := 0; ; i++ {
		taken := 0
		err := metric.RollUp(t.Context(), d, noon, 30*time.Second, func(metric.Step) error {
			if taken++; taken > 2 {
				return cut
			}
			return nil
		})
		if err == nil {
			break
		}
		if !errors.Is(err, cut) || i > 30 {
			t.Fatalf("try %d: %v", i, err)
		}
	}
	whole := newSeries(t)
	for i := range 60 {
		sample(t, whole, 1, at("09:00:00").Add(time.Duration(i)*3*time.Minute), 0.5, 1, int64(i)*100)
	}
	rollUp(t, whole, noon)
	for _, table := range []string{"metric_5m", "metric_1h"} {
		same(t, rows(t, d, table, 1), rows(t, whole, table, 1))
	}
}

func TestTwoInstancesRollUpAtOnce(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	a, b := dbtest.Open(t, url), dbtest.Open(t, url)
	if err := metric.EnsurePartitions(t.Context(), a, noon); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, a, `INSERT INTO metric_samples (at, target_kind, target_id, cpu,
		net_in) SELECT $1::timestamptz + n * interval '1 minute', 'guest', g, 0.5, n * 10
		FROM generate_series(0, 239) n, generate_series(1, 20) g`, at("08:00:00"))
	var wg sync.WaitGroup
	for _, d := range []*db.DB{a, b, a, b} {
		wg.Go(func() {
			if err := metric.RollUp(t.Context(), d, noon, 30*time.Second, func(metric.Step) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var n, sum int64
	if err := a.Pool.QueryRow(t.Context(), "SELECT count(*), sum(net_in) FROM metric_5m").Scan(&n, &sum); err != nil || n != 20*48 ||
		sum != 20*2390 {
		t.Errorf("%d rows, %d bytes, %v", n, sum, err)
	}
	if err := a.Pool.QueryRow(t.Context(), "SELECT count(*), sum(samples), sum(net_in) FROM metric_1h").Scan(&n, new(int64),
		&sum); err != nil || n != 20*4 || sum != 20*2390 {
		t.Errorf("%d rows, %d bytes, %v", n, sum, err)
	}
}

func TestWhatMayBeDropped(t *testing.T) {
	t.Parallel()
	d := newSeries(t)
	droppable := func(r metric.Resolution) time.Time {
		t.Helper()
		to, err := metric.Droppable(t.Context(), d, r)
		if err != nil {
			t.Fatal(err)
		}
		return to
	}
	if to := droppable(metric.Raw); !to.IsZero() {
		t.Errorf("before anything was rolled up: %s", to)
	}
	sample(t, d, 1, date(9), 0.5, 1, 1)
	rollUp(t, d, noon)
	for _, r := range []metric.Resolution{metric.Raw, metric.FiveMinutes} {
		if to := droppable(r); !to.Equal(noon.Add(-6 * time.Hour)) {
			t.Errorf("%s: %s", r, to)
		}
	}
	dbtest.Exec(t, d, "INSERT INTO metric_late (hour) VALUES ($1)", at("02:00:00"))
	if to := droppable(metric.Raw); !to.Equal(date(10).Add(-4 * time.Hour)) {
		t.Errorf("with a late hour: %s", to)
	}
}

// Someone who reads a partition does not make those wait who add samples.
func TestDropGivesUpWhileAPartitionIsRead(t *testing.T) {
	t.Parallel()
	d := newSeries(t)
	tx, err := d.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), "SELECT FROM metric_samples"); err != nil {
		t.Fatal(err)
	}
	if _, err := metric.DropPartitions(t.Context(), d, metric.Raw, noon); !errors.Is(err, metric.ErrInUse) {
		t.Errorf("%v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if dropped, err := metric.DropPartitions(t.Context(), d, metric.Raw, noon); err != nil || len(dropped) != 1 {
		t.Errorf("%v, %v", dropped, err)
	}
}

func TestMonths(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	end := time.Date(2031, 12, 30, 23, 0, 0, 0, time.UTC)
	if err := metric.EnsurePartitions(t.Context(), d, end); err != nil {
		t.Fatal(err)
	}
	have, err := metric.Partitions(t.Context(), d, metric.OneHour)
	if got := fmt.Sprint(have); err != nil ||
		got != fmt.Sprint([]time.Time{time.Date(2031, 12, 1, 0, 0, 0, 0, time.UTC), time.Date(2032, 1, 1, 0, 0, 0, 0, time.UTC)}) {
		t.Fatalf("%s, %v", got, err)
	}
	if dropped, err := metric.DropPartitions(t.Context(), d, metric.OneHour, end); err != nil || len(dropped) != 0 {
		t.Errorf("dropped %v, %v", dropped, err)
	}
	if dropped, err := metric.DropPartitions(t.Context(), d, metric.OneHour, end.AddDate(0, 0, 2)); err != nil || len(dropped) != 1 {
		t.Errorf("dropped %v, %v", dropped, err)
	}
}

// The index by time knows of all samples before they are looked for by time; without that, a day is read for each hour.
func TestRollUpBringsTheIndexUpToDate(t *testing.T) {
	t.Parallel()
	d := newSeries(t)
	dbtest.Exec(t, d, `INSERT INTO metric_samples (at, target_kind, target_id, cpu,
		net_in) SELECT $1::timestamptz + n * interval '1 minute', 'guest', g, 0.5, n
		FROM generate_series(0, 59) n, generate_series(1, 300) g`, at("11:00:00"))
	unknown := func() (n int) {
		t.Helper()
		if err := d.Pool.QueryRow(t.Context(), "SELECT brin_summarize_new_values('metric_samples_20310310_at_idx')").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	dbtest.Exec(t, d, "INSERT INTO metric_rollups VALUES ('5m', $1), ('1h', $1)", at("11:00:00"))
	rollUp(t, d, noon)
	if n := unknown(); n != 0 {
		t.Errorf("%d stretches were not in the index", n)
	}
}
