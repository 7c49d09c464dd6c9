package setting

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/db"
)

// Value is one setting as it is listed.
type Value struct {
	Key   string
	Doc   string
	Value any
	// Default is what holds while the setting is not set.
	Default any
	// Set is false while the default holds.
	Set  bool
	Type Type
	// Bounds are those of a number; nil for other types.
	Bounds *Bounds
	// ChangedAt is when the value was set, and ChangedBy the e-mail address of who did it: nil for the system, for somebody whose account
	// is gone, and, both of them, while the default holds.
	ChangedAt *time.Time
	ChangedBy *string
}

// untyped is a Key whose type only it knows: what a list and a change by name need.
type untyped interface {
	Name() string
	Doc() string
	any(raw []byte) (any, error)
	anyDefault() any
	Type() Type
	limits() *Bounds
}

func (k Key[T]) any(raw []byte) (any, error) { return k.decode(raw) }
func (k Key[T]) anyDefault() any             { return k.fallback() }
func (k Key[T]) limits() *Bounds             { return k.bounds }

// Defaults is every setting with its default, in the order in which they are listed.
func Defaults() []Value {
	values := make([]Value, len(all))
	for i, key := range all {
		values[i] = Value{Key: key.Name(), Doc: key.Doc(), Value: key.anyDefault(), Default: key.anyDefault(), Type: key.Type(),
			Bounds: key.limits()}
	}
	return values
}

// List reads all settings, those that are not set with their default, as one snapshot. A stored value that this release
// does not take is listed as the default.
func List(ctx context.Context, d *db.DB) ([]Value, error) {
	rows, err := d.Pool.Query(ctx, "SELECT s.key, s.value, s.updated_at, u.email FROM settings s LEFT JOIN users u ON u.id = s.updated_by")
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the settings: %w", err))
	}
	defer rows.Close()
	type row struct {
		raw []byte
		at  time.Time
		by  *string
	}
	stored := map[string]row{}
	for rows.Next() {
		var name string
		var r row
		if err := rows.Scan(&name, &r.raw, &r.at, &r.by); err != nil {
			return nil, fmt.Errorf("reading a setting: %w", err)
		}
		stored[name] = r
	}
	if err := rows.Err(); err != nil {
		return nil, db.Problem(fmt.Errorf("reading the settings: %w", err))
	}
	values := Defaults()
	for i, key := range all {
		if r, ok := stored[key.Name()]; ok {
			if value, err := key.any(r.raw); err == nil {
				at := r.at.UTC()
				values[i].Value, values[i].Set, values[i].ChangedAt, values[i].ChangedBy = value, true, &at, r.by
			}
		}
	}
	return values, nil
}
