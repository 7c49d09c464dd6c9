package passkey

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// BeginLogIn begins a log-in by a passkey. With pending, which identity.LoginResult names, it is the second factor of that log-in; else
// it is all that is asked for, and the browser offers what it has for the service. It is invalid_credentials for a log-in that waits no
// longer or whose account has no passkey, and invalid_state where there are no passkeys.
func (s *Store) BeginLogIn(ctx context.Context, pending string) (*CeremonyStart, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	if pending == "" {
		assertion, data, err := s.party.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
		if err != nil {
			return nil, err
		}
		return s.begin(ceremony{For: toLogIn}, data, assertion.Response)
	}
	found, err := s.Users.PasskeyOwnerPending(ctx, pending)
	if err != nil {
		return nil, err
	}
	if found == nil || len(found.Passkeys) == 0 {
		return nil, over()
	}
	// The password has been proven already: what the passkey adds is that one has it.
	assertion, data, err := s.party.BeginLogin(owner{found}, webauthn.WithUserVerification(protocol.VerificationDiscouraged))
	if err != nil {
		return nil, err
	}
	return s.begin(ceremony{For: toLogIn, Pending: true}, data, assertion.Response)
}

// LogIn completes what BeginLogIn has begun, with the same pending. Problems: invalid_credentials for an answer that is not taken, and
// those of identity.Store.LogInPasskey and LogInTOTP; rate_limited after too many of these from one network.
func (s *Store) LogIn(ctx context.Context, pending string, a Response, from identity.Client) (in *identity.LoginResult, err error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	back, err := s.Users.Throttle(ctx, from)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err == nil || problem.CodeOf(err) != problem.CodeInvalidCredentials {
			back()
		}
	}()
	parsed, err := protocol.ParseCredentialRequestResponseBytes(a.Credential)
	if err != nil {
		return nil, s.refused("the answer of the passkey is not readable", err)
	}
	c, err := s.open(ctx, a.Ceremony, toLogIn)
	if err != nil {
		return nil, err
	}
	if c.Pending != (pending != "") {
		return nil, over()
	}
	use, err := s.prove(ctx, c, parsed)
	if err != nil {
		return nil, err
	}
	if c.Pending {
		return s.Users.LogInPasskeyPending(ctx, pending, *use, from)
	}
	return s.Users.LogInPasskey(ctx, *use, from)
}

// prove holds an answer against what was asked and the public key.
func (s *Store) prove(ctx context.Context, c *ceremony, parsed *protocol.ParsedCredentialAssertionData) (*identity.PasskeyUse, error) {
	found, err := s.Users.PasskeyOwnerOf(ctx, parsed.RawID)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, s.refused("this passkey is not registered here: it was deleted, or belongs to another service", nil)
	}
	audit.Describe(ctx, func(e *audit.Entry) { e.TargetKind, e.TargetID = "user", strconv.FormatInt(found.User.ID, 10) })
	var proven *webauthn.Credential
	if c.Pending {
		for _, p := range found.Passkeys {
			c.Data.AllowedCredentialIDs = append(c.Data.AllowedCredentialIDs, p.Credential)
		}
		proven, err = s.party.ValidateLogin(owner{found}, c.Data, parsed)
	} else {
		_, proven, err = s.party.ValidatePasskeyLogin(func(_, handle []byte) (webauthn.User, error) {
			if !bytes.Equal(handle, found.Handle) {
				return nil, errors.New("its handle belongs to another account")
			}
			return owner{found}, nil
		}, c.Data, parsed)
	}
	if err != nil {
		return nil, s.refused("this passkey has not proven who you are; start again", err)
	}
	i := slices.IndexFunc(found.Passkeys, func(p identity.Passkey) bool { return bytes.Equal(p.Credential, proven.ID) })
	if i < 0 {
		return nil, s.refused("this passkey is not registered here", nil)
	}
	if proven.Authenticator.CloneWarning {
		s.Logger.Warn("a passkey has a lower use counter than before: there may be a copy of it", "user_id", found.User.ID,
			"passkey", found.Passkeys[i].Name)
		audit.Describe(ctx, func(e *audit.Entry) { e.Detail("copied_passkey", found.Passkeys[i].Name) })
		return nil, s.refused("this passkey has a lower use counter than before, so there may be a copy of it: log in another way, "+
			"delete the passkey and create a new one", nil)
	}
	return &identity.PasskeyUse{Passkey: &found.Passkeys[i], SignCount: proven.Authenticator.SignCount,
		BackedUp: proven.Flags.BackupState}, nil
}

// refused is a log-in that is not taken. What the library says of it is for the log.
func (s *Store) refused(why string, err error) error {
	if err != nil {
		s.Logger.Debug("a log-in with a passkey was rejected", "why", why, "error", cause(err))
	}
	return problem.New(problem.CodeInvalidCredentials, "%s", why)
}

// cause is an error of the library with what it says of it to developers.
func cause(err error) string {
	var own *protocol.Error
	if errors.As(err, &own) {
		return own.Details + " " + own.DevInfo
	}
	return err.Error()
}
