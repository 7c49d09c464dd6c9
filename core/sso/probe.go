package sso

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/outbound"
)

// ProbeResult is the result of testing a provider.
type ProbeResult struct {
	OK    bool    `json:"ok" doc:"true if log-ins are expected to work, as far as can be checked without a log-in"`
	Error *string `json:"error" example:"cannot connect: connection refused" doc:"Why log-ins cannot work; null if no problem was found"`
	// Notices are possible problems, as sentences.
	Notices               []string `json:"notices" doc:"Possible problems"`
	AuthorizationEndpoint *string  `json:"authorization_endpoint" example:"https://id.example.com/auth"`
	TokenEndpoint         *string  `json:"token_endpoint" example:"https://id.example.com/token"`
	UserInfoEndpoint      *string  `json:"userinfo_endpoint" example:"https://id.example.com/userinfo"`
	EndSessionEndpoint    *string  `json:"end_session_endpoint" example:"https://id.example.com/logout" doc:"End-session endpoint of the provider; null if it has none"`
	Algorithms            []string `json:"algorithms" example:"[\"RS256\"]" doc:"Supported signing algorithms of the provider"`
	ScopesSupported       []string `json:"scopes_supported" example:"[\"openid\",\"email\"]"`
	ClaimsSupported       []string `json:"claims_supported" example:"[\"sub\",\"email\"]"`
	Keys                  int      `json:"keys" example:"2" doc:"Number of signing keys of the provider"`
}

// Probe tests a provider without the cache. It records the test in the audit
// log before it sends a request. A provider that fails is not an error; the
// result says why. A success also clears the cached failure. Problem:
// not_found.
func (s *Store) Probe(ctx context.Context, id int64) (*ProbeResult, error) {
	p, err := s.read(ctx, s.DB.Pool, id, "")
	if err != nil {
		return nil, err
	}
	// The entry of the audit log is written before the provider is contacted.
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		audit.Describe(ctx, func(e *audit.Entry) {
			e.TargetKind, e.TargetID, e.TargetName = "identity_provider", fmt.Sprint(p.ID), p.Name
		})
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	t := &ProbeResult{Notices: []string{}, Algorithms: []string{}, ScopesSupported: []string{}, ClaimsSupported: []string{}}
	if s.BaseURL == "" {
		t.Notices = append(t.Notices, "The service does not know its own address, so nobody can log in with a provider: set "+
			"HOSTLER_BASE_URL.")
	}
	d, err := s.ask(ctx, &p.Provider)
	if err == nil {
		t.tell(d)
		t.judge(p, d)
		t.Keys, err = keys(ctx, d)
	}
	if err != nil {
		t.Error = new(err.Error())
		return t, nil
	}
	t.OK = true
	s.mu.Lock()
	delete(s.discovered, id) // one that has failed is asked again at once
	s.mu.Unlock()
	return t, nil
}

// maxTold is how many entries of a list of the provider the result repeats.
const maxTold = 100

// tell copies the endpoints and lists of the discovery document, cleaned.
func (t *ProbeResult) tell(d *discovery) {
	for to, url := range map[**string]string{&t.AuthorizationEndpoint: d.AuthorizationEndpoint, &t.TokenEndpoint: d.TokenEndpoint,
		&t.UserInfoEndpoint: d.UserInfoEndpoint, &t.EndSessionEndpoint: d.EndSessionEndpoint} {
		if url != "" {
			*to = new(outbound.Plain(url))
		}
	}
	for to, words := range map[*[]string][]string{&t.ScopesSupported: d.Scopes, &t.ClaimsSupported: d.Claims, &t.Algorithms: d.Algorithms} {
		for _, word := range words[:min(len(words), maxTold)] {
			*to = append(*to, outbound.Plain(word))
		}
	}
}

// judge adds notices about features that the provider does not announce.
func (t *ProbeResult) judge(p *stored, d *discovery) {
	if len(d.ChallengeMethods) > 0 && !slices.Contains(d.ChallengeMethods, "S256") {
		t.Notices = append(t.Notices, "The provider does not announce support for PKCE with S256, which Hostler always uses.")
	}
	if methods := d.AuthMethods; len(methods) > 0 && p.SecretSet && !slices.Contains(methods, "client_secret_basic") &&
		!slices.Contains(methods, "client_secret_post") {
		t.Notices = append(t.Notices, "The provider does not announce support for client secrets.")
	}
	for _, scope := range p.Scopes {
		if len(d.Scopes) > 0 && !slices.Contains(d.Scopes, scope) {
			t.Notices = append(t.Notices, "The provider does not announce support for the scope "+scope+".")
		}
	}
	if d.EndSessionEndpoint == "" {
		t.Notices = append(t.Notices, "The provider has no log-out endpoint: users who log out of Hostler stay logged in at the provider.")
	}
}

// keys returns how many signing keys the provider publishes. None is an error.
func keys(ctx context.Context, d *discovery) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.KeysEndpoint, nil)
	if err != nil {
		return 0, errors.New("the address of its keys is not valid")
	}
	answer, err := d.client.Do(r)
	if err != nil {
		return 0, errors.New("its keys cannot be reached: " + outbound.Plain(outbound.Cause(err).Error()))
	}
	defer answer.Body.Close()
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&set); answer.StatusCode != http.StatusOK || err != nil {
		return 0, fmt.Errorf("its keys cannot be read: it answered %d", answer.StatusCode)
	}
	if len(set.Keys) == 0 {
		return 0, errors.New("it has no keys")
	}
	return len(set.Keys), nil
}
