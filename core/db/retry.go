package db

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// maxTries is how often a transaction is made that PostgreSQL gave up for the sake of another one.
const maxTries = 5

// Retryable reports whether err is PostgreSQL's word that a transaction was undone only because of another one at the same
// time: a deadlock or a serialization failure (PostgreSQL's manual, appendix A, class 40). The same may succeed when done again.
func Retryable(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && (refused.Code == "40P01" || refused.Code == "40001")
}

// retry does what was given up for another transaction again, after a pause that the two do not share.
func retry(ctx context.Context, once func() error) error {
	for try := 1; ; try++ {
		err := once()
		if err == nil || try == maxTries || !Retryable(err) {
			return err
		}
		timer := time.NewTimer(time.Duration(try) * time.Duration(rand.Int64N(int64(20*time.Millisecond))))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}
