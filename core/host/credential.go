package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// storeCredential writes or replaces the host's token of one capability. The
// secret is encrypted for its row, so the row is written first and its ID known
// then.
func (s *Store) storeCredential(ctx context.Context, tx *db.Tx, hostID int64, c endpoint.Credential, v Verification) error {
	var id int64
	err := tx.Pgx.QueryRow(ctx, `INSERT INTO host_credentials (host_id, capability, form, token_id, secret, missing, extra, recommended,
		console_limits, verified_at)
		VALUES ($1, $2, $3, $4, '', $5, $6, $7, COALESCE($8::jsonb, '[]'), now())
		ON CONFLICT (host_id, capability) DO UPDATE SET form = excluded.form, token_id = excluded.token_id,
			missing = excluded.missing, extra = excluded.extra, recommended = excluded.recommended, console_limits = excluded.console_limits,
			verified_at = now(),
			ends_at = NULL, ends_told_at = NULL, updated_at = now() RETURNING id`,
		hostID, string(c.Capability), c.Form, c.ID, v.Missing, v.Extra, v.Recommended, v.ConsoleLimits).Scan(&id)
	if err != nil {
		return fmt.Errorf("storing the token: %w", err)
	}
	sealed, err := s.keys.Seal(secret.New(string(c.Secret)), place(id))
	if err != nil {
		return fmt.Errorf("encrypting the token: %w", err)
	}
	if _, err := tx.Pgx.Exec(ctx, "UPDATE host_credentials SET secret = $2 WHERE id = $1", id, sealed); err != nil {
		return fmt.Errorf("storing the token: %w", err)
	}
	return v.facts.Save(ctx, tx.Pgx, hostID)
}

// storeCredentials stores several tokens of a host.
func (s *Store) storeCredentials(ctx context.Context, tx *db.Tx, hostID int64, tokens []checkedToken) error {
	for _, token := range tokens {
		if err := s.storeCredential(ctx, tx, hostID, token.Credential, token.Verification); err != nil {
			return err
		}
	}
	return nil
}

// checkUnchanged locks the host's row and refuses a host whose address or certificate
// has changed since a token was checked: the token was checked at another
// server then.
func checkUnchanged(ctx context.Context, tx *db.Tx, id int64, e connection) error {
	if err := lock(ctx, tx, id); err != nil {
		return err
	}
	var there bool
	err := tx.Pgx.QueryRow(ctx, "SELECT address = $2 AND COALESCE(tls_fingerprint, '') = $3 AND verify_tls = $4 FROM hosts WHERE id = $1",
		id, e.address, e.fingerprint, e.verifyTLS).Scan(&there)
	if err != nil {
		return fmt.Errorf("reading the host's address: %w", err)
	}
	if !there {
		return changedMeanwhile()
	}
	return nil
}

// connection reads where a stored host is.
func (s *Store) connection(ctx context.Context, id int64) (connection, error) {
	var e connection
	err := s.db.Pool.QueryRow(ctx, "SELECT driver, address, COALESCE(tls_fingerprint, ''), verify_tls FROM hosts WHERE id = $1", id).
		Scan(&e.driver, &e.address, &e.fingerprint, &e.verifyTLS)
	if errors.Is(err, pgx.ErrNoRows) {
		return e, noSuchHost()
	}
	if err != nil {
		return e, db.Problem(fmt.Errorf("reading the host: %w", err))
	}
	return e, nil
}

// lock locks the host's row until the end of the transaction.
func lock(ctx context.Context, tx *db.Tx, id int64) error {
	var found int
	err := tx.Pgx.QueryRow(ctx, "SELECT 1 FROM hosts WHERE id = $1 FOR UPDATE", id).Scan(&found)
	if errors.Is(err, pgx.ErrNoRows) {
		return noSuchHost()
	}
	if err != nil {
		return fmt.Errorf("locking the host: %w", err)
	}
	return nil
}

// pollNow ends the pause that follows failed polls.
func pollNow(ctx context.Context, tx *db.Tx, id int64) error {
	_, err := tx.Pgx.Exec(ctx, `WITH h AS (UPDATE hosts SET next_poll_at = now(), updated_at = now() WHERE id = $1 RETURNING cluster_id)
		UPDATE clusters SET next_poll_at = now() WHERE id = (SELECT cluster_id FROM h)`, id)
	if err != nil {
		return fmt.Errorf("requesting a poll: %w", err)
	}
	return nil
}

// RemoveCredentialResult is the result of RemoveCredential.
type RemoveCredentialResult struct {
	Removed bool `json:"removed" example:"true"`
	// Commands remove the role and the credential on the hypervisor.
	Commands []string `json:"commands" doc:"Commands for an administrator of the hypervisor, in order, that remove the role and the token"`
}

// RemoveCredential deletes the stored token of a capability, or the SSH key
// with the consent to it. The monitoring token cannot be removed:
// capability_required. The result contains the commands that remove the token
// on the hypervisor too, because deleting it here does not revoke it.
func (s *Store) RemoveCredential(ctx context.Context, id int64, kind string) (RemoveCredentialResult, error) {
	if kind == kindSSHKey {
		return s.removeSSHKey(ctx, id)
	}
	key, err := capability(kind, "path", "kind")
	if err != nil {
		return RemoveCredentialResult{}, err
	}
	if key == endpoint.Monitoring {
		return RemoveCredentialResult{}, problem.New(problem.CodeCapabilityRequired,
			"every host needs a monitoring token; replace it, or remove the host").With("capability", kind)
	}
	e, err := s.connection(ctx, id)
	if err != nil {
		return RemoveCredentialResult{}, err
	}
	r := RemoveCredentialResult{Removed: true, Commands: []string{}}
	tokenID, err := s.credentialID(ctx, id, key)
	if err != nil {
		return RemoveCredentialResult{}, err
	}
	if r.Commands, err = s.removal(ctx, e.driver, key, tokenID); err != nil {
		return RemoveCredentialResult{}, err
	}
	audit.Describe(ctx, func(entry *audit.Entry) { entry.Details = map[string]any{"capability": kind} })
	return r, s.db.Tx(ctx, func(tx *db.Tx) error {
		tag, err := tx.Pgx.Exec(ctx, "DELETE FROM host_credentials WHERE host_id = $1 AND capability = $2", id, kind)
		if err != nil {
			return fmt.Errorf("deleting the token: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return noToken(key)
		}
		return audit.Write(ctx, tx)
	})
}

// credentialID returns the hypervisor's ID of the stored credential of a
// capability, or not_found.
func (s *Store) credentialID(ctx context.Context, hostID int64, key endpoint.Capability) (id string, err error) {
	err = s.db.Pool.QueryRow(ctx, "SELECT token_id FROM host_credentials WHERE host_id = $1 AND capability = $2", hostID,
		string(key)).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", noToken(key)
	}
	if err != nil {
		return "", db.Problem(fmt.Errorf("reading a token: %w", err))
	}
	return id, nil
}

// noToken returns the problem of a host without token for a capability.
func noToken(key endpoint.Capability) error {
	return problem.New(problem.CodeNotFound, "the host has no token for %s", key)
}

// removal returns the commands that remove a credential on the hypervisor. It
// returns none if the driver does not know them.
func (s *Store) removal(ctx context.Context, name string, key endpoint.Capability, credentialID string) ([]string, error) {
	d, err := s.describe(ctx, name)
	if err != nil {
		return nil, err
	}
	scripter, ok := hypervisor.As[hypervisor.RoleScriptWriter](d.Driver)
	if !ok || !d.info.Has(key) {
		return []string{}, nil
	}
	commands, err := scripter.RoleRemoval(ctx, key, credentialID)
	if err != nil {
		return nil, plugin.Problem(fmt.Errorf("reading the commands: %w", err))
	}
	return append([]string{}, commands...), nil
}
