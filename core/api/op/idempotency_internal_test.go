package op

import (
	"net/http/httptest"
	"testing"

	"github.com/hostler/hostler/core/identity"
)

// Requests are the same when method, path, query and body are, byte for byte, wherever one part ends and the next begins.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	sum := func(method, target, body string) string {
		return fingerprint(httptest.NewRequest(method, target, nil), []byte(body))
	}
	if first, again := sum("POST", "/a/b?c=1", "{}"), sum("POST", "/a/b?c=1", "{}"); first != again {
		t.Error("the same request is another one")
	}
	seen := map[string]int{}
	for n, r := range [][3]string{
		{"POST", "/a/b?c=1", "{}"},
		{"PUT", "/a/b?c=1", "{}"},
		{"POST", "/a/x?c=1", "{}"},
		{"POST", "/a%2Fb?c=1", "{}"},
		{"POST", "/a/b?c=2", "{}"},
		{"POST", "/a/b?c=1", "{ }"},
		{"POST", "/a/b?c=1", ""},
		{"POST", "/a/b", "{}"},
		{"POST", "/a/b?c=1{}", ""},
	} {
		s := sum(r[0], r[1], r[2])
		if other, there := seen[s]; there {
			t.Errorf("requests %d and %d are taken for one", other, n)
		}
		seen[s] = n
	}
}

// A session and each API key are callers of their own.
func TestCallerName(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range []identity.Caller{{UserID: 1}, {UserID: 2}, {UserID: 1, KeyID: 1}, {UserID: 1, KeyID: 2}} {
		name := callerName(&c)
		if seen[name] {
			t.Errorf("%+v has the name of another caller: %s", c, name)
		}
		seen[name] = true
	}
}
