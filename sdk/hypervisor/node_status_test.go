package hypervisor_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/drivertest"
)

// readingHost is a plain host that also reads nodes.
type readingHost struct {
	plainHost
	status hypervisor.NodeStatus
	asked  string
}

type readingDriver struct {
	plain
	host *readingHost
}

func (d readingDriver) Open(context.Context, endpoint.Target) (hypervisor.Host, error) {
	return d.host, nil
}

func (h *readingHost) NodeStatus(_ context.Context, node string) (hypervisor.NodeStatus, error) {
	h.asked = node
	return h.status, nil
}

func TestNodeStatusSurvives(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)
	for name, c := range map[string]struct{ sent, want hypervisor.NodeStatus }{
		"nothing": {},
		"all": {
			sent: hypervisor.NodeStatus{
				Name: "n", At: at, Uptime: ptr(int64(1)), Load: []float64{0, 1.5, 2.25}, CPU: ptr(0.0), CPUs: ptr(int64(2)), Cores: ptr(int64(3)),
				Sockets: ptr(int64(4)), CPUModel: "caf\xe9", Memory: ptr(int64(5)), MemoryTotal: ptr(int64(1 << 62)), Swap: ptr(int64(0)),
				SwapTotal: ptr(int64(6)), Disk: ptr(int64(7)), DiskTotal: ptr(int64(8)), KSMShared: ptr(int64(9)), Kernel: "6.1", Version: "9.2",
				BootMode: hypervisor.BootEFI, SecureBoot: ptr(false),
			},
			want: hypervisor.NodeStatus{
				Name: "n", At: at, Uptime: ptr(int64(1)), Load: []float64{0, 1.5, 2.25}, CPU: ptr(0.0), CPUs: ptr(int64(2)), Cores: ptr(int64(3)),
				Sockets: ptr(int64(4)), CPUModel: "caf\uFFFD", Memory: ptr(int64(5)), MemoryTotal: ptr(int64(1 << 62)), Swap: ptr(int64(0)),
				SwapTotal: ptr(int64(6)), Disk: ptr(int64(7)), DiskTotal: ptr(int64(8)), KSMShared: ptr(int64(9)), Kernel: "6.1", Version: "9.2",
				BootMode: hypervisor.BootEFI, SecureBoot: ptr(false),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behind := &readingHost{status: c.sent}
			client := drivertest.Remote(t, hypervisor.Service{Driver: readingDriver{host: behind}, HostType: (*readingHost)(nil)})
			host, err := client.Open(t.Context(), endpoint.Target{})
			if err != nil {
				t.Fatal("opening:", err)
			}
			reader, ok := hypervisor.As[hypervisor.NodeReader](host)
			if !ok {
				t.Fatal("the host is no node reader")
			}
			if _, ok := hypervisor.As[hypervisor.LifecycleManager](host); ok {
				t.Error("the host is a lifecycler too")
			}
			got, err := reader.NodeStatus(t.Context(), "pve1")
			if err != nil || !reflect.DeepEqual(got, c.want) || behind.asked != "pve1" {
				t.Errorf("%q: %+v, error %v, want %+v", behind.asked, got, err, c.want)
			}
		})
	}
}
