package vms_test

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/api/vms"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/vm"
)

// handler serves the resource on a database with that many VMs on one host.
func handler(tb testing.TB, guests int) (*op.API, *db.DB) {
	tb.Helper()
	d := dbtest.New(tb)
	for _, statement := range []string{
		"INSERT INTO clusters (team_id, name, seen_at) VALUES (1, 'big', now())",
		"INSERT INTO hosts (driver, name, address, cluster_id) VALUES ('fake', 'rack1', 'a:1', 1)",
		fmt.Sprintf(`INSERT INTO guests (cluster_id, host_id, kind, vmid, node, name, status, tags, cpu, cpus, memory, memory_total, disk, disk_total, net_in, net_out, disk_read, disk_write, uptime)
			SELECT 1, 1, 'vm', 99 + i, 'node' || i %% 10, 'guest-' || i, 'running', '{prod,web}', 0.25 + i / 100000.0, 4, 2147483648 + i, 4294967296, 0, 34359738368, i * 1000, i * 999, i * 998, i * 997, 86400 + i
			FROM generate_series(1, %d) i`, guests),
		"ANALYZE",
	} {
		if _, err := d.Pool.Exec(tb.Context(), statement); err != nil {
			tb.Fatal(err)
		}
	}
	store := &vm.Store{Guests: &guest.Store{DB: d, Self: &guest.Self{DB: d}}}
	a := op.New(op.Config{Router: route.New(), Authenticator: apitest.Callers{}, Resolver: op.ScopeResolver{DB: d}, Recorder: audit.Recorder{DB: d}, Version: "1"})
	vms.Register(a, vms.Deps{VMs: store})
	return a, d
}

// BenchmarkList is GET /api/v1/vms of 10,000 VMs through the handler, and PostgreSQL making the same rows JSON by itself.
func BenchmarkList(b *testing.B) {
	a, d := handler(b, 10_000)
	b.Run("handler", func(b *testing.B) {
		for b.Loop() {
			r := httptest.NewRequest("GET", "/api/v1/vms", nil)
			apitest.FakeLogIn(r, apitest.Viewer)
			w := httptest.NewRecorder()
			a.ServeHTTP(w, r)
			if w.Code != 200 || w.Header().Get("X-Total-Count") != "10000" {
				b.Fatal(w.Code)
			}
			b.ReportMetric(float64(w.Body.Len()), "bytes")
		}
	})
	b.Run("json_agg", func(b *testing.B) {
		for b.Loop() {
			var text string
			if err := d.Pool.QueryRow(b.Context(), "SELECT json_agg(g)::text FROM (SELECT g.*, h.name AS host, c.name AS cluster FROM guests g JOIN hosts h ON h.id = g.host_id JOIN clusters c ON c.id = g.cluster_id WHERE kind = 'vm' ORDER BY g.vmid) g").Scan(&text); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(text)), "bytes")
		}
	})
}
