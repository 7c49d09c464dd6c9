package channel

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/notify"
)

// TestResult is a test message and its result.
type TestResult struct {
	Delivery
	Notice *string `json:"notice" example:"Messages contain no links." doc:"Limitation of the messages of this service, and how to remove it; null if there is none"`
}

// noLinks is the notice of a test if the service has no base URL.
const noLinks = "Messages have no links, because the service does not know its own address. Set HOSTLER_BASE_URL to that address, such " +
	"as https://hostler.example.com."

// SendTest sends a test message to a channel at once and returns its result. It
// also works for a channel that is disabled or in its quiet hours. There is one
// attempt. The audit log, and a delivery in the state failed, are written
// before the message is sent, so that a crash leaves a trace. Problems: those
// of Get.
func (s *Store) SendTest(ctx context.Context, id int64) (*TestResult, error) {
	if err := s.require(ctx, id); err != nil {
		return nil, err
	}
	var c *Channel
	var secrets Secrets
	var delivery int64
	// The entry of the audit log, and a delivery that is not accepted yet, are
	// stored before anything is sent.
	err := s.DB.Tx(ctx, func(tx *db.Tx) error {
		var err error
		if c, secrets, err = s.locked(ctx, tx, id); err != nil {
			return err
		}
		by := "The service"
		if caller := identity.FromContext(ctx); caller != nil {
			by = caller.Email
		}
		err = tx.Pgx.QueryRow(ctx, `WITH event AS (INSERT INTO notification_events (team_id, kind, state, severity, title, body, link, routed_at)
				VALUES ($2, $3, 'told', 'info', $4, $5, '/', now()) RETURNING id)
			INSERT INTO notification_deliveries (channel_id, event_id, event_state, exempt, state, attempts, tried_at, done_at, error)
			SELECT $1, id, 'told', true, 'failed', 1, now(), now(), 'the service ended before the receiver had answered' FROM event RETURNING id`,
			id, c.TeamID, notify.Test, "Test of the channel "+c.Name, by+" sent this test message. Nothing has happened.").
			Scan(&delivery)
		if err != nil {
			return fmt.Errorf("writing a test message: %w", err)
		}
		describe(ctx, nil, c)
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+messageColumns+` FROM notification_deliveries d JOIN notification_events e ON e.id =
		d.event_id
		LEFT JOIN users u ON u.id = e.user_id WHERE d.id = $1`, delivery)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a test message: %w", err))
	}
	m, err := pgx.CollectExactlyOneRow(rows, scanMessage)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a test message: %w", err))
	}
	m.channel, m.base = c, s.BaseURL
	if err := s.noteTry(ctx, m, s.try(ctx, c, secrets, m)); err != nil {
		return nil, err
	}
	became, err := s.delivery(ctx, delivery)
	if err != nil {
		return nil, err
	}
	trial := &TestResult{Delivery: *became}
	if s.BaseURL == "" {
		notice := noLinks
		trial.Notice = &notice
	}
	return trial, nil
}

// try sends one message through a channel, outside the queue.
func (s *Store) try(ctx context.Context, c *Channel, secrets Secrets, m *message) error {
	out, err := s.dial(c, secrets)
	if err != nil {
		return err
	}
	defer out.close()
	sending, cancel := context.WithTimeout(ctx, s.SendTime)
	defer cancel()
	return kinds[c.Kind].send(sending, out, m)
}

// noteTry records the result of a test. After a success the channel also sends
// its pending messages at once.
func (s *Store) noteTry(ctx context.Context, m *message, outcome error) error {
	ctx, cancel := noted(ctx)
	defer cancel()
	if outcome == nil {
		_, err := s.DB.Pool.Exec(ctx, "UPDATE notification_deliveries SET state = 'sent', error = '', done_at = now() WHERE id = $1", m.delivery)
		if err == nil {
			_, err = s.DB.Pool.Exec(ctx, "UPDATE notification_queues SET failures = 0, ok_at = now(), next_at = now() WHERE channel_id = $1",
				m.channel.ID)
		}
		return db.Problem(err)
	}
	_, err := s.DB.Pool.Exec(ctx, `WITH noted AS (UPDATE notification_queues SET error = $3, error_at = now() WHERE channel_id = $2)
		UPDATE notification_deliveries SET error = $3, done_at = now() WHERE id = $1`, m.delivery, m.channel.ID, outcome.Error())
	return db.Problem(err)
}

// delivery reads one delivery.
func (s *Store) delivery(ctx context.Context, id int64) (*Delivery, error) {
	rows, err := s.DB.Pool.Query(ctx, deliveries+" AND d.id = $6", true, []int64{}, int64(0), "", "", id)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a delivery: %w", err))
	}
	d, err := pgx.CollectExactlyOneRow(rows, scanDelivery)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a delivery: %w", err))
	}
	return &d, nil
}
