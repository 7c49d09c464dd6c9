package proxy_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/proxy"
)

// way makes a configuration.
func way(t *testing.T, networks, base string) *proxy.Config {
	t.Helper()
	var c proxy.Config
	var err error
	if c.Trusted, err = proxy.ParseNetworks(networks); err != nil {
		t.Fatal(err)
	}
	if c.BaseURL, err = proxy.ParseBaseURL(base); err != nil {
		t.Fatal(err)
	}
	return &c
}

func TestClientOfARequest(t *testing.T) {
	t.Parallel()
	c := way(t, "10.0.0.0/8, 127.0.0.1 ::1", "")
	const proxyPeer, stranger = "10.0.0.1:4000", "198.51.100.9:4000"
	for name, tt := range map[string]struct {
		peer    string
		headers []string
		want    string // the address, or the beginning of the refusal
		secure  bool
		host    string
	}{
		"nothing told": {peer: proxyPeer, want: "10.0.0.1:4000"},
		"a stranger tells": {peer: stranger, headers: []string{"X-Forwarded-For", "6.6.6.6", "X-Forwarded-Proto", "https"},
			want: stranger},
		"a stranger's Forwarded": {peer: stranger, headers: []string{"Forwarded", `for=6.6.6.6;proto=https;host=evil.example`},
			want: stranger},
		"a stranger's nonsense": {peer: stranger, headers: []string{"Forwarded", `for="`}, want: stranger},
		"one client":            {peer: proxyPeer, headers: []string{"X-Forwarded-For", "203.0.113.7"}, want: "203.0.113.7:0"},
		"the client lies":       {peer: proxyPeer, headers: []string{"X-Forwarded-For", "6.6.6.6, 203.0.113.7"}, want: "203.0.113.7:0"},
		"lies of a trusted one": {peer: proxyPeer, headers: []string{"X-Forwarded-For", "10.6.6.6, 203.0.113.7"}, want: "203.0.113.7:0"},
		"lies in a line of it own": {peer: proxyPeer, headers: []string{"X-Forwarded-For", "6.6.6.6", "X-Forwarded-For", "203.0.113.7"},
			want: "203.0.113.7:0"},
		"two proxies": {peer: proxyPeer, headers: []string{"X-Forwarded-For", "6.6.6.6,203.0.113.7,10.0.0.2"},
			want: "203.0.113.7:0"},
		"all are proxies":  {peer: proxyPeer, headers: []string{"X-Forwarded-For", "10.0.0.3, 10.0.0.2"}, want: "10.0.0.3:0"},
		"with a port":      {peer: proxyPeer, headers: []string{"X-Forwarded-For", "203.0.113.7:55012"}, want: "203.0.113.7:0"},
		"IPv6":             {peer: "[::1]:4000", headers: []string{"X-Forwarded-For", "2001:db8::7"}, want: "[2001:db8::7]:0"},
		"IPv6 with a port": {peer: proxyPeer, headers: []string{"X-Forwarded-For", "[2001:db8::7]:4711"}, want: "[2001:db8::7]:0"},
		"IPv6 with a zone": {peer: proxyPeer, headers: []string{"X-Forwarded-For", "fe80::1%two\twords"}, want: "[fe80::1]:0"},
		"IPv4 written as IPv6": {peer: "[::ffff:10.0.0.1]:4000", headers: []string{"X-Forwarded-For", "::ffff:203.0.113.7"},
			want: "203.0.113.7:0"},
		"an unknown client":      {peer: proxyPeer, headers: []string{"X-Forwarded-For", "6.6.6.6, unknown"}, want: "10.0.0.1:4000"},
		"unknown behind a proxy": {peer: proxyPeer, headers: []string{"X-Forwarded-For", "6.6.6.6, _hidden, 10.0.0.2"}, want: "10.0.0.2:0"},
		"an empty list":          {peer: proxyPeer, headers: []string{"X-Forwarded-For", " , ,"}, want: "10.0.0.1:4000"},
		"https": {peer: proxyPeer, headers: []string{"X-Forwarded-For", "203.0.113.7", "X-Forwarded-Proto", "https"},
			want: "203.0.113.7:0", secure: true},
		"wss": {peer: proxyPeer, headers: []string{"X-Forwarded-For", "203.0.113.7", "X-Forwarded-Proto", "WSS"},
			want: "203.0.113.7:0", secure: true},
		"the scheme of the first proxy": {peer: proxyPeer, headers: []string{"X-Forwarded-For", "203.0.113.7, 10.0.0.2",
			"X-Forwarded-Proto", "https, http"},
			want: "203.0.113.7:0", secure: true},
		"a scheme that the client has put first": {peer: proxyPeer, headers: []string{"X-Forwarded-For", "203.0.113.7",
			"X-Forwarded-Proto", "https", "X-Forwarded-Proto", "http"}, want: "203.0.113.7:0"},
		"host": {peer: proxyPeer, headers: []string{"X-Forwarded-For", "203.0.113.7", "X-Forwarded-Host", "hostler.example.com:8443"},
			want: "203.0.113.7:0", host: "hostler.example.com:8443"},
		"a host that is none": {peer: proxyPeer, headers: []string{"X-Forwarded-Host", "a/b"}, want: "10.0.0.1:4000"},

		"Forwarded": {peer: proxyPeer, headers: []string{"Forwarded",
			`For="[2001:db8::7]:4711";Proto=https;by=10.0.0.1; host="hostler.example.com"`},
			want: "[2001:db8::7]:0", secure: true, host: "hostler.example.com"},
		"Forwarded by two": {peer: proxyPeer, headers: []string{"Forwarded", "for=6.6.6.6, for=203.0.113.7;proto=https",
			"Forwarded", "for=10.0.0.2;proto=http"},
			want: "203.0.113.7:0", secure: true},
		"Forwarded that tells nobody": {peer: proxyPeer, headers: []string{"Forwarded", "for=6.6.6.6, by=10.0.0.1"}, want: "10.0.0.1:4000"},
		"Forwarded with an escape":    {peer: proxyPeer, headers: []string{"Forwarded", `x="a\"b";for=203.0.113.7`}, want: "203.0.113.7:0"},
		"Forwarded, left open": {peer: proxyPeer, headers: []string{"Forwarded", `for="6.6.6.6, for=203.0.113.7`},
			want: "the proxy sends a Forwarded header"},
		"Forwarded, swallowing": {peer: proxyPeer, headers: []string{"Forwarded", `for=6.6.6.6;x=", for="[2001:db8::7]"`},
			want: "the proxy sends a Forwarded header"},
		"Forwarded without a value": {peer: proxyPeer, headers: []string{"Forwarded", "for"}, want: "the proxy sends a Forwarded header"},
		"both agree": {peer: proxyPeer, headers: []string{"X-Forwarded-For", "203.0.113.7", "Forwarded", "for=203.0.113.7;proto=https"},
			want: "203.0.113.7:0", secure: true},
		"both contradict": {peer: proxyPeer, headers: []string{"X-Forwarded-For", "203.0.113.7", "Forwarded", "for=6.6.6.6"},
			want: "the proxy sends Forwarded and X-Forwarded-For"},
		"one of both is hidden": {peer: proxyPeer, headers: []string{"X-Forwarded-For", "203.0.113.7", "Forwarded", "for=_x"},
			want: "the proxy sends Forwarded and X-Forwarded-For"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("GET", "/api/v1/hosts", nil)
			r.RemoteAddr = tt.peer
			for i := 0; i < len(tt.headers); i += 2 {
				r.Header.Add(tt.headers[i], tt.headers[i+1])
			}
			seen, err := c.Request(r)
			if err != nil {
				if !strings.HasPrefix(err.Error(), tt.want) {
					t.Fatal(err)
				}
				return
			}
			host := tt.host
			if host == "" {
				host = "example.com"
			}
			site := proxy.SiteOf(seen.Context(), seen.TLS)
			if seen.RemoteAddr != tt.want || site.Secure != tt.secure || site.Path != "/" || seen.Host != host {
				t.Errorf("%s %+v %s", seen.RemoteAddr, site, seen.Host)
			}
			if r.RemoteAddr != tt.peer || r.Host != "example.com" {
				t.Error("the request that was given was changed")
			}
		})
	}
}

func TestSiteOfARequest(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		networks, base string
		tls            bool
		proto          string
		want           proxy.Site
	}{
		"plain":                              {want: proxy.Site{Path: "/"}},
		"TLS":                                {tls: true, want: proxy.Site{Secure: true, Path: "/"}},
		"nobody is believed":                 {proto: "https", want: proxy.Site{Path: "/"}},
		"TLS at the proxy":                   {networks: "192.0.2.1", proto: "https", want: proxy.Site{Secure: true, Path: "/"}},
		"TLS only between proxy and service": {networks: "192.0.2.1", proto: "http", tls: true, want: proxy.Site{Path: "/"}},
		"the base URL says so":               {base: "https://h.example", want: proxy.Site{Secure: true, Path: "/"}},
		"the base URL says so, whatever is told": {networks: "192.0.2.1", base: "https://h.example/x/", proto: "http",
			want: proxy.Site{Secure: true, Path: "/x"}},
		"a base URL without TLS": {base: "http://h.example/x", tls: true, want: proxy.Site{Path: "/x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("GET", "/", nil)
			if tt.tls {
				r.TLS = &tls.ConnectionState{}
			}
			if tt.proto != "" {
				r.Header.Set("X-Forwarded-Proto", tt.proto)
				r.Header.Set("X-Forwarded-Host", "other.example")
			}
			seen, err := way(t, tt.networks, tt.base).Request(r)
			if err != nil {
				t.Fatal(err)
			}
			if got := proxy.SiteOf(seen.Context(), seen.TLS); got != tt.want {
				t.Errorf("%+v", got)
			}
			if tt.base != "" && seen.Host != "example.com" {
				t.Errorf("a proxy names the host %s, beside the base URL", seen.Host)
			}
		})
	}
}

func TestPathBelowTheBaseURL(t *testing.T) {
	t.Parallel()
	c := way(t, "", "https://h.example/some/place")
	for asked, want := range map[string]string{
		"/some/place/api/v1/hosts":      "/api/v1/hosts",
		"/some/place/":                  "/",
		"/some/place":                   "/",
		"/some/place?x=1":               "/",
		"/some/placeapi":                "/some/placeapi",
		"/some":                         "/some",
		"/api/v1/hosts":                 "/api/v1/hosts", // by a proxy that cuts it off
		"/some/place/api/v1/x/a%2Fb":    "/api/v1/x/a%2Fb",
		"/%73ome/place/api/v1/x/a%2Fb":  "/%73ome/place/api/v1/x/a%2Fb", // another spelling is another path
		"/some/place/../../api":         "/../../api",
		"/some/place/some/place/api/v1": "/some/place/api/v1", // once
		"/some/place//api/v1":           "//api/v1",
	} {
		r := httptest.NewRequest("GET", asked, nil)
		seen, err := c.Request(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := seen.URL.EscapedPath(); got != want {
			t.Errorf("%s is %s", asked, got)
		}
		if strings.Contains(asked, "?") && seen.URL.RawQuery != "x=1" {
			t.Errorf("%s lost its query", asked)
		}
	}
}

func TestRequestWithoutAProxyIsLeftAlone(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("GET", "/", nil)
	r.Header = http.Header{"X-Forwarded-For": {"6.6.6.6"}, "Forwarded": {`"`}}
	if seen, err := new(proxy.Config).Request(r); err != nil || seen != r {
		t.Errorf("%v %v", seen, err)
	}
}
