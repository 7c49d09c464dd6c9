package pve_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/drivertest"
)

// recorded keeps the answers of a simulated cluster, so that making them is no part of the measure.
type recorded map[string][]byte

func (r recorded) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	_, _ = w.Write(r[req.URL.Path])
}

// plainGuest is a row as one would decode it without further thought.
type plainGuest struct {
	Type, ID, Node, Name, Status, Lock, Pool, Tags, Storage, Plugintype, Content, Level string
	Template, Shared, VMID, Mem, Maxmem, Disk, Maxdisk, Uptime, Netin, Netout           int64
	Diskread, Diskwrite                                                                 int64
	CPU, Maxcpu                                                                         float64
}

// BenchmarkInventory compares a cycle with the floor: fetching the same answers and decoding them with encoding/json. The
// server's own work is in both.
func BenchmarkInventory(b *testing.B) {
	for _, guests := range []int{1000, 10000} {
		w := newFixture(b, pvesim.Options{Nodes: 10, Guests: guests})
		answers := recorded{}
		target := w.target(endpoint.Monitoring, w.Tokens()["monitoring"])
		for _, path := range []string{"/api2/json/cluster/resources", "/api2/json/cluster/status"} {
			answers[path] = fetch(b, w, path)
		}
		server := serveTLS(b, answers)
		target.Address, target.Fingerprint = server.Listener.Addr().String(), endpoint.Fingerprint(server.Certificate())
		_ = w.Close()

		b.Run(fmt.Sprintf("floor/%d", guests), func(b *testing.B) {
			client := server.Client()
			measure(b, func() {
				for path := range answers {
					resp, err := client.Get(server.URL + path)
					must(b, "fetching", err)
					raw, err := io.ReadAll(resp.Body)
					must(b, "reading", err)
					_ = resp.Body.Close()
					var rows struct{ Data []plainGuest }
					must(b, "decoding", json.Unmarshal(raw, &rows))
				}
			})
		})
		count := 0
		page := func(p hypervisor.Page) error { count += len(p.Guests); return nil }
		b.Run(fmt.Sprintf("driver/%d", guests), func(b *testing.B) {
			host := w.open(b, target)
			measure(b, func() {
				count = 0
				must(b, "inventory", host.Inventory(b.Context(), hypervisor.InventoryQuery{}, page))
			})
			if count != guests {
				b.Fatal(count, "guests")
			}
		})
		b.Run(fmt.Sprintf("grpc/%d", guests), func(b *testing.B) {
			client := drivertest.Remote(b, hypervisor.Service{Driver: w.driver, HostType: w.open(b, target)})
			host, err := client.Open(b.Context(), target)
			must(b, "opening", err)
			measure(b, func() {
				count = 0
				must(b, "inventory", host.Inventory(b.Context(), hypervisor.InventoryQuery{}, page))
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

func fetch(b *testing.B, w *fixture, path string) []byte {
	b.Helper()
	token := w.Tokens()["monitoring"]
	req, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, path, nil)
	req.Header.Set("Authorization", "PVEAPIToken="+token.ID+"="+token.Secret)
	answer := &capture{header: http.Header{}}
	w.Node(w.NodeNames()[0]).ServeHTTP(answer, req)
	if answer.status > 200 || len(answer.body) < 50 {
		b.Fatal(path, answer.status, string(answer.body))
	}
	return answer.body
}

// BenchmarkSnapshots compares the list of a guest's snapshots with the same request by curl, which connects anew each time, and with the
// floor: a connection that is kept, and the rows as one would decode them.
func BenchmarkSnapshots(b *testing.B) {
	w := newFixture(b, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1})
	ref := w.guest(b, pvesim.GuestSpec{VMID: 100})
	const count = 20
	for i := range count {
		must(b, "taking a snapshot", w.AddSnapshot(100, pvesim.SnapshotSpec{Name: fmt.Sprintf("snapshot%d", i)}))
	}
	const path = "/api2/json/nodes/pve1/qemu/100/snapshot"
	answers := recorded{path: fetch(b, w, path)}
	server := serveTLS(b, answers)
	target := w.target(endpoint.Monitoring, w.Tokens()["monitoring"])
	target.Address, target.Fingerprint = server.Listener.Addr().String(), endpoint.Fingerprint(server.Certificate())
	_ = w.Close()

	var byCurl float64 // seconds for one
	list := func(b *testing.B, host hypervisor.Host) {
		measure(b, func() {
			all, err := host.(hypervisor.Snapshotter).Snapshots(b.Context(), ref)
			must(b, "listing", err)
			if len(all) != count {
				b.Fatal(len(all), "snapshots")
			}
		})
		if byCurl > 0 {
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/byCurl, "x-curl")
		}
	}
	b.Run("curl", func(b *testing.B) {
		curl, err := exec.LookPath("curl")
		if err != nil {
			b.Skip("curl is not there")
		}
		measure(b, func() {
			must(b, "curl", exec.CommandContext(b.Context(), curl, "-s", "-k", "-f", "-o", "/dev/null", server.URL+path).Run())
		})
		byCurl = b.Elapsed().Seconds() / float64(b.N)
	})
	b.Run("floor", func(b *testing.B) {
		client := server.Client()
		measure(b, func() {
			resp, err := client.Get(server.URL + path)
			must(b, "fetching", err)
			var rows struct {
				Data []struct{ Name, Description, Parent string }
			}
			must(b, "decoding", json.NewDecoder(resp.Body).Decode(&rows))
			_ = resp.Body.Close()
		})
	})
	b.Run("driver", func(b *testing.B) { list(b, w.open(b, target)) })
	b.Run("grpc", func(b *testing.B) {
		client := drivertest.Remote(b, hypervisor.Service{Driver: w.driver, HostType: w.open(b, target)})
		host, err := client.Open(b.Context(), target)
		must(b, "opening", err)
		as, ok := hypervisor.As[hypervisor.Snapshotter](host)
		if !ok {
			b.Fatal("it takes no snapshots")
		}
		list(b, as.(hypervisor.Host))
	})
}
