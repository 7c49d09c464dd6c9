package metric_test

import (
	"context"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/metric"
)

// BenchmarkRollUp rolls up one hour of guests polled every 30 s, in a day that has two hours of samples before. The number
// of guests is HOSTLER_BENCH_GUESTS, 500 when it is not set.
func BenchmarkRollUp(b *testing.B) {
	guests := of(b, "HOSTLER_BENCH_GUESTS", 500)
	d := newSeries(b)
	dbtest.Exec(b, d, `INSERT INTO metric_samples (at, target_kind, target_id, cpu, memory, memory_total, disk, disk_total, net_in,
		net_out, disk_read, disk_write)
		SELECT $1::timestamptz + n * interval '30 seconds', 'guest', g, random(), 1e9 * random(), 4e9, 1e10, 3e10, n * 1000, n * 900, n * 800,
		n * 700
		FROM generate_series(0, 359) n, generate_series(1, $2::int) g`, noon.Add(-3*time.Hour), guests)
	dbtest.Exec(b, d, "ANALYZE metric_samples")
	nothing := func(metric.Step) error { return nil }
	up := func(now time.Time) {
		if err := metric.RollUp(context.Background(), d, now, 30*time.Second, nothing); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		b.StopTimer()
		dbtest.Exec(b, d, "DELETE FROM metric_rollups")
		dbtest.Exec(b, d, "TRUNCATE metric_5m, metric_1h")
		dbtest.Exec(b, d, "INSERT INTO metric_rollups VALUES ('5m', $1), ('1h', $1)", noon.Add(-2*time.Hour))
		up(noon.Add(-time.Hour))
		b.StartTimer()
		began := time.Now()
		up(noon)
		b.ReportMetric(time.Since(began).Seconds(), "s/hour")
		b.StopTimer()
		began = time.Now()
		up(noon.Add(5 * time.Minute))
		b.ReportMetric(time.Since(began).Seconds(), "s/next")
		b.StartTimer()
	}
}
