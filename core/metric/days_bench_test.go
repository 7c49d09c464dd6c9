package metric_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/metric"
)

// BenchmarkDays is a week of guests polled every 30 s, rolled up each hour and dropped after two days, and tells what they take on the
// disk: bytes per guest and day of each resolution, what a guest takes in the end with the retentions that are set by default, and how
// long an hour takes to roll up, also of 10,000 guests, by their share. An hour is some statements, whatever the number of guests.
// HOSTLER_BENCH_GUESTS is that number, 100 when it is not set, and HOSTLER_BENCH_DAYS that of days.
func BenchmarkDays(b *testing.B) {
	guests, days := of(b, "HOSTLER_BENCH_GUESTS", 100), of(b, "HOSTLER_BENCH_DAYS", 7)
	d, statements := dbtest.Counting(b, dbtest.URL(b))
	for b.Loop() {
		var longest, all time.Duration
		var most int64
		hours := days * 24
		for hour := range hours {
			began := noon.Add(-12*time.Hour + time.Duration(hour)*time.Hour)
			if err := metric.EnsurePartitions(b.Context(), d, began); err != nil {
				b.Fatal(err)
			}
			dbtest.Exec(b, d, `INSERT INTO metric_samples (at, target_kind, target_id, cpu, memory, memory_total, disk, disk_total, net_in, net_out,
				disk_read, disk_write)
				SELECT $1::timestamptz + n * interval '30 seconds', 'guest', g, random(), 1e9 * random(), 4e9, 1e10, 3e10, n * 1000, n * 900,
				n * 800, n * 700 FROM generate_series(0, 119) n, generate_series(1, $2::int) g`, began, guests)
			up := time.Now()
			most = max(most, statements.Count(func() { rollUp(b, d, began.Add(time.Hour)) }))
			took := time.Since(up)
			all, longest = all+took, max(longest, took)
			if _, err := metric.DropPartitions(b.Context(), d, metric.Raw, began.AddDate(0, 0, -2)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(all.Seconds()/float64(hours), "s/hour")
		b.ReportMetric(longest.Seconds(), "s/slowest-hour")
		b.ReportMetric(all.Seconds()/float64(hours)*10_000/float64(guests), "s/hour-of-10000")
		b.ReportMetric(float64(most), "statements/hour")
		kept := 0.0
		for _, r := range []struct {
			table string
			days  float64 // that are kept by default: of samples the day that is not over yet besides
		}{{"metric_samples", 3}, {"metric_5m", 31}, {"metric_1h", 745}} {
			perDay := dbtest.Value[float64](b, d, `SELECT sum(pg_total_relation_size(inhrelid))::float8 / $2::int /
				(SELECT extract(epoch FROM max(at) - min(at) + interval '30 seconds')::float8 / 86400 FROM `+r.table+`)
				FROM pg_inherits WHERE inhparent = $1::regclass`, r.table, guests)
			b.ReportMetric(perDay, r.table+"-B/guest/day")
			kept += perDay * r.days
		}
		b.ReportMetric(kept, "B/guest")
	}
}

// of is a number of the environment.
func of(b *testing.B, name string, fallback int) int {
	b.Helper()
	text := os.Getenv(name)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		b.Fatalf("%s is %q", name, text)
	}
	return n
}
