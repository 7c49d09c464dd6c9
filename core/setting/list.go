package setting

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// Value is one setting as it is listed.
type Value struct {
	Key   string
	Doc   string
	Value any
	// Set is false while the default holds.
	Set bool
}

// untyped is a Key whose type only it knows: what a list and a change by name need.
type untyped interface {
	Name() string
	Doc() string
	any(raw []byte) (any, error)
	anyDefault() any
	fault(err error) *problem.Error
}

func (k Key[T]) any(raw []byte) (any, error) { return k.decode(raw) }
func (k Key[T]) anyDefault() any             { return k.fallback() }

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
	values := make([]Value, 0, len(all))
	for _, key := range all {
		v := Value{Key: key.Name(), Doc: key.Doc(), Value: key.anyDefault()}
		if raw, ok := stored[key.Name()]; ok {
			if value, err := key.any(raw); err == nil {
				v.Value, v.Set = value, true
			}
		}
		values = append(values, v)
	}
	return values, nil
}

// Change writes one setting by name within the transaction; the JSON value null puts it back to its default. An
// unknown name, and a value of the wrong type or out of bounds, is a problem of code invalid at body.<name>.
func Change(tx *db.Tx, name string, raw json.RawMessage, by *int64) error {
	for _, key := range all {
		if key.Name() != name {
			continue
		}
		if string(raw) == "null" {
			return clear(tx, name)
		}
		value, err := key.any(raw)
		if err != nil {
			return key.fault(err)
		}
		normal, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("encoding the setting %s: %w", name, err)
		}
		return write(tx, name, normal, by)
	}
	return problem.InvalidField("there is no such setting", "unknown_setting", "body", name)
}
