package firewalltest

import (
	"context"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// ground is an empty scope that belongs to one case, with the suite.
type ground struct {
	EmptyScope
	s *suite
}

// eachScope runs a case once for each kind of scope that has the ability, each
// time on a new empty scope. Without the hook Empty it skips them.
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

// lacks skips a test if the firewall does not have the ability on any scope,
// and otherwise lets it run in parallel with others.
func lacks[Optional any](t *testing.T, s *suite) {
	t.Helper()
	t.Parallel()
	if _, ok := firewall.As[Optional](s.FirewallType); !ok {
		t.Skip("the firewall does not have the ability " + firewall.AbilityName[Optional]())
	}
}

// reads opens the firewall with the token for monitoring, which may only read.
func reads[Optional any](t *testing.T, g ground) Optional {
	t.Helper()
	return open[Optional](t, g.s, g.Target(t, endpoint.Monitoring))
}

// changes opens the firewall with the token for lifecycle, which may change it.
func changes[Optional any](t *testing.T, g ground) Optional {
	t.Helper()
	return open[Optional](t, g.s, g.Target(t, endpoint.Lifecycle))
}

// noRight makes a call with a token that may only read, which must be Denied,
// and with an unknown one, which must be TokenRejected. The caller checks
// afterwards that nothing changed.
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

// must ends the test on an error. what says what was done.
func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// ptr returns a pointer to a value, for optional fields.
func ptr[T any](v T) *T { return &v }

// hostileTexts returns texts that are not one line (line ends, control
// characters, U+2028), or that are too long for a comment. A backend that
// accepted one could be made to write another line into a configuration file.
func hostileTexts() []string {
	return []string{"n\x00", "two\nlines", "two\r\nlines", "\x1b[31m", "\x7f", "one\u2028two", strings.Repeat("n", 10_000)}
}

// hostileNames returns texts that cannot be names: paths, options, URL syntax,
// and a section header of a firewall file ("[RULES]").
func hostileNames() []string {
	return append(hostileTexts(), "", ".", "..", "../rules", "a/b", "a b", "-a", "+a", "a?x=1", "a%2fb", "a#b", "ä", "[RULES]")
}

// hostileNetworks returns texts that are neither addresses nor networks nor
// names of aliases, among them impossible prefixes and a zone.
func hostileNetworks() []string {
	return append(hostileTexts(), "", ".", "..", "../10.0.0.0", "10.0.0.0/33", "10.0.0.256", "2001:db8::/129", "10.0.0.0/8/8", "10.0.0.1 ",
		"fe80::1%eth0", "10.0.0.0/-1", "a b")
}

// neverADigest has the form of a digest (40 hexadecimal digits, like SHA-1) but
// belongs to no content.
const neverADigest = "0123456789abcdef0123456789abcdef01234567"
