package remotewrite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/metric"
)

const (
	// tick is the time between two looks for samples.
	tick = 5 * time.Second
	// turnTime is how long one instance sends before it looks again whether it still should.
	turnTime = time.Minute
	// batch is how many samples are read at once.
	batch = 5000
	// longestWait is the longest time between two tries.
	longestWait = 5 * time.Minute
)

// Run sends samples until the context ends.
func (s *Store) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	s.Heartbeat.Beat(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		s.Heartbeat.Beat(turnTime + 2*requestTime)
		if s.SecretsUnavailable == nil || !s.SecretsUnavailable() {
			if err := s.Turn(ctx); err != nil && ctx.Err() == nil {
				s.log().Warn("could not send samples; trying again", "error", err)
			}
		}
		s.Heartbeat.Beat(tick)
		timer.Reset(tick)
	}
}

// due is a receiver that may be sent to, and from where on.
type due struct {
	Receiver
	version, failures int64
	// taken says that it has taken something since it was set.
	taken bool
	after metric.Cursor
}

// Turn is one turn of Run: it sends what there is, for a minute at most, unless another instance does or the receiver is to be left alone.
// A receiver that takes nothing is no error of the turn: it is noted with the receiver.
func (s *Store) Turn(ctx context.Context) error {
	if d, err := s.due(ctx); err != nil || d == nil {
		return err
	}
	lock, err := s.DB.TryLock(ctx, db.LockRemoteWrite, 1)
	if err != nil || lock == nil {
		return err
	}
	defer lock.Unlock()
	d, err := s.due(ctx) // another instance may just have sent something
	if err != nil || d == nil {
		return err
	}
	out, err := s.dial(d.Receiver)
	if err != nil {
		return s.failed(ctx, d, &unavailable{text: err.Error()})
	}
	defer out.close()
	for end := time.Now().Add(turnTime); time.Now().Before(end) && ctx.Err() == nil; {
		samples, to, more, err := metric.Export(ctx, s.DB, d.after, batch)
		if err != nil {
			return err
		}
		if going, err := s.forward(ctx, out, d, samples); err != nil || !going {
			return err
		}
		if going, err := s.note(ctx, d, to, outcome{}); err != nil || !going || !more {
			return err
		}
	}
	return nil
}

// due reads the receiver; nil when there is none, or it is not to be tried yet.
func (s *Store) due(ctx context.Context) (*due, error) {
	d := &due{}
	var sealed []byte
	err := s.DB.Pool.QueryRow(ctx, `SELECT url, fingerprint, username, secret, version, failures, ok_at IS NOT NULL, sent_at,
		sent_kind, sent_id FROM remote_write WHERE next_at <= now()`).
		Scan(&d.URL, &d.Fingerprint, &d.Username, &sealed, &d.version, &d.failures, &d.taken, &d.after.At, &d.after.Kind, &d.after.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the receiver of samples: %w", err))
	}
	if sealed != nil {
		if d.Secret, err = s.Keys.Open(sealed, place); err != nil {
			return nil, fmt.Errorf("decrypting the receiver's secret: %w", err)
		}
	}
	return d, nil
}

// forward sends samples request by request and notes each. It is over, false, when the receiver takes nothing or is no longer that of the
// instance.
func (s *Store) forward(ctx context.Context, out *sender, d *due, samples []metric.Sample) (bool, error) {
	for len(samples) > 0 {
		n := first(samples)
		o, err := out.deliver(ctx, samples[:n])
		var gone *unavailable
		if err == nil && o.sent == 0 && !d.taken {
			gone = &unavailable{text: o.why} // what never took anything is no receiver of samples: none is given up for it
		}
		if gone != nil || errors.As(err, &gone) {
			if ctx.Err() != nil {
				return false, nil // the service ends
			}
			return false, s.failed(ctx, d, gone)
		}
		if err != nil {
			return false, err
		}
		if going, err := s.note(ctx, d, samples[n-1].Cursor, o); err != nil || !going {
			return false, err
		}
		samples = samples[n:]
	}
	return true, nil
}

// note keeps how far the receiver is. It is false when there is another one by now.
func (s *Store) note(ctx context.Context, d *due, to metric.Cursor, o outcome) (bool, error) {
	if to == d.after {
		return true, nil
	}
	done, err := s.DB.Pool.Exec(ctx, `UPDATE remote_write SET sent_at = $2, sent_kind = $3, sent_id = $4, sent = sent + $5,
		refused = refused + $6, ok_at = CASE WHEN $5 > 0 THEN now() ELSE ok_at END, failures = CASE WHEN $5 > 0 THEN 0 ELSE failures END,
		error = CASE WHEN $7 = '' THEN error ELSE $7 END, error_at = CASE WHEN $7 = '' THEN error_at ELSE now() END
		WHERE version = $1 AND (sent_at, sent_kind, sent_id) <= ($2, $3, $4)`,
		d.version, to.At, to.Kind, to.ID, o.sent, o.refused, o.why)
	if err != nil {
		return false, db.Problem(fmt.Errorf("recording which samples were sent: %w", err))
	}
	d.after = to
	if o.sent > 0 {
		if d.failures > 0 {
			s.log().Info("the receiver of samples accepts them again")
		}
		d.taken, d.failures = true, 0
	}
	return done.RowsAffected() == 1, nil
}

// failed notes that the receiver takes nothing, and when it is tried again.
func (s *Store) failed(ctx context.Context, d *due, cause *unavailable) error {
	wait := cause.after
	if wait == 0 {
		wait = min(longestWait, tick<<min(d.failures, 10))
	}
	if d.failures == 0 {
		s.log().Warn("the receiver of samples rejects them; they wait", "error", cause.text)
	}
	_, err := s.DB.Pool.Exec(ctx, `UPDATE remote_write SET failures = failures + 1, error = $2, error_at = now(), 
		next_at = now() + $3::interval WHERE version = $1`, d.version, cause.text, wait)
	if err != nil {
		return db.Problem(fmt.Errorf("recording that the receiver of samples rejects them: %w", err))
	}
	return nil
}

func (s *Store) log() hclog.Logger {
	if s.Logger == nil {
		return hclog.NewNullLogger()
	}
	return s.Logger
}
