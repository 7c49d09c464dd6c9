package poll_test

import (
	"context"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// What polls have missed comes from the driver's samples, and only that.
func TestSamplesFillGaps(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	guest := vm(100, "n1", "a")
	var samples []hypervisor.Sample
	id := f.host(func() hypervisor.Page {
		page := report("", "n1", []hypervisor.Node{node("n1")}, guest)
		page.Storages = []hypervisor.Storage{{Name: "local", Node: "n1", Status: "available", Used: ptr(int64(1)), Total: ptr(int64(2))}}
		page.Samples = samples
		return page
	})
	p := f.poller(f.db)
	f.sync(p, id)
	if q := f.queries[0]; q.Detail {
		t.Error("the first poll of all asked for detail")
	}
	f.sync(p, id)
	if q := f.queries[1]; !q.Detail || !q.Since.IsZero() {
		t.Errorf("the second poll asked for %+v, want everything", q)
	}
	f.sync(p, id)
	if q := f.queries[2]; q.Detail {
		t.Error("detail was asked for again at once")
	}

	// Ten minutes without a poll.
	now := time.Now()
	f.Exec("UPDATE clusters SET seen_at = $1, detail_at = $1", now.Add(-10*time.Minute))
	f.Exec("DELETE FROM metric_samples")
	of := func(at time.Duration, metric string, value float64) hypervisor.Sample {
		return hypervisor.Sample{Guest: &guest.GuestRef, At: now.Add(at), Metric: metric, Value: value}
	}
	samples = []hypervisor.Sample{
		of(-11*time.Minute, "cpu", 0.9),                                 // a poll saw this time
		of(-5*time.Minute, "cpu", 0.5), of(-5*time.Minute, "memory", 7), // one row
		of(-3*time.Minute, "net_in", 9), of(-2*time.Minute, "load", 1), // no figure of ours
		of(-26*time.Hour, "cpu", 0.1), of(time.Hour, "cpu", 0.1), // too long ago, and not yet
		{Node: "n1", At: now.Add(-4 * time.Minute), Metric: "net_in", Value: 5},
		{Node: "n1", Storage: "local", At: now.Add(-4 * time.Minute), Metric: "disk", Value: 6},
		{Node: "n7", At: now.Add(-4 * time.Minute), Metric: "cpu", Value: 0.5}, // nobody's
	}
	f.sync(p, id)
	if q := f.queries[3]; !q.Detail || now.Sub(q.Since) < 9*time.Minute {
		t.Errorf("after the gap the poll asked for %+v", q)
	}
	got := f.Value("SELECT string_agg(target_kind || ' ' || coalesce(cpu::text, '-') || ' ' || coalesce(memory::text, '-') || ' ' || " +
		"coalesce(net_in::text, '-') || ' ' || coalesce(disk::text, '-'), ', ' ORDER BY target_kind, at) FROM metric_samples WHERE at < " +
		"now() - interval '1 minute'")
	if want := "guest 0.5 7 - -, guest - - 9 -, node - - 5 -, storage - - - 6"; got != want {
		t.Errorf("samples of the gap: %s\nwant %s", got, want)
	}
	if n := f.Value("SELECT count(*) FROM metric_samples WHERE at > now() - interval '1 minute'"); n != "4" {
		t.Errorf("%s samples of the poll itself, want those of guest, node, storage and host", n)
	}
}

func TestStoppedGuestsHaveNoSamples(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	off := vm(100, "n1", "a")
	off.Status = hypervisor.GuestStopped
	id := f.host(nil)
	f.answer(id, func(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
		return page(report("", "n1", []hypervisor.Node{node("n1")}, off))
	})
	f.sync(f.poller(f.db), id)
	if n := f.Value("SELECT count(*) FROM metric_samples WHERE target_kind = 'guest'"); n != "0" {
		t.Errorf("%s samples of a stopped guest", n)
	}
}

// Samples that come after their time was rolled up are noted, so that it is rolled up again; those of the last minutes
// are rolled up again anyway.
func TestLateSamplesAreNoted(t *testing.T) { inBothShapes(t, testLateSamplesAreNoted) }

func testLateSamplesAreNoted(t *testing.T, f *fixture) {
	guest := vm(100, "n1", "a")
	var samples []hypervisor.Sample
	id := f.host(func() hypervisor.Page {
		page := report("", "n1", []hypervisor.Node{node("n1")}, guest)
		page.Samples = samples
		return page
	})
	p := f.poller(f.db)
	f.sync(p, id)
	now := time.Now()
	f.Exec("UPDATE clusters SET seen_at = $1, detail_at = $1", now.Add(-12*time.Hour))
	for _, age := range []time.Duration{5 * time.Minute, 15 * time.Minute} {
		samples = append(samples, hypervisor.Sample{Guest: &guest.GuestRef, At: now.Add(-age), Metric: "cpu", Value: 0.5})
	}
	f.sync(p, id)
	if n := f.Value("SELECT count(*) FROM metric_late"); n != "0" {
		t.Errorf("%s hours were noted for samples of the last minutes", n)
	}
	f.Exec("UPDATE clusters SET seen_at = $1, detail_at = $1", now.Add(-12*time.Hour))
	late := now.Add(-7 * time.Hour).Truncate(time.Hour)
	for _, at := range []time.Time{late.Add(time.Minute), late.Add(59 * time.Minute), late.Add(3 * time.Hour)} {
		samples = append(samples, hypervisor.Sample{Guest: &guest.GuestRef, At: at, Metric: "cpu", Value: 0.5})
	}
	f.sync(p, id)
	want := late.UTC().Format("15") + "," + late.Add(3*time.Hour).UTC().Format("15")
	if got := f.Value("SELECT string_agg(to_char(hour AT TIME ZONE 'UTC', 'HH24'), ',' ORDER BY hour) FROM metric_late"); got != want {
		t.Errorf("noted %s, want %s", got, want)
	}
}
