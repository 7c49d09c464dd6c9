package plugin_test

import (
	"context"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/plugintest"
)

// marked is a driver whose hosts tell as their version whether a call asks for one request only.
type marked struct{ *memdriver.Driver }

func (marked) Open(context.Context, endpoint.Target) (hypervisor.Host, error) {
	return &markedHost{}, nil
}

type markedHost struct{ *memdriver.Host }

func (*markedHost) Close() error { return nil }

func (*markedHost) Version(ctx context.Context) (hypervisor.Version, error) {
	if plugin.IsOnce(ctx) {
		return hypervisor.Version{Version: "once"}, nil
	}
	return hypervisor.Version{Version: "as often as it takes"}, nil
}

// The mark of a call arrives in a plugin, and in a driver that is called directly.
func TestOnce(t *testing.T) {
	t.Parallel()
	over := hypervisor.NewClient(plugintest.Connect(t, hypervisor.Service{Driver: marked{memdriver.New()}, HostType: (*markedHost)(nil)}))
	for name, driver := range map[string]hypervisor.Driver{"over gRPC": over, "directly": marked{memdriver.New()}} {
		host, err := driver.Open(t.Context(), endpoint.Target{Address: "pool.mem:9443"})
		if err != nil {
			t.Fatal("opening:", err)
		}
		for want, ctx := range map[string]context.Context{"once": plugin.Once(t.Context()), "as often as it takes": t.Context()} {
			if v, err := host.Version(ctx); err != nil || v.Version != want {
				t.Errorf("%s: asked %q, the driver was told %q: %v", name, want, v.Version, err)
			}
		}
	}
}
