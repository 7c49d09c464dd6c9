// Package sso is single sign-on with providers of OpenID Connect. It uses the
// authorization code flow with PKCE (RFC 7636) and logs out at the provider,
// too.
//
// A login takes these steps:
//
//   - Begin returns the URL of the provider and an encrypted cookie with
//     state, nonce and PKCE verifier.
//   - The provider sends the browser back to a page of this service, which
//     calls the API with the parameters of the callback.
//   - Complete checks cookie and state, exchanges the code for an ID token,
//     verifies it, and logs the user in with the roles that the rules of the
//     provider grant.
//
// Because the state of a login is in the browser's cookie, any instance can
// complete it, and anonymous requests cannot fill the database. Only a used
// state is stored, to refuse a second use.
//
// All requests to a provider follow the rules of package outbound: https only,
// no private addresses unless the provider allows them, and limits on time,
// size and the number of servers.
package sso

import (
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/outbound"
	"github.com/hostler/hostler/core/secret"
)

const (
	// MaxProviders is how many providers there may be.
	MaxProviders = 20
	// MaxRules is how many rules a provider may have.
	MaxRules = 100
	// Everybody is the group of a rule that applies to all users of a provider.
	Everybody = "*"
)

// How people without an account are met.
const (
	// Create creates an account at the first login.
	Create = "create"
	// Invited refuses users without an account. An admin must create the
	// account first, with the email address that the provider knows.
	Invited = "invited"
)

// SealedTable is the column of the client secrets, for the rotation of the key.
var SealedTable = secret.Table{Name: "identity_providers", Column: "client_secret", Key: []string{"id"}}

// Provider is a provider of OpenID Connect, without its client secret.
type Provider struct {
	ID           int64     `json:"id" example:"3"`
	Name         string    `json:"name" example:"Company" doc:"Name on the log-in page"`
	Issuer       string    `json:"issuer" example:"https://id.example.com/realms/main" doc:"URL of the issuer, exactly as in its discovery document"`
	ClientID     string    `json:"client_id" example:"hostler"`
	SecretSet    bool      `json:"client_secret_set" doc:"true if a client secret is set"`
	Scopes       []string  `json:"scopes" example:"[\"openid\",\"email\",\"profile\"]" doc:"Scopes that are requested"`
	GroupsClaim  string    `json:"groups_claim" example:"groups" doc:"Claim that lists the groups; dots separate the levels of nested objects"`
	Rules        []Rule    `json:"rules" doc:"Roles for members of groups"`
	Accounts     string    `json:"accounts" enum:"create,invited" example:"invited" doc:"create: an account is created at the first log-in; invited: only users with an account can log in"`
	TrustEmail   bool      `json:"trust_email" doc:"Treat email addresses as verified even if the provider does not say so"`
	AllowPrivate bool      `json:"allow_private" doc:"Allow private addresses"`
	Fingerprint  string    `json:"tls_fingerprint" example:"" doc:"SHA-256 of the issuer's certificate to pin; empty to check it against the system's certificate authorities"`
	Enabled      bool      `json:"enabled" example:"true"`
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
	// RedirectURI and LogoutURI are the URIs to register at the provider; nil
	// if the service does not know its own address.
	RedirectURI *string `json:"redirect_uri" example:"https://hostler.example.com/login/callback/3" doc:"Redirect URI to register at the provider; null without HOSTLER_BASE_URL"`
	LogoutURI   *string `json:"post_logout_redirect_uri" example:"https://hostler.example.com/" doc:"Post-logout redirect URI to register at the provider; null without HOSTLER_BASE_URL"`
}

// Rule gives the members of a group a role in a team. If several rules of one
// team apply to a user, the highest role counts.
type Rule struct {
	Group  string `json:"group" minLength:"1" maxLength:"200" example:"admins" doc:"Name of the group in the provider's claim; * matches all users"`
	TeamID int64  `json:"team_id" minimum:"1" example:"1"`
	Role   string `json:"role" enum:"viewer,operator,admin,owner" example:"operator"`
}

// Config has the dependencies of a Store. DB, Users and Keys are required.
type Config struct {
	DB    *db.DB
	Users *identity.Store
	Keys  secret.Keys
	// AllowLocal allows providers at loopback and link-local addresses.
	AllowLocal bool
	// BaseURL is the URL at which browsers reach the service, without a slash
	// at the end. If it is empty, nobody can log in with a provider, because
	// there is no redirect URI.
	BaseURL string
	Logger  hclog.Logger
	// Now is the clock for checking tokens; nil means time.Now.
	Now func() time.Time
	// RequestTime bounds one request to a provider; 0 means 10 s.
	RequestTime time.Duration
}

// Store keeps providers and logs users in. It is safe for concurrent use, and
// several instances may share one database.
type Store struct {
	Config
	mu sync.Mutex
	// discovered caches discovery documents by provider ID. Every instance has
	// its own cache.
	discovered map[int64]*slot
}

// New returns a store. The database must have the schema of this release.
func New(c Config) *Store {
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.RequestTime <= 0 {
		c.RequestTime = 10 * time.Second
	}
	return &Store{Config: c, discovered: map[int64]*slot{}}
}

// binding ties an encrypted client secret to its row, so that a copy in another
// row cannot be decrypted.
func binding(id int64) secret.Binding {
	return secret.Binding{Table: SealedTable.Name, Column: SealedTable.Column, Row: secret.Row(id)}
}

// rules returns the rules for outbound requests to a provider.
func (s *Store) rules(p *Provider) outbound.Rules {
	return outbound.Rules{AllowLocal: s.AllowLocal, AllowPrivate: p.AllowPrivate}
}

// redirectURI returns where a provider sends its answer. Each provider has its
// own URI, so that none can pass an answer of another one off as its own (RFC
// 9700 section 4.4).
func (s *Store) redirectURI(id int64) string {
	return fmt.Sprintf("%s/login/callback/%d", s.BaseURL, id)
}

// addresses fills in the fields that depend on the service's own address.
func (s *Store) addresses(p *Provider) {
	if s.BaseURL != "" {
		p.RedirectURI, p.LogoutURI = new(s.redirectURI(p.ID)), new(s.BaseURL+"/")
	}
}
