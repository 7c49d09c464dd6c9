package plugin_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/plugintest"
)

// asking is a driver whose hosts ask the server of their address over HTTP.
type asking struct {
	*memdriver.Driver
	client *http.Client
}

func (d *asking) Open(_ context.Context, target endpoint.Target) (hypervisor.Host, error) {
	return &askingHost{client: d.client, url: "http://" + target.Address}, nil
}

type askingHost struct {
	*memdriver.Host
	client *http.Client
	url    string
}

func (h *askingHost) Close() error { return nil }

func (h *askingHost) get(ctx context.Context, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+path, nil)
	if err != nil {
		return err
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return endpoint.NetworkError(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func (h *askingHost) Version(ctx context.Context) (hypervisor.Version, error) {
	return hypervisor.Version{Version: "1.0"}, h.get(ctx, "/version")
}

// Inventory asks twice, and hands over a page in between.
func (h *askingHost) Inventory(ctx context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
	if err := h.get(ctx, "/slow"); err != nil {
		return err
	}
	if err := page(hypervisor.Page{}); err != nil {
		return err
	}
	return h.get(plugin.MarkWaiting(ctx), "/slow")
}

// counted are the counts of a plugin that asks a server, which holds what is slow until it is released.
func counted(t *testing.T) (conn *hypervisor.Client, target endpoint.Target, release chan struct{}, take func() []plugin.RequestCount) {
	t.Helper()
	release = make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			select {
			case <-release:
			case <-r.Context().Done():
			}
		case "/moved":
			http.Redirect(w, r, "/version", http.StatusFound)
		}
	}))
	t.Cleanup(server.Close)
	driver := &asking{memdriver.New(), &http.Client{Transport: plugin.CountRequests(server.Client().Transport)}}
	over := plugintest.Connect(t, hypervisor.Service{Driver: driver, HostType: (*askingHost)(nil)})
	target = endpoint.Target{Address: strings.TrimPrefix(server.URL, "http://")}
	return hypervisor.NewClient(over), target, release, func() []plugin.RequestCount {
		t.Helper()
		counts, err := plugin.TakeRequests(t.Context(), over)
		if err != nil {
			t.Fatal("asking for the counts:", err)
		}
		return counts
	}
}

// Every request counts at the address of its call, once, and while a call goes on; one that only waits counts without its time.
func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	driver, target, release, take := counted(t)
	if got := take(); len(got) != 0 {
		t.Errorf("before the first call: %+v", got)
	}
	host, err := driver.Open(t.Context(), target)
	if err != nil {
		t.Fatal("opening:", err)
	}
	for range 3 {
		if _, err := host.Version(t.Context()); err != nil {
			t.Fatal("asking:", err)
		}
	}
	got := take()
	if len(got) != 1 || got[0].Address != target.Address || got[0].Requests != 3 || got[0].Busy <= 0 {
		t.Errorf("after three calls: %+v", got)
	}
	if got := take(); len(got) != 0 {
		t.Errorf("what was told is told again: %+v", got)
	}

	pages := make(chan struct{}, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- host.Inventory(t.Context(), hypervisor.InventoryQuery{}, func(hypervisor.Page) error { pages <- struct{}{}; return nil })
	}()
	release <- struct{}{}
	<-pages
	waittest.Until(t, "the first request of a call counts while the call goes on", func() bool {
		got = take()
		return len(got) == 1 && got[0].Requests == 1 && got[0].Busy > 0
	})
	release <- struct{}{}
	if err := <-ended; err != nil {
		t.Fatal("the inventory:", err)
	}
	if got := take(); len(got) != 1 || got[0].Requests != 1 || got[0].Busy != 0 {
		t.Errorf("a request that waits: %+v", got)
	}
}

// What finds no connection counts without time, and what is broken off counts too.
func TestRequestsThatFailAreCounted(t *testing.T) {
	t.Parallel()
	driver, target, _, take := counted(t)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	away, err := driver.Open(t.Context(), endpoint.Target{Address: strings.TrimPrefix(closed.URL, "http://")})
	if err != nil {
		t.Fatal("opening:", err)
	}
	if _, err := away.Version(t.Context()); plugin.KindOf(err) != plugin.Unreachable {
		t.Errorf("a server that is away: %v", err)
	}
	if got := take(); len(got) != 1 || got[0].Requests != 1 || got[0].Busy != 0 {
		t.Errorf("a server that is away: %+v", got)
	}
	host, err := driver.Open(t.Context(), target)
	if err != nil {
		t.Fatal("opening:", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- host.Inventory(ctx, hypervisor.InventoryQuery{}, func(hypervisor.Page) error { return nil })
	}()
	cancel()
	if err := <-ended; err == nil {
		t.Error("a call that was broken off has no error")
	}
}

// A plugin of before there was this question does not answer it, and one that counts nothing has nothing to tell.
func TestRequestsOfWhoDoesNotCount(t *testing.T) {
	t.Parallel()
	driver := memdriver.New()
	driver.Add("pool.mem:9443", memdriver.Spec{})
	over := plugintest.Connect(t, hypervisor.Service{Driver: driver, HostType: (*memdriver.Host)(nil)})
	if got, err := plugin.TakeRequests(t.Context(), over); err != nil || len(got) != 0 {
		t.Errorf("%+v, error %v", got, err)
	}
	// Outside of a call there is nowhere to count.
	plugin.CountRequest(t.Context(), time.Second)
}
