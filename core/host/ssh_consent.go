package host

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// SSHConsentVersion is the number of the present text. Every change of the text
// needs a new number, so that the record shows which text a user agreed to.
const SSHConsentVersion = 2

// SSHConsentText is the text that a user agrees to.
const SSHConsentText = "Hostler creates an SSH key for this host. With this key, Hostler logs in as root to the machine at the host's " +
	"address and runs programs there: the scripts of apps, each of which is shown for approval first, and commands that check, undo " +
	"and clean up their work. Whoever controls Hostler then controls this machine. If machines share the file authorized_keys, as the " +
	"members of some clusters do, the key gives access to all of them. The key is stored encrypted in Hostler's database and is never " +
	"shown. When you delete it here, Hostler shows the command that removes it from the machine."

// consentRequired is the problem consent_required, with the text and the field
// that gives the consent.
func consentRequired(detail string) error {
	return problem.New(problem.CodeConsentRequired, "%s", detail).With("consent", map[string]any{
		"version": SSHConsentVersion, "text": SSHConsentText, "field": "ssh_consent",
	})
}

// consents reports whether a consent is recorded for the host.
func (s *Store) consents(ctx context.Context, id int64) (bool, error) {
	var there bool
	err := s.db.Pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM host_ssh_consents WHERE host_id = $1)", id).Scan(&there)
	if err != nil {
		return false, db.Problem(fmt.Errorf("reading the consent: %w", err))
	}
	return there, nil
}

// keepConsent records that the caller agrees now, in place of an earlier
// consent.
func keepConsent(ctx context.Context, tx *db.Tx, id int64) error {
	var user *int64
	email := "the service" // an operation has a caller
	if caller := identity.FromContext(ctx); caller != nil {
		user, email = &caller.UserID, caller.Email
	}
	_, err := tx.Pgx.Exec(ctx, `INSERT INTO host_ssh_consents (host_id, version, user_id, user_email) VALUES ($1, $2, $3, $4)
		ON CONFLICT (host_id) DO UPDATE SET version = excluded.version, user_id = excluded.user_id, user_email = excluded.user_email,
			at = now()`, id, SSHConsentVersion, user, email)
	if err != nil {
		return fmt.Errorf("recording consent: %w", err)
	}
	audit.Describe(ctx, func(entry *audit.Entry) { entry.Detail("ssh_consent_version", SSHConsentVersion) })
	return nil
}
