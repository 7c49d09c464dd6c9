package host

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// SSHConsentVersion counts the texts that were ever shown. Another text is another version, so that the record says what was agreed to.
const SSHConsentVersion = 1

// SSHConsentText is what is agreed to.
const SSHConsentText = "Hostler makes an SSH key for this host. With it Hostler logs in as root to the machine at the host's address, " +
	"and runs programs there: the scripts of apps, each of which is shown and agreed to by itself before, and what checks, undoes and " +
	"cleans up after them. Whoever controls Hostler controls that machine then. Where machines share the file authorized_keys, as the " +
	"members of some clusters do, the key opens all of them. The key stays encrypted in Hostler's database and is never shown; " +
	"deleting it here names the command that removes it on the machine."

// consentRequired is the refusal that says what would be agreed to.
func consentRequired(detail string) error {
	return problem.New(problem.CodeConsentRequired, "%s", detail).With("consent", map[string]any{
		"version": SSHConsentVersion, "text": SSHConsentText, "field": "ssh_consent",
	})
}

// consents reports whether consent to SSH is on record.
func (s *Store) consents(ctx context.Context, id int64) (bool, error) {
	var there bool
	err := s.db.Pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM host_ssh_consents WHERE host_id = $1)", id).Scan(&there)
	if err != nil {
		return false, db.Problem(fmt.Errorf("looking for consent: %w", err))
	}
	return there, nil
}

// keepConsent records that the caller agrees now.
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
