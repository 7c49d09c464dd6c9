package channel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// refusal means that the receiver will never accept this message. The message
// fails, and the next one is sent.
type refusal struct{ text string }

// Error implements error.
func (e *refusal) Error() string { return e.text }

// unavailable means that the receiver accepts nothing now. The message stays
// pending, and the channel pauses.
type unavailable struct {
	text string
	// after is the delay that the receiver asked for; 0 if it did not.
	after time.Duration
}

// Error implements error.
func (e *unavailable) Error() string { return e.text }

// serve sends the messages that are due to a channel, in order, for at most
// turnTime, and releases the lease. The caller must have claimed the channel.
//
// If the context ends while a message is being sent, serve does not record the
// attempt's result: whether the receiver accepted the message is unknown, and
// it is sent again.
func (s *Store) serve(ctx context.Context, id int64) error {
	wait := time.Duration(0)
	defer func() {
		ctx, cancel := noted(ctx)
		defer cancel()
		if err := s.free(ctx, id, wait); err != nil {
			s.Logger.Warn("a lease was not released; it expires on its own", "channel", id, "error", err)
		}
	}()
	c, secrets, err := s.load(ctx, id)
	if err != nil || c == nil {
		wait = s.FirstWait // not the same again at once
		return err
	}
	var out *sender
	for end := time.Now().Add(turnTime); time.Now().Before(end) && ctx.Err() == nil; {
		if err := s.settle(ctx, c); err != nil {
			return err
		}
		m, err := s.next(ctx, c)
		if err != nil || m == nil {
			return err
		}
		if out == nil {
			if out, err = s.dial(c, secrets); err != nil {
				wait, err = s.failed(ctx, m, &unavailable{text: err.Error()})
				return err
			}
			defer out.close()
		}
		s.hook("before-send")
		sending, cancel := context.WithTimeout(ctx, s.SendTime)
		err = kinds[c.Kind].send(sending, out, m)
		cancel()
		s.hook("after-send")
		if err == nil {
			err = s.sent(ctx, m)
		} else if ctx.Err() != nil {
			return nil // the service ends; whether it was taken is not known, and it is sent again
		} else {
			wait, err = s.failed(ctx, m, err)
		}
		if err != nil || wait > 0 {
			return err
		}
	}
	return nil
}

// load reads a channel with its secrets. It returns nil if the channel was
// deleted or is disabled.
func (s *Store) load(ctx context.Context, id int64) (*Channel, Secrets, error) {
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+columns+", c.secrets FROM notification_channels c WHERE c.id = $1 AND c.enabled", id)
	var found sealedChannel
	if err == nil {
		found, err = pgx.CollectExactlyOneRow(rows, scanSealed)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, db.Problem(fmt.Errorf("reading a channel: %w", err))
	}
	secrets, err := s.open(id, found.sealed)
	return &found.Channel, secrets, err
}

// next returns the message to send now and counts the attempt. It also extends
// the lease. It returns nil if there is no message, or if another instance has
// taken over the channel. Critical messages come first. The end of an incident
// never comes before its start, because both are equally critical.
func (s *Store) next(ctx context.Context, c *Channel) (*message, error) {
	rows, err := s.DB.Pool.Query(ctx, `WITH mine AS (UPDATE notification_queues SET leased_until = now() + $3::interval
			WHERE channel_id = $1 AND lease = $2 AND leased_until > now() RETURNING channel_id),
		first AS (SELECT d.id FROM notification_deliveries d JOIN mine m ON m.channel_id = d.channel_id WHERE d.state = 'pending'
			ORDER BY d.critical OR d.exempt DESC, d.id LIMIT 1 FOR UPDATE OF d),
		tried AS (UPDATE notification_deliveries SET attempts = attempts + 1, tried_at = now() WHERE id IN (SELECT id FROM first) RETURNING *)
		SELECT `+messageColumns+` FROM tried d JOIN notification_events e ON e.id = d.event_id LEFT JOIN users u ON u.id = e.user_id`,
		c.ID, s.own, s.Lease)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a message: %w", err))
	}
	m, err := pgx.CollectExactlyOneRow(rows, scanMessage)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a message: %w", err))
	}
	m.channel, m.base = c, s.BaseURL
	return m, nil
}

// sent records that the receiver accepted a message.
func (s *Store) sent(ctx context.Context, m *message) error {
	ctx, cancel := noted(ctx)
	defer cancel()
	batch := &pgx.Batch{}
	batch.Queue("UPDATE notification_deliveries SET state = 'sent', done_at = now() WHERE id = $1 AND state = 'pending'", m.delivery)
	batch.Queue("UPDATE notification_queues SET failures = 0, ok_at = now(), next_at = now() WHERE channel_id = $1", m.channel.ID)
	if err := s.DB.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return db.Problem(fmt.Errorf("recording that a message was sent: %w", err))
	}
	return nil
}

// failed records that the receiver did not accept a message. It returns how
// long to pause the channel; 0 if the next message may be sent at once.
func (s *Store) failed(ctx context.Context, m *message, cause error) (wait time.Duration, err error) {
	ctx, cancel := noted(ctx)
	defer cancel()
	var refused *refusal
	over := errors.As(cause, &refused) // what is too old is found by expire
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		var failures int64
		err := tx.Pgx.QueryRow(ctx, `UPDATE notification_queues SET error = $2, error_at = now(), failures = failures + $3
			WHERE channel_id = $1 RETURNING failures`, m.channel.ID, cause.Error(), oneUnless(refused != nil)).Scan(&failures)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // the channel was deleted meanwhile
		}
		if err != nil {
			return fmt.Errorf("recording a channel's failure: %w", err)
		}
		if _, err := tx.Pgx.Exec(ctx, "UPDATE notification_deliveries SET error = $2 WHERE id = $1", m.delivery, cause.Error()); err != nil {
			return fmt.Errorf("recording why a message was rejected: %w", err)
		}
		wait = 0
		var gone *unavailable
		if errors.As(cause, &gone) {
			wait = max(gone.after, min(s.LongestWait, s.FirstWait<<min(max(failures-1, 0), 20)))
		}
		if over {
			return giveUp(ctx, tx, m.delivery)
		}
		return nil
	})
	if refused == nil && wait == 0 {
		wait = s.FirstWait
	}
	return wait, err
}

// oneUnless returns 0 if not is true.
func oneUnless(not bool) int {
	if not {
		return 0
	}
	return 1
}

// giveUp marks deliveries as failed. The ends of the same incidents are
// skipped, because their starts were never sent. If a delivery is a digest, the
// messages in it have failed, too.
func giveUp(ctx context.Context, tx *db.Tx, deliveries ...int64) error {
	_, err := tx.Pgx.Exec(ctx, `WITH over AS (UPDATE notification_deliveries SET state = 'failed', held_for = '', done_at = now()
			WHERE (id = ANY($1) AND state IN ('pending', 'held')) OR (digest_id = ANY($1) AND state = 'folded')
			RETURNING channel_id, incident, event_state)
		UPDATE notification_deliveries d SET state = 'skipped', done_at = now() FROM over o WHERE o.event_state = 'open' AND o.incident <> ''
			AND d.incident = o.incident AND d.channel_id = o.channel_id AND d.event_state = 'resolved' AND d.state IN ('pending', 'held')`,
		deliveries)
	if err != nil {
		return fmt.Errorf("giving a message up: %w", err)
	}
	return nil
}
