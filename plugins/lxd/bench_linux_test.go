package lxd_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// manyInstances is a list of so many instances, each as large as a real one.
func manyInstances(count int) string {
	config := func(i int) string {
		idmap := `[{\"Isuid\":true,\"Isgid\":false,\"Hostid\":100000,\"Nsid\":0,\"Maprange\":10000001},` +
			`{\"Isuid\":false,\"Isgid\":true,\"Hostid\":100000,\"Nsid\":0,\"Maprange\":10000001}]`
		return fmt.Sprintf(`{"image.description":"small image","image.os":"debian","image.release":"bookworm","limits.cpu":"2",
			"limits.memory":"200MiB",
			"volatile.base_image":"a27a522c7e96974d8b76a648aa62ada591f20272ee3a8d33600b6a86d6b4dd7e","volatile.eth0.hwaddr":"00:16:3e:86:58:28",
			"volatile.idmap.base":"0","volatile.idmap.current":"%s","volatile.idmap.next":"%s","volatile.last_state.power":"RUNNING",
			"volatile.uuid":"0cd8d3bc-253a-42ee-a954-%012d"}`, idmap, idmap, i)
	}
	rows := make([]string, count)
	for i := range rows {
		devices := `{"eth0":{"name":"eth0","network":"lxdbr0","type":"nic"},"root":{"path":"/","pool":"local","type":"disk"}}`
		rows[i] = fmt.Sprintf(`{"architecture":"x86_64","config":%s,"devices":{},"ephemeral":false,"profiles":["default"],"stateful":false,
			"description":"","created_at":"2026-11-22T00:20:26.618260392Z","expanded_config":%s,"expanded_devices":%s,"name":"guest-%d",
			"status":"Running","status_code":103,"last_used_at":"2026-11-22T00:21:03.492543613Z","location":"none","type":"container",
			"project":"default"}`, config(i), config(i), devices, i)
	}
	return "[" + strings.Join(rows, ",") + "]"
}

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
		server := serveTLS(b, small(manyInstances(guests)))
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
