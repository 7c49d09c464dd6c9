// Package ssotest is a provider of OpenID Connect over TLS for tests, which is true to the protocol until a test has it lie.
package ssotest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// ClientID and ClientSecret are those of the one client that a Provider knows.
const (
	ClientID     = "hostler"
	ClientSecret = "canary-client-secret"
)

// keys are made once: the one that providers tell, and one of which nobody knows.
var keys = sync.OnceValue(func() [2]*rsa.PrivateKey {
	var made [2]*rsa.PrivateKey
	for i := range made {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		made[i] = key
	}
	return made
})

// Lies are what a Provider does that it should not. Nil fields are true to the protocol.
type Lies struct {
	// Discovery edits what it says of itself, and Serve answers in the place of it.
	Discovery func(map[string]any)
	Serve     http.HandlerFunc
	// Token edits the claims of the ID token, and Sign makes the token of them.
	Token func(map[string]any)
	Sign  func(payload []byte) string
	// NoToken leaves the ID token out.
	NoToken bool
	// Info edits what the endpoint for that tells of the person.
	Info func(map[string]any)
}

// grant is what a code stands for.
type grant struct{ nonce, challenge, redirect string }

// Provider is one provider. Its fields are set before a test uses it.
type Provider struct {
	// URL is its issuer, and Fingerprint pins its certificate.
	URL, Fingerprint string
	// Person is what is said of who logs in, and Info what only the endpoint for that tells.
	Person, Info map[string]any

	t       testing.TB
	mu      sync.Mutex
	lies    Lies
	codes   map[string]grant
	tokens  int
	server  *httptest.Server
	visited map[string]int
}

// New starts a provider that ends with the test, with a person of a verified address.
func New(t testing.TB) *Provider {
	p := &Provider{t: t, codes: map[string]grant{}, visited: map[string]int{}, Person: map[string]any{
		"sub": "person-1", "email": "anna@example.com", "email_verified": true, "name": "Anna Lee"}}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		public := jose.JSONWebKey{Key: keys()[0].Public(), KeyID: "one", Algorithm: "RS256", Use: "sig"}
		p.write(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public}})
	})
	mux.HandleFunc("/token", p.token)
	mux.HandleFunc("/userinfo", p.userInfo)
	p.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.visited[r.URL.Path]++
		p.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.server.Close)
	p.URL = p.server.URL
	sum := sha256.Sum256(p.server.Certificate().Raw)
	p.Fingerprint = hex.EncodeToString(sum[:])
	return p
}

// Lie sets what it does that it should not, from now on and in the place of what it did.
func (p *Provider) Lie(lies Lies) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lies = lies
}

func (p *Provider) lying() Lies {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lies
}

// Visits is how many requests came to a path.
func (p *Provider) Visits(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.visited[path]
}

func (p *Provider) write(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(body); err != nil {
		p.t.Log(err) // the client may have gone
	}
}

func (p *Provider) discovery(w http.ResponseWriter, r *http.Request) {
	lies := p.lying()
	if lies.Serve != nil {
		lies.Serve(w, r)
		return
	}
	said := map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
		"userinfo_endpoint": p.URL + "/userinfo", "end_session_endpoint": p.URL + "/logout",
		"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"}, "code_challenge_methods_supported": []string{"S256"},
		"scopes_supported": []string{"openid", "email", "profile"}, "claims_supported": []string{"sub", "email"},
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
	}
	if lies.Discovery != nil {
		lies.Discovery(said)
	}
	p.write(w, said)
}

// Authorize is what the person does at the provider: it checks the request, as RFC 6749 section 4.1.1 and RFC 7636 want it, and gives the
// query that the browser comes back with.
func (p *Provider) Authorize(t testing.TB, address string) url.Values {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, p.URL+"/auth?") {
		t.Fatalf("the browser is sent to %s: %v", address, err)
	}
	q := u.Query()
	for name, want := range map[string]string{"response_type": "code", "client_id": ClientID, "code_challenge_method": "S256"} {
		if q.Get(name) != want {
			t.Fatalf("%s is %q, want %q", name, q.Get(name), want)
		}
	}
	if len(q.Get("state")) < 32 || len(q.Get("nonce")) < 32 || len(q.Get("code_challenge")) != 43 ||
		!strings.Contains(" "+q.Get("scope")+" ", " openid ") {
		t.Fatalf("%v", q)
	}
	code := rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codes[code] = grant{nonce: q.Get("nonce"), challenge: q.Get("code_challenge"), redirect: q.Get("redirect_uri")}
	return url.Values{"code": {code}, "state": {q.Get("state")}}
}

// token gives the tokens for a code, once.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	id, clientSecret, basic := r.BasicAuth()
	if !basic {
		id, clientSecret = r.FormValue("client_id"), r.FormValue("client_secret")
	}
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	p.mu.Lock()
	code := r.FormValue("code")
	given, there := p.codes[code]
	delete(p.codes, code)
	p.tokens++
	p.mu.Unlock()
	refusal := ""
	switch {
	case id != ClientID || clientSecret != ClientSecret:
		refusal = "invalid_client"
	case !there || given.redirect != r.FormValue("redirect_uri") || base64.RawURLEncoding.EncodeToString(sum[:]) != given.challenge:
		refusal = "invalid_grant"
	}
	if refusal != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		p.write(w, map[string]any{"error": refusal})
		return
	}
	now := time.Now()
	claims := map[string]any{"iss": p.URL, "aud": ClientID, "nonce": given.nonce, "iat": now.Unix(), "exp": now.Add(time.Minute).Unix()}
	maps.Copy(claims, p.Person)
	lies := p.lying()
	if lies.Token != nil {
		lies.Token(claims)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		p.t.Error(err)
	}
	answer := map[string]any{"access_token": "canary-access-token", "token_type": "Bearer", "expires_in": 60}
	switch {
	case lies.NoToken:
	case lies.Sign != nil:
		answer["id_token"] = lies.Sign(payload)
	default:
		answer["id_token"] = Signed(p.t, jose.RS256, keys()[0], payload)
	}
	p.write(w, answer)
}

func (p *Provider) userInfo(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer canary-access-token" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	told := map[string]any{"sub": p.Person["sub"]}
	maps.Copy(told, p.Info)
	if lies := p.lying(); lies.Info != nil {
		lies.Info(told)
	}
	p.write(w, told)
}

// Signed is a token in compact form.
func Signed(t testing.TB, algorithm jose.SignatureAlgorithm, key any, payload []byte) string {
	options := (&jose.SignerOptions{}).WithHeader("kid", "one")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, options)
	if err != nil {
		t.Error(err)
		return ""
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Error(err)
		return ""
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Error(err)
	}
	return text
}

// Unsigned is a token of the algorithm none (RFC 7519 section 6).
func Unsigned(payload []byte) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none","kid":"one"}`)) + "." + encode(payload) + "."
}

// Stranger is a key that no provider tells.
func Stranger() crypto.Signer { return keys()[1] }
