package scenarios

import (
	"net/http/httptest"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/service/servicetest"
)

// BenchmarkListOfVMs is GET /api/v1/vms of 10,000 VMs through the handler, as it is and compressed, and PostgreSQL making the same rows
// JSON by itself. The time of the processor is this process's own: a busy machine does not change it much.
func BenchmarkListOfVMs(b *testing.B) {
	r := servicetest.NewResource(b, registerVMs)
	inventorytest.Many(b, r.DB, 10_000, 0)
	for name, encoding := range map[string]string{"handler": "", "gzip": "gzip", "zstd": "zstd"} {
		b.Run(name, func(b *testing.B) {
			begun := cpuUsed()
			for b.Loop() {
				request := httptest.NewRequest("GET", "/api/v1/vms", nil)
				request.Header.Set("Accept-Encoding", encoding)
				apitest.FakeLogIn(request, apitest.Viewer)
				w := httptest.NewRecorder()
				r.API.Handler.ServeHTTP(w, request)
				if w.Code != 200 || w.Header().Get("X-Total-Count") != "10000" || w.Header().Get("Content-Encoding") != encoding {
					b.Fatal(w.Code, w.Header())
				}
				b.ReportMetric(float64(w.Body.Len()), "bytes")
			}
			b.ReportMetric(float64((cpuUsed()-begun).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
	b.Run("json_agg", func(b *testing.B) {
		for b.Loop() {
			var text string
			if err := r.DB.Pool.QueryRow(b.Context(), `SELECT json_agg(g)::text FROM (SELECT g.*, h.name AS host, c.name AS cluster FROM guests g
				JOIN hosts h ON h.id = g.host_id JOIN clusters c ON c.id = g.cluster_id WHERE kind = 'vm' ORDER BY g.vmid) g`).
				Scan(&text); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(text)), "bytes")
		}
	})
}
