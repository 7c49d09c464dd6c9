package toyhv

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// client is who asks: the fingerprint of the certificate, and its scopes when it is known.
type client struct {
	fingerprint string
	known       bool
	scopes      []string
}

// code is a code that nobody has used yet.
type code struct {
	expires time.Time
	scopes  []string
}

// Trust makes a client's certificate known by its fingerprint, with exactly these scopes.
func (s *Server) Trust(fingerprint string, scopes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trusted[fingerprint] = scopes
}

// NewCode makes a code against which a certificate becomes known with these scopes, once and until it expires. It is the base64 of
// a JoinToken, so that whoever gets it knows where the server is and which certificate it shows.
func (s *Server) NewCode(valid time.Duration, scopes ...string) string {
	token := JoinToken{Address: s.address, Fingerprint: s.fingerprint, Secret: rand.Text(), Expires: time.Now().Add(valid).UTC()}
	s.mu.Lock()
	s.codes[token.Secret] = code{token.Expires, scopes}
	s.mu.Unlock()
	text, err := json.Marshal(token)
	if err != nil {
		panic(err) // texts and a time
	}
	return base64.StdEncoding.EncodeToString(text)
}

// client needs no lock.
func (s *Server) client(r *http.Request) client {
	if len(r.TLS.PeerCertificates) == 0 {
		return client{}
	}
	c := client{fingerprint: Fingerprint(r.TLS.PeerCertificates[0].Raw)}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.scopes, c.known = s.trusted[c.fingerprint]
	return c
}

// admit refuses a request whose certificate is unknown or lacks the scope.
func (s *Server) admit(r *http.Request, scope string) error {
	c := s.client(r)
	if !c.known {
		return refuse(http.StatusUnauthorized, "no such certificate")
	}
	if scope != "" && !slices.Contains(c.scopes, scope) {
		return &refused{http.StatusForbidden, Refusal{Error: "the certificate may not do this", Missing: []string{scope}}}
	}
	return nil
}

// join takes the code before it looks at anything else, so that nobody tries one twice.
func (s *Server) join(r *http.Request) (any, error) {
	c := s.client(r)
	if c.fingerprint == "" {
		return nil, refuse(http.StatusBadRequest, "no certificate to trust")
	}
	var body struct{ Secret string }
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 64<<10)).Decode(&body); err != nil {
		return nil, &refused{http.StatusBadRequest, Refusal{Error: "the body must be JSON with the secret", Field: "secret"}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	code, there := s.codes[body.Secret]
	delete(s.codes, body.Secret)
	if !there || time.Now().After(code.expires) {
		return nil, refuse(http.StatusUnauthorized, "no such code, or it was used or has expired")
	}
	s.trusted[c.fingerprint] = code.scopes
	return struct{}{}, nil
}
