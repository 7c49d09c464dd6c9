package lxd

import (
	"fmt"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
)

func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "1048576": 1 << 20, "512MiB": 512 << 20, "1GiB": 1 << 30, "2GB": 2e9, "3kB": 3000, "7KiB": 7 << 10, "1TiB": 1 << 40, "5B": 5,
		"6 bytes": 6, "7EiB": 7 << 60,
	} {
		if got, ok := size(text); !ok || got != want {
			t.Errorf("%q is %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "-1", "50%", "many", "1.5GiB", "8EiB", "99999999999999999999", "9223372036854775807KiB",
		"MiB", "-3MiB"} {
		if got, ok := size(text); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
	whole := int64(1000)
	for text, want := range map[string]int64{"50%": 500, "0%": 0, "100%": 1000} {
		if got, ok := share(text, &whole); !ok || got != want {
			t.Errorf("%q is %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"50", "-1%", "101%", "%", "", "1e1%"} {
		if got, ok := share(text, &whole); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
	if _, ok := share("50%", nil); ok {
		t.Error("half of what is not known is known")
	}
}

func TestCPUCounts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"1": 1, "16": 16, "0-3": 4, "0-0": 1, "0,2,4": 3, "0-1, 3": 3, "5-5": 1} {
		if got, ok := cpuCount(text); !ok || got != want {
			t.Errorf("%q is %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "0", "-1", "3-1", "0-", "a", "1,,2", "0-99999999", "9999999999999999999", "0-60000,0-60000"} {
		if got, ok := cpuCount(text); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
}

// What a guest may use is its limit, or else what there is.
func TestGuestRows(t *testing.T) {
	t.Parallel()
	cpus, memory := 4.0, int64(8<<30)
	at := place{server: "lxd1", nodes: map[string]*hypervisor.Node{"lxd1": {CPUs: &cpus, MemoryTotal: &memory}, "bare": {}}}
	started := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		instance lxdapi.Instance
		want     string
	}{
		"no limits": {lxdapi.Instance{Type: "container", Status: "Running", Location: "none", LastUsed: started},
			"container lxd1 web1 running default cpus 4 memory 8589934592 disk - uptime 90"},
		"no limits, nothing known": {lxdapi.Instance{Type: "container", Status: "Running", Location: "bare"},
			"container bare web1 running default cpus - memory - disk - uptime -"},
		"a machine's own": {lxdapi.Instance{Type: "virtual-machine", Status: "Stopped", Location: "bare", Stateful: true},
			"vm bare web1 suspended default cpus 1 memory 1073741824 disk - uptime -"},
		"limits": {lxdapi.Instance{Type: "container", Status: "Frozen", Project: "p", LastUsed: started.Add(time.Hour),
			Config: map[string]string{"limits.cpu": "1-2", "limits.memory": "25%"},
			Devices: map[string]map[string]string{
				"d": {"type": "disk", "path": "/data", "size": "9GiB"}, "r": {"type": "disk", "path": "/", "size": "1GiB"}}},
			"container lxd1 p/web1 paused p cpus 2 memory 2147483648 disk 1073741824 uptime 0"},
		"limits above what there is": {lxdapi.Instance{Type: "container", Status: "Error", Config: map[string]string{"limits.cpu": "64"}},
			"container lxd1 web1 unknown default cpus 4 memory 8589934592 disk - uptime -"},
		"a limit that none can read": {lxdapi.Instance{Type: "container", Status: "Starting",
			Config: map[string]string{"limits.memory": "lots"}},
			"container lxd1 web1 stopped default cpus 4 memory - disk - uptime -"},
		"never started": {lxdapi.Instance{Type: "container", Status: "Running", LastUsed: time.Unix(0, 0)},
			"container lxd1 web1 running default cpus 4 memory 8589934592 disk - uptime -"},
	} {
		c.instance.Name = "web1"
		g, ok := at.guest(&c.instance, started.Add(90*time.Second))
		got := fmt.Sprint(g.Kind, " ", g.Node, " ", g.ID, " ", g.Status, " ", g.Pool, " cpus ", show(g.CPUs), " memory ", show(g.MemoryTotal),
			" disk ", show(g.DiskTotal), " uptime ", show(g.Uptime))
		if !ok || got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
	for _, i := range []lxdapi.Instance{{Name: "web1", Type: "unikernel"}, {Name: "web1\u200b", Type: "container"}} {
		if g, ok := at.guest(&i, started); ok {
			t.Errorf("%+v is a guest", g.GuestRef)
		}
	}
}

func show[T any](p *T) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprint(*p)
}
