package pveapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// Where no new connection can be made, a write to a firewall goes out once on one that is open, with its body; others do not, and none
// does where nothing is open.
func TestFirewallsAreWrittenOverOpenConnections(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{true, false} {
		var mu sync.Mutex
		var seen []string
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, r.Method+" "+r.FormValue("action"))
			fmt.Fprint(w, `{"data":null}`)
		}))
		t.Cleanup(server.Close)
		pool := pveapi.NewPool(pveapi.Timeouts{Dial: patience, Header: patience, Stall: patience})
		t.Cleanup(pool.Close)
		client, err := pool.NewClient(endpoint.Target{Address: server.Listener.Addr().String(), AllowLocal: true,
			Fingerprint: endpoint.Fingerprint(server.Certificate()), Credential: endpoint.Credential{ID: "service@pve!lifecycle", Secret: secret}})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if open {
			if _, err := client.Get(t.Context(), "/version", nil, nil); err != nil {
				t.Fatal(err)
			}
			want = append(want, "GET ", "POST ACCEPT")
		}
		if err := server.Listener.Close(); err != nil { // those that are open live on
			t.Fatal(err)
		}
		_, err = client.Post(t.Context(), "/cluster/firewall/rules", url.Values{"action": {"ACCEPT"}}, nil)
		if open && err != nil {
			t.Error(err)
		}
		if !open {
			wantKind(t, err, plugin.Unreachable)
		}
		_, err = client.Post(t.Context(), "/nodes/a/status", url.Values{"command": {"reboot"}}, nil)
		wantKind(t, err, plugin.Unreachable)
		mu.Lock()
		if !slices.Equal(seen, want) {
			t.Errorf("the server saw %q, want %q", seen, want)
		}
		mu.Unlock()
	}
}
