package acme_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/acme"
)

func TestParseDomains(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":              nil,
		" ":             nil,
		"a.example.com": {"a.example.com"},
		" A.Example.com. , b.example.com,a.example.com": {"a.example.com", "b.example.com"},
		"bücher.example": {"xn--bcher-kva.example"},
	} {
		if got, err := acme.ParseDomains(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprintf("n%d.example.com", i)
	}
	for _, text := range []string{"localhost", "192.0.2.1", "2001:db8::1", "*.example.com", "a.example.com,,b.example.com", "a b.example.com",
		"a.example.com:443", "https://a.example.com", "a.example.com/x", "a\x00.example.com", "../a.b", "a_b.example.com", "-a.example.com",
		strings.Repeat("a", 64) + ".example.com", strings.Repeat("a.", 130) + "example.com", strings.Join(many, ",")} {
		if got, err := acme.ParseDomains(text); err == nil {
			t.Errorf("%q: %q", text, got)
		}
	}
}
