package plugin_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// benchmark runs the plugin quietly for a benchmark.
func benchmark(b *testing.B) *plugin.Manager {
	b.Helper()
	dir := b.TempDir()
	content, err := os.ReadFile(program(b))
	if err == nil {
		err = programtest.Write(dir+"/"+memFile, content)
	}
	if err != nil {
		b.Fatal("installing the plugin:", err)
	}
	m, err := plugin.New(plugin.Config{Dir: dir, Pins: &pins{}, AllowWritableDir: true, Logger: hclog.NewNullLogger()})
	if err == nil {
		_, err = m.Pin(b.Context(), memFile, "benchmark")
	}
	if err == nil {
		err = m.Start(b.Context())
	}
	if err != nil {
		b.Fatal("starting the plugin:", err)
	}
	b.Cleanup(m.Stop)
	return m
}

func benchHost(b *testing.B, driver hypervisor.Driver, address string) hypervisor.Host {
	b.Helper()
	host, err := driver.Open(b.Context(), endpoint.Target{
		Address: address, Credential: endpoint.Credential{Capability: endpoint.Monitoring, Secret: "some-secret"},
	})
	if err != nil {
		b.Fatal("opening a host:", err)
	}
	return host
}

// BenchmarkInventory moves 10,000 guests from plugin to core. It reports the CPU time of both processes for one inventory,
// that of merely decoding the guests' JSON in the same run (the floor), the ratio, and the plugin's resident memory.
func BenchmarkInventory(b *testing.B) {
	const address = "10-nodes.10000-vms.mem:8006"
	m := benchmark(b)
	host := benchHost(b, m.Hypervisor("mem"), address)
	pid := m.Status()[0].PID
	read := func() {
		guests := 0
		err := host.Inventory(b.Context(), hypervisor.InventoryQuery{}, func(p hypervisor.Page) error {
			guests += len(p.Guests)
			return nil
		})
		if err != nil || guests != 10_000 {
			b.Fatalf("%d guests, error %v", guests, err)
		}
	}
	read()
	floor := decodeFloor(b)
	core, remote := ownCPU(b), processCPU(b, pid)
	b.ResetTimer()
	for b.Loop() {
		read()
	}
	b.StopTimer()
	core, remote = ownCPU(b)-core, processCPU(b, pid)-remote
	perOp := func(d time.Duration) float64 { return float64(d) / float64(b.N) / 1e6 }
	b.ReportMetric(perOp(core), "core-cpu-ms/op")
	b.ReportMetric(perOp(remote), "plugin-cpu-ms/op")
	b.ReportMetric(float64(floor)/1e6, "json-floor-ms")
	b.ReportMetric(perOp(core+remote)/(float64(floor)/1e6), "ratio")
	b.ReportMetric(residentMiB(b, pid), "plugin-MiB")
}

// BenchmarkVersion is one small call, through a plugin and in the process itself.
func BenchmarkVersion(b *testing.B) {
	remote := benchmark(b).Hypervisor("mem")
	for name, driver := range map[string]hypervisor.Driver{"plugin": remote, "in-process": memdriver.NewByName()} {
		b.Run(name, func(b *testing.B) {
			host := benchHost(b, driver, "one.mem:8006")
			for b.Loop() {
				if _, err := host.Version(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// decodeFloor is the CPU time of decoding 10,000 guests from the JSON that a hypervisor sends for them.
func decodeFloor(b *testing.B) time.Duration {
	b.Helper()
	var text strings.Builder
	text.WriteString(`{"data":[`)
	for i := range 10_000 {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"id":"qemu/%d","type":"qemu","vmid":%d,"node":"node%d","name":"vm-%d","status":"running","template":0,`+
			`"cpu":0.0123456789,"maxcpu":2,"mem":1073741824,"maxmem":2147483648,"disk":0,"maxdisk":34359738368,"netin":123456789,`+
			`"netout":987654321,"diskread":1234567,"diskwrite":7654321,"uptime":86400,"tags":"mem"}`, i, i, i%10, i)
	}
	text.WriteString(`]}`)
	content := []byte(text.String())
	const rounds = 5
	before := ownCPU(b)
	for range rounds {
		var into struct {
			Data []struct {
				ID, Type, Node, Name, Status, Tags                                     string
				VMID                                                                   int64
				Template                                                               int
				CPU, MaxCPU                                                            *float64
				Mem, MaxMem, Disk, MaxDisk, NetIn, NetOut, DiskRead, DiskWrite, Uptime *int64
			}
		}
		if err := json.Unmarshal(content, &into); err != nil || len(into.Data) != 10_000 {
			b.Fatalf("%d guests, error %v", len(into.Data), err)
		}
	}
	return (ownCPU(b) - before) / rounds
}

func ownCPU(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal("reading the own CPU time:", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// processCPU reads user and system time, fields 14 and 15 of /proc/PID/stat, in ticks of 10 ms.
func processCPU(b *testing.B, pid int) time.Duration {
	b.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal("reading the plugin's CPU time:", err)
	}
	_, after, _ := strings.Cut(string(content), ") ")
	fields := strings.Fields(after)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

func residentMiB(b *testing.B, pid int) float64 {
	b.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(content)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, _ := strconv.Atoi(strings.Fields(rest)[0])
			return float64(kib) / 1024
		}
	}
	return 0
}
