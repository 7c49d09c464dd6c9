package activity_test

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hostler/hostler/core/activity"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
)

// fill makes n rows in each source: nearly all of team 1, a few old ones of team 7, and most of the audit log of jobs.
func fill(t testing.TB, d *db.DB, n int) {
	t.Helper()
	for _, sql := range []string{
		"INSERT INTO teams (id, name, slug) VALUES (7, 'seven', 'seven')",
		`INSERT INTO jobs (kind, status, team_id, target_kind, target_id, target_name, created_at, finished_at)
			SELECT 'vm.start', 'succeeded', CASE WHEN i <= 50 THEN 7 ELSE 1 END, 'vm', i, 'vm' || i,
			now() - interval '1 year' + i * interval '1 second', now() FROM generate_series(1, $1::int) i`,
		`INSERT INTO alerts (team_id, target_kind, target_id, target_name, rule, severity, raised_at)
			SELECT CASE WHEN i <= 50 THEN 7 ELSE 1 END, 'vm', i, 'vm' || i, 'cpu', 'info', now() - interval '1 year' + i * interval '1 second'
			FROM generate_series(1, $1::int) i`,
		"UPDATE alerts SET resolved_at = raised_at + interval '1 minute' WHERE id % 2 = 0",
		`INSERT INTO audit (actor_type, action, target_kind, target_id, target_name, team_id, job_id, result, at)
			SELECT 'user', 'vm.start', 'vm', i::text, 'vm' || i, CASE WHEN i <= 50 THEN 7 ELSE 1 END, CASE WHEN i > 1000 THEN i END, 'ok',
			now() - interval '1 year' + i * interval '1 second'
			FROM generate_series(1, $1::int) i`,
		"ANALYZE",
	} {
		args := []any{}
		if strings.Contains(sql, "$1") {
			args = append(args, n)
		}
		if _, err := d.Pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
}

var sights = map[string]activity.Visibility{
	"everything": activity.VisibilityOf(&identity.Caller{Teams: map[int64]identity.Role{1: identity.Admin}}),
	"one team":   activity.VisibilityOf(&identity.Caller{Teams: map[int64]identity.Role{7: identity.Admin}}),
	"no team":    activity.VisibilityOf(&identity.Caller{}),
}

// However many rows there are, few are read: each source is walked along an index.
func TestPlanReadsFewRows(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a large table: make check runs it")
	}
	t.Parallel()
	d := dbtest.New(t)
	fill(t, d, 20_000)
	for name, sight := range sights {
		sql := ""
		spy := spying(t, d, &sql)
		entries, err := activity.List(t.Context(), spy, sight, 20)
		if want := map[string]int{"no team": 0}; err != nil || len(entries) != 20 && want[name] != len(entries) {
			t.Fatalf("%s: %d entries, %v", name, len(entries), err)
		}
		args := []any{20}
		for _, v := range []identity.VisibleTeams{sight.Jobs, sight.Alerts, sight.Alerts, sight.Audit} {
			if !v.All {
				args = append(args, v.Teams)
			}
		}
		rows, err := d.Pool.Query(t.Context(), "EXPLAIN "+sql, args...)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(plan, func(line string) bool { return strings.Contains(line, "Seq Scan") }) {
			t.Errorf("%s:\n%s", name, strings.Join(plan, "\n"))
		}
	}
}

type tracer struct{ sql *string }

func (s tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, "UNION ALL") {
		*s.sql = data.SQL
	}
	return ctx
}

func (tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// spying is the same database, with the feed's statement kept.
func spying(t *testing.T, d *db.DB, sql *string) *db.DB {
	t.Helper()
	config := d.Pool.Config().Copy()
	config.ConnConfig.Tracer = tracer{sql}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return &db.DB{Pool: pool}
}

// BenchmarkList is the feed on HOSTLER_BENCH_ROWS rows in each source, 50,000 when it is not set.
func BenchmarkList(b *testing.B) {
	rows := 50_000
	if n, err := strconv.Atoi(os.Getenv("HOSTLER_BENCH_ROWS")); err == nil {
		rows = n
	}
	d := dbtest.New(b)
	fill(b, d, rows)
	for name, sight := range sights {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			began := time.Now()
			for b.Loop() {
				if _, err := activity.List(b.Context(), d, sight, 100); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(time.Since(began).Microseconds())/float64(b.N), "us/feed")
		})
	}
}
