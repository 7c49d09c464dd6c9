package host_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// hardHost says what the test says, of each section.
type hardHost struct {
	hypervisor.Host
	tell func(context.Context, hypervisor.HardwareQuery) (hypervisor.NodeHardware, error)
}

func (h hardHost) NodeHardware(ctx context.Context, query hypervisor.HardwareQuery) (hypervisor.NodeHardware, error) {
	return h.tell(ctx, query)
}

// TestNodeHardwareAsksAtOnce: no section waits for another, and one that hangs costs no other its answer.
func TestNodeHardwareAsksAtOnce(t *testing.T) {
	t.Parallel()
	arrived, all := make(chan bool), make(chan bool)
	go func() {
		defer close(all)
		for range hypervisor.HardwareSections() {
			<-arrived
		}
	}()
	s, _ := rack(t, nil, func(h hypervisor.Host) hypervisor.Host {
		return hardHost{h, func(ctx context.Context, query hypervisor.HardwareQuery) (hypervisor.NodeHardware, error) {
			select {
			case arrived <- true:
				<-all
			case <-ctx.Done():
				return hypervisor.NodeHardware{}, ctx.Err()
			}
			if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > 15*time.Second {
				return hypervisor.NodeHardware{}, plugin.Errorf(plugin.Internal, "no limit of its own: %v", deadline)
			}
			return hypervisor.NodeHardware{Subscription: &hypervisor.Subscription{}, System: &hypervisor.NodeSystem{}}, nil
		}}
	})
	got, err := s.NodeHardware(t.Context(), 1, "node1", false)
	if err != nil || len(got.Unreadable) != 0 || got.Disks == nil || got.Interfaces == nil || got.PCI == nil || got.Services == nil ||
		got.System == nil {
		t.Errorf("%+v, error %v", got, err)
	}
}

// TestNodeHardwareOfAStrangePlugin: whatever a plugin says, the answer is JSON, and no health that was not asked for.
func TestNodeHardwareOfAStrangePlugin(t *testing.T) {
	t.Parallel()
	wear, far := int64(400), time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)
	s, _ := rack(t, nil, func(h hypervisor.Host) hypervisor.Host {
		return hardHost{h, func(_ context.Context, query hypervisor.HardwareQuery) (hypervisor.NodeHardware, error) {
			switch query.Section {
			case hypervisor.HardwareDisks:
				return hypervisor.NodeHardware{Disks: []hypervisor.NodeDisk{
					{Path: "/dev/\x00a\xff", Kind: "tape", Health: hypervisor.HealthPassed, Wear: &wear, Model: strings.Repeat("x", 1<<20)}}}, nil
			case hypervisor.HardwareSystem:
				return hypervisor.NodeHardware{System: &hypervisor.NodeSystem{Clock: far, Nameservers: []string{"\x00"}}}, nil
			case hypervisor.HardwarePCI:
				return hypervisor.NodeHardware{}, plugin.Errorf(plugin.Denied, "no")
			}
			return hypervisor.NodeHardware{}, nil
		}}
	})
	for health, want := range map[bool]string{false: `"health":null`, true: `"health":"passed"`} {
		got, err := s.NodeHardware(t.Context(), 1, "node1", health)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(got)
		for _, want := range []string{want, `"wear_percent":null`, `"kind":null`, `"clock":null`, "\"path\":\"/dev/a\uFFFD\"",
			`"section":"subscription","reason":"protocol"`, `"section":"pci","reason":"permission","detail":"no","missing":[]`,
			`"subscription":null`, `"interfaces":[]`} {
			if err != nil || !strings.Contains(string(text), want) || len(text) > 8192 {
				t.Errorf("%v, %.1500s, want %s", err, text, want)
			}
		}
	}
}

func TestNodeHardwareWithoutTheAbility(t *testing.T) {
	t.Parallel()
	s, _ := rack(t, nil, func(h hypervisor.Host) hypervisor.Host { return bareHost{h} })
	_, err := s.NodeHardware(t.Context(), 1, "node1", false)
	if p := problem.From(err); p.Code != problem.CodeUnsupported {
		t.Errorf("error is %v, want unsupported", err)
	}
}
