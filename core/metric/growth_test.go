package metric_test

import (
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/metric"
)

// Storages of 1000 GB, each with hours of the last two weeks.
func TestDaysUntilFull(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	const gb = 1_000_000_000
	hours := []struct {
		name string
		used int64
		// disk is what was used n hours ago, of the hours that there are
		disk  string
		hours string
		want  float64
	}{
		{"a line", 720 * gb, "720 - n", "n <= 336", 11.7},
		{"a line with waves", 720 * gb, "720 - n + 10 * sin(n)", "n <= 336", 11.7},
		{"gaps in it", 720 * gb, "720 - n", "n <= 336 AND n % 3 = 0", 11.7},
		{"full", 1000 * gb, "1000 - n", "n <= 100", 0},
		{"over", 1010 * gb, "1000 - n", "n <= 100", 0},
		{"level", 720 * gb, "720", "n <= 336", -1},
		{"it falls", 720 * gb, "720 + n", "n <= 336", -1},
		{"noise", 720 * gb, "500 + 200 * sin(n * n)", "n <= 336", -1},
		{"cleaned up half way", 720 * gb, "CASE WHEN n < 168 THEN 400 - n ELSE 900 - n END", "n <= 336", -1},
		{"two days", 720 * gb, "720 - n", "n <= 48", -1},
		{"few hours", 720 * gb, "720 - n", "n <= 336 AND n % 12 = 0", -1},
		{"long ago", 720 * gb, "720 - n", "n > 340 AND n < 500", -1},
		{"in a hundred years", 1 * gb, "1 - n * 0.0001", "n <= 336", -1},
		{"none", 720 * gb, "720", "false", -1},
	}
	storages := make([]inventorytest.Storage, len(hours))
	ids := make([]int64, len(hours))
	for i, h := range hours {
		storages[i], ids[i] = inventorytest.Storage{Node: "n1", Name: h.name, Used: h.used, Total: 1000 * gb}, int64(i+1)
	}
	inventorytest.Write(t, d, inventorytest.Cluster{Hosts: []inventorytest.Host{{Name: "a", Node: "n1"}}, Storages: storages})
	now := time.Now().UTC()
	for _, month := range []time.Time{now, now.AddDate(0, 0, -14), now.AddDate(0, 0, -28)} {
		if err := metric.EnsurePartitions(t.Context(), d, month); err != nil {
			t.Fatal(err)
		}
	}
	for i, h := range hours {
		dbtest.Exec(t, d, `INSERT INTO metric_1h (at, target_kind, target_id, samples, disk, disk_total)
			SELECT date_trunc('hour', now()) - n * interval '1 hour', 'storage', $1, 120, (`+h.disk+`) * 1e9, 1000 * 1e9
			FROM generate_series(0, 500) n WHERE `+h.hours, int64(i+1))
	}
	full, err := metric.DaysUntilFull(t.Context(), d, ids)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range hours {
		got, known := full[int64(i+1)]
		if !known {
			got = -1
		}
		if got < h.want-.3 || got > h.want+.3 {
			t.Errorf("%s: %v days, want %v", h.name, got, h.want)
		}
	}
	if none, err := metric.DaysUntilFull(t.Context(), d, nil); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
	dbtest.Exec(t, d, "UPDATE storages SET status = 'unknown' WHERE id = 1")
	if full, err = metric.DaysUntilFull(t.Context(), d, []int64{1}); err != nil || len(full) != 0 {
		t.Errorf("away: %v, %v", full, err)
	}
}
