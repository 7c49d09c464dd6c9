// Package load keeps which load the service is to each host: how many requests it has sent to it, and how long these kept it busy. It
// counts what plugins count, the requests to a hypervisor and not calls of a plugin, whatever they were for: polls, details, operations.
package load

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/plugin"
)

const (
	// takeEvery is how often plugins are asked: what a plugin that dies has counted since is lost.
	takeEvery = 10 * time.Second
	// writeEvery is how often what they told is written.
	writeEvery = time.Minute
	// keep is how long a minute is kept, in SQL.
	keep = "2 hours"
	// maxPending bounds what waits for a database that is away.
	maxPending = 100_000
)

// Source tells what was sent since it was last asked, as *plugin.Manager does.
type Source interface {
	TakeRequests(ctx context.Context) []plugin.SentRequests
}

// Recorder brings what the plugins of this instance count into the database. Its methods may be called at the same time.
type Recorder struct {
	DB     *db.DB
	Source Source
	// Logger gets what users do not see; nil logs nothing.
	Logger hclog.Logger
	// Heartbeat hears of every turn of Run; nil hears nothing.
	Heartbeat *heartbeat.Monitor

	mu sync.Mutex
	// pending is what was taken and is not written yet.
	pending map[key]figure
	// total is what was taken since the start, by plugin.
	total map[string]figure
}

// key is what requests are counted for. minute is its begin.
type key struct {
	plugin, address string
	minute          time.Time
}

type figure struct {
	requests int64
	busy     time.Duration
}

func (f figure) add(g figure) figure { return figure{f.requests + g.requests, f.busy + g.busy} }

// Run takes and writes until the context ends, and then once more.
func (r *Recorder) Run(ctx context.Context) {
	r.Heartbeat.Beat(takeEvery)
	ticker := time.NewTicker(takeEvery)
	defer ticker.Stop()
	written := time.Now()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			r.turn(last, true)
			return
		case <-ticker.C:
		}
		due := time.Since(written) >= writeEvery-takeEvery/2
		r.turn(ctx, due)
		if due {
			written = time.Now()
		}
		r.Heartbeat.Beat(takeEvery)
	}
}

func (r *Recorder) turn(ctx context.Context, write bool) {
	r.Take(ctx, time.Now())
	if !write {
		return
	}
	if err := r.Write(ctx); err != nil && r.Logger != nil && ctx.Err() == nil {
		r.Logger.Warn("could not store the request counts", "error", err)
	}
}

// Take asks the plugins now. What they tell counts for the minute of that time.
func (r *Recorder) Take(ctx context.Context, now time.Time) {
	sent := r.Source.TakeRequests(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.total == nil {
		r.total = map[string]figure{}
	}
	for _, s := range sent {
		f := figure{s.Requests, s.Busy}
		r.total[s.Plugin] = r.total[s.Plugin].add(f)
		r.wait(key{s.Plugin, s.Address, now.UTC().Truncate(time.Minute)}, f)
	}
}

// wait adds to what is to be written.
func (r *Recorder) wait(k key, f figure) {
	if r.pending == nil {
		r.pending = map[key]figure{}
	}
	before, known := r.pending[k]
	if !known && len(r.pending) >= maxPending {
		return
	}
	r.pending[k] = before.add(f)
}

// addRequests adds to the minutes of the hosts at these addresses. An address that is no host's, such as one that was only probed, is
// left out.
const addRequests = `INSERT INTO host_requests AS r (host_id, minute, requests, seconds)
SELECT h.id, s.minute, sum(s.requests), sum(s.seconds)
FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::bigint[], $5::float8[]) AS s (driver, address, minute, requests, seconds)
JOIN hosts h ON h.address = s.address AND h.driver = s.driver
WHERE s.minute > now() - interval '` + keep + `'
GROUP BY h.id, s.minute ORDER BY h.id, s.minute
ON CONFLICT (host_id, minute) DO UPDATE SET requests = r.requests + excluded.requests, seconds = r.seconds + excluded.seconds`

// Write writes what was taken, and deletes what is old. What cannot be written waits for the next time.
func (r *Recorder) Write(ctx context.Context) error {
	r.mu.Lock()
	writing := r.pending
	r.pending = nil
	r.mu.Unlock()
	err := r.DB.Tx(ctx, func(tx *db.Tx) error {
		if _, err := tx.Pgx.Exec(ctx, "DELETE FROM host_requests WHERE minute < now() - interval '"+keep+"'"); err != nil {
			return fmt.Errorf("deleting old minutes of requests: %w", err)
		}
		if len(writing) == 0 {
			return nil
		}
		if _, err := tx.Pgx.Exec(ctx, addRequests, columns(writing)...); err != nil {
			return fmt.Errorf("adding minutes of requests: %w", err)
		}
		return nil
	})
	if err != nil && db.UnsettledOutcome(err) == nil { // rather too few than twice
		r.mu.Lock()
		defer r.mu.Unlock()
		for k, f := range writing {
			r.wait(k, f)
		}
	}
	return err
}

// columns are the arguments of addRequests.
func columns(figures map[key]figure) []any {
	var drivers, addresses []string
	var minutes []time.Time
	var requests []int64
	var seconds []float64
	for k, f := range figures {
		drivers, addresses, minutes = append(drivers, k.plugin), append(addresses, k.address), append(minutes, k.minute)
		requests, seconds = append(requests, f.requests), append(seconds, f.busy.Seconds())
	}
	return []any{drivers, addresses, minutes, requests, seconds}
}

// RatesSQL is, in SQL, the load of each host that plugins count, per minute: requests and seconds over the last five minutes, and
// hour_requests and hour_seconds over the last hour. The last minute that is over may not be written yet and is left out. Where it
// is counted for less long, the average is over that time, and null before a minute is there.
const RatesSQL = `SELECT host_id,
	CASE WHEN n > 0 THEN five_requests / least(5, n) END AS requests, CASE WHEN n > 0 THEN five_seconds / least(5, n) END AS seconds,
	CASE WHEN n > 0 THEN all_requests / least(60, n) END AS hour_requests, CASE WHEN n > 0 THEN all_seconds / least(60, n) END AS hour_seconds
FROM (SELECT host_id, extract(epoch FROM upto - min(minute))::float8 / 60 AS n,
	coalesce(sum(requests) FILTER (WHERE minute < upto AND minute >= upto - interval '5 minutes'), 0)::float8 AS five_requests,
	coalesce(sum(seconds) FILTER (WHERE minute < upto AND minute >= upto - interval '5 minutes'), 0) AS five_seconds,
	coalesce(sum(requests) FILTER (WHERE minute < upto AND minute >= upto - interval '1 hour'), 0)::float8 AS all_requests,
	coalesce(sum(seconds) FILTER (WHERE minute < upto AND minute >= upto - interval '1 hour'), 0) AS all_seconds
	FROM host_requests, (SELECT date_trunc('minute', now()) - interval '1 minute' AS upto) AS until GROUP BY host_id, upto) AS sums`

// Total is what the plugins of one name have sent since this instance was started.
type Total struct {
	Plugin   string
	Requests int64
	Seconds  float64
}

// Totals are those of all plugins, by name.
func (r *Recorder) Totals() []Total {
	r.mu.Lock()
	defer r.mu.Unlock()
	totals := make([]Total, 0, len(r.total))
	for _, name := range slices.Sorted(maps.Keys(r.total)) {
		totals = append(totals, Total{name, r.total[name].requests, r.total[name].busy.Seconds()})
	}
	return totals
}
