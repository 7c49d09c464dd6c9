package metric_test

import (
	"context"
	"io"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/metric"
)

// sameJSON makes the series of the CPU of all guests as the API does, in PostgreSQL.
const sameJSON = `SELECT json_build_object('series', json_agg(json_build_object('target', 'vm:' || g.id, 'name', g.name, 'metric', 'cpu',
	'unit', 'ratio', 'points', s.points) ORDER BY g.id))
FROM guests g CROSS JOIN LATERAL (SELECT json_agg(m.cpu_avg ORDER BY p.at) AS points
	FROM generate_series(:'from'::timestamptz, :'to'::timestamptz - interval '1 hour', interval '1 hour') AS p (at)
	LEFT JOIN metric_1h m ON m.target_kind = 'guest' AND m.target_id = g.id AND m.at = p.at) s`

// groupedJSON is the same by another plan, which is the faster one for so many: one join of all.
const groupedJSON = `SELECT json_build_object('series', json_agg(json_build_object('target', 'vm:' || g.id, 'name', g.name,
	'metric', 'cpu', 'unit', 'ratio', 'points', s.points) ORDER BY g.id))
FROM guests g JOIN (SELECT q.id, json_agg(m.cpu_avg ORDER BY q.at) AS points
	FROM (SELECT g.id, p.at FROM guests g CROSS JOIN
		generate_series(:'from'::timestamptz, :'to'::timestamptz - interval '1 hour', interval '1 hour') AS p (at)) q
	LEFT JOIN metric_1h m ON m.target_kind = 'guest' AND m.target_id = q.id AND m.at = q.at
		AND m.at >= :'from'::timestamptz AND m.at < :'to'::timestamptz
	GROUP BY q.id) s ON s.id = g.id`

// BenchmarkQuery is 30 days of the CPU of 1,000 guests, and how long it takes of the time that psql takes for the same JSON, by the
// faster of two statements.
func BenchmarkQuery(b *testing.B) {
	psql, err := exec.LookPath("psql")
	if err != nil {
		b.Skip("there is no psql")
	}
	const guests, days = 1000, 30
	databaseURL := dbtest.URL(b)
	d := dbtest.Open(b, databaseURL)
	inventorytest.Many(b, d, guests, 0)
	to := time.Now().UTC().Truncate(time.Hour)
	from := to.AddDate(0, 0, -days)
	for month := from; ; month = month.AddDate(0, 0, 20) {
		if err := metric.EnsurePartitions(b.Context(), d, month); err != nil {
			b.Fatal(err)
		}
		if month.After(to) {
			break
		}
	}
	dbtest.Exec(b, d, `INSERT INTO metric_1h (at, target_kind, target_id, samples, cpu_avg, cpu_max, memory_avg, net_in)
		SELECT at, 'guest', g, 120, random()::real, 1, 1e9, 1e6 FROM generate_series($1::timestamptz, $2, interval '1 hour') AS at,
		generate_series(1, $3::int) g WHERE (extract(epoch FROM at) / 3600)::bigint % 100 <> 7`, from, to, guests)
	dbtest.Exec(b, d, "VACUUM ANALYZE")
	q := metric.Query{Metrics: []string{"cpu"}, From: from, To: to, Resolution: metric.OneHour}
	for i := range guests {
		q.Targets = append(q.Targets, "vm:"+strconv.Itoa(i+1))
	}
	store := &metric.Store{DB: d}
	ours := func() time.Duration {
		began := time.Now()
		a, err := store.Query(context.Background(), q, everything)
		if err != nil {
			b.Fatal(err)
		}
		size := &counted{}
		if err := a.WriteJSON(size); err != nil || size.n < guests*days*24*4 {
			b.Fatalf("%d bytes, %v", size.n, err)
		}
		return time.Since(began)
	}
	theirs := func(statement string) time.Duration {
		began := time.Now()
		c := exec.Command(psql, databaseURL, "-qAt", "-v", "ON_ERROR_STOP=1", "-v", "from="+from.Format(time.RFC3339), "-v",
			"to="+to.Format(time.RFC3339), "-f", "-", "-o", "/dev/null")
		in, err := c.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			_, _ = io.WriteString(in, statement)
			_ = in.Close()
		}()
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		return time.Since(began)
	}
	ours() // both begin warm
	theirs(sameJSON)
	theirs(groupedJSON)
	var mine, psqls time.Duration
	for b.Loop() {
		mine += ours()
		psqls += min(theirs(sameJSON), theirs(groupedJSON))
	}
	b.ReportMetric(mine.Seconds()*1000/float64(b.N), "ms/query")
	b.ReportMetric(mine.Seconds()/psqls.Seconds(), "of-psql")
}

type counted struct{ n int }

func (c *counted) Write(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}
