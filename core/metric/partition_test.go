package metric_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/metric"
)

func date(day int) time.Time { return time.Date(2031, 3, day, 0, 0, 0, 0, time.UTC) }

func TestEnsureMakesFourDaysAndIsSafeAtOnce(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	a, b := dbtest.Open(t, url), dbtest.Open(t, url)
	var wg sync.WaitGroup
	for i := range 8 {
		d := a
		if i%2 == 1 {
			d = b
		}
		wg.Go(func() {
			if err := metric.EnsurePartitions(t.Context(), d, date(10).Add(13*time.Hour)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	have, err := metric.Partitions(t.Context(), a, metric.Raw)
	if err != nil {
		t.Fatal(err)
	}
	want := []time.Time{date(9), date(10), date(11), date(12)}
	if !slices.EqualFunc(have, want, time.Time.Equal) {
		t.Fatalf("partitions %v, want %v", have, want)
	}
	// The edges of a day belong to it, in UTC.
	for _, at := range []time.Time{date(9), date(13).Add(-time.Microsecond)} {
		if _, err := a.Pool.Exec(t.Context(), "INSERT INTO metric_samples (at, target_kind, target_id) VALUES ($1, 'host', 1)", at); err != nil {
			t.Errorf("a sample at %s: %v", at, err)
		}
	}
}

func TestDropRemovesWholeDaysPastRetention(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	if err := metric.EnsurePartitions(t.Context(), d, date(10)); err != nil {
		t.Fatal(err)
	}
	dropped, err := metric.DropPartitions(t.Context(), d, metric.Raw, date(11).Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if want := []time.Time{date(9), date(10)}; !slices.EqualFunc(dropped, want, time.Time.Equal) {
		t.Fatalf("dropped %v, want %v", dropped, want)
	}
	have, err := metric.Partitions(t.Context(), d, metric.Raw)
	if err != nil || len(have) != 2 {
		t.Fatalf("left %v, %v", have, err)
	}
}
