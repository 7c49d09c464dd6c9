// Package passkey speaks WebAuthn (W3C, level 3) for the accounts of package identity: making passkeys, and logging in by them, alone or
// as the second factor.
//
// What a ceremony needs between its two steps is sealed into a text that the client brings back, so any instance can go on with it, and
// nobody who is unknown fills the database. Each is answered once.
package passkey

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
)

const (
	// CeremonyLifetime is how long a ceremony may take, from its options to the answer.
	CeremonyLifetime = 5 * time.Minute
	// MaxCeremony is how long the name of a ceremony may be, in bytes: with the answer it must fit into a body before log-in.
	MaxCeremony = 2 << 10
	shownName   = "Hostler"
)

// Config is what a Store is made of.
type Config struct {
	DB    *db.DB
	Users *identity.Store
	Keys  secret.Keys
	// BaseURL is where people find the service, without a slash at its end. Passkeys are bound to its host, which must be a domain, and
	// browsers take it with TLS only, or as localhost. Where it is none such, there are no passkeys.
	BaseURL string
	Logger  hclog.Logger
	// Now is the clock of ceremonies; time.Now when nil.
	Now func() time.Time
}

// Store makes passkeys and logs people in by them. It is safe for use by many goroutines, and by many instances on one database.
type Store struct {
	Config
	party *webauthn.WebAuthn // nil where there are no passkeys
}

// New makes a store on a migrated database.
func New(c Config) *Store {
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Store{Config: c, party: partyOf(c.BaseURL)}
}

// partyOf is the service as WebAuthn sees it; nil where its address cannot have passkeys.
func partyOf(base string) *webauthn.WebAuthn {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" || net.ParseIP(u.Hostname()) != nil || u.Scheme != "https" && u.Hostname() != "localhost" {
		return nil
	}
	party, err := webauthn.New(&webauthn.Config{
		RPID: u.Hostname(), RPDisplayName: shownName, RPOrigins: []string{u.Scheme + "://" + u.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementPreferred, UserVerification: protocol.VerificationPreferred,
		},
		Timeouts: webauthn.TimeoutsConfig{Login: webauthn.TimeoutConfig{Timeout: CeremonyLifetime, TimeoutUVD: CeremonyLifetime},
			Registration: webauthn.TimeoutConfig{Timeout: CeremonyLifetime, TimeoutUVD: CeremonyLifetime}},
	})
	if err != nil {
		return nil // a name that is no domain
	}
	return party
}

func (s *Store) usable() error {
	if s.party == nil {
		return problem.New(problem.CodeInvalidState, "passkeys are bound to a domain: set HOSTLER_BASE_URL to the address of the "+
			"service, with https:// and a host name, not an IP address")
	}
	return nil
}

// CeremonyStart is a ceremony that goes on in the browser.
type CeremonyStart struct {
	// Ceremony names it, for the answer.
	Ceremony string
	// Options are what navigator.credentials takes, as parseCreationOptionsFromJSON and parseRequestOptionsFromJSON read them.
	Options json.RawMessage
}

// Response is what a browser brings back.
type Response struct {
	// Ceremony is that of CeremonyStart.
	Ceremony string
	// Credential is what the authenticator says, as PublicKeyCredential.toJSON writes it.
	Credential json.RawMessage
}

// What a ceremony is for.
const (
	toAdd   = "add"
	toLogIn = "log in"
)

// ceremony is what is sealed between the two steps.
type ceremony struct {
	For string `json:"for"`
	// User and Session are whose it is, of one that adds a passkey.
	User    int64 `json:"user"`
	Session int64 `json:"session"`
	// Pending says that it is for a log-in that waits for its second factor.
	Pending bool                 `json:"pending"`
	Data    webauthn.SessionData `json:"data"`
	Until   time.Time            `json:"until"`
}

func (s *Store) flows() identity.Flows {
	return identity.Flows{DB: s.DB, Keys: s.Keys, Name: "passkey"}
}

func (s *Store) begin(c ceremony, data *webauthn.SessionData, options any) (*CeremonyStart, error) {
	c.Data, c.Until = *data, s.Now().Add(CeremonyLifetime)
	c.Data.AllowedCredentialIDs = nil // they are the account's, and twenty of them would not fit
	sealed, err := s.flows().Seal(c)
	if err == nil && len(sealed) > MaxCeremony {
		err = fmt.Errorf("a request for a passkey has %d bytes", len(sealed))
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(options)
	if err != nil {
		return nil, err
	}
	return &CeremonyStart{Ceremony: sealed, Options: text}, nil
}

// over is a ceremony that cannot go on.
func over() error {
	return problem.New(problem.CodeInvalidCredentials, "this request for a passkey has expired or was already answered; start again")
}

// open is the ceremony of an answer, used up by this.
func (s *Store) open(ctx context.Context, text, purpose string) (*ceremony, error) {
	var c ceremony
	if !s.flows().Open(text, &c) || c.For != purpose || !s.Now().Before(c.Until) {
		return nil, over()
	}
	first, err := s.flows().Use(ctx, c.Data.Challenge, 2*CeremonyLifetime)
	if err == nil && !first {
		err = over()
	}
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// owner is an account as the library wants it.
type owner struct{ *identity.PasskeyOwner }

var _ webauthn.User = owner{}

func (o owner) WebAuthnID() []byte   { return o.Handle }
func (o owner) WebAuthnName() string { return o.User.Email }
func (o owner) WebAuthnDisplayName() string {
	if o.User.DisplayName != nil {
		return *o.User.DisplayName
	}
	return o.User.Email
}

func (o owner) WebAuthnCredentials() []webauthn.Credential {
	all := make([]webauthn.Credential, len(o.Passkeys))
	for i, p := range o.Passkeys {
		all[i] = webauthn.Credential{ID: p.Credential, PublicKey: p.PublicKey,
			Flags: webauthn.CredentialFlags{UserPresent: true, UserVerified: p.UserVerified, BackupEligible: p.BackupEligible,
				BackupState: p.BackedUp},
			Authenticator: webauthn.Authenticator{SignCount: p.SignCount}}
		for _, t := range p.Transports {
			all[i].Transport = append(all[i].Transport, protocol.AuthenticatorTransport(t))
		}
	}
	return all
}
