package lxd_test

import (
	"encoding/json"
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// plainInstance is a row as one would decode it without further thought.
type plainInstance struct {
	Architecture, Description, Name, Status, Location, Type, Project string
	Config                                                           map[string]string
	ExpandedConfig                                                   map[string]string `json:"expanded_config"`
	Devices                                                          map[string]map[string]string
	ExpandedDevices                                                  map[string]map[string]string `json:"expanded_devices"`
	Stateful                                                         bool
	Profiles                                                         []string
	Created                                                          time.Time `json:"created_at"`
	LastUsed                                                         time.Time `json:"last_used_at"`
}

// BenchmarkInventory compares a poll with the floor: fetching the same list and decoding it with encoding/json. The server's own
// work is in both.
func BenchmarkInventory(b *testing.B) {
	for _, guests := range []int{1000, 10000} {
		server := serveTLS(b, lxdtest.Many(guests))
		target := targetOf(b, server, endpoint.Monitoring)
		b.Run(fmt.Sprintf("floor/%d", guests), func(b *testing.B) {
			client := server.Client()
			measure(b, func() {
				resp, err := client.Get(server.URL + "/1.0/instances")
				must(b, "fetching", err)
				raw, err := io.ReadAll(resp.Body)
				must(b, "reading", err)
				_ = resp.Body.Close()
				var rows struct{ Metadata []plainInstance }
				must(b, "decoding", json.Unmarshal(raw, &rows))
			})
		})
		b.Run(fmt.Sprintf("driver/%d", guests), func(b *testing.B) {
			host, count := open(b, newDriver(b, patience), target), 0
			measure(b, func() {
				count = 0
				must(b, "inventory", host.Inventory(b.Context(), hypervisor.InventoryQuery{}, func(p hypervisor.Page) error {
					count += len(p.Guests)
					return nil
				}))
			})
			if count != guests {
				b.Fatal(count, "guests")
			}
		})
	}
}

// measure reports the processor time of this process besides the time that passed.
func measure(b *testing.B, f func()) {
	f()
	b.ReportAllocs()
	start := processorTime()
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64((processorTime()-start).Microseconds())/float64(b.N)/1000, "cpu-ms/op")
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
