package sso

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/hostler/hostler/core/outbound"
)

const (
	// maxAnswer is how large an answer of a provider may be, in bytes.
	maxAnswer = 1 << 20
	// goodFor is how long is believed what a provider has said of itself, badFor how long one that failed is left alone.
	goodFor = time.Hour
	badFor  = 15 * time.Second
	// maxAddresses is to how many servers the endpoints of one provider may lead.
	maxAddresses = 8
)

// metadata is what a provider says of itself (OpenID Connect Discovery 1.0 section 3, RFC 9207 section 3, RFC 8414 section 2).
type metadata struct {
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	UserInfoEndpoint      string   `json:"userinfo_endpoint"`
	EndSessionEndpoint    string   `json:"end_session_endpoint"`
	KeysEndpoint          string   `json:"jwks_uri"`
	AuthMethods           []string `json:"token_endpoint_auth_methods_supported"`
	ChallengeMethods      []string `json:"code_challenge_methods_supported"`
	Algorithms            []string `json:"id_token_signing_alg_values_supported"`
	Scopes                []string `json:"scopes_supported"`
	Claims                []string `json:"claims_supported"`
	TellsIssuer           bool     `json:"authorization_response_iss_parameter_supported"`
}

// discovery is a provider that was asked what it is. It does not change.
type discovery struct {
	metadata
	provider *oidc.Provider
	client   *http.Client
}

// slot is what is kept of a provider.
type slot struct {
	// revision is when the provider was changed last.
	revision time.Time
	// mu is held while it is asked: others wait for the same answer.
	mu    sync.Mutex
	found *discovery
	err   error
	// until is how long found and err count.
	until time.Time
}

// discover is what the provider says of itself, from the cache where it can be.
func (s *Store) discover(ctx context.Context, p *Provider) (*discovery, error) {
	s.mu.Lock()
	kept := s.discovered[p.ID]
	if kept == nil || !kept.revision.Equal(p.UpdatedAt) {
		kept = &slot{revision: p.UpdatedAt}
		s.discovered[p.ID] = kept
	}
	s.mu.Unlock()
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if !s.Now().Before(kept.until) {
		kept.found, kept.err = s.ask(ctx, p)
		kept.until = s.Now().Add(goodFor)
		if kept.err != nil {
			kept.until = s.Now().Add(badFor)
		}
	}
	return kept.found, kept.err
}

// ask asks the provider, whoever waits for the answer: others get it from the cache.
func (s *Store) ask(ctx context.Context, p *Provider) (*discovery, error) {
	d := &discovery{}
	var err error
	if d.client, err = s.client(p); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.RequestTime)
	defer cancel()
	if d.provider, err = oidc.NewProvider(oidc.ClientContext(ctx, d.client), p.Issuer); err != nil {
		return nil, discoveryFailed(err)
	}
	if err := d.provider.Claims(&d.metadata); err != nil {
		return nil, errors.New("its discovery document does not conform to the protocol")
	}
	for _, at := range []struct {
		name, url string
		must      bool
	}{
		{"authorization_endpoint", d.AuthorizationEndpoint, true}, {"token_endpoint", d.TokenEndpoint, true}, {"jwks_uri", d.KeysEndpoint, true},
		{"userinfo_endpoint", d.UserInfoEndpoint, false}, {"end_session_endpoint", d.EndSessionEndpoint, false},
	} {
		// Browsers are sent to two of them: anything but https could run a script there, or show the answer to the whole way.
		if u, err := url.Parse(at.url); at.url == "" && at.must || at.url != "" && (err != nil || u.Scheme != "https" || u.Host == "" ||
			u.User != nil || u.Fragment != "") {
			return nil, fmt.Errorf("the %s in its discovery document is not an https:// URL", at.name)
		}
	}
	return d, nil
}

// discoveryFailed says what is wrong in a line without what the provider has answered in length.
func discoveryFailed(err error) error {
	var mismatch *oidc.IssuerMismatchError
	if errors.As(err, &mismatch) {
		return fmt.Errorf("its discovery document has the issuer %s, which differs from the configured one",
			outbound.Plain(mismatch.Discovered))
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		return errors.New("it cannot be reached: " + outbound.Plain(outer.Err.Error()))
	}
	return errors.New("its discovery document cannot be read: " + outbound.Plain(err.Error()))
}

// authStyle is how the client proves itself at the token endpoint. It is not found out by trying: a code is good once.
func (d *discovery) authStyle(secretSet bool) oauth2.AuthStyle {
	// Without a list it is client_secret_basic (OpenID Connect Discovery 1.0 section 3).
	if !secretSet || len(d.AuthMethods) > 0 && !slices.Contains(d.AuthMethods, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// client makes requests to the servers that the provider names, each judged by the rules for outbound requests.
func (s *Store) client(p *Provider) (*http.Client, error) {
	rules := s.rules(p)
	_, address, err := rules.ParseURL(p.Issuer)
	if err != nil {
		return nil, fmt.Errorf("the issuer %w", err)
	}
	return &http.Client{
		Timeout: s.RequestTime,
		Transport: &transport{limit: s.RequestTime, rules: rules, issuer: address, fingerprint: p.Fingerprint,
			by: map[string]http.RoundTripper{}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// transport sends requests to a few servers over TLS. The fingerprint pins that of the issuer's address.
type transport struct {
	limit               time.Duration
	rules               outbound.Rules
	issuer, fingerprint string

	mu sync.Mutex
	by map[string]http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	to, err := t.to(r.URL)
	if err != nil {
		return nil, err
	}
	answer, err := to.RoundTrip(r)
	if err == nil {
		answer.Body = &limited{ReadCloser: answer.Body, left: maxAnswer}
	}
	return answer, err
}

func (t *transport) to(u *url.URL) (http.RoundTripper, error) {
	if u.Scheme != "https" {
		return nil, errors.New("it redirects to an address without https://")
	}
	_, address, err := t.rules.ParseURL(u.Scheme + "://" + u.Host)
	if err != nil {
		return nil, fmt.Errorf("an address to which it refers %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if by := t.by[address]; by != nil {
		return by, nil
	}
	if len(t.by) >= maxAddresses {
		return nil, errors.New("it refers to too many servers")
	}
	target := outbound.Target{Rules: t.rules, Address: address}
	if strings.EqualFold(address, t.issuer) {
		target.Fingerprint = t.fingerprint
	}
	client, err := target.Client(t.limit)
	if err != nil {
		return nil, err
	}
	if plain, ok := client.Transport.(*http.Transport); ok {
		plain.DisableKeepAlives = true // log-ins are rare, and nothing is left open when a provider is changed
	}
	t.by[address] = client.Transport
	return client.Transport, nil
}

// limited is an answer that may not be larger than what is left.
type limited struct {
	io.ReadCloser
	left int64
}

var errLarge = errors.New("the answer is too large")

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLarge
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.ReadCloser.Read(p)
	l.left -= int64(n)
	return n, err
}
