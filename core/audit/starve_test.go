package audit_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// said is a log that is read while it is written.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Count(s.text.String(), what)
}

// Whoever holds the lock keeps new rows without a place, and so open to changes: that is told, once.
func TestSealerThatGetsNoTurnSaysSo(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a sealer that fails: make check runs it")
	}
	t.Parallel()
	tr := newTrail(t, 1)
	lock, err := tr.db.TryLock(t.Context(), db.LockAudit, 0)
	if err != nil || lock == nil {
		t.Fatal(lock, err)
	}
	const starved = 50 * time.Millisecond
	log := &said{}
	sealer := audit.NewSealer(audit.SealerConfig{
		Chain: tr.chain, Every: time.Millisecond, LagLimit: starved, Logger: hclog.New(&hclog.LoggerOptions{Output: log}),
	})
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { sealer.Run(ctx) })
	defer running.Wait()
	defer end()
	// Each look takes a connection, and nobody else does here.
	looks := func() int64 { return tr.db.Pool.Stat().AcquireCount() }
	begun := time.Now()
	waittest.Until(t, "it could complain", func() bool { return time.Since(begun) > 2*starved })
	before := looks()
	waittest.Until(t, "the sealer looks again", func() bool { return looks() >= before+3 })
	if log.count("holds its lock") != 0 {
		t.Error("it complains while nothing waits")
	}
	tr.write(3)
	waittest.Until(t, "the log says that the sealer gets no turn", func() bool { return log.count("holds its lock") == 1 })
	lock.Unlock()
	waittest.Until(t, "the log says that rows get their place again", func() bool { return log.count("position in its chain again") == 1 })
	tr.good(4, 0)
	if n := log.count("holds its lock"); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// An instance that cannot open the chain's key leaves the rows to others, and does not complain.
func TestUnableSealerLeavesTheRows(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a sealer that fails: make check runs it")
	}
	t.Parallel()
	tr := newTrail(t, 1)
	log := &said{}
	asked := make(chan struct{}, 100) // more turns than fit into the test
	sealer := audit.NewSealer(audit.SealerConfig{
		Chain: tr.chain, Every: time.Millisecond, Logger: hclog.New(&hclog.LoggerOptions{Output: log}),
		KeyUnavailable: func() bool { asked <- struct{}{}; return true },
	})
	tr.write(3)
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { sealer.Run(ctx) })
	defer running.Wait()
	defer end()
	for range 2 { // the second time says that the first turn is over
		select {
		case <-asked:
		case <-time.After(time.Minute):
			t.Fatal("the sealer does not turn")
		}
	}
	if n := dbtest.Value[int64](tr.t, tr.db, "SELECT count(*) FROM audit_pending"); n != 3 || log.count("ERROR") != 0 {
		t.Errorf("%d rows wait, want 3; errors in the log: %d", n, log.count("ERROR"))
	}
}
