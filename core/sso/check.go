package sso

import (
	"slices"
	"strings"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
)

// faults collects everything that is wrong with a provider, so that a user can
// fix it all at once.
type faults []problem.Fault

func (f *faults) add(msg string, at ...any) {
	*f = append(*f, problem.Fault{Loc: append([]any{"body"}, at...), Msg: msg, Type: "value_error"})
}

// check normalizes a provider for storing: it trims the name, adds the scope
// openid, and brings the fingerprint into its canonical form. Problem: invalid,
// with all faults.
func (s *Store) check(p *Provider, clientSecret secret.String) error {
	var f faults
	if p.Name = strings.TrimSpace(p.Name); p.Name == "" || strings.ContainsFunc(p.Name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		f.add("must be text without control characters", "name")
	}
	if u, _, err := s.rules(p).ParseURL(p.Issuer); err != nil {
		f.add(err.Error(), "issuer")
	} else if u.Scheme != "https" || u.RawQuery != "" {
		f.add("must start with https:// and have no query", "issuer")
	}
	if !visible(p.ClientID) {
		f.add("must consist of visible ASCII characters", "client_id")
	}
	if strings.ContainsFunc(clientSecret.Reveal(), func(r rune) bool { return r < ' ' || r > '~' }) {
		f.add("must consist of ASCII characters", "client_secret")
	}
	for i, scope := range p.Scopes {
		if !visible(scope) || strings.ContainsAny(scope, `"\`) { // RFC 6749 section 3.3
			f.add("must consist of visible ASCII characters without quotes and backslashes", "scopes", i)
		}
	}
	if !slices.Contains(p.Scopes, "openid") {
		p.Scopes = append([]string{"openid"}, p.Scopes...)
	}
	if p.Fingerprint != "" {
		if pin, err := endpoint.ParseFingerprint(p.Fingerprint); err != nil {
			f.add("must be a SHA-256 in hexadecimal digits", "tls_fingerprint")
		} else {
			p.Fingerprint = pin
		}
	}
	if p.Rules == nil {
		p.Rules = []Rule{}
	}
	for i, rule := range p.Rules {
		if _, err := identity.ParseRole(rule.Role); err != nil {
			f.add("must be viewer, operator, admin or owner", "rules", i, "role")
		}
		if strings.ContainsRune(rule.Group, 0) {
			f.add("must not contain NUL characters", "rules", i, "group")
		}
	}
	if strings.ContainsRune(p.GroupsClaim, 0) {
		f.add("must not contain NUL characters", "groups_claim")
	}
	if len(f) > 0 {
		return problem.Invalid(f...)
	}
	return nil
}

// visible reports whether a text is not empty and has only visible ASCII
// characters.
func visible(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
