package metric_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/metric"
)

// Two hundred guests are rolled up, dropped and asked for by as many statements as two.
func TestStatementsDoNotGrowWithGuests(t *testing.T) {
	t.Parallel()
	count := func(guests int) (rolled, asked int64) {
		d, statements := dbtest.Counting(t, dbtest.URL(t))
		inventorytest.Many(t, d, guests, 0)
		from := past().Add(-4 * time.Hour)
		if err := metric.EnsurePartitions(t.Context(), d, from); err != nil {
			t.Fatal(err)
		}
		dbtest.Exec(t, d, `INSERT INTO metric_samples (at, target_kind, target_id, cpu, net_in)
			SELECT $1::timestamptz + n * interval '1 minute', 'guest', g, 0.5, n FROM generate_series(0, 239) n, generate_series(1, $2::int) g`,
			from, guests)
		rolled = statements.Count(func() {
			rollUp(t, d, past())
			if _, err := metric.DropPartitions(t.Context(), d, metric.Raw, from.AddDate(0, 0, -2)); err != nil {
				t.Fatal(err)
			}
		})
		q := metric.Query{Metrics: []string{"cpu", "net_in"}, From: from, To: past()}
		for i := range guests {
			q.Targets = append(q.Targets, fmt.Sprintf("vm:%d", i+1))
		}
		asked = statements.Count(func() {
			a, err := (&metric.Store{DB: d}).Query(t.Context(), q, everything)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.WriteJSON(io.Discard); err != nil {
				t.Fatal(err)
			}
		})
		if n := dbtest.Value[int](t, d, "SELECT count(DISTINCT target_id) FROM metric_1h WHERE target_kind = 'guest'"); n != guests {
			t.Fatalf("%d of %d guests were rolled up", n, guests)
		}
		return rolled, asked
	}
	rolledFew, askedFew := count(2)
	rolledMany, askedMany := count(200)
	if rolledFew == 0 || rolledMany != rolledFew {
		t.Errorf("%d statements roll up 200 guests, and %d roll up two", rolledMany, rolledFew)
	}
	if askedFew == 0 || askedMany != askedFew {
		t.Errorf("%d statements ask for 200 guests, and %d ask for two", askedMany, askedFew)
	}
}
