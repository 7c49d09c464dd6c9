package identity_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
)

// A flood of log-ins takes the memory of two hashes and not of all. Not parallel: other tests would be measured too.
func TestFloodOfLogInsIsBoundedInMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory: make check runs it")
	}
	const each, most = 64 << 20, 3 * 64 << 20
	s := identity.New(dbtest.New(t), identity.Config{
		Argon2: identity.Argon2{Memory: each >> 10, Time: 1, Threads: 1}, Hashes: 2, HashWait: time.Hour,
	})
	var peak uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.Tick(2 * time.Millisecond); ; {
			select {
			case <-stop:
				return
			case <-tick:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
			}
		}
	}()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() { _, _ = s.LogIn(t.Context(), fmt.Sprintf("nobody%d@example.com", i), wrong, from("192.0.2.1")) })
	}
	wg.Wait()
	close(stop)
	<-stopped
	if s.Hashes() != 16 || peak < each || peak > most {
		t.Errorf("%d hashes took %d MiB at their peak, want at most %d", s.Hashes(), peak>>20, most>>20)
	}
}
