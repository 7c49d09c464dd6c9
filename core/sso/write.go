package sso

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
)

// Create creates a provider. Problems: invalid, and conflict for a name that is
// taken or for more than MaxProviders.
func (s *Store) Create(ctx context.Context, p Provider, clientSecret secret.String) (*Provider, error) {
	if err := s.check(&p, clientSecret); err != nil {
		return nil, err
	}
	err := s.DB.Tx(ctx, func(tx *db.Tx) error {
		if err := db.CheckRowLimit(ctx, tx, "identity_providers", "providers", MaxProviders); err != nil {
			return err
		}
		err := tx.Pgx.QueryRow(ctx, `INSERT INTO identity_providers (name, issuer, client_id, scopes, groups_claim, accounts, trust_email,
			allow_private, fingerprint, enabled) VALUES ($1, '', '', '{}', '', $2, false, false, '', false) RETURNING id`, p.Name, p.Accounts).
			Scan(&p.ID)
		if err != nil {
			return taken(err)
		}
		if err := s.write(ctx, tx, &p, clientSecret); err != nil {
			return err
		}
		describe(ctx, nil, &p)
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return s.Get(ctx, p.ID)
}

// taken returns the problem conflict if the name of a provider is not unique.
func taken(err error) error {
	if db.IsDuplicate(err, "identity_providers_name") {
		return problem.New(problem.CodeConflict, "another provider already has this name")
	}
	return fmt.Errorf("writing a provider: %w", err)
}

// write stores the fields of a provider that can change, encrypts the secret,
// and replaces all rules.
func (s *Store) write(ctx context.Context, tx *db.Tx, p *Provider, clientSecret secret.String) error {
	var sealed []byte
	if p.SecretSet = !clientSecret.Empty(); p.SecretSet {
		var err error
		if sealed, err = s.Keys.Seal(clientSecret, binding(p.ID)); err != nil {
			return fmt.Errorf("encrypting the client secret of a provider: %w", err)
		}
	}
	_, err := tx.Pgx.Exec(ctx, `UPDATE identity_providers SET name = $2, issuer = $3, client_id = $4, client_secret = $5, scopes = $6,
		groups_claim = $7, accounts = $8, trust_email = $9, allow_private = $10, fingerprint = $11, enabled = $12, updated_at = clock_timestamp()
		WHERE id = $1`, p.ID, p.Name, p.Issuer, p.ClientID, sealed, p.Scopes, p.GroupsClaim, p.Accounts, p.TrustEmail, p.AllowPrivate,
		p.Fingerprint, p.Enabled)
	if err != nil {
		return taken(err)
	}
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM identity_provider_rules WHERE provider_id = $1", p.ID); err != nil {
		return fmt.Errorf("replacing the rules of a provider: %w", err)
	}
	var f faults
	for i, r := range p.Rules {
		done, err := tx.Pgx.Exec(ctx, `INSERT INTO identity_provider_rules (provider_id, position, group_name, team_id, role)
			SELECT $1, $2, $3, id, $5 FROM teams WHERE id = $4 FOR KEY SHARE`, p.ID, i, r.Group, r.TeamID, r.Role)
		if err != nil {
			return fmt.Errorf("writing a rule of a provider: %w", err)
		}
		if done.RowsAffected() == 0 {
			f.add("is not a team", "rules", i, "team_id")
		}
	}
	if len(f) > 0 {
		return problem.Invalid(f...)
	}
	return nil
}

// Update changes a provider. edit changes a copy of the current one; it may be
// called more than once, because the transaction may be retried.
//
// given is the new client secret: nil keeps the old one, and an empty one
// clears it. If the issuer or the pinned certificate changes, the secret must
// be given again, so that nobody can have a secret that they do not know sent
// to their own server.
//
// A new issuer unlinks all users of the provider. A new issuer, and disabling
// the provider, also end the sessions of users who logged in with it. Problems:
// not_found, and those of Create.
func (s *Store) Update(ctx context.Context, id int64, edit func(*Provider), given *secret.String) (*Provider, error) {
	err := s.DB.Tx(ctx, func(tx *db.Tx) error {
		was, err := s.read(ctx, tx.Pgx, id, " FOR UPDATE OF p")
		if err != nil {
			return err
		}
		is := was.Provider
		edit(&is)
		moved := is.Issuer != was.Issuer
		var clientSecret secret.String
		switch {
		case given != nil:
			clientSecret = *given
		case was.SecretSet && (moved || is.Fingerprint != was.Fingerprint):
			// Whoever may write a provider and does not know its secret could have it sent to a server of their own.
			return problem.InvalidField("must be sent again when the issuer or certificate changes",
				"value_error", "body", "client_secret")
		default:
			if clientSecret, err = s.open(was); err != nil {
				return err
			}
		}
		if err := s.check(&is, clientSecret); err != nil {
			return err
		}
		if err := s.write(ctx, tx, &is, clientSecret); err != nil {
			return err
		}
		if moved {
			if _, err := tx.Pgx.Exec(ctx, "DELETE FROM user_identities WHERE provider_id = $1", id); err != nil {
				return fmt.Errorf("deleting the linked users of a provider: %w", err)
			}
		}
		if moved || was.Enabled && !is.Enabled {
			if err := endSessions(ctx, tx, id); err != nil {
				return err
			}
		}
		describe(ctx, &was.Provider, &is)
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return s.Get(ctx, id)
}

// endSessions ends the sessions of users who logged in with the provider, and
// deletes logins that wait for their second factor.
func endSessions(ctx context.Context, tx *db.Tx, id int64) error {
	batch := &pgx.Batch{}
	batch.Queue("DELETE FROM sessions WHERE provider_id = $1", id)
	batch.Queue("DELETE FROM pending_logins WHERE (external ->> 'provider')::bigint = $1", id)
	if err := tx.Pgx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("ending the sessions of a provider: %w", err)
	}
	return nil
}

// Delete deletes a provider and ends the sessions of users who logged in with
// it. Their accounts stay. Problem: not_found.
func (s *Store) Delete(ctx context.Context, id int64) error {
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		was, err := s.read(ctx, tx.Pgx, id, " FOR UPDATE OF p")
		if err != nil {
			return err
		}
		if err := endSessions(ctx, tx, id); err != nil {
			return err
		}
		if _, err := tx.Pgx.Exec(ctx, "DELETE FROM identity_providers WHERE id = $1", id); err != nil {
			return fmt.Errorf("deleting a provider: %w", err)
		}
		describe(ctx, &was.Provider, nil)
		return audit.Write(ctx, tx)
	})
}

// describe adds the provider before and after the change to the audit log,
// without its secret.
func describe(ctx context.Context, was, is *Provider) {
	audit.Describe(ctx, func(e *audit.Entry) {
		for _, at := range []struct {
			when string
			p    *Provider
		}{{"before", was}, {"after", is}} {
			if p := at.p; p != nil {
				e.TargetKind, e.TargetID, e.TargetName = "identity_provider", fmt.Sprint(p.ID), p.Name
				e.Detail(at.when, map[string]any{"name": p.Name, "issuer": p.Issuer, "client_id": p.ClientID, "secret_set": p.SecretSet,
					"scopes": p.Scopes, "groups_claim": p.GroupsClaim, "rules": p.Rules, "accounts": p.Accounts, "trust_email": p.TrustEmail,
					"allow_private": p.AllowPrivate, "tls_fingerprint": p.Fingerprint, "enabled": p.Enabled})
			}
		}
	})
}
