package draft

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"testing"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/proxy"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// The caller's present connection is the one that comes to the guest of the service: the caller's own, that of a trusted proxy elsewhere,
// or the caller's to a proxy in the same guest.
func TestConnectionOfTheCaller(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("https://hostler.example.com:9443")
	if err != nil {
		t.Fatal(err)
	}
	trusted := proxy.Config{Trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("127.0.0.0/8")}}
	named := trusted
	named.BaseURL = base
	forwarded := map[string]string{"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "h.example.com"}
	for name, test := range map[string]struct {
		config  proxy.Config
		peer    string
		headers map[string]string
		want    string // whence, and to which port; empty for a connection that no firewall sees
	}{
		"without a proxy": {proxy.Config{}, "203.0.113.9:5000", nil,
			"203.0.113.9 8480, your own connection to this service"},
		"who only says that it is a proxy": {trusted, "198.51.100.1:5000", forwarded,
			"198.51.100.1 8480, your own connection to this service"},
		"by a proxy elsewhere": {trusted, "192.0.2.7:5000", forwarded,
			"192.0.2.7 8480, your own connection to this service through the proxy 192.0.2.7"},
		"a proxy that tells nothing": {trusted, "192.0.2.7:5000", nil, "192.0.2.7 8480, your own connection to this service"},
		"by a proxy in the same guest": {trusted, "127.0.0.1:5000", forwarded,
			"203.0.113.9 443, your own connection to this service"},
		"by one at the port of the base URL": {named, "127.0.0.1:5000", forwarded,
			"203.0.113.9 9443, your own connection to this service"},
		"by one that uses the guest's address": {trusted, "192.0.2.1:5000", forwarded,
			"203.0.113.9 443, your own connection to this service"},
		"from the guest itself":                 {trusted, "127.0.0.1:5000", nil, ""},
		"from the guest itself through a proxy": {trusted, "127.0.0.1:5000", map[string]string{"X-Forwarded-For": "127.0.0.1"}, ""},
	} {
		ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 8480})
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://192.0.2.1:8480/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.RemoteAddr = test.peer
		for key, value := range test.headers {
			r.Header.Set(key, value)
		}
		seen, err := test.config.Request(r)
		if err != nil {
			t.Fatal(err)
		}
		address, _, _ := net.SplitHostPort(seen.RemoteAddr)
		ctx, _ = audit.Begin(seen.Context(), audit.Entry{Address: address})
		got := ""
		if p := caller(ctx, &sdk.Guest{ID: "100"}); p != nil {
			got = fmt.Sprintf("%s %d, %s", p.packet.From.Address, p.packet.DestinationPort, p.what)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
