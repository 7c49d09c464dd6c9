package setting

import (
	"context"
	"fmt"

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
	Set bool
}

// untyped is a Key whose type only it knows: what a list and a change by name need.
type untyped interface {
	Name() string
	Doc() string
	any(raw []byte) (any, error)
	anyDefault() any
}

func (k Key[T]) any(raw []byte) (any, error) { return k.decode(raw) }
func (k Key[T]) anyDefault() any             { return k.fallback() }

// Defaults is every setting with its default, in the order in which they are listed.
func Defaults() []Value {
	values := make([]Value, len(all))
	for i, key := range all {
		values[i] = Value{Key: key.Name(), Doc: key.Doc(), Value: key.anyDefault(), Default: key.anyDefault()}
	}
	return values
}

// List reads all settings, those that are not set with their default, as one snapshot. A stored value that this release
// does not take is listed as the default.
func List(ctx context.Context, d *db.DB) ([]Value, error) {
	rows, err := d.Pool.Query(ctx, "SELECT key, value FROM settings")
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the settings: %w", err))
	}
	defer rows.Close()
	stored := map[string][]byte{}
	for rows.Next() {
		var name string
		var raw []byte
		if err := rows.Scan(&name, &raw); err != nil {
			return nil, fmt.Errorf("reading a setting: %w", err)
		}
		stored[name] = raw
	}
	if err := rows.Err(); err != nil {
		return nil, db.Problem(fmt.Errorf("reading the settings: %w", err))
	}
	values := Defaults()
	for i, key := range all {
		if raw, ok := stored[key.Name()]; ok {
			if value, err := key.any(raw); err == nil {
				values[i].Value, values[i].Set = value, true
			}
		}
	}
	return values, nil
}
