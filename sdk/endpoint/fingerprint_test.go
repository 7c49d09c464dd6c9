package endpoint_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestParseFingerprint(t *testing.T) {
	t.Parallel()
	canonical := strings.TrimSuffix(strings.Repeat("AB:", 32), ":")
	plain := strings.Repeat("ab", 32)
	for _, s := range []string{
		canonical, strings.ToLower(canonical), plain, strings.ToUpper(plain), " " + canonical + "\n", "SHA256:" + plain, "sha256:" + canonical,
		"sha256 Fingerprint=" + canonical, "SHA256=" + plain,
	} {
		if got, err := endpoint.ParseFingerprint(s); err != nil || got != canonical {
			t.Errorf("%q: %q, error %v", s, got, err)
		}
		if !endpoint.EqualFingerprint(s, canonical) {
			t.Errorf("%q does not equal its canonical form", s)
		}
	}
	for _, s := range []string{
		"", ":", "AB", canonical + ":AB", canonical[3:], plain + "a", strings.Repeat("xy", 32), strings.Repeat("ABC:", 21) + "A",
		"AB:" + plain[2:], "\x00",
		strings.Repeat("a:bc", 16),
	} {
		if got, err := endpoint.ParseFingerprint(s); plugin.KindOf(err) != plugin.Invalid {
			t.Errorf("%q: %q, error %v, want invalid", s, got, err)
		}
		if endpoint.EqualFingerprint(s, s) {
			t.Errorf("%q equals itself", s)
		}
	}
	if endpoint.EqualFingerprint(canonical, "00"+canonical[2:]) {
		t.Error("two different ones are equal")
	}
}
