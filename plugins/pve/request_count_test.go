package pve_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/plugintest"
)

// The plugin counts as many requests as the hypervisor gets: of reads, of what is tried again, and of a task that is still followed.
func TestPluginCountsItsRequests(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: 4})
	over := plugintest.Connect(t, hypervisor.Service{Driver: w.driver, HostType: (*pve.Host)(nil)})
	driver := hypervisor.NewClient(over)
	target := w.target(endpoint.Monitoring, w.Tokens()["monitoring"])
	host, err := driver.Open(t.Context(), target)
	must(t, "opening", err)
	sum := int64(0)
	take := func() {
		t.Helper()
		counts, err := plugin.TakeRequests(t.Context(), over)
		must(t, "asking for the counts", err)
		for _, c := range counts {
			if c.Address != target.Address || c.Busy <= 0 {
				t.Errorf("counted %+v", c)
			}
			sum += c.Requests
		}
	}
	w.fault(t, pvesim.Fault{Kind: pvesim.FaultStatus, Match: pvesim.Match{Path: "/cluster/resources"}, Status: 595, Times: 1})
	must(t, "reading the inventory", host.Inventory(t.Context(), hypervisor.InventoryQuery{Detail: true},
		func(hypervisor.Page) error { return nil }))
	_, err = host.Permissions(t.Context())
	must(t, "asking for the permissions", err)
	take()
	if got := w.Stats().Total; sum != got || sum < 5 {
		t.Errorf("%d requests were counted, and the hypervisor got %d", sum, got)
	}

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	task := w.task(t, "vzdump", time.Hour, "OK", "a line")
	go func() {
		_, err := host.WaitTask(ctx, task, 0, func(hypervisor.LogLine) error { return nil })
		ended <- err
	}()
	before := sum
	waittest.Until(t, "requests of a task that is followed count meanwhile", func() bool {
		take()
		return sum > before+5
	})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("following ended with %v", err)
	}
	waittest.Until(t, "as many were counted as the hypervisor got", func() bool {
		take()
		return sum == w.Stats().Total
	})
}
