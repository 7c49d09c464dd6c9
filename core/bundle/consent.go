package bundle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/catalog"
)

// TextVersion is the release of the text that people agree to. It grows whenever that says something else; a consent to another text
// does not hold.
const TextVersion = 2

// Consent is that one person has agreed that one bundle may run as root on one host. It never holds for another bundle, another host or
// for ever: only for these bytes.
type Consent struct {
	HostID       int64
	Source, Slug string
	Purpose      sdk.Purpose
	Sum, Pin     string
	TextVersion  int
	// ActorID is nil for somebody who is gone.
	ActorID    *int64
	ActorEmail string
	GivenAt    time.Time
}

// GiveConsent keeps a consent of the context's caller, who has seen the plan, to a bundle that is kept. The row of the audit log is the
// caller's to write, in the same transaction. Problems: not_found for a host or a bundle that is not there; forbidden for the service
// itself, which cannot consent.
func (s *Store) GiveConsent(ctx context.Context, tx *db.Tx, hostID int64, k Key, sum string) error {
	caller := identity.FromContext(ctx)
	if caller == nil {
		return problem.New(problem.CodeForbidden, "only a person can consent")
	}
	tag, err := tx.Pgx.Exec(ctx, `INSERT INTO consents (host_id, host_name, source, slug, purpose, bundle, pin, text_version, actor_id,
		actor_email)
		SELECT h.id, h.name, m.source, m.slug, m.purpose, m.bundle, m.pin, $7, (SELECT id FROM users WHERE id = $8), $9
		FROM hosts h, bundle_manifests m WHERE h.id = $1 AND m.source = $2 AND m.slug = $3 AND m.purpose = $4 AND m.pin = $5 AND m.bundle = $6
		FOR KEY SHARE OF h, m`, hostID, k.Source, k.Slug, string(k.Purpose), k.Pin.String(), sum, TextVersion, caller.UserID, caller.Email)
	if err != nil {
		return fmt.Errorf("storing a consent: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return problem.New(problem.CodeNotFound, "the host does not exist, or the bundle is no longer stored: request the plan again")
	}
	return nil
}

// FindConsent gives the consent by which a bundle may run on a host for a purpose, and nil where nobody has consented to the present
// text. It is asked again when a job begins.
func (s *Store) FindConsent(ctx context.Context, hostID int64, purpose sdk.Purpose, sum string) (*Consent, error) {
	return s.consent(ctx, "host_id = $1 AND purpose = $2 AND bundle = $3 AND text_version = $4", hostID, string(purpose), sum, TextVersion)
}

// ConsentedBefore reports whether the context's caller has consented to the present text for a bundle on a host before.
func (s *Store) ConsentedBefore(ctx context.Context, hostID int64, purpose sdk.Purpose, sum string) (bool, error) {
	caller := identity.FromContext(ctx)
	if caller == nil {
		return false, nil
	}
	c, err := s.consent(ctx, "host_id = $1 AND purpose = $2 AND bundle = $3 AND text_version = $4 AND actor_id = $5", hostID, string(purpose),
		sum, TextVersion, caller.UserID)
	return c != nil, err
}

// LastConsent gives the newest consent to any bundle of an entry on a host, and nil where there is none.
func (s *Store) LastConsent(ctx context.Context, hostID int64, source, slug string) (*Consent, error) {
	return s.consent(ctx, "host_id = $1 AND source = $2 AND slug = $3", hostID, source, slug)
}

func (s *Store) consent(ctx context.Context, condition string, args ...any) (*Consent, error) {
	c := &Consent{}
	err := s.DB.Pool.QueryRow(ctx, `SELECT host_id, source, slug, purpose, bundle, pin, text_version, actor_id, actor_email, given_at
		FROM consents WHERE `+condition+" ORDER BY id DESC LIMIT 1", args...).Scan(&c.HostID, &c.Source, &c.Slug, &c.Purpose, &c.Sum, &c.Pin,
		&c.TextVersion, &c.ActorID, &c.ActorEmail, &c.GivenAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a consent: %w", err))
	}
	c.GivenAt = c.GivenAt.UTC()
	return c, nil
}
