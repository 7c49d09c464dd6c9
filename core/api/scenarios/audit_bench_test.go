package scenarios

import (
	"context"
	"io"
	"net/http"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// auditCopyOut is what psql is held against: the columns of the export in its order.
const auditCopyOut = `\copy (SELECT id, at, actor_type, actor_id, actor_email, action, target_kind, target_id, target_name, result, error,
	address, request_id, job_id, host_id, details FROM audit ORDER BY at, id) TO STDOUT WITH (FORMAT csv, HEADER)`

// BenchmarkAuditExport is an export of a million rows over HTTP, and psql's copy of the same rows. grown is by how many bytes the
// heap was larger than before at any moment of the export.
func BenchmarkAuditExport(b *testing.B) {
	const rows = 1_000_000
	r := newAuditExports(b, rows, 0)
	if _, err := r.db.Pool.Exec(b.Context(), "VACUUM ANALYZE audit"); err != nil {
		b.Fatal(err)
	}
	cookie := identitytest.As(b, r.users, identity.Admin).Cookie
	for _, format := range []string{"csv", "jsonl"} {
		b.Run(format, func(b *testing.B) {
			grown := heapGrowth(b)
			for b.Loop() {
				request, err := http.NewRequestWithContext(b.Context(), "GET", r.url+"?to=2030-01-01T00:00:00Z&format="+format, nil)
				if err != nil {
					b.Fatal(err)
				}
				request.AddCookie(cookie)
				answer, err := http.DefaultClient.Do(request)
				if err != nil || answer.StatusCode != 200 {
					b.Fatal(answer, err)
				}
				n, err := io.Copy(io.Discard, answer.Body)
				if err != nil || n < rows*100 {
					b.Fatal(n, err)
				}
				answer.Body.Close()
			}
			b.ReportMetric(float64(grown()), "grown-B")
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
	b.Run("psql", func(b *testing.B) {
		psql, err := exec.LookPath("psql")
		if err != nil {
			b.Skip("there is no psql")
		}
		for b.Loop() {
			cmd := exec.CommandContext(b.Context(), psql, "-qXd", r.db.Pool.Config().ConnString(), "-c", auditCopyOut)
			out, err := cmd.StdoutPipe()
			if err != nil {
				b.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			n, err := io.Copy(io.Discard, out)
			if failed := cmd.Wait(); err != nil || failed != nil || n < rows*100 {
				b.Fatal(n, err, failed)
			}
		}
		b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
}

// heapGrowth samples the heap until it is asked by how much it has grown.
func heapGrowth(b *testing.B) func() uint64 {
	in := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	before, most := in(), uint64(0)
	ctx, end := context.WithCancel(b.Context())
	var sampling sync.WaitGroup
	sampling.Go(func() {
		for ticker := time.NewTicker(20 * time.Millisecond); ctx.Err() == nil; <-ticker.C {
			most = max(most, in())
		}
	})
	return func() uint64 {
		end()
		sampling.Wait()
		return max(most, before) - before
	}
}
