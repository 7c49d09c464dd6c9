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

// flow is the state of a login between Begin and Complete. It is encrypted in a
// cookie of the browser that started the login: a person who reads the cookie
// learns neither the nonce nor the verifier, and nobody else can create one.
type flow struct {
	Provider int64     `json:"provider"`
	Issuer   string    `json:"issuer"`
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	ReturnTo string    `json:"return_to"`
	Until    time.Time `json:"until"`
}

// flows returns what encrypts flows and remembers used ones.
func (s *Store) flows() identity.Flows {
	return identity.Flows{DB: s.DB, Keys: s.Keys, Name: "service_sign_on"}
}

// unseal decrypts the flow of a cookie. It returns nil if this service did not
// create it or if it has expired.
func (s *Store) unseal(value string) *flow {
	var f flow
	if !s.flows().Open(value, &f) || !s.Now().Before(f.Until) {
		return nil
	}
	return &f
}

// useState marks a state as used and refuses one that already was. This
// prevents the replay of a callback on any instance.
func (s *Store) useState(ctx context.Context, f *flow) error {
	first, err := s.flows().Use(ctx, f.State, 2*identity.SignOnLife)
	if err == nil && !first {
		err = refused("this log-in was already answered; start again")
	}
	return err
}

// token returns a random string with 256 bits of entropy.
func token() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the process first
	return base64.RawURLEncoding.EncodeToString(b)
}

// ownPath returns the path of a page of this service, or "/" for anything else.
// It refuses every spelling of another site's address that browsers accept,
// such as // and backslashes, and the login page itself.
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

// refused returns the problem invalid_credentials with a reason.
func refused(format string, args ...any) error {
	return problem.New(problem.CodeInvalidCredentials, format, args...)
}
