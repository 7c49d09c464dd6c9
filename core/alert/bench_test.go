package alert_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hostler/hostler/core/alert"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/metric"
)

// BenchmarkCycle is a cycle of 20 rules over the samples of 10,000 guests, of which none, one in a hundred, or one in ten is a breach of
// each, beside one plain scan of the same samples. ratio is how many scans a cycle costs.
func BenchmarkCycle(b *testing.B) {
	for _, share := range []int{0, 1, 10} {
		b.Run(fmt.Sprintf("breaches_%d%%", share), func(b *testing.B) {
			d := dbtest.New(b)
			inventorytest.Many(b, d, 7000, 3000)
			now := time.Now()
			if err := metric.EnsurePartitions(b.Context(), d, now); err != nil {
				b.Fatal(err)
			}
			dbtest.Exec(b, d, "UPDATE hosts SET status = 'online'")
			kinds := []string{"cpu", "memory", "disk", "net_in", "net_out", "disk_read", "disk_write"}
			dbtest.Exec(b, d, `INSERT INTO alert_rules (name, kind, threshold, clear_level, for_s, clear_for_s, severity)
				SELECT 'b' || i, ($1::text[])[1 + i % 7], 90, 80, 60, 60, 'info' FROM generate_series(1, 20) i`, kinds)
			dbtest.Exec(b, d, "DELETE FROM alert_rules WHERE key IS NOT NULL")
			// Two minutes of samples, as four polls bring them, after eight that are not looked at.
			poll := func(at time.Time) {
				dbtest.Exec(b, d, `INSERT INTO metric_samples (at, target_kind, target_id, cpu, memory, memory_total, disk, disk_total, net_in,
					net_out, disk_read, disk_write) SELECT $1::timestamptz, 'guest', id, v / 100.0, v, 100, v, 100, c, c, c, c FROM (SELECT id,
					CASE WHEN id % 100 < $2 THEN 95 ELSE 20 END AS v, CASE WHEN id % 100 < $2 THEN 100 ELSE 1 END
						* (extract(epoch FROM $1::timestamptz) - 1.7e9)::bigint AS c FROM guests) g`, at, share)
			}
			for at := now.Add(-10 * time.Minute); at.Before(now); at = at.Add(30 * time.Second) {
				poll(at)
			}
			dbtest.Exec(b, d, "ANALYZE")
			e := alert.NewEngine(alert.Config{DB: d, Now: func() time.Time { return now }})
			var cycles, scans time.Duration
			turn := func() {
				now = now.Add(30 * time.Second)
				poll(now)
				began := time.Now()
				if did, err := e.Cycle(b.Context()); err != nil || !did {
					b.Fatal(did, err)
				}
				cycles += time.Since(began)
				began = time.Now()
				dbtest.Value[float64](b, d, `SELECT sum(cpu) + sum(memory) + sum(disk) + sum(net_in::float8) + sum(net_out::float8)
					+ sum(disk_read::float8) + sum(disk_write::float8) FROM metric_samples WHERE at > $1::timestamptz - interval '2 minutes'
					AND at <= $1::timestamptz`, now)
				scans += time.Since(began)
			}
			for range 4 { // until what is a breach is raised
				turn()
			}
			cycles, scans = 0, 0
			for b.Loop() {
				turn()
			}
			b.ReportMetric(float64(cycles.Microseconds())/float64(b.N)/1000, "ms/cycle")
			b.ReportMetric(float64(scans.Microseconds())/float64(b.N)/1000, "ms/scan")
			b.ReportMetric(cycles.Seconds()/scans.Seconds(), "ratio")
			b.ReportMetric(float64(dbtest.Value[int64](b, d, "SELECT count(*) FROM alerts WHERE resolved_at IS NULL")), "open")
		})
	}
}
