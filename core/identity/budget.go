package identity

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// budget is where the tries of one log-in are counted. Strangers share the account's counter; a browser that has logged in
// to the account before, and a network from which one has lately, have one of their own each. So whoever guesses at an
// account keeps others out and not those who belong to it, and there is no more to guess than the sum of these, a constant.
//
// Who stands at a known network can tell it from a strange one; nobody else can tell an account that exists from one that
// does not.
type budget struct {
	// address counts for the network, over all accounts. It is the zero bucket for a known browser, which strangers behind
	// the same proxy must not lock out.
	address bucket
	// tries counts for the account.
	tries bucket
	// own: tries is not the counter of strangers.
	own bool
	// device: a browser that is known.
	device bool
}

// buckets are the counters of a try, in the order of charge.
func (b budget) buckets() []bucket {
	if b.address == (bucket{}) {
		return []bucket{b.tries}
	}
	return []bucket{b.address, b.tries}
}

// origin names who tries, for log-ins that wait.
func (b budget) origin() string {
	if !b.own {
		return ""
	}
	return b.tries.name
}

// settle is for a password that was right: the try is given back, and the wrong ones before it are forgotten where they
// were no stranger's. Those of strangers stay: a guesser must not profit from others' log-ins.
func (b budget) settle(ctx context.Context, tx *db.Tx) error {
	if b.own {
		if err := giveBack(ctx, tx, b.buckets()[:len(b.buckets())-1]...); err != nil {
			return err
		}
		return forgive(ctx, tx, b.tries)
	}
	return giveBack(ctx, tx, b.buckets()...)
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// budgetOf finds the counters for a try of kind, such as "totp", at the account whose column has the value. shared is the
// account's counter for strangers, which one without an account has as well.
func (s *Store) budgetOf(ctx context.Context, q querier, kind, column string, value any, from Client, shared bucket) (budget, error) {
	b := budget{address: s.addressBucket(from.Address), tries: shared}
	network := Network(from.Address)
	var user int64
	var device *int64
	var known bool
	err := q.QueryRow(ctx, `
		SELECT u.id, (SELECT max(d.id) FROM login_devices d WHERE d.user_id = u.id AND d.token_hash = ANY($2) AND d.expires_at > now()),
			EXISTS (SELECT FROM login_addresses a WHERE a.user_id = u.id AND a.network = $3 AND a.seen_at > now() - $4::interval)
		FROM users u WHERE u.`+column+` = $1 AND u.is_active`, value, hashTokens(from.Devices), network, addressLife).Scan(&user, &device,
		&known)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
	case err != nil:
		return b, db.Problem(fmt.Errorf("asking whether the account knows the client: %w", err))
	case device != nil:
		b = budget{tries: bucket{fmt.Sprintf("%s device:%d", kind, *device), shared.limit}, own: true, device: true}
	case known:
		b.tries, b.own = bucket{fmt.Sprintf("%s known:%d %s", kind, user, network), shared.limit}, true
	}
	return b, nil
}
