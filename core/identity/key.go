package identity

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/problem"
)

// An API key is keyMark and keyBytes random bytes in URL-safe base64. The first
// keyShown characters after the mark are shown later, so that a key that was
// found somewhere can be recognised; the remaining 276 bits are never shown.
const (
	keyMark  = "svc_"
	keyBytes = 39
	keyShown = 6
)

// MaxKeys of one user, expired ones included.
const MaxKeys = 100

// maxKeyName in characters.
const maxKeyName = 200

// Key is an API key as it is shown, without its secret.
type Key struct {
	ID   int64
	Name string
	// Prefix is how the key begins.
	Prefix string
	// Scopes narrow the key; nil means all that the user may.
	Scopes []string
	// ExpiresAt is nil for a key without an end.
	ExpiresAt *time.Time
	// LastUsedAt is exact to a minute; nil for a key that was never used.
	LastUsedAt *time.Time
	CreatedAt  time.Time
}

// CreateKeyResult is kept for the answer to a repeated CreateKey.
type CreateKeyResult struct {
	Key  Key
	Text string
}

// NewKey is the input of CreateKey. The caller has checked that the scopes
// exist; this package does not know operations.
type NewKey struct {
	Name      string
	Scopes    []string
	ExpiresAt *time.Time
}

// Faults returns the faults of the name, the scopes and the end.
func (n NewKey) Faults() []problem.Fault {
	var faults []problem.Fault
	add := func(field, kind, msg string) {
		faults = append(faults, problem.Fault{Loc: []any{"body", field}, Msg: msg, Type: kind})
	}
	switch {
	case strings.TrimSpace(n.Name) == "":
		add("name", "too_short", "must not be empty")
	case utf8.RuneCountInString(n.Name) > maxKeyName:
		add("name", "too_long", "must have at most 200 characters")
	case !utf8.ValidString(n.Name) || strings.ContainsFunc(n.Name, unicode.IsControl):
		add("name", "value_error", "must be text without control characters")
	}
	if n.ExpiresAt != nil && !n.ExpiresAt.After(time.Now()) {
		add("expires_at", "past", "must be in the future")
	}
	if n.Scopes != nil && len(n.Scopes) == 0 {
		add("scopes", "too_short", "must contain at least one scope; omit it or send null for a key with all your rights")
	}
	return faults
}

// CreateKey makes a key for the caller's own account. text is the key itself;
// it is not stored anywhere. Problems: invalid for faulty fields, conflict if
// the caller has MaxKeys keys, forbidden if the caller is an API key itself and
// the new one would have more scopes or a later end.
func (s *Store) CreateKey(ctx context.Context, caller *Caller, in NewKey) (key *Key, text string, err error) {
	if faults := in.Faults(); len(faults) > 0 {
		return nil, "", problem.Invalid(faults...)
	}
	in.Name = strings.TrimSpace(in.Name)
	if in.ExpiresAt != nil { // as exact as the database keeps it
		in.ExpiresAt = new(in.ExpiresAt.Truncate(time.Microsecond))
	}
	if in.Scopes != nil {
		in.Scopes = slices.Compact(slices.Sorted(slices.Values(in.Scopes)))
	}
	text = keyMark + base64.RawURLEncoding.EncodeToString(randomBytes(keyBytes))
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		if err := lockKeys(ctx, tx, caller.UserID); err != nil {
			return err
		}
		if err := within(ctx, tx, caller, in); err != nil {
			return err
		}
		if key, err = insertKey(ctx, tx, caller.UserID, in, text); err != nil {
			return err
		}
		if err := idempotency.SaveData(ctx, CreateKeyResult{*key, text}); err != nil {
			return err
		}
		describeKey(ctx, key)
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, "", err
	}
	return key, text, nil
}

// lockKeys locks the account, so that two calls at the same time count one
// after the other, and refuses a key above MaxKeys.
func lockKeys(ctx context.Context, tx *db.Tx, userID int64) error {
	var active bool
	err := tx.Pgx.QueryRow(ctx, "SELECT is_active FROM users WHERE id = $1 FOR NO KEY UPDATE", userID).Scan(&active)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !active {
		return unauthenticated()
	}
	if err != nil {
		return fmt.Errorf("reading the account: %w", err)
	}
	var count int
	if err := tx.Pgx.QueryRow(ctx, "SELECT count(*) FROM api_keys WHERE user_id = $1", userID).Scan(&count); err != nil {
		return fmt.Errorf("counting the keys: %w", err)
	}
	if count >= MaxKeys {
		return problem.New(problem.CodeConflict, "you already have %d API keys; delete one first", MaxKeys)
	}
	return nil
}

// within prevents that a key makes one with more rights or a later end than its
// own. It reads the key at this moment: a key that was revoked during the
// request makes none.
func within(ctx context.Context, tx *db.Tx, caller *Caller, in NewKey) error {
	if caller.KeyID == 0 {
		return nil
	}
	var scopes []string
	var expires *time.Time
	err := tx.Pgx.QueryRow(ctx, `
		SELECT scopes, expires_at FROM api_keys WHERE id = $1 AND (expires_at IS NULL OR expires_at > now()) FOR SHARE`,
		caller.KeyID).Scan(&scopes, &expires)
	if errors.Is(err, pgx.ErrNoRows) {
		return wrongKey()
	}
	if err != nil {
		return fmt.Errorf("reading the caller's key: %w", err)
	}
	if scopes != nil && (in.Scopes == nil || slices.ContainsFunc(in.Scopes, func(s string) bool { return !slices.Contains(scopes, s) })) {
		return problem.New(problem.CodeForbidden, "an API key can only create keys with scopes that it has itself").With("scopes", scopes)
	}
	if expires != nil && (in.ExpiresAt == nil || in.ExpiresAt.After(*expires)) {
		return problem.New(problem.CodeForbidden, "an API key cannot create a key that expires later than itself")
	}
	return nil
}

// insertKey stores an API key: its SHA-256, and a prefix by which people
// recognise it.
func insertKey(ctx context.Context, tx *db.Tx, userID int64, in NewKey, text string) (*Key, error) {
	key := &Key{Name: in.Name, Prefix: text[:len(keyMark)+keyShown], Scopes: in.Scopes}
	err := tx.Pgx.QueryRow(ctx, `
		INSERT INTO api_keys (user_id, name, key_hash, prefix, scopes, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
		RETURNING id, expires_at, created_at`,
		userID, key.Name, hashToken(text), key.Prefix, key.Scopes, in.ExpiresAt).Scan(&key.ID, &key.ExpiresAt, &key.CreatedAt)
	if err != nil {
		return nil, fmt.Errorf("storing the key: %w", err)
	}
	return key, nil
}

// keyColumns are the columns of a Key, in the order of scanKey.
const keyColumns = "id, name, prefix, scopes, expires_at, last_used_at, created_at"

// scanKey reads one row with keyColumns.
func scanKey(row pgx.CollectableRow) (Key, error) {
	var k Key
	err := row.Scan(&k.ID, &k.Name, &k.Prefix, &k.Scopes, &k.ExpiresAt, &k.LastUsedAt, &k.CreatedAt)
	return k, err
}

// Keys returns the user's keys, the newest first, including expired ones.
func (s *Store) Keys(ctx context.Context, userID int64) ([]Key, error) {
	rows, err := s.db.Pool.Query(ctx, "SELECT "+keyColumns+" FROM api_keys WHERE user_id = $1 ORDER BY id DESC", userID)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing the keys: %w", err))
	}
	keys, err := db.CollectRows(rows, scanKey)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("listing the keys: %w", err))
	}
	return keys, nil
}

// RevokeKey ends one key of the user at once. The problem is not_found, also
// for a key of another user.
func (s *Store) RevokeKey(ctx context.Context, userID, id int64) error {
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		rows, err := tx.Pgx.Query(ctx, "DELETE FROM api_keys WHERE id = $1 AND user_id = $2 RETURNING "+keyColumns, id, userID)
		if err != nil {
			return fmt.Errorf("revoking the key: %w", err)
		}
		key, err := pgx.CollectExactlyOneRow(rows, scanKey)
		if errors.Is(err, pgx.ErrNoRows) {
			return problem.New(problem.CodeNotFound, "API key not found")
		}
		if err != nil {
			return fmt.Errorf("revoking the key: %w", err)
		}
		describeKey(ctx, &key)
		return audit.Write(ctx, tx)
	})
}

// describeKey adds a key to the audit row, without the key itself.
func describeKey(ctx context.Context, key *Key) {
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetKind, e.TargetID, e.TargetName = "key", strconv.FormatInt(key.ID, 10), key.Name
		addDetail(e, "scopes", key.Scopes)
		addDetail(e, "prefix", key.Prefix)
	})
}

// addDetail sets one detail and keeps the others: core/api/op has stored the
// API key of the caller there.
func addDetail(e *audit.Entry, name string, value any) {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[name] = value
}

// isKey reports whether the text has the form of a key.
func isKey(s string) bool {
	body, ok := strings.CutPrefix(s, keyMark)
	if !ok || len(body) != base64.RawURLEncoding.EncodedLen(keyBytes) {
		return false
	}
	_, err := base64.RawURLEncoding.Strict().DecodeString(body)
	return err == nil
}

// wrongKey is the one problem of every key that is not valid. It does not show
// whether the key ever was.
func wrongKey() error { return problem.New(problem.CodeUnauthenticated, "the API key is not valid") }
