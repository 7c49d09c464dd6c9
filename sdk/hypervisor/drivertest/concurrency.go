package drivertest

import (
	"context"
	"sync"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// concurrency tests that a host may be used by several goroutines, that hosts
// with different credentials for the same endpoint do not affect each other
// (for example through a shared connection pool or a cached session), and that
// closing one host leaves others usable. Run it with the race detector.
func (s *suite) concurrency(t *testing.T) {
	s.run(t, "one host, many calls", func(t *testing.T, ctx context.Context) {
		host := s.host(t, endpoint.Monitoring)
		var calls sync.WaitGroup
		for i := range 12 {
			calls.Go(func() {
				var err error
				switch i % 3 {
				case 0:
					_, err = host.Version(ctx)
				case 1:
					err = host.Inventory(ctx, hypervisor.InventoryQuery{}, func(hypervisor.Page) error { return nil })
				default:
					_, err = host.Tasks(ctx, hypervisor.TaskQuery{Limit: 10})
				}
				if err != nil {
					t.Error("call at the same time as others:", err)
				}
			})
		}
		calls.Wait()
	})
	s.run(t, "a bad token does not spoil a good one", func(t *testing.T, ctx context.Context) {
		good := s.Target(t, endpoint.Monitoring)
		bad := good
		bad.Credential = s.wrong(t, endpoint.Monitoring).Credential
		goodHost, badHost := s.open(t, good), s.open(t, bad)
		var calls sync.WaitGroup
		for range 4 {
			calls.Go(func() {
				if _, err := goodHost.Version(ctx); err != nil {
					t.Error("the good token:", err)
				}
			})
			calls.Go(func() {
				if _, err := badHost.Version(ctx); plugin.KindOf(err) != plugin.TokenRejected {
					t.Errorf("the bad token: error is %v, want token rejected", err)
				}
			})
		}
		calls.Wait()
	})
	s.run(t, "hosts come and go", func(t *testing.T, ctx context.Context) {
		kept := s.host(t, endpoint.Monitoring)
		for range 5 {
			host, err := s.driver.Open(ctx, s.Target(t, endpoint.Monitoring))
			must(t, "opening", err)
			_, err = host.Version(ctx)
			must(t, "asking for the version", err)
			must(t, "closing", host.Close())
		}
		if _, err := kept.Version(ctx); err != nil {
			t.Error("closing other hosts affects this one:", err)
		}
	})
}
