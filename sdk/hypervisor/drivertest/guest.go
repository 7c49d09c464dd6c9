package drivertest

import (
	"context"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// guest tests Host.Guest for guests in each state, for unknown guests and for
// hostile node names. A guest that the token may not see must be Denied and not
// NotFound: the service deletes guests that are not found.
func (s *suite) guest(t *testing.T) {
	for _, kind := range s.kinds() {
		for _, status := range []string{hypervisor.GuestRunning, hypervisor.GuestStopped} {
			s.run(t, string(kind)+" "+status, func(t *testing.T, ctx context.Context) {
				hook(t, "NewGuest", s.NewGuest != nil)
				ref := s.NewGuest(t, kind, status)
				got, err := s.host(t, endpoint.Monitoring).Guest(ctx, ref)
				must(t, "reading the guest", err)
				if got.GuestRef != ref || got.Status != status || got.Name == "" {
					t.Errorf("guest is %+v %s %q, want %+v %s", got.GuestRef, got.Status, got.Name, ref, status)
				}
				checkCPU(t, got)
				if age := time.Since(got.At).Abs(); got.At.IsZero() || age > 24*time.Hour {
					t.Errorf("the hypervisor's clock is missing or %v off", age)
				}
				if got.Memory != nil && got.MemoryTotal != nil && *got.Memory > *got.MemoryTotal {
					t.Errorf("memory %d is above %d", *got.Memory, *got.MemoryTotal)
				}
			})
		}
	}
	s.run(t, "unknown", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		host := s.host(t, endpoint.Monitoring)
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		for name, change := range map[string]func(*hypervisor.GuestRef){
			"other id": func(r *hypervisor.GuestRef) { r.ID = "999999999" },
			"other kind": func(r *hypervisor.GuestRef) {
				if r.Kind = hypervisor.Container; ref.Kind == hypervisor.Container {
					r.Kind = hypervisor.VM
				}
			},
		} {
			other := ref
			change(&other)
			if _, err := host.Guest(ctx, other); plugin.KindOf(err) != plugin.NotFound {
				t.Errorf("%s: error is %v, want not found", name, err)
			}
		}
	})
	s.run(t, "what a token may not see is not gone", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		hook(t, "Lacking", s.Lacking != nil)
		target, _ := s.Lacking(t, endpoint.Monitoring)
		_, err := s.open(t, target).Guest(ctx, s.NewGuest(t, s.kind(), hypervisor.GuestStopped))
		if err != nil {
			wantKind(t, err, plugin.Denied)
		}
	})
	s.run(t, "bad node", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		host := s.host(t, endpoint.Monitoring)
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		for _, node := range []string{"", "no-such-node", "../..", "node\x00", "a/b"} {
			ref.Node = node
			_, err := host.Guest(ctx, ref)
			switch plugin.KindOf(err) {
			case plugin.NotFound, plugin.Invalid:
			default:
				t.Errorf("node %q: error is %v, want not found or invalid", node, err)
			}
		}
	})
}
