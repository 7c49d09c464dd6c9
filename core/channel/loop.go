package channel

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// Settings of the loop.
const (
	// tick is how often Run looks for events.
	tick = time.Second
	// atOnce is how many channels one instance serves at the same time, so that
	// a receiver that hangs does not delay the others.
	atOnce = 16
	// pruneEvery is how often old deliveries and events are deleted.
	pruneEvery = time.Hour
	// turnTime is how long a channel is served before others get its slot.
	turnTime = time.Minute
)

// newOwner returns the name of this instance, by which it holds the channels
// that it serves.
func newOwner() string { return rand.Text() }

// Run routes and sends notifications until the context ends. It returns when
// the messages that are being sent have ended. Every instance runs it.
func (s *Store) Run(ctx context.Context) {
	var serving sync.WaitGroup
	defer serving.Wait()
	slots := make(chan struct{}, atOnce)
	timer := time.NewTimer(0)
	defer timer.Stop()
	s.Heartbeat.Beat(0)
	var pruned time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		s.Heartbeat.Beat(2 * time.Minute)
		err := errors.Join(s.route(ctx), s.follow(ctx))
		if s.SecretsUnavailable == nil || !s.SecretsUnavailable() {
			err = errors.Join(err, s.begin(ctx, slots, &serving))
		}
		if time.Since(pruned) > pruneEvery {
			err = errors.Join(err, s.prune(ctx))
			pruned = time.Now()
		}
		if err != nil && ctx.Err() == nil {
			s.Logger.Warn("could not route notifications; trying again", "error", err)
		}
		s.Heartbeat.Beat(tick)
		timer.Reset(tick)
	}
}

// Turn runs one turn of Run and waits until everything that is due was sent.
// Tests use it.
func (s *Store) Turn(ctx context.Context) error {
	if err := errors.Join(s.route(ctx), s.follow(ctx)); err != nil {
		return err
	}
	var serving sync.WaitGroup
	defer serving.Wait()
	return s.begin(ctx, make(chan struct{}, atOnce), &serving)
}

// begin starts serving the channels that are due, as long as a slot is free. It
// does not wait for them.
func (s *Store) begin(ctx context.Context, slots chan struct{}, serving *sync.WaitGroup) error {
	for ctx.Err() == nil {
		select {
		case slots <- struct{}{}:
		default:
			return nil
		}
		id, err := s.claim(ctx)
		if err != nil || id == 0 {
			<-slots
			return err
		}
		serving.Go(func() {
			defer func() { <-slots }()
			if err := s.serve(ctx, id); err != nil && ctx.Err() == nil {
				s.Logger.Warn("could not serve a channel; trying again", "channel", id, "error", err)
			}
		})
	}
	return nil
}

// claim takes the lease of the channel that is due and was served least
// recently, and returns its ID; 0 if none is due. SKIP LOCKED passes over
// channels that other instances claim at the same time.
func (s *Store) claim(ctx context.Context) (id int64, err error) {
	err = s.DB.Pool.QueryRow(ctx, `UPDATE notification_queues SET lease = $1, leased_until = now() + $2::interval, served_at = now()
		WHERE channel_id = (SELECT q.channel_id FROM notification_queues q JOIN notification_channels c ON c.id = q.channel_id
			WHERE c.enabled AND q.next_at <= now() AND q.leased_until < now()
				AND EXISTS (SELECT FROM notification_deliveries d WHERE d.channel_id = c.id AND d.state IN ('pending', 'held')
					AND (d.state = 'pending' OR d.held_until <= now()))
			ORDER BY q.served_at, q.channel_id LIMIT 1 FOR UPDATE OF q SKIP LOCKED)
		RETURNING channel_id`, s.own, s.Lease).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return id, db.Problem(err)
}

// free releases a lease, unless another instance has taken it over. If wait is
// not 0, the channel pauses for that long.
func (s *Store) free(ctx context.Context, id int64, wait time.Duration) error {
	_, err := s.DB.Pool.Exec(ctx, `UPDATE notification_queues SET leased_until = '-infinity', lease = '',
		next_at = CASE WHEN $3::interval > interval '0' THEN now() + $3::interval ELSE next_at END
		WHERE channel_id = $1 AND lease = $2`, id, s.own, wait)
	if err != nil {
		return db.Problem(fmt.Errorf("releasing a channel's lease: %w", err))
	}
	return nil
}

// noted returns a context for what must be written even while the service
// stops. It lasts 10 s.
func noted(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
}
