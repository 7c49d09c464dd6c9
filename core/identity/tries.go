package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// bucket is one counter of wrong attempts, of an account or of a network.
type bucket struct {
	name  string
	limit int
}

// accountBucket counts the attempts of strangers by the folded e-mail, known or
// not. Only the hash of it is stored, because people type passwords into that
// field.
func (s *Store) accountBucket(key string) bucket {
	sum := sha256.Sum256([]byte(key))
	return bucket{"account:" + hex.EncodeToString(sum[:]), s.config.AccountTries}
}

// addressBucket counts for a network over all accounts.
func (s *Store) addressBucket(address string) bucket {
	return bucket{"address:" + Network(address), s.config.AddressTries}
}

// passwordBucket counts wrong present passwords of a logged-in user, separately
// from log-ins: a stranger who uses up the latter must not prevent the user
// from changing the password.
func (s *Store) passwordBucket(userID int64) bucket {
	return bucket{fmt.Sprintf("password:%d", userID), s.config.AccountTries}
}

// totpBucket counts the wrong codes of strangers over all log-ins of the
// account: neither a new log-in nor the correct password gives further guesses.
func (s *Store) totpBucket(userID int64) bucket {
	return bucket{fmt.Sprintf("totp:%d", userID), s.config.AccountTries}
}

// confirmBucket counts wrong codes at the confirmation of an enrolment.
func (s *Store) confirmBucket(userID int64) bucket {
	return bucket{fmt.Sprintf("totp confirm:%d", userID), s.config.AccountTries}
}

// charge counts an attempt in all buckets before it is made; if one of them is
// full it counts in none, and the problem is rate_limited with the time to
// wait. Counting before the check is what keeps parallel guesses within the
// limit. Callers name the buckets in one order, networks before accounts, so
// that two transactions cannot wait for each other.
func (s *Store) charge(ctx context.Context, buckets ...bucket) error {
	return s.db.Tx(ctx, func(tx *db.Tx) error { return s.chargeAll(ctx, tx, buckets) })
}

// chargeAll counts in all buckets. The caller's transaction is rolled back on
// an error, which undoes the earlier ones.
func (s *Store) chargeAll(ctx context.Context, tx *db.Tx, buckets []bucket) error {
	for _, b := range buckets {
		if err := s.chargeOne(ctx, tx, b); err != nil {
			return err
		}
	}
	return nil
}

// chargeOne counts in one bucket. The condition of the statement keeps a full
// bucket unchanged, and then no row is returned; an old window begins again
// with one.
func (s *Store) chargeOne(ctx context.Context, tx *db.Tx, b bucket) error {
	var failures int
	err := tx.Pgx.QueryRow(ctx, `
		INSERT INTO login_failures AS f (bucket, failures, window_ends) VALUES ($1, 1, now() + $2)
		ON CONFLICT (bucket) DO UPDATE SET
			failures    = CASE WHEN f.window_ends <= now() THEN 1 ELSE f.failures + 1 END,
			window_ends = CASE WHEN f.window_ends <= now() THEN excluded.window_ends ELSE f.window_ends END
		WHERE f.window_ends <= now() OR f.failures < $3
		RETURNING failures`, b.name, s.config.TriesWindow, b.limit).Scan(&failures)
	if err == nil {
		return nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("counting a log-in try: %w", err)
	}
	var wait float64
	err = tx.Pgx.QueryRow(ctx, `
		SELECT extract(epoch FROM window_ends - now())::float8 FROM login_failures WHERE bucket = $1`, b.name).Scan(&wait)
	if err != nil {
		return fmt.Errorf("reading when the next try is allowed: %w", err)
	}
	limited := problem.New(problem.CodeRateLimited, "too many wrong attempts; wait before the next one")
	limited.RetryAfter = max(1, int(wait)+1)
	return limited
}

// giveBack undoes one count, for an attempt that was no guess. A counter at
// zero is deleted.
func giveBack(ctx context.Context, tx *db.Tx, buckets ...bucket) error {
	for _, b := range buckets {
		for _, statement := range []string{
			"DELETE FROM login_failures WHERE bucket = $1 AND failures <= 1", "UPDATE login_failures SET failures = failures - 1 WHERE bucket = $1",
		} {
			done, err := tx.Pgx.Exec(ctx, statement, b.name)
			if err != nil {
				return fmt.Errorf("giving a log-in try back: %w", err)
			}
			if done.RowsAffected() > 0 {
				break
			}
		}
	}
	return nil
}

// forgive deletes the counter.
func forgive(ctx context.Context, tx *db.Tx, b bucket) error {
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM login_failures WHERE bucket = $1", b.name); err != nil {
		return fmt.Errorf("deleting wrong tries: %w", err)
	}
	return nil
}

// giveBackLater is giveBack after a check that could not be made. It ignores
// the cancelation of the request, because a client who goes away must not keep
// the count.
func (s *Store) giveBackLater(ctx context.Context, buckets ...bucket) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := s.db.Tx(ctx, func(tx *db.Tx) error { return giveBack(ctx, tx, buckets...) }); err != nil {
		s.log.Warn("could not undo the counting of a log-in try", "error", err)
	}
}
