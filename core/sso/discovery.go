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
	// maxAnswer is the limit of a response of a provider, in bytes.
	maxAnswer = 1 << 20
	// goodFor is how long a discovery document is cached, and badFor how long a
	// failure is: during that time requests get the same error.
	goodFor = time.Hour
	badFor  = 15 * time.Second
	// maxAddresses is the number of servers to which the endpoints of one
	// provider may lead, redirects included.
	maxAddresses = 8
)

// metadata is the part of a discovery document that is used (OpenID Connect
// Discovery 1.0 section 3, RFC 9207 section 3, RFC 8414 section 2).
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

// discovery is a provider with its discovery document. It is immutable, so
// several requests share it.
type discovery struct {
	metadata
	provider *oidc.Provider
	client   *http.Client
}

// slot is the cache entry of one provider.
type slot struct {
	// revision is when the provider was last changed. A changed provider gets a
	// new slot.
	revision time.Time
	// mu is locked during a request, so that concurrent logins wait for the
	// same answer.
	mu    sync.Mutex
	found *discovery
	err   error
	// until is when found and err expire.
	until time.Time
}

// discover returns the discovery document of a provider, from the cache if
// possible.
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

// ask requests the discovery document. It ignores the cancellation of ctx,
// because other requests get the answer from the cache.
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

// discoveryFailed shortens an error of discovery to one line. It leaves out the
// body of the response, which can be long.
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

// authStyle returns how the client authenticates at the token endpoint. The
// library's automatic detection is not used: it tries both ways, but a code can
// be used only once.
func (d *discovery) authStyle(secretSet bool) oauth2.AuthStyle {
	// Without a list it is client_secret_basic (OpenID Connect Discovery 1.0 section 3).
	if !secretSet || len(d.AuthMethods) > 0 && !slices.Contains(d.AuthMethods, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// client returns an HTTP client for the servers that a provider names. Every
// connection follows the rules for outbound requests, and redirects are not
// followed.
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

// transport sends requests to a few servers over TLS. The pinned fingerprint
// applies only to the address of the issuer.
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

// to returns the round tripper for the server of a URL. It checks the address
// by the rules before any connection is made.
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

// limited is a response body that fails after left bytes.
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
