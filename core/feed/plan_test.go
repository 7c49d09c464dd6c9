package feed_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/feed"
)

// spy keeps the statements that read the history.
type spy struct {
	mu   sync.Mutex
	sql  []string
	args [][]any
}

func (s *spy) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(data.SQL, "feed_changes") {
		s.sql, s.args = append(s.sql, data.SQL), append(s.args, data.Args)
	}
	return ctx
}

func (*spy) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// A long history is not read from its beginning to find what is new in it, whether PostgreSQL knows how long it is or not.
func TestHistoryIsWalkedFromItsEnd(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	d := dbtest.Open(t, url)
	inventorytest.Many(t, d, 10, 0)
	for range 200 {
		dbtest.Exec(t, d, "INSERT INTO feed_changes (kind, object, what, fields) SELECT 'guest', i, 'changed', '{status}' "+
			"FROM generate_series(1, 1000) i")
	}
	watched := &spy{}
	traced, err := db.Open(t.Context(), db.Config{URL: url, Tracer: watched})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(traced.Close)
	f := instance(t, traced)
	c := hello(t, f, everything)
	dbtest.Exec(t, d, "UPDATE guests SET name = 'a' WHERE id = 1")
	c.changes()
	back := join(t, f, everything, c.last)
	back.next()
	back.Close()
	explained := 0
	for _, analyzed := range []bool{false, true} {
		if analyzed {
			dbtest.Exec(t, d, "ANALYZE feed_changes")
		}
		watched.mu.Lock()
		for i, sql := range watched.sql {
			if !strings.Contains(sql, "SELECT") || strings.Contains(sql, "DELETE") || watched.args[i][0] == "" {
				continue
			}
			rows, err := d.Pool.Query(t.Context(), "EXPLAIN "+sql, watched.args[i]...)
			if err != nil {
				t.Fatal(err)
			}
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			plan := strings.Join(lines, "\n")
			if explained++; !strings.Contains(plan, "Index Scan using feed_changes_xid") {
				t.Errorf("analyzed %v: the history is read as a whole:\n%s", analyzed, plan)
			}
		}
		watched.mu.Unlock()
	}
	if explained < 4 {
		t.Errorf("only %d statements read the history", explained)
	}
}

// BenchmarkFigures is one poll's figures of 10,000 guests, from the database to a message.
func BenchmarkFigures(b *testing.B) {
	d := dbtest.New(b)
	inventorytest.Many(b, d, 10_000, 0)
	f := instance(b, d)
	sight := everything
	sight.Figures, sight.Kinds = true, []feed.Kind{feed.Job}
	c := hello(b, f, sight)
	size := 0
	for b.Loop() {
		dbtest.Exec(b, d, "UPDATE clusters SET figures_at = clock_timestamp()")
		m, err := c.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		size = len(m.Data)
	}
	b.ReportMetric(float64(size), "bytes")
}
