package audit_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
)

// BenchmarkWriters is eight writers of 20,000 rows with a transaction for each, alone and with the sealer beside them until
// every row has its place. bare is without the trigger as well.
func BenchmarkWriters(b *testing.B) {
	const writers, rows = 8, 20_000
	for _, mode := range []string{"bare", "unsealed", "sealed"} {
		b.Run(mode, func(b *testing.B) {
			d := dbtest.New(b)
			if mode == "bare" {
				if _, err := d.Pool.Exec(b.Context(), "ALTER TABLE audit DISABLE TRIGGER audit_pend"); err != nil {
					b.Fatal(err)
				}
			}
			sealer := audit.NewSealer(audit.SealerConfig{Chain: audit.NewChain(d, box(b))})
			running, end := context.WithCancel(b.Context())
			var sealing sync.WaitGroup
			if mode == "sealed" {
				sealing.Go(func() { sealer.Run(running) })
			}
			for b.Loop() {
				writeRows(b, d, writers, rows)
				for mode == "sealed" && pending(b, d) {
					time.Sleep(time.Millisecond)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			end()
			sealing.Wait()
		})
	}
}

func writeRows(b *testing.B, d *db.DB, writers, rows int) {
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := w; i < rows; i += writers {
				err := d.Tx(b.Context(), func(tx *db.Tx) error {
					return audit.WriteEntry(tx, audit.Entry{
						ActorType: audit.ActorUser, ActorID: ptr(int64(w)), ActorEmail: "anna@example.com", Action: "vm.stop", TargetKind: "vm",
						TargetID:   fmt.Sprint(i),
						TargetName: "db01", TeamID: ptr(int64(1)), Result: audit.ResultOK, Address: "192.0.2.7", RequestID: "JUW4ZQ6GJ2RBSXZ7K5DD3T2N5E",
						Details: map[string]any{"force": true},
					})
				})
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

func pending(b *testing.B, d *db.DB) (any bool) {
	if err := d.Pool.QueryRow(b.Context(), "SELECT EXISTS (SELECT FROM audit_pending)").Scan(&any); err != nil {
		b.Fatal(err)
	}
	return any
}

// BenchmarkVerify reads a chain of 100,000 places.
func BenchmarkVerify(b *testing.B) {
	tr := newTrail(b, 0)
	dbtest.Exec(tr.t, tr.db, "INSERT INTO audit (actor_type, action, result) SELECT 'system', 'x', 'ok' FROM generate_series(1, 100000)")
	sealer := audit.NewSealer(audit.SealerConfig{Chain: tr.chain})
	for pending(b, tr.db) {
		if _, err := sealer.Seal(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		tr.good(100_000, 0)
	}
	b.ReportMetric(100_000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
