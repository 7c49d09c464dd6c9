// Package sso is single sign-on: providers of OpenID Connect, log-in by them in the code flow with PKCE (RFC 7636), and log-out there.
//
// What a log-in needs between its beginning and the provider's answer is sealed in a cookie of the browser, so any instance can go on
// with it, and nobody who is unknown fills the database. The provider's answer comes to a page, which hands it to Complete.
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
	// MaxProviders is how many there may be.
	MaxProviders = 20
	// MaxRules is how many rules one may have.
	MaxRules = 100
	// Everybody is the group of a rule that holds for everyone whom the provider lets in.
	Everybody = "*"
)

// How people without an account are met.
const (
	// Create makes an account at the first log-in.
	Create = "create"
	// Invited refuses them: an admin makes the account, with the address that the provider knows.
	Invited = "invited"
)

// SealedTable is the column of the clients' secrets, for rotating the key.
var SealedTable = secret.Table{Name: "identity_providers", Column: "client_secret", Key: []string{"id"}}

// Provider is a provider of OpenID Connect, as it is told and as it is stored but for the client's secret.
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
	// RedirectURI and LogoutURI are what its client must allow; nil where the service does not know its own address.
	RedirectURI *string `json:"redirect_uri" example:"https://hostler.example.com/login/callback/3" doc:"Redirect URI to register at the provider; null without HOSTLER_BASE_URL"`
	LogoutURI   *string `json:"post_logout_redirect_uri" example:"https://hostler.example.com/" doc:"Post-logout redirect URI to register at the provider; null without HOSTLER_BASE_URL"`
}

// Rule gives the members of a group a role in a team. Where several of one team hold for somebody, the highest role counts.
type Rule struct {
	Group  string `json:"group" minLength:"1" maxLength:"200" example:"admins" doc:"Name of the group in the provider's claim; * matches all users"`
	TeamID int64  `json:"team_id" minimum:"1" example:"1"`
	Role   string `json:"role" enum:"viewer,operator,admin,owner" example:"operator"`
}

// Config is what a Store is made of.
type Config struct {
	DB    *db.DB
	Users *identity.Store
	Keys  secret.Keys
	// AllowLocal lets providers be at loopback and link-local addresses.
	AllowLocal bool
	// BaseURL is where people find the service, without a slash at its end; empty where it is not known, and then nobody logs in by a
	// provider.
	BaseURL string
	Logger  hclog.Logger
	// Now is the clock against which tokens are held; time.Now when nil.
	Now func() time.Time
	// RequestTime is how long one request to a provider may take; 10 s when zero.
	RequestTime time.Duration
}

// Store keeps providers and logs people in by them. It is safe for use by many goroutines, and by many instances on one database.
type Store struct {
	Config
	mu sync.Mutex
	// discovered is what providers have said of themselves, by id: a cache, which every instance fills for itself.
	discovered map[int64]*slot
}

// New makes a store on a migrated database.
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

func binding(id int64) secret.Binding {
	return secret.Binding{Table: SealedTable.Name, Column: SealedTable.Column, Row: secret.Row(id)}
}

func (s *Store) rules(p *Provider) outbound.Rules {
	return outbound.Rules{AllowLocal: s.AllowLocal, AllowPrivate: p.AllowPrivate}
}

// redirectURI is where the provider sends the answer: one address for each provider, so that none can pass an answer of another one
// off as its own (RFC 9700 section 4.4).
func (s *Store) redirectURI(id int64) string {
	return fmt.Sprintf("%s/login/callback/%d", s.BaseURL, id)
}

// addresses fills in what depends on the service's own address.
func (s *Store) addresses(p *Provider) {
	if s.BaseURL != "" {
		p.RedirectURI, p.LogoutURI = new(s.redirectURI(p.ID)), new(s.BaseURL+"/")
	}
}
