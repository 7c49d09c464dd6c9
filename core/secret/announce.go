package secret

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// channelKey is the channel on which a trigger announces that another key
// seals.
const channelKey = "secret_key"

// AnnouncedKey returns the key that seals now, according to the database; false if
// none was announced yet.
func AnnouncedKey(ctx context.Context, q Querier) (KeyID, bool, error) {
	rows, err := q.Query(ctx, "SELECT id FROM secret_key")
	if err != nil {
		return 0, false, db.Problem(fmt.Errorf("reading the encryption key's ID from the database: %w", err))
	}
	text, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[string])
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, db.Problem(fmt.Errorf("reading the encryption key's ID from the database: %w", err))
	}
	id, err := strconv.ParseUint(text, 16, 32)
	if err != nil {
		return 0, false, errors.New("reading the encryption key's ID from the database: it is not a key ID")
	}
	return KeyID(id), true, nil
}

// NeededKeys returns the keys that a key file must have for this database: those of
// the sealed values in the tables, and the one that seals now.
func NeededKeys(ctx context.Context, q Querier, tables []Table) ([]KeyID, error) {
	needed, err := UsedKeys(ctx, q, tables)
	if err != nil {
		return nil, err
	}
	id, ok, err := AnnouncedKey(ctx, q)
	if err != nil || !ok {
		return needed, err
	}
	for _, known := range needed {
		if known == id {
			return needed, nil
		}
	}
	return append(needed, id), nil
}

// announce stores which key seals now, if the database still says before; nil
// stands for no announcement. It reports whether the database says now: another
// instance may have announced in the meantime.
func announce(ctx context.Context, d *db.DB, before *KeyID, now KeyID) (bool, error) {
	was := ""
	if before != nil {
		was = before.String()
	}
	tag, err := d.Pool.Exec(ctx, `INSERT INTO secret_key (id) VALUES ($1)
		ON CONFLICT (one) DO UPDATE SET id = excluded.id, changed_at = now() WHERE secret_key.id = $2`, now.String(), was)
	if err != nil {
		return false, db.Problem(fmt.Errorf("storing the encryption key's ID: %w", err))
	}
	return tag.RowsAffected() == 1, nil
}
