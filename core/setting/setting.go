// Package setting holds the instance's settings: a closed list of keys, each with a type, a default and bounds.
//
// A value lives in the database only and is read when it is needed, so that a change holds at once on every instance. A
// key that is not set has its default; clearing a key deletes its row.
package setting

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// Key is one setting of type T.
type Key[T any] struct {
	name     string
	doc      string
	fallback func() T
	check    func(T) error
	// bounds are those of a whole number; nil for other types.
	bounds *Bounds
}

// Bounds are the least and the greatest value.
type Bounds struct{ Least, Most int }

// Type says what the values of a setting are.
type Type string

// The types of settings. One of TypeHost is the id of a host, or null.
const (
	TypeNumber Type = "number"
	TypeFlag   Type = "flag"
	TypeText   Type = "text"
	TypeTexts  Type = "texts"
	TypeHost   Type = "host"
)

// Type is what the key's values are.
func (k Key[T]) Type() Type {
	switch any(*new(T)).(type) {
	case bool:
		return TypeFlag
	case *int64:
		return TypeHost
	case string:
		return TypeText
	case []string:
		return TypeTexts
	default:
		return TypeNumber
	}
}

// Name is the key as users write it.
func (k Key[T]) Name() string { return k.name }

// Doc says in a sentence what the setting does, with its unit and bounds.
func (k Key[T]) Doc() string { return k.doc }

// Default is the value while the setting is not set.
func (k Key[T]) Default() T { return k.fallback() }

// Get reads the setting, or its default when it is not set. With an error, too, the value is the default, so that a
// caller that cannot stop may log the one and use the other.
func Get[T any](ctx context.Context, d *db.DB, key Key[T]) (T, error) {
	var raw []byte
	err := d.Pool.QueryRow(ctx, "SELECT value FROM settings WHERE key = $1", key.name).Scan(&raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return key.fallback(), nil
	}
	if err != nil {
		return key.fallback(), db.Problem(fmt.Errorf("reading the setting %s: %w", key.name, err))
	}
	value, err := key.decode(raw)
	if err != nil {
		return key.fallback(), fmt.Errorf("reading the setting %s: its stored value %w", key.name, err)
	}
	return value, nil
}

// Set checks the value and writes it within the transaction. by is the user who sets it, nil for the system. A value
// out of bounds is a problem of code invalid.
func Set[T any](ctx context.Context, tx *db.Tx, key Key[T], value T, by *int64) error {
	if err := key.check(value); err != nil {
		return key.fault(err)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encoding the setting %s: %w", key.name, err)
	}
	_, err = write(ctx, tx, key.name, raw, by)
	return err
}

// ClearIf puts a setting that has the value now back to its default within the transaction, and does nothing otherwise.
func ClearIf[T any](ctx context.Context, tx *db.Tx, key Key[T], value T) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encoding the setting %s: %w", key.name, err)
	}
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM settings WHERE key = $1 AND value = $2::jsonb", key.name, string(raw)); err != nil {
		return fmt.Errorf("clearing the setting %s: %w", key.name, err)
	}
	return nil
}

func (k Key[T]) decode(raw []byte) (value T, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		// The library's message may repeat the value.
		return value, k.mistyped()
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return value, errors.New("is more than one JSON value")
	}
	return value, k.check(value)
}

// mistyped says what a value of this setting is.
func (k Key[T]) mistyped() error {
	switch k.Type() {
	case TypeFlag:
		return errors.New("must be true or false")
	case TypeHost:
		return errors.New("must be a whole number or null")
	case TypeText:
		return errors.New("must be a string")
	case TypeTexts:
		return errors.New("must be a list of strings")
	default:
		return errors.New("must be a whole number")
	}
}

func (k Key[T]) fault(err error) *problem.Error {
	return problem.InvalidField(err.Error(), "value_error", "body", k.name)
}
