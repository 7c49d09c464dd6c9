package passkey

import (
	"context"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// BeginAdd begins to make a passkey for the caller. Problems: those of identity.Store.PreparePasskey, and invalid_state where there are no
// passkeys.
func (s *Store) BeginAdd(ctx context.Context, caller *identity.Caller, password string) (*CeremonyStart, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	found, err := s.Users.PreparePasskey(ctx, caller, password)
	if err != nil {
		return nil, err
	}
	o := owner{found}
	creation, data, err := s.party.BeginRegistration(o,
		webauthn.WithExclusions(webauthn.Credentials(o.WebAuthnCredentials()).CredentialDescriptors()))
	if err != nil {
		return nil, err
	}
	return s.begin(ceremony{For: toAdd, User: caller.UserID, Session: caller.SessionID}, data, creation.Response)
}

// Add completes what BeginAdd has begun in the same session, under a name. Where the passkey is the first second factor there are recovery
// codes, shown this once. An answer that is not taken is a 422 at body.credential; problems beside: those of identity.Store.AddPasskey.
func (s *Store) Add(ctx context.Context, caller *identity.Caller, name string, a Response) (*identity.Passkey, []string, error) {
	if err := s.usable(); err != nil {
		return nil, nil, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(a.Credential)
	if err != nil {
		return nil, nil, s.untrue("it is not readable", err)
	}
	c, err := s.open(ctx, a.Ceremony, toAdd)
	ended := err != nil && problem.CodeOf(err) == problem.CodeInvalidCredentials
	if ended || err == nil && (c.User != caller.UserID || c.Session != caller.SessionID) {
		// The session is good, and nobody has to log in again.
		return nil, nil, problem.InvalidField("has expired, was already answered or was started in another session; start again", "over",
			"body", "ceremony")
	}
	if err != nil {
		return nil, nil, err
	}
	credential, err := s.party.CreateCredential(owner{&identity.PasskeyOwner{Handle: c.Data.UserID}}, c.Data, parsed)
	if err != nil {
		return nil, nil, s.untrue("it is not trusted", err)
	}
	p := &identity.Passkey{Name: name, Credential: credential.ID, PublicKey: credential.PublicKey,
		SignCount: credential.Authenticator.SignCount, UserVerified: credential.Flags.UserVerified,
		BackupEligible: credential.Flags.BackupEligible, BackedUp: credential.Flags.BackupState}
	for _, t := range credential.Transport {
		if text := string(t); len(text) <= 20 && len(p.Transports) < 10 && !slices.Contains(p.Transports, text) {
			p.Transports = append(p.Transports, text)
		}
	}
	codes, err := s.Users.AddPasskey(ctx, caller, p)
	if err != nil {
		return nil, nil, err
	}
	return p, codes, nil
}

// untrue is the answer of an authenticator to the making of a passkey that is not taken. What the library says of it is for the log.
func (s *Store) untrue(why string, err error) error {
	s.Logger.Debug("a new passkey was rejected", "why", why, "error", cause(err))
	return problem.InvalidField("is not what an authenticator creates for this request: "+why, "untrue", "body", "credential")
}
