package sso

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/url"
	"strings"
	"time"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// flow is a log-in between its beginning and the provider's answer. It is in a cookie of the browser that began it, sealed: whoever
// reads the cookie learns neither nonce nor verifier, and nobody else can make one.
type flow struct {
	Provider int64     `json:"provider"`
	Issuer   string    `json:"issuer"`
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	ReturnTo string    `json:"return_to"`
	Until    time.Time `json:"until"`
}

// flows seals them.
func (s *Store) flows() identity.Flows {
	return identity.Flows{DB: s.DB, Keys: s.Keys, Name: "service_sign_on"}
}

// unseal is the flow of a cookie's value; nil for what is none that this service has made, or is too old.
func (s *Store) unseal(value string) *flow {
	var f flow
	if !s.flows().Open(value, &f) || !s.Now().Before(f.Until) {
		return nil
	}
	return &f
}

// useState marks a state as used.
func (s *Store) useState(ctx context.Context, f *flow) error {
	first, err := s.flows().Use(ctx, f.State, 2*identity.SignOnLife)
	if err == nil && !first {
		err = refused("this log-in was already answered; start again")
	}
	return err
}

// token is a random text of 256 bits.
func token() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the process first
	return base64.RawURLEncoding.EncodeToString(b)
}

// ownPath is the path of our own page that one wants to come to; "/" for anything else, such as another site's address in any spelling.
func ownPath(text string) string {
	u, err := url.Parse(text)
	if err != nil || len(text) > 1000 || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") ||
		strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }) ||
		u.Scheme != "" || u.Host != "" || u.User != nil || strings.HasPrefix(u.Path, "//") || strings.Contains(u.Path, `\`) ||
		strings.HasPrefix(u.Path, "/login") {
		return "/"
	}
	return text
}

// refused is a log-in that is not taken, with the reason.
func refused(format string, args ...any) error {
	return problem.New(problem.CodeInvalidCredentials, format, args...)
}
