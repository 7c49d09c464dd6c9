package pveapi_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// patient are time-outs that only bound hanging.
var patient = pveapi.Timeouts{Dial: time.Minute, Header: time.Minute, Stall: time.Minute}

// TestTargetsWithOtherPoliciesShareNoConnections: what one target was allowed to do must not open the way for another one
// of the same address.
func TestTargetsWithOtherPoliciesShareNoConnections(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":null}`) }))
	t.Cleanup(server.Close)
	pool := pveapi.NewPool(patient)
	t.Cleanup(pool.Close)
	pinned := endpoint.Target{
		Address: server.Listener.Addr().String(), Fingerprint: endpoint.Fingerprint(server.Certificate()), AllowLocal: true,
		Credential: endpoint.Credential{ID: "service@pve!monitoring", Secret: secret},
	}
	get := func(target endpoint.Target) error {
		client, err := pool.NewClient(target)
		if err == nil {
			_, err = client.Get(t.Context(), "/x", nil, nil)
		}
		return err
	}
	learning := pinned
	learning.Fingerprint = ""
	for _, good := range []endpoint.Target{pinned, learning} {
		if err := get(good); err != nil {
			t.Fatal(err) // and its connection is kept
		}
	}
	otherPin, trusted, remote := pinned, learning, pinned
	otherPin.Fingerprint = strings.Repeat("AB:", 31) + "AB"
	trusted.VerifyTLS = true
	remote.AllowLocal = false
	wantKind(t, get(otherPin), plugin.Untrusted)
	wantKind(t, get(trusted), plugin.Untrusted)
	wantKind(t, get(remote), plugin.Forbidden)
	if n := pool.Len(); n != 5 {
		t.Errorf("the pool keeps %d targets, want 5", n)
	}
}

// TestTheTargetUnusedForLongestGoesFirst: one that is in use keeps its connection however many others come.
func TestTheTargetUnusedForLongestGoesFirst(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":null}`) }))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := pveapi.NewPool(pveapi.Timeouts{})
	t.Cleanup(pool.Close)
	used := endpoint.Target{Address: server.Listener.Addr().String(), Fingerprint: endpoint.Fingerprint(server.Certificate()),
		AllowLocal: true}
	port := 0
	for range 3 {
		client, err := pool.NewClient(used)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Get(t.Context(), "/x", nil, nil); err != nil {
			t.Fatal(err)
		}
		for range 200 {
			port++
			if _, err := pool.NewClient(endpoint.Target{Address: fmt.Sprintf("192.0.2.1:%d", port)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections were opened, want one that is kept", n)
	}
}

// TestAnAnswerMayBeAsLargeAsTheLimit and not larger.
func TestAnAnswerMayBeAsLargeAsTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 8 << 20
	var size atomic.Int64
	size.Store(limit)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		const head, tail = `{"data":"`, `"}`
		fmt.Fprint(w, head, strings.Repeat("x", int(size.Load())-len(head)-len(tail)), tail)
	}))
	t.Cleanup(server.Close)
	pool := pveapi.NewPool(patient)
	t.Cleanup(pool.Close)
	client, err := pool.NewClient(endpoint.Target{
		Address: server.Listener.Addr().String(), Fingerprint: endpoint.Fingerprint(server.Certificate()), AllowLocal: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var text pveapi.Text
	if _, err := client.Get(t.Context(), "/x", nil, &text); err != nil {
		t.Errorf("an answer of %d bytes: %v", limit, err)
	}
	size.Add(1)
	_, err = client.Get(t.Context(), "/x", nil, &text)
	wantKind(t, err, plugin.Protocol)
}
