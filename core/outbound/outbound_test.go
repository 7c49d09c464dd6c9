package outbound_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/outbound"
	"github.com/hostler/hostler/sdk/endpoint"
)

// What may be called is judged by its text where that tells, and by the address that is dialled in any case.
func TestRules(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.RedirectHandler("/elsewhere", http.StatusFound))
	t.Cleanup(server.Close)
	port := strings.TrimPrefix(server.URL, "http://127.0.0.1:")
	local, private := outbound.Rules{AllowLocal: true}, outbound.Rules{AllowPrivate: true}
	for text, refused := range map[string]map[outbound.Rules]bool{
		"https://example.com/x?y=1":    {{}: false},
		"https://192.0.2.1":            {{}: false},
		"https://10.0.0.1/":            {{}: true, local: true, private: false},
		"https://[fd00::1]:8443/":      {{}: true, private: false},
		"https://[64:ff9b::10.0.0.1]/": {{}: true, private: false},
		"https://100.64.0.1/":          {{}: true, private: false},
		"http://127.0.0.1/":            {{}: true, private: true, local: false},
		"http://localhost/":            {{}: true, private: true, local: false},
		"http://169.254.169.254/":      {{}: true, private: true},
		"https://0.0.0.0/":             {{}: true, private: true, local: true},
		"https://me:x@example.com/":    {{}: true},
		"https://example.com/#x":       {{}: true},
		"ftp://example.com/":           {{}: true},
		"https:///x":                   {{}: true},
	} {
		for rules, want := range refused {
			if _, _, err := rules.ParseURL(text); (err != nil) != want {
				t.Errorf("%s by %+v: %v", text, rules, err)
			}
		}
	}
	for _, test := range []struct {
		address string
		rules   outbound.Rules
		reached bool
	}{
		{"127.0.0.1:" + port, local, true}, {"127.0.0.1:" + port, private, false}, {"localhost:" + port, private, false},
		{"127.0.0.1:" + port, outbound.Rules{}, false}, {"10.255.255.1:1", local, false},
	} {
		client, err := outbound.Target{Rules: test.rules, Address: test.address}.Client(5 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Get("http://" + test.address + "/?canary")
		if (err == nil) != test.reached {
			t.Errorf("%s by %+v: %v", test.address, test.rules, err)
		}
		switch {
		case err == nil:
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusFound {
				t.Errorf("the redirect was followed: %d", answer.StatusCode)
			}
		case !strings.Contains(err.Error(), "not allowed") || strings.Contains(outbound.Cause(err).Error(), "canary"):
			t.Errorf("%s: %v", test.address, outbound.Cause(err))
		}
	}
}

func TestIsPrivate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"10.1.2.3": true, "172.16.0.1": true, "172.32.0.1": false, "192.168.1.1": true,
		"100.64.0.1": true, "100.128.0.1": false, "fd00::1": true, "2001:db8::1": false, "::ffff:10.0.0.1": true, "2002:a00:1::": true,
		"192.0.2.1": false} {
		if got := endpoint.IsPrivate(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"": 0, "3": 3 * time.Second, "0.5": 500 * time.Millisecond, "-1": 0, "x": 0, "NaN": 0,
		"99999999999999999999": time.Hour, "+Inf": time.Hour, "Wed, 21 Oct 2015 07:28:00 GMT": 0,
		time.Now().Add(48 * time.Hour).UTC().Format(http.TimeFormat): time.Hour} {
		if got := outbound.RetryAfter(http.Header{"Retry-After": {text}}, time.Hour); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	if got := outbound.Plain(" a\r\n\x00b\tcanary \xff "+strings.Repeat("x", 1000), "", "canary"); !strings.HasPrefix(got, "a b [") ||
		strings.Contains(got, "canary") || len(got) > 300 {
		t.Errorf("%q", got)
	}
	if err := outbound.Cause(&url.Error{Op: "Get", URL: "https://canary", Err: http.ErrNoLocation}); err != http.ErrNoLocation {
		t.Error(err)
	}
}
