package identity

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/proxy"
)

// A browser that has logged in keeps a device cookie: a random token for each
// account, of which only the SHA-256 is stored. The token gives no access. It
// moves the browser's wrong attempts from the counter of strangers to one of
// its own, until the next log-in replaces the token.
const (
	deviceCookieName = "service_device"
	// DeviceLife is how long a browser is known after its last log-in.
	DeviceLife = 90 * 24 * time.Hour
	// browserAccounts are how many accounts one browser's cookie is for, the last ones used.
	browserAccounts = 8
	// maxDevices of an account that came back with their cookie, and as many
	// that have not; the oldest end beyond that.
	maxDevices = 20
	// addressLife is how long a network is known after the last log-in from it,
	// maxAddresses how many an account has.
	addressLife  = 30 * 24 * time.Hour
	maxAddresses = 20
)

// DeviceCookie carries the devices of LoginResult or PasswordChangeResult to the
// browser. It outlives the session and the log-out.
func DeviceCookie(devices string, site proxy.Site) http.Cookie {
	c := newCookie(deviceCookieName, devices, site)
	c.MaxAge = int(DeviceLife / time.Second)
	return c
}

// DevicesOf returns the tokens of the device cookie in a Cookie header, for
// Client. It drops texts that are not tokens, and tokens beyond
// browserAccounts: each costs a hash.
func DevicesOf(header string, site proxy.Site) []string {
	r := http.Request{Header: http.Header{"Cookie": {header}}}
	var tokens []string
	for token := range strings.SplitSeq(cookieValue(&r, deviceCookieName, site), ".") {
		if isToken(token) && len(tokens) < browserAccounts {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// Browser returns a name for a browser that has logged in to some account
// before, for rate limits; empty for all others. It proves nothing else.
func (s *Store) Browser(ctx context.Context, r *http.Request) (string, error) {
	tokens := DevicesOf(r.Header.Get("Cookie"), proxy.SiteOf(r.Context(), r.TLS))
	if len(tokens) == 0 {
		return "", nil
	}
	var id *int64
	err := s.db.Pool.QueryRow(ctx, "SELECT max(id) FROM login_devices WHERE token_hash = ANY($1) AND expires_at > now()",
		hashTokens(tokens)).Scan(&id)
	if err != nil {
		return "", db.Problem(fmt.Errorf("checking whether the browser is known: %w", err))
	}
	if id == nil {
		return "", nil
	}
	return fmt.Sprintf("device:%d", *id), nil
}

// hashTokens is hashToken for each.
func hashTokens(tokens []string) [][]byte {
	hashes := make([][]byte, len(tokens))
	for i, token := range tokens {
		hashes[i] = hashToken(token)
	}
	return hashes
}

// remember makes the browser and the network of a log-in known to the account.
// It returns the new value of the cookie, and whether neither was known before.
// The browser's earlier token ends, so that a stolen copy is worthless after
// the next log-in. The caller holds the row of the user.
func (s *Store) remember(ctx context.Context, tx *db.Tx, userID int64, from Client) (devices string, strange bool, err error) {
	rows, err := tx.Pgx.Query(ctx, "DELETE FROM login_devices WHERE user_id = $1 AND token_hash = ANY($2) RETURNING token_hash", userID,
		hashTokens(from.Devices))
	if err != nil {
		return "", false, fmt.Errorf("ending the browser's earlier cookie: %w", err)
	}
	replaced, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		return "", false, fmt.Errorf("ending the browser's earlier cookie: %w", err)
	}
	kept := slices.DeleteFunc(slices.Clone(from.Devices), func(token string) bool {
		return slices.ContainsFunc(replaced, func(hash []byte) bool { return slices.Equal(hash, hashToken(token)) })
	})
	token, returned := newToken(), len(replaced) > 0
	_, err = tx.Pgx.Exec(ctx, "INSERT INTO login_devices (user_id, token_hash, returned, expires_at) VALUES ($1, $2, $3, now() + $4)",
		userID, hashToken(token), returned, DeviceLife)
	if err != nil {
		return "", false, fmt.Errorf("storing the browser's cookie: %w", err)
	}
	_, err = tx.Pgx.Exec(ctx, `
		DELETE FROM login_devices WHERE id IN (
			SELECT id FROM login_devices WHERE user_id = $1 AND returned = $2 ORDER BY id DESC OFFSET $3)`, userID, returned, maxDevices)
	if err != nil {
		return "", false, fmt.Errorf("deleting the oldest browsers: %w", err)
	}
	all := append([]string{token}, kept...)
	added, err := rememberNetwork(ctx, tx, userID, Network(from.Address))
	return strings.Join(all[:min(len(all), browserAccounts)], "."), added && !returned, err
}

// rememberNetwork stores the network of a log-in, and reports whether it is
// new.
func rememberNetwork(ctx context.Context, tx *db.Tx, userID int64, network string) (added bool, err error) {
	// A row that was there before has the transaction that changes it in xmax.
	err = tx.Pgx.QueryRow(ctx, `
		INSERT INTO login_addresses (user_id, network) VALUES ($1, $2) ON CONFLICT (user_id, network) DO UPDATE SET seen_at = now()
		RETURNING xmax = 0`, userID, network).Scan(&added)
	if err != nil {
		return false, fmt.Errorf("storing the address of the log-in: %w", err)
	}
	_, err = tx.Pgx.Exec(ctx, `
		DELETE FROM login_addresses WHERE user_id = $1 AND network IN (
			SELECT network FROM login_addresses WHERE user_id = $1 ORDER BY seen_at DESC, network OFFSET $2)`, userID, maxAddresses)
	if err != nil {
		return false, fmt.Errorf("deleting the oldest addresses: %w", err)
	}
	return added, nil
}

// forgetDevices makes all browsers of the account strangers. Networks stay
// known, because a network cannot be stolen.
func forgetDevices(ctx context.Context, tx *db.Tx, userID int64) error {
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM login_devices WHERE user_id = $1", userID); err != nil {
		return fmt.Errorf("deleting the user's browsers: %w", err)
	}
	return nil
}
