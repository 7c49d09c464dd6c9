package secret

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// ErrRotating: another rotation runs on this database.
var ErrRotating = errors.New("another key rotation is running")

// Rotation describes what to rotate. DB and Tables are required.
type Rotation struct {
	DB *db.DB
	// Tables are all columns with sealed values. A column that is left out
	// keeps its old key and loses it at the next rotation but one, so the list
	// must be whole.
	Tables []Table
	Logger hclog.Logger
	// Batch is how many rows one transaction rewrites; zero means 200.
	Batch int

	// grace is how long a retired key is kept; see keyNote.Retired.
	grace time.Duration
	// reached is told of every step, for tests that fail there.
	reached func(step string) error
}

// Report is the result of a rotation.
type Report struct {
	// Primary is the key that seals from now on.
	Primary KeyID
	// Resumed is set when an earlier rotation that was cut short was finished,
	// and no further key was made.
	Resumed bool
	// Rewritten counts the values that were sealed anew.
	Rewritten int
	// Dropped are old keys that were removed from the key file: retired by an
	// earlier rotation, used by nothing.
	Dropped []KeyID
}

// keepRetired is longer than any transaction of the service can last.
const keepRetired = time.Hour

// Rotate makes a new master key and seals every value with it, while services
// use the database; they read the key file again by themselves. If it is killed
// at any point, every value stays readable, and running it again finishes it.
// The old key stays in the file as retired, until a rotation at least an hour
// later finds it unused. The error is ErrCopyInUse while a service holds a KeyFileCopy.
func (b *Box) Rotate(ctx context.Context, rot Rotation) (Report, error) {
	rot.complete()
	lock, err := rot.DB.TryLock(ctx, db.LockKeys, lockRotation)
	if err != nil {
		return Report{}, fmt.Errorf("locking the rotation: %w", err)
	}
	if lock == nil {
		return Report{}, ErrRotating
	}
	defer lock.Unlock()
	alone, err := withoutCopies(ctx, rot.DB)
	if err != nil {
		return Report{}, err
	}
	defer alone.Unlock()
	report, err := b.rotate(ctx, rot)
	if err != nil {
		return report, fmt.Errorf("rotating the key (run it again to finish): %w", err)
	}
	return report, nil
}

// complete sets what was left out.
func (rot *Rotation) complete() {
	if rot.Logger == nil {
		rot.Logger = hclog.NewNullLogger()
	}
	if rot.Batch <= 0 {
		rot.Batch = 200
	}
	if rot.grace == 0 {
		rot.grace = keepRetired
	}
	if rot.reached == nil {
		rot.reached = func(string) error { return nil }
	}
}

// rotate seals all values anew. The order matters: the new key is in the file
// of every instance before the first value is sealed with it, and the old one
// is forgotten only when no value needs it.
func (b *Box) rotate(ctx context.Context, rot Rotation) (report Report, err error) {
	if err := b.covers(ctx, rot); err != nil {
		return report, err
	}
	if err := rot.reached("begin"); err != nil {
		return report, err
	}
	err = changeFile(b.path, func(r *keyring) (*keyring, error) {
		if report.Resumed = r.unfinished(); report.Resumed {
			return r, nil
		}
		return r.grow()
	})
	if err != nil {
		return report, err
	}
	r, err := b.current()
	if err != nil {
		return report, err
	}
	report.Primary = r.primary
	if err := rot.reached("key"); err != nil {
		return report, err
	}
	// Instances with their own file learn about the key before a value needs
	// it.
	if err := announceRotated(ctx, rot.DB, r); err != nil {
		return report, err
	}
	rot.Logger.Info("re-encrypting all values", "key", r.primary, "resumed", report.Resumed)
	if err := rot.reached("announced"); err != nil {
		return report, err
	}
	for _, t := range rot.Tables {
		n, err := b.rewrite(ctx, rot, t)
		report.Rewritten += n
		if err != nil {
			return report, fmt.Errorf("re-encrypting %s.%s: %w", t.Name, t.Column, err)
		}
	}
	if err := rot.reached("rewritten"); err != nil {
		return report, err
	}
	if err := changeFile(b.path, func(r *keyring) (*keyring, error) { return r.retire() }); err != nil {
		return report, err
	}
	if err := rot.reached("retired"); err != nil {
		return report, err
	}
	report.Dropped, err = b.drop(ctx, rot)
	return report, err
}

// announceRotated stores that the keyring's key seals now. An instance that has
// just started may store an earlier key at the same moment; then it tries
// again.
func announceRotated(ctx context.Context, d *db.DB, r *keyring) error {
	for {
		id, ok, err := AnnouncedKey(ctx, d.Pool)
		if err != nil {
			return err
		}
		var before *KeyID
		if ok {
			if !r.has(id) { // another rotation, of another file
				return fmt.Errorf("%w: key %s is now the encryption key", ErrKeyWrong, id)
			}
			before = &id
		}
		if said, err := announce(ctx, d, before, r.primary); said || err != nil {
			return err
		}
	}
}

// covers refuses to rotate if a value could not be opened anyway, or if this is
// not the file in use.
func (b *Box) covers(ctx context.Context, rot Rotation) error {
	r, err := b.current()
	if err != nil {
		return err
	}
	needed, err := NeededKeys(ctx, rot.DB.Pool, rot.Tables)
	if err != nil {
		return err
	}
	for _, id := range needed {
		if !r.has(id) {
			return fmt.Errorf("%w: the database has secrets encrypted with key %s", ErrKeyWrong, id)
		}
	}
	return nil
}

// rewrite seals the values of one table, batch by batch, until none is left
// under another key.
func (b *Box) rewrite(ctx context.Context, rot Rotation, t Table) (int, error) {
	total := 0
	// Rows that somebody has locked are skipped first and then waited for one
	// by one: while it waits it holds no other row, so that no deadlock is
	// possible.
	for _, pass := range []struct {
		limit int
		lock  string
	}{{rot.Batch, "FOR UPDATE SKIP LOCKED"}, {1, "FOR UPDATE"}} {
		for {
			n, err := b.batch(ctx, rot, t, pass.limit, pass.lock)
			total += n
			if err != nil {
				return total, err
			}
			if n == 0 {
				break
			}
			if err := rot.reached("batch"); err != nil {
				return total, err
			}
		}
	}
	return total, nil
}

// sealedRow is a sealed value with its place.
type sealedRow struct {
	place  Binding
	at     string // ctid: it holds as long as the row is locked
	sealed []byte
}

// batch rewrites up to limit rows in one transaction, and returns their number.
func (b *Box) batch(ctx context.Context, rot Rotation, t Table, limit int, lock string) (int, error) {
	r, err := b.current()
	if err != nil {
		return 0, err
	}
	count := 0
	err = pgx.BeginFunc(ctx, rot.DB.Pool, func(tx pgx.Tx) error {
		rows, err := locked(ctx, tx, t, r.primary, limit, lock)
		if err != nil {
			return err
		}
		var updates pgx.Batch
		for _, row := range rows {
			id, err := KeyOf(row.sealed)
			if err == nil && !r.has(id) {
				err = fmt.Errorf("%w: a value needs key %s", ErrKeyWrong, id)
			}
			if err != nil {
				return err
			}
			text, err := r.openValue(row.sealed, row.place)
			if err != nil {
				return err
			}
			anew, err := r.sealValue(text.Reveal(), row.place)
			if err != nil {
				return err
			}
			updates.Queue(fmt.Sprintf("UPDATE %s SET %s = $1 WHERE ctid = $2::text::tid", identifier(t.Name), identifier(t.Column)), anew, row.at)
		}
		count = len(rows)
		return tx.SendBatch(ctx, &updates).Close()
	})
	if err != nil {
		return 0, err
	}
	return count, nil
}

// locked reads and locks rows whose values are sealed with another key than
// primary.
func locked(ctx context.Context, tx pgx.Tx, t Table, primary KeyID, limit int, lock string) ([]sealedRow, error) {
	rows, err := tx.Query(ctx, fmt.Sprintf("SELECT ctid::text, %[1]s, ARRAY[%[2]s] FROM %[3]s WHERE %[1]s IS NOT NULL AND "+
		"substring(%[1]s FROM 1 FOR %[4]d) <> $1 LIMIT %[5]d %[6]s",
		identifier(t.Column), t.columns(), identifier(t.Name), headerSize, limit, lock), header(primary))
	if err != nil {
		return nil, fmt.Errorf("reading encrypted values: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (sealedRow, error) {
		var s sealedRow
		var key []string
		err := row.Scan(&s.at, &s.sealed, &key)
		s.place = t.place(key)
		return s, err
	})
}

// drop removes keys from the file that an earlier rotation retired and that
// nothing uses.
func (b *Box) drop(ctx context.Context, rot Rotation) ([]KeyID, error) {
	used, err := UsedKeys(ctx, rot.DB.Pool, rot.Tables)
	if err != nil {
		return nil, err
	}
	var dropped []KeyID
	err = changeFile(b.path, func(r *keyring) (*keyring, error) {
		dropped = slices.DeleteFunc(r.retiredBefore(time.Now().Add(-rot.grace)), func(id KeyID) bool { return slices.Contains(used, id) })
		return r.drop(dropped)
	})
	if err != nil {
		return nil, err
	}
	_, err = b.current()
	return dropped, err
}
