package metric

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/setting"
)

// These bound one answer.
const (
	// MaxPoints of one series, and MaxSeries of one answer.
	MaxPoints = 2000
	MaxSeries = 1000
	// maxCells bounds the points of an answer and maxRows what is read for it.
	maxCells = 2_000_000
	maxRows  = 4_000_000
	// gap is the longest time between two samples of a counter whose growth is
	// a rate, where polls are not rarer still.
	gap = 10 * time.Minute
)

// earliest is before all stored samples.
var earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// reach is the longest span of each resolution.
var reach = map[Resolution]time.Duration{Raw: 7 * 24 * time.Hour, FiveMinutes: 100 * 24 * time.Hour, OneHour: 3660 * 24 * time.Hour}

// Query asks for series: each metric of each target that has it.
type Query struct {
	Targets []string
	Metrics []string
	// From and To are the bounds. Without To it is now, and without From an hour before To.
	From, To time.Time
	// Resolution is the finest that holds the span in MaxPoints, and that is
	// kept so long, when it is empty.
	Resolution Resolution
}

// plan is a checked query.
type plan struct {
	targets    []Target
	figures    []figure
	from, to   time.Time
	resolution Resolution
	// step is the time between two points, and points how many there are; base
	// is the time between two rows.
	step, base time.Duration
	points     int
}

// Store answers questions about samples. It is safe for concurrent use.
type Store struct{ DB *db.DB }

// Query returns the requested series, in the order of the targets and of the
// metrics, and the events of the targets. It reads the figures with one
// statement, however many targets there are. Problems: invalid with all faults,
// not_found for a target that does not exist or is not visible.
func (s *Store) Query(ctx context.Context, q Query, visible identity.VisibleTeams) (*Result, error) {
	p, err := s.plan(ctx, q, time.Now())
	if err != nil {
		return nil, err
	}
	targets, err := find(ctx, s.DB, p.targets, visible)
	if err != nil {
		return nil, err
	}
	a, err := s.read(ctx, p, targets)
	if err != nil {
		return nil, err
	}
	a.Marks, err = marks(ctx, s.DB, targets, p.from, p.to, visible)
	return a, err
}

// Throughput returns the traffic of the guests of each visible host, in both
// directions, in the last hours.
func (s *Store) Throughput(ctx context.Context, hours int, visible identity.VisibleTeams) (*Result, error) {
	to := time.Now()
	p, err := s.plan(ctx, Query{Metrics: []string{"net_in", "net_out"}, From: to.Add(-time.Duration(hours) * time.Hour), To: to}, to)
	if err != nil {
		return nil, err
	}
	hosts, err := everyHost(ctx, s.DB, visible)
	if err != nil {
		return nil, err
	}
	return s.read(ctx, p, hosts)
}

// plan checks the query and chooses the resolution.
func (s *Store) plan(ctx context.Context, q Query, now time.Time) (*plan, error) {
	var faults []problem.Fault
	fault := func(name, format string, args ...any) {
		if len(faults) < 20 {
			faults = append(faults, problem.Fault{Loc: []any{"query", name}, Msg: fmt.Sprintf(format, args...), Type: "value_error"})
		}
	}
	p := &plan{from: q.From, to: q.To, resolution: q.Resolution}
	for _, text := range q.Targets {
		t, err := ParseTarget(text)
		if err != nil {
			fault("target", "%s", err)
		} else if !slices.Contains(p.targets, t) {
			p.targets = append(p.targets, t)
		}
	}
	for _, name := range q.Metrics {
		i := slices.IndexFunc(figures, func(f figure) bool { return f.name == name })
		if i < 0 {
			fault("metric", "must be one of %s", names())
		} else if !slices.Contains(p.figures, figures[i]) {
			p.figures = append(p.figures, figures[i])
		}
	}
	series := 0
	for _, t := range p.targets {
		for i := range p.figures {
			if p.figures[i].of(t.Kind) {
				series++
			}
		}
	}
	switch {
	case series > MaxSeries:
		fault("target", "%d series are requested, but at most %d are allowed", series, MaxSeries)
	case series == 0 && len(faults) == 0 && len(p.targets) > 0:
		fault("metric", "no target has any of these metrics: a storage has disk and disk_total")
	}
	if p.to.IsZero() {
		p.to = now
	}
	if p.from.IsZero() {
		p.from = p.to.Add(-time.Hour)
	}
	span := p.to.Sub(p.from)
	switch {
	case p.from.Before(earliest) || p.to.After(now.AddDate(1, 0, 0)):
		fault("from", "from and to must be between the year 2000 and a year from now")
	case span <= 0:
		fault("from", "must be before to")
	case span > reach[OneHour]:
		fault("from", "must be at most %d days before to", days(reach[OneHour]))
	case p.resolution != "" && span > reach[p.resolution]:
		fault("resolution", "%s is limited to %d days", p.resolution, days(reach[p.resolution]))
	}
	if len(faults) > 0 {
		return nil, problem.Invalid(faults...)
	}
	if err := s.resolve(ctx, p, now); err != nil {
		return nil, err
	}
	if rows := int64(len(p.targets)) * int64(span/p.base+1); rows > maxRows || int64(series)*int64(p.points) > maxCells {
		return nil, problem.InvalidField("the request is too large: request fewer targets, a shorter period or a coarser resolution",
			"value_error", "query", "target")
	}
	return p, nil
}

// days gives whole days, rounded down.
func days(d time.Duration) int { return int(d / (24 * time.Hour)) }

// names are those of all metrics.
func names() string {
	all := make([]string, len(figures))
	for i := range figures {
		all[i] = figures[i].name
	}
	return strings.Join(all, ", ")
}

// resolve chooses the step, and the resolution if none is requested.
func (s *Store) resolve(ctx context.Context, p *plan, now time.Time) error {
	interval, err := setting.Get(ctx, s.DB, setting.PollInterval)
	if err != nil {
		return err
	}
	base := map[Resolution]time.Duration{Raw: time.Duration(interval) * time.Second, FiveMinutes: 5 * time.Minute, OneHour: time.Hour}
	if p.resolution == "" {
		p.resolution = OneHour
		for _, finer := range []struct {
			resolution Resolution
			kept       setting.Key[int]
		}{{FiveMinutes, setting.MetricsRetention5m}, {Raw, setting.MetricsRetentionRaw}} {
			kept, err := setting.Get(ctx, s.DB, finer.kept)
			if err != nil {
				return err
			}
			if span := p.to.Sub(p.from); span <= base[finer.resolution]*(MaxPoints-1) && span <= reach[finer.resolution] &&
				!p.from.Before(now.AddDate(0, 0, -kept)) {
				p.resolution = finer.resolution
			}
		}
	}
	p.base = base[p.resolution]
	for p.step = p.base; ; p.step += p.base {
		from := p.from.Truncate(p.step)
		if p.points = int((p.to.Sub(from) + p.step - 1) / p.step); p.points <= MaxPoints {
			p.from = from.UTC()
			p.to = from.Add(time.Duration(p.points) * p.step).UTC()
			return nil
		}
	}
}

// read fills the answer with one statement.
func (s *Store) read(ctx context.Context, p *plan, targets []found) (*Result, error) {
	a := &Result{From: p.from, To: p.to, Resolution: p.resolution, Step: p.step, Marks: []Mark{}}
	var err error
	if a.CompleteTo, err = RolledUpTo(ctx, s.DB, p.resolution); err != nil {
		return nil, err
	}
	numbers, tables, ids := []int32{}, []string{}, []int64{}
	// These are the indexes of each target's series, by figure; -1 for none.
	series := make([][]int, len(targets))
	for n := range targets {
		t := &targets[n]
		for _, id := range t.ids {
			numbers, tables, ids = append(numbers, int32(n)), append(tables, t.Kind.table()), append(ids, id)
		}
		series[n] = make([]int, len(p.figures))
		for i := range p.figures {
			series[n][i] = -1
			if f := &p.figures[i]; f.of(t.Kind) {
				series[n][i] = len(a.Series)
				a.Series = append(a.Series, Series{Target: t.String(), Name: t.name, Metric: f.name, Unit: f.unit,
					Points: newPoints(p.points, f)})
			}
		}
	}
	if len(ids) == 0 {
		return a, nil
	}
	rows, err := s.DB.Pool.Query(ctx, p.statement(), pgx.QueryResultFormats{pgx.BinaryFormatCode}, numbers, tables, ids, p.first(), p.to)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading figures: %w", err))
	}
	defer rows.Close()
	in := reader{plan: p, series: series, answer: a, target: -1, row: make([]float64, len(p.figures))}
	for rows.Next() {
		if err := in.take(rows.RawValues()); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, db.Problem(fmt.Errorf("reading figures: %w", err))
	}
	return a, nil
}

// first returns the time from which rows are read: for samples somewhat
// earlier, for the first growth of the counters.
func (p *plan) first() time.Time {
	if p.resolution == Raw {
		return p.from.Add(-p.gap())
	}
	return p.from
}

// gap is the time between two samples from which a line is broken. Three polls
// may fail before it is.
func (p *plan) gap() time.Duration { return max(gap, 3*p.base) }

// statement returns SQL that reads the index of the target, the time in
// microseconds since 2000, the number of samples, and the figures, in the order
// of time if a point consists of several rows.
func (p *plan) statement() string {
	columns, samples, order := make([]string, len(p.figures)), "m.samples", ""
	for i, f := range p.figures {
		columns[i] = "m." + f.rolled + "::float8"
		if p.resolution == Raw {
			columns[i] = "m." + f.raw + "::float8"
		}
	}
	if p.resolution == Raw {
		samples = "1"
	}
	if p.resolution == Raw || p.step != p.base {
		order = " ORDER BY t.i, m.at"
	}
	return `SELECT t.i, m.at, ` + samples + `::int4, ` + strings.Join(columns, ", ") + `
		FROM unnest($1::int4[], $2::text[], $3::bigint[]) AS t (i, kind, id)
		JOIN ` + kept[p.resolution].table + ` m ON m.target_kind = t.kind AND m.target_id = t.id
		WHERE m.at >= $4 AND m.at < $5` + order
}

// reader converts rows into an answer.
type reader struct {
	plan   *plan
	series [][]int
	answer *Result
	row    []float64
	// target is that of the last row, before the last values of its counters
	// and when each was, and last the point of the last row.
	target int
	before []reading
	last   int
	lastAt time.Time
}

// reading is the value of a counter at a time.
type reading struct {
	at    time.Time
	value float64
}

// epoch is the time from which PostgreSQL counts microseconds.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// take takes one row. It reads the binary format itself, which pays for a
// million rows.
func (r *reader) take(raw [][]byte) error {
	if len(raw) != 3+len(r.row) || len(raw[0]) != 4 || len(raw[1]) != 8 || len(raw[2]) != 4 {
		return errors.New("the database answers in an unknown form")
	}
	n := int(binary.BigEndian.Uint32(raw[0]))
	at := epoch.Add(time.Duration(int64(binary.BigEndian.Uint64(raw[1]))) * time.Microsecond)
	weight := float64(binary.BigEndian.Uint32(raw[2]))
	for i := range r.row {
		r.row[i] = math.NaN()
		if len(raw[3+i]) == 8 {
			r.row[i] = math.Float64frombits(binary.BigEndian.Uint64(raw[3+i]))
		}
	}
	from, to := r.window(n, at)
	for i := range r.row {
		f, value := &r.plan.figures[i], r.row[i]
		if f.merge == rate {
			value = r.rate(i, at, value)
		}
		if index := r.series[n][i]; index >= 0 && !math.IsNaN(value) {
			for point := max(from, 0); point <= to; point++ {
				r.answer.Series[index].Points.add(point, value, weight)
			}
		}
	}
	return nil
}

// window returns the points to which a row belongs. Polls are not in step with
// points: a point without a sample between two successive samples is no gap.
func (r *reader) window(n int, at time.Time) (from, to int) {
	since := at.Sub(r.plan.from)
	to = int(since / r.plan.step)
	if since < 0 {
		to = -1
	}
	from = to
	if r.plan.resolution == Raw {
		if n != r.target {
			r.target, r.before = n, make([]reading, len(r.row))
		} else if r.last >= 0 && r.last < to-1 && at.Sub(r.lastAt) <= 2*r.plan.base {
			from = r.last + 1
		}
		r.last, r.lastAt = to, at
	}
	return from, to
}

// rate returns bytes per second: for a roll-up by its length, for samples since
// the one before. A counter that began again has no rate.
func (r *reader) rate(i int, at time.Time, value float64) float64 {
	if r.plan.resolution != Raw {
		return value / r.plan.base.Seconds()
	}
	if math.IsNaN(value) {
		return value
	}
	before := r.before[i]
	r.before[i] = reading{at, value}
	took := at.Sub(before.at)
	if before.at.IsZero() || took <= 0 || took > r.plan.gap() || value < before.value {
		return math.NaN()
	}
	return (value - before.value) / took.Seconds()
}
