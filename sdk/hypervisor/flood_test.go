package hypervisor_test

import (
	"context"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/drivertest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// flood is a driver that answers with far more than was asked for.
type flood struct{ *memdriver.Driver }

type floodHost struct{ *memdriver.Host }

func (f flood) Open(ctx context.Context, target endpoint.Target) (hypervisor.Host, error) {
	host, err := f.Driver.Open(ctx, target)
	if err != nil {
		return nil, err
	}
	return &floodHost{host.(*memdriver.Host)}, nil
}

func (h *floodHost) TaskLog(context.Context, string, hypervisor.LogQuery) (hypervisor.Log, error) {
	log := hypervisor.Log{Total: -5}
	for n := range 150_000 {
		log.Lines = append(log.Lines, hypervisor.LogLine{N: n - 7, Text: "more"})
	}
	return log, nil
}

func TestNoMoreLinesThanAskedFor(t *testing.T) {
	t.Parallel()
	driver := memdriver.New()
	cluster := driver.Add("a.mem:8006", memdriver.Spec{VMs: 1})
	client := drivertest.Remote(t, hypervisor.Service{Driver: flood{driver}, HostType: (*floodHost)(nil)})
	host, err := client.Open(t.Context(), cluster.Target(endpoint.Monitoring))
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]int{1: 1, 500: 500, 0: 100_000} {
		log, err := host.TaskLog(t.Context(), "any", hypervisor.LogQuery{Limit: limit})
		if err != nil || len(log.Lines) != want || log.Total != 0 {
			t.Errorf("asked for %d lines and got %d of %d, %v", limit, len(log.Lines), log.Total, err)
		}
	}
}
