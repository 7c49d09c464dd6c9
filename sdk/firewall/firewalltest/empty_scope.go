package firewalltest

import (
	"context"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// ground is an empty scope that a case works on.
type ground struct {
	EmptyScope
	s *suite
}

// eachScope runs a case for each kind of scope that has the ability, on an empty one.
func eachScope[Optional any](t *testing.T, s *suite, name string, body func(t *testing.T, ctx context.Context, g ground)) {
	t.Helper()
	for _, kind := range firewall.ScopeKinds() {
		if !has[Optional](s, kind) {
			continue
		}
		s.run(t, name+", "+string(kind), func(t *testing.T, ctx context.Context) {
			if s.Empty == nil {
				t.Skip("no hook Empty")
			}
			body(t, ctx, ground{s.Empty(t, kind), s})
		})
	}
}

// lacks skips the test of an ability that no scope has.
func lacks[Optional any](t *testing.T, s *suite) {
	t.Helper()
	t.Parallel()
	if _, ok := firewall.As[Optional](s.FirewallType); !ok {
		t.Skip("the firewall does not have the ability " + firewall.AbilityName[Optional]())
	}
}

// reads and changes open the scope's firewall with the token for it.
func reads[Optional any](t *testing.T, g ground) Optional {
	t.Helper()
	return open[Optional](t, g.s, g.Target(t, endpoint.Monitoring))
}

func changes[Optional any](t *testing.T, g ground) Optional {
	t.Helper()
	return open[Optional](t, g.s, g.Target(t, endpoint.Lifecycle))
}

// noRight calls with the token that may only read, and with a wrong one.
func noRight[Optional any](t *testing.T, g ground, call func(Optional) error) {
	t.Helper()
	wantKind(t, call(reads[Optional](t, g)), plugin.Denied)
	target := g.Target(t, endpoint.Lifecycle)
	target.Credential.Secret = "00000000-dead-beef-0000-000000000000"
	wantKind(t, call(open[Optional](t, g.s, target)), plugin.TokenRejected)
}

// wantField fails the test unless err is an Error of the kind that names the field.
func wantField(t *testing.T, what string, err error, kind plugin.ErrorKind, field string) {
	t.Helper()
	if e := asError(err); e == nil || e.Kind != kind || e.Field != field || e.Message == "" {
		t.Errorf("%.80s: error is %v, want one of kind %s for the field %q with a message", what, err, kind, field)
	}
}

// wantNone fails the test unless err says that there is no such thing, or can be none.
func wantNone(t *testing.T, what string, err error) {
	t.Helper()
	if e := asError(err); e == nil || e.Kind != plugin.NotFound && e.Kind != plugin.Invalid {
		t.Errorf("%.80q: error is %v, want not found or invalid", what, err)
	}
}

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func ptr[T any](v T) *T { return &v }

// hostileTexts are no single lines of text, or too long for a comment.
func hostileTexts() []string {
	return []string{"n\x00", "two\nlines", "two\r\nlines", "\x1b[31m", "\x7f", "one\u2028two", strings.Repeat("n", 10_000)}
}

// hostileNames are no names of anything.
func hostileNames() []string {
	return append(hostileTexts(), "", ".", "..", "../rules", "a/b", "a b", "-a", "+a", "a?x=1", "a%2fb", "a#b", "ä", "[RULES]")
}

// hostileNetworks are no addresses, no networks, and no names of aliases.
func hostileNetworks() []string {
	return append(hostileTexts(), "", ".", "..", "../10.0.0.0", "10.0.0.0/33", "10.0.0.256", "2001:db8::/129", "10.0.0.0/8/8", "10.0.0.1 ",
		"fe80::1%eth0", "10.0.0.0/-1", "a b")
}

// neverADigest is the digest of nothing.
const neverADigest = "0123456789abcdef0123456789abcdef01234567"
