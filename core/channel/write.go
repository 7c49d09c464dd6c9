package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
	"github.com/hostler/hostler/core/secret"
)

// Limits of channels.
const (
	// MaxChannels is how many channels a team may have.
	MaxChannels = 100
	// DefaultHourlyCap is the hourly cap of a channel if the request has none,
	// in messages.
	DefaultHourlyCap = 60
)

// require refuses callers who are not admins of the channel's team. Problems:
// not_found and forbidden.
func (s *Store) require(ctx context.Context, id int64) error {
	_, err := schedule.Require(ctx, s.DB, scope.Channel, id, identity.Admin)
	return err
}

// Create creates a channel of a team of which the caller is an admin. Problems:
// invalid, forbidden, not_found for an unknown team, and conflict for more than
// MaxChannels, or if another channel already has account_mail.
func (s *Store) Create(ctx context.Context, c Channel, secrets Secrets) (*Channel, error) {
	if caller := identity.FromContext(ctx); caller != nil {
		switch held := caller.On(c.TeamID); {
		case held == identity.NoRole:
			return nil, noTeam()
		case held < identity.Admin:
			return nil, problem.New(problem.CodeForbidden, "this requires the role %s",
				identity.Admin).With("role", identity.Admin.String())
		}
	}
	if err := s.check(nil, &c, secrets); err != nil {
		return nil, err
	}
	if err := permit(ctx, nil, &c, nil); err != nil {
		return nil, err
	}
	err := s.DB.Tx(ctx, func(tx *db.Tx) error {
		var count int
		if err := tx.Pgx.QueryRow(ctx, "SELECT count(*) FROM notification_channels WHERE team_id = $1", c.TeamID).Scan(&count); err != nil {
			return fmt.Errorf("counting channels: %w", err)
		}
		if count >= MaxChannels { // a few more at the same moment do no harm
			return problem.New(problem.CodeConflict, "the team already has %d channels; delete one first", count)
		}
		err := tx.Pgx.QueryRow(ctx, `INSERT INTO notification_channels (team_id, name, kind, hourly_cap)
			SELECT id, $2, $3, $4 FROM teams WHERE id = $1 RETURNING id`, c.TeamID, c.Name, c.Kind, c.HourlyCap).Scan(&c.ID)
		if errors.Is(err, pgx.ErrNoRows) {
			return noTeam()
		}
		if err != nil {
			return fmt.Errorf("writing a channel: %w", err)
		}
		if _, err := tx.Pgx.Exec(ctx, "INSERT INTO notification_queues (channel_id) VALUES ($1)", c.ID); err != nil {
			return fmt.Errorf("writing a channel's queue: %w", err)
		}
		if err := s.write(ctx, tx, &c, secrets); err != nil {
			return err
		}
		describe(ctx, nil, &c)
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return s.read(ctx, c.ID)
}

// noTeam returns the problem of an unknown team.
func noTeam() error { return problem.New(problem.CodeNotFound, "team not found") }

// write stores the fields of a channel that can change, and replaces its
// routes. It also resets the pause after failures and the end of quiet hours,
// because the change may have fixed the cause.
func (s *Store) write(ctx context.Context, tx *db.Tx, c *Channel, secrets Secrets) error {
	c.SecretsSet = secrets.names()
	var sealed []byte
	if len(c.SecretsSet) > 0 {
		plain := map[string]string{}
		for _, name := range c.SecretsSet {
			plain[name] = secrets[name].Reveal()
		}
		text, err := json.Marshal(plain)
		if err == nil {
			sealed, err = s.Keys.Seal(secret.New(string(text)), binding(c.ID))
		}
		if err != nil {
			return fmt.Errorf("encrypting a channel's secrets: %w", err)
		}
	}
	_, err := tx.Pgx.Exec(ctx, `UPDATE notification_channels SET name = $2, enabled = $3, settings = $4, secrets = $5, secrets_set = $6,
		allow_private = $7, account_mail = $8, hourly_cap = $9, quiet = $10, audit_actions = $11, updated_at = now() WHERE id = $1`, c.ID,
		c.Name, c.Enabled, c.Settings, sealed, c.SecretsSet, c.AllowPrivate, c.AccountMail, c.HourlyCap, c.Quiet, c.AuditActions)
	if db.IsDuplicate(err, "notification_channels_account_mail") {
		return problem.New(problem.CodeConflict, "another channel already sends account notifications to users")
	}
	if err != nil {
		return fmt.Errorf("writing a channel: %w", err)
	}
	batch := &pgx.Batch{}
	batch.Queue("DELETE FROM notification_routes WHERE channel_id = $1", c.ID)
	for i, r := range c.Routes {
		batch.Queue(`INSERT INTO notification_routes (channel_id, position, severity, kinds, teams, tags, rules)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, c.ID, i, r.Severity, r.Kinds, r.Teams, r.Tags, r.Rules)
	}
	// What was changed may be what was in the way: it is tried at once, and
	// quiet hours are looked at again.
	batch.Queue("UPDATE notification_queues SET next_at = now(), failures = 0 WHERE channel_id = $1", c.ID)
	// A channel that begins to receive entries of the audit log receives those
	// from now on, also if it was disabled before.
	batch.Queue(`UPDATE notification_queues SET audit_seq = CASE WHEN $2 THEN COALESCE(audit_seq, (SELECT max(seq) FROM audit_chain), 0) END
		WHERE channel_id = $1`, c.ID, c.Enabled && len(c.AuditActions) > 0)
	batch.Queue(`UPDATE notification_deliveries SET held_until = now() WHERE channel_id = $1 AND state = 'held' AND held_for = 'quiet'`, c.ID)
	if err := tx.Pgx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("writing a channel's routes: %w", err)
	}
	return nil
}

// Update changes a channel. edit changes a copy of the current one; it may be
// called more than once, because the transaction may be retried.
//
// given are the new secrets: nil clears a secret, and secrets that are not in
// given stay. If the receiver changes, stored secrets must be given again.
// Problems: those of Create.
func (s *Store) Update(ctx context.Context, id int64, edit func(*Channel), given map[string]*secret.String) (*Channel, error) {
	if err := s.require(ctx, id); err != nil {
		return nil, err
	}
	err := s.DB.Tx(ctx, func(tx *db.Tx) error {
		was, secrets, err := s.locked(ctx, tx, id)
		if err != nil {
			return err
		}
		is := *was
		edit(&is)
		secrets = maps.Clone(secrets)
		for name, value := range given {
			if value == nil {
				delete(secrets, name)
			} else {
				secrets[name] = *value
			}
		}
		if err := s.check(was.Routes, &is, secrets); err != nil {
			return err
		}
		if err := moved(was, &is, given); err != nil {
			return err
		}
		if err := permit(ctx, was, &is, given); err != nil {
			return err
		}
		if err := s.write(ctx, tx, &is, secrets); err != nil {
			return err
		}
		describe(ctx, was, &is)
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return s.read(ctx, id)
}

// locked reads a channel with its secrets and locks its row.
func (s *Store) locked(ctx context.Context, tx *db.Tx, id int64) (*Channel, Secrets, error) {
	rows, err := tx.Pgx.Query(ctx, "SELECT "+columns+", c.secrets FROM notification_channels c WHERE c.id = $1 FOR UPDATE OF c", id)
	if err != nil {
		return nil, nil, fmt.Errorf("reading a channel: %w", err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, scanSealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil, problem.New(problem.CodeNotFound, "%s not found", scope.Channel)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading a channel: %w", err)
	}
	secrets, err := s.open(id, found.sealed)
	return &found.Channel, secrets, err
}

// open decrypts the secrets of a channel.
func (s *Store) open(id int64, sealed []byte) (Secrets, error) {
	secrets := Secrets{}
	if sealed == nil {
		return secrets, nil
	}
	text, err := s.Keys.Open(sealed, binding(id))
	if err != nil {
		return nil, fmt.Errorf("decrypting a channel's secrets: %w", err)
	}
	if err := json.Unmarshal([]byte(text.Reveal()), &secrets); err != nil {
		return nil, errors.New("a channel's secrets are not valid") // the error may tell some of them
	}
	return secrets, nil
}

// Delete deletes a channel together with its pending messages. Problems:
// not_found and forbidden.
func (s *Store) Delete(ctx context.Context, id int64) error {
	if err := s.require(ctx, id); err != nil {
		return err
	}
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		was, _, err := s.locked(ctx, tx, id)
		if err != nil {
			return err
		}
		if _, err := tx.Pgx.Exec(ctx, "DELETE FROM notification_channels WHERE id = $1", id); err != nil {
			return fmt.Errorf("deleting a channel: %w", err)
		}
		describe(ctx, was, nil)
		return audit.Write(ctx, tx)
	})
}

// describe adds the channel before and after the change to the audit log,
// without its secrets.
func describe(ctx context.Context, was, is *Channel) {
	audit.Describe(ctx, func(e *audit.Entry) {
		for _, at := range []struct {
			when string
			c    *Channel
		}{{"before", was}, {"after", is}} {
			if c := at.c; c != nil {
				e.TargetKind, e.TargetID, e.TargetName, e.TeamID = scope.Channel, fmt.Sprint(c.ID), c.Name, &c.TeamID
				e.Detail(at.when, map[string]any{"name": c.Name, "enabled": c.Enabled, "settings": c.Settings, "secrets_set": c.SecretsSet,
					"allow_private": c.AllowPrivate, "account_mail": c.AccountMail, "hourly_cap": c.HourlyCap, "quiet_hours": c.Quiet,
					"routes": c.Routes, "audit_actions": c.AuditActions})
			}
		}
	})
}
