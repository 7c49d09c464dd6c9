package host

import (
	"context"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
)

// RotateRequest is the input of Rotate: credentials that replace those of their
// capabilities, or are their first ones.
type RotateRequest struct {
	// Capability is monitoring when empty.
	Capability string
	// Form, TokenID and Secret are as in EnrolRequest.
	Form    string
	TokenID string
	Secret  secret.String
	// Paste is as in EnrolRequest, in place of all the above.
	Paste secret.String
	// SSH asks for a new key to log in to the machine with, and SSHConsent is as in EnrolRequest.
	SSH        bool
	SSHConsent bool
}

// StoredCredential is a credential that was stored.
type StoredCredential struct {
	Capability    endpoint.Capability
	TokenID, Form string
	Verification
}

// RotateResult is the result of Rotate.
type RotateResult struct {
	// Stored are in order of their capabilities; none where only an SSH key was made.
	Stored []StoredCredential
	// Kept are the capabilities whose credential the script has kept and not
	// printed: what is stored of them stays as it is.
	Kept []string
	// SSH is the key that was made; nil for none.
	SSH *NewSSHKey
}

// Rotate verifies new credentials at the host and stores each in place of its
// capability's old one; it stores all of them or none.
//
// Problems: token_rejected if the host does not accept one (the old ones stay),
// conflict if the host's endpoint changed in the meantime, unsupported for a
// capability that the driver does not have, consent_required for an SSH key
// without consent. A new SSH key is pending until VerifySSH has logged in with
// it; the old one works until then.
func (s *Store) Rotate(ctx context.Context, id int64, in RotateRequest) (RotateResult, error) {
	if err := rotationFault(in); err != nil {
		return RotateResult{}, err
	}
	e, d, err := s.rotating(ctx, id)
	if err != nil {
		return RotateResult{}, err
	}
	if in.SSH {
		return s.rotateSSH(ctx, id, e, d, in)
	}
	if in.Paste.Empty() {
		return s.rotateOne(ctx, id, e, d, in, nil)
	}
	p, err := s.readPaste(ctx, d, in.Paste)
	if err == nil {
		err = p.some()
	}
	if err != nil {
		return RotateResult{}, err
	}
	done, err := s.rotate(ctx, id, e, d, p.all, func(label string) error { return pasteFault("fingerprint", foreign(label)) }, nil)
	return RotateResult{Stored: done, Kept: append([]string{}, p.kept...)}, err
}

// rotateSSH makes an SSH key, and replaces a token in the same transaction if
// one was given.
func (s *Store) rotateSSH(ctx context.Context, id int64, e connection, d driver, in RotateRequest) (RotateResult, error) {
	if !in.SSHConsent {
		if there, err := s.consents(ctx, id); err != nil {
			return RotateResult{}, err
		} else if !there {
			return RotateResult{}, consentRequired("an SSH key to log in to the machine requires your consent")
		}
	}
	if err := s.sshAble(ctx, e); err != nil {
		return RotateResult{}, err
	}
	from, err := s.sshFrom(ctx)
	if err != nil {
		return RotateResult{}, err
	}
	var key NewSSHKey
	enrol := func(ctx context.Context, tx *db.Tx) (err error) {
		key, err = s.enrolSSH(ctx, tx, id, in.SSHConsent, from)
		return err
	}
	done := RotateResult{Kept: []string{}}
	if in.TokenID == "" && in.Secret.Empty() {
		err = s.db.Tx(ctx, func(tx *db.Tx) error {
			if err := lock(ctx, tx, id); err != nil {
				return err
			}
			if err := enrol(ctx, tx); err != nil {
				return err
			}
			return audit.Write(ctx, tx)
		})
	} else {
		done, err = s.rotateOne(ctx, id, e, d, in, enrol)
	}
	if err != nil {
		return RotateResult{}, err
	}
	done.SSH = &key
	return done, nil
}

// rotateOne replaces one token. also runs in the same transaction; nil does
// nothing.
func (s *Store) rotateOne(ctx context.Context, id int64, e connection, d driver, in RotateRequest,
	also func(context.Context, *db.Tx) error) (RotateResult, error) {
	key := in.capability()
	if err := d.require(key); err != nil {
		return RotateResult{}, err
	}
	read, err := s.readAccess(ctx, d, accessInput{capability: key, form: in.Form, tokenID: in.TokenID, secret: in.Secret})
	if err != nil {
		return RotateResult{}, err
	}
	done, err := s.rotate(ctx, id, e, d, []access{read}, func(label string) error {
		return problem.InvalidField(foreign(label), "fingerprint", "body", "token_secret")
	}, also)
	return RotateResult{Stored: done, Kept: []string{}}, err
}

// capability returns the capability of a single credential.
func (in RotateRequest) capability() endpoint.Capability {
	if in.Capability == "" {
		return endpoint.Monitoring
	}
	return endpoint.Capability(in.Capability)
}

// foreign is the text of the fault of a code that names another certificate
// than the host's.
func foreign(label string) string {
	return "is for another server: the " + label + " does not match the host's certificate"
}

// rotating returns the endpoint of a host and its driver.
func (s *Store) rotating(ctx context.Context, id int64) (connection, driver, error) {
	e, err := s.connection(ctx, id)
	if err != nil {
		return connection{}, driver{}, err
	}
	d, err := s.describe(ctx, e.driver)
	return e, d, err
}

// rotate redeems codes, verifies all credentials and stores them. elsewhere
// makes the fault of a code that is for another server.
func (s *Store) rotate(ctx context.Context, id int64, e connection, d driver, all []access, elsewhere func(label string) error,
	also func(context.Context, *db.Tx) error) ([]StoredCredential, error) {
	at := e
	for _, a := range all {
		if a.code == nil {
			continue
		}
		var err error
		if at, err = a.code.pinned(at); err != nil {
			return nil, elsewhere(a.code.label)
		}
	}
	audit.Describe(ctx, func(entry *audit.Entry) {
		if len(all) == 1 {
			entry.Detail("capability", string(all[0].capability))
		}
		describeTokens(entry, all)
	})
	var done []StoredCredential
	err := s.withAll(ctx, d, at, all, func(ctx context.Context, tokens []endpoint.Credential) (err error) {
		done, err = s.replace(ctx, id, e, d, tokens, also)
		return err
	})
	return done, err
}

// replace verifies credentials at the endpoint as it was read, and stores them
// if the endpoint is still the same: a token must not be stored for a server
// that never saw it. A new monitoring token makes the next poll due at once.
func (s *Store) replace(ctx context.Context, id int64, e connection, d driver, tokens []endpoint.Credential,
	also func(context.Context, *db.Tx) error) ([]StoredCredential, error) {
	found, errs := s.verifyEach(ctx, d, e, tokens)
	if err := firstRejection(tokens, found, errs); err != nil {
		return nil, err
	}
	describeKept(ctx, tokens)
	var done []StoredCredential
	for i, token := range tokens {
		done = append(done, StoredCredential{token.Capability, token.ID, token.Form, found[i]})
	}
	return done, s.db.Tx(ctx, func(tx *db.Tx) error {
		if err := checkUnchanged(ctx, tx, id, e); err != nil {
			return err
		}
		if err := s.storeCredentials(ctx, tx, id, zipTokens(tokens, found)); err != nil {
			return err
		}
		if also != nil {
			if err := also(ctx, tx); err != nil {
				return err
			}
		}
		for _, token := range tokens {
			if token.Capability != endpoint.Monitoring {
				continue
			}
			if err := pollNow(ctx, tx, id); err != nil {
				return err
			}
		}
		return audit.Write(ctx, tx)
	})
}

// rotationFault returns the faults of the combination of fields; nil if there
// are none.
func rotationFault(in RotateRequest) error {
	_, unknown := capability(string(in.capability()), "body", "capability")
	var amiss error
	single := in.Capability != "" || in.Form != "" || in.TokenID != "" || !in.Secret.Empty()
	switch {
	case !in.Paste.Empty() && (single || in.SSH || in.SSHConsent):
		amiss = pasteFault("value_error",
			"replaces capability, credential_form, token_id and token_secret, and cannot be combined with rotate_ssh: leave these out")
	case !in.Paste.Empty():
	case in.TokenID == "" && in.Secret.Empty() && !in.SSH:
		amiss = problem.InvalidField("nothing to rotate: send token_id and token_secret, paste, or rotate_ssh",
			"nothing_to_change", "body")
	case in.TokenID != "" && in.Secret.Empty():
		amiss = problem.InvalidField("is required with token_id", "missing", "body", "token_secret")
	}
	return faults(unknown, amiss)
}
