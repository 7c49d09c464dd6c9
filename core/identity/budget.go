package identity

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// budget names the counters of one attempt to log in. Strangers share the
// counter of the account; a browser that has logged in to the account before,
// and a network from which one did lately, have their own. So an attacker who
// guesses at an account locks out strangers but not its user, and the number of
// guesses is still bounded, by the sum of all counters.
//
// A client on a known network can find out that it is known. No other client
// can find out whether an account exists.
type budget struct {
	// address counts for the network, over all accounts. It is the zero bucket
	// for a known browser, which strangers behind the same proxy must not lock
	// out.
	address bucket
	// tries counts for the account.
	tries bucket
	// own: tries is not the counter of strangers.
	own bool
	// device: a browser that is known.
	device bool
}

// buckets returns the counters of an attempt in the order in which they are
// charged.
func (b budget) buckets() []bucket {
	if b.address == (bucket{}) {
		return []bucket{b.tries}
	}
	return []bucket{b.address, b.tries}
}

// origin names the client for pending log-ins; empty for strangers.
func (b budget) origin() string {
	if !b.own {
		return ""
	}
	return b.tries.name
}

// settle is called after a correct password. It gives the attempt back. Earlier
// wrong attempts are forgotten only on the client's own counter: on the shared
// one a guesser would profit from every log-in of the real user.
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

// budgetOf finds the counters of an attempt of a kind, such as "totp", at the
// account whose column has the value. shared is the counter of strangers; a
// value without an account has one too, so that limits do not show which
// accounts exist.
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
		return b, db.Problem(fmt.Errorf("checking whether the account knows the client: %w", err))
	case device != nil:
		b = budget{tries: bucket{fmt.Sprintf("%s device:%d", kind, *device), shared.limit}, own: true, device: true}
	case known:
		b.tries, b.own = bucket{fmt.Sprintf("%s known:%d %s", kind, user, network), shared.limit}, true
	}
	return b, nil
}
