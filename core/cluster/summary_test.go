package cluster_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hostler/hostler/core/cluster"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
)

var everything = identity.VisibleTeams{All: true, Teams: []int64{}}

// fill writes hosts, two to a cluster, with guests that each have three backups, an hour of counted requests, and ended jobs of many days.
func fill(t testing.TB, d *db.DB, hosts, guests, jobs int) {
	t.Helper()
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{"INSERT INTO clusters (team_id, name, quorate, seen_at, membership_at) " +
			"SELECT 1, 'c' || i, i <> 3, now(), now() FROM generate_series(1, $1::int) i",
			[]any{(hosts + 1) / 2}},
		{`INSERT INTO hosts (team_id, cluster_id, driver, name, address, entry_node, status, certificate_ends_at, version, version_at)
			SELECT 1, (i + 1) / 2, 'fake', 'h' || i, 'h' || i || ':8006', 'n' || i, CASE WHEN i = 7 THEN 'unreachable' ELSE 'online' END,
			now() + i * interval '5 days', '9.2.11', now() FROM generate_series(1, $1::int) i`, []any{hosts}},
		{`INSERT INTO nodes (cluster_id, host_id, name, status, cpu, cpus, memory, memory_total, seen_at, version, facts_at)
			SELECT cluster_id, id, 'n' || id, 'online', 0.5, 16, 1, 2, now(), '9.2.11', now() FROM hosts`, nil},
		{`INSERT INTO storages (cluster_id, host_id, node, name, shared, status, used, total, seen_at)
			SELECT cluster_id, host_id, name, 's' || i, i = 1, 'available', 1, 2, now() FROM nodes, generate_series(1, 4) i`, nil},
		{"INSERT INTO host_credentials (host_id, capability, token_id, secret, ends_at) SELECT id, c, c, '', now() + id * interval '9 days' " +
			"FROM hosts, unnest('{monitoring,lifecycle,backup}'::text[]) c", nil},
		{`INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status)
			SELECT h.cluster_id, h.id, 'vm', i, i, h.entry_node, 'g' || i, 'running' FROM generate_series(1, $1::int) i
			JOIN hosts h ON h.id = i % $2::int + 1`, []any{guests, hosts}},
		{"INSERT INTO guest_details (guest_id, as_of) SELECT id, now() FROM guests WHERE id % 50 <> 0", nil},
		{`INSERT INTO backup_storages (cluster_id, host_id, node, name, as_of) SELECT cluster_id, min(id), '', 'nas', now() FROM hosts
			GROUP BY cluster_id`, nil},
		{`INSERT INTO backups (cluster_id, storage_id, ref, node, kind, guest_ref, guest_id, taken_at)
			SELECT g.cluster_id, s.id, g.ref || '-' || i, g.node, 'vm', g.ref, g.id, now() - (i * 2 + g.id % 9) * interval '1 day'
			FROM guests g JOIN backup_storages s ON s.cluster_id = g.cluster_id, generate_series(1, 3) i`, nil},
		{`INSERT INTO host_requests (host_id, minute, requests, seconds)
			SELECT h.id, date_trunc('minute', now()) - m * interval '1 minute', 3, 0.05
			FROM hosts h, generate_series(0, 119) m`, nil},
		{`INSERT INTO jobs (kind, status, team_id, host_id, target_kind, target_id, target_name, created_at, finished_at)
			SELECT 'vm.start', CASE WHEN i % 10 = 0 THEN 'failed' ELSE 'succeeded' END, 1, i % $2::int + 1, 'vm', i % $3::int + 1, 'g',
			now() - i * interval '1 minute', now() - i * interval '1 minute' FROM generate_series(1, $1::int) i`, []any{jobs, hosts, guests}},
		{"ANALYZE", nil},
	} {
		dbtest.Exec(t, d, s.sql, s.args...)
	}
}

// spy keeps the statements that were sent.
type spy struct {
	mu         sync.Mutex
	statements []string
	args       [][]any
}

func (s *spy) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statements, s.args = append(s.statements, data.SQL), append(s.args, data.Args)
	return ctx
}

func (*spy) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func spying(t *testing.T, d *db.DB) (*db.DB, *spy) {
	t.Helper()
	s := &spy{}
	config := d.Pool.Config().Copy()
	config.ConnConfig.Tracer = s
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return &db.DB{Pool: pool}, s
}

// However many hosts, guests and ended jobs there are, the summary takes the same few statements, and what is old is not read.
func TestSummaryReadsLittle(t *testing.T) {
	t.Parallel()
	counts := map[int]int{}
	for _, hosts := range []int{2, 60} {
		d := dbtest.New(t)
		fill(t, d, hosts, 30*hosts, 30_000)
		watched, s := spying(t, d)
		found, err := (&cluster.Store{DB: watched}).Summary(t.Context(), everything)
		if err != nil || len(found.ByHost) != hosts {
			t.Fatalf("%d hosts, error %v", len(found.ByHost), err)
		}
		counts[hosts] = len(s.statements)
		for i, sql := range s.statements {
			if !strings.Contains(sql, "job_failed") {
				continue
			}
			rows, err := d.Pool.Query(t.Context(), "EXPLAIN "+sql, s.args[i]...)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(plan, "\n")
			if !strings.Contains(text, "jobs_finished") || strings.Contains(text, "Seq Scan on jobs") {
				t.Errorf("with %d hosts old jobs are read:\n%s", hosts, text)
			}
			if hosts == 60 && strings.Contains(text, "Seq Scan on backups") {
				t.Errorf("all backups are read:\n%s", text)
			}
		}
	}
	if counts[2] != counts[60] || counts[2] > 8 {
		t.Errorf("statements by hosts: %v", counts)
	}
}

// BenchmarkSummary is the summary of 100 hosts with 10,000 guests, 30,000 backups and 100,000 ended jobs, and beside it, in the same run,
// its figures alone, which were all of it before there were problems and states.
func BenchmarkSummary(b *testing.B) {
	d := dbtest.New(b)
	fill(b, d, 100, 10_000, 100_000)
	store := &cluster.Store{DB: d}
	for name, visible := range map[string]identity.VisibleTeams{"all": everything, "a_team": {Teams: []int64{1}},
		"nothing": {Teams: []int64{}}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := store.Summary(b.Context(), visible); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("figures", func(b *testing.B) {
		for b.Loop() {
			if err := store.Figures(b.Context(), everything, &cluster.Summary{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
