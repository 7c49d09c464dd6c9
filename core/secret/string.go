package secret

import (
	"crypto/sha256"
	"crypto/subtle"
	"database/sql/driver"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// Redacted is the text that a String shows instead of itself.
const Redacted = "[secret]"

// String is a secret text. However it is printed, formatted, logged or written
// as JSON or XML, Redacted appears in its place; where it would be stored (gob,
// YAML, binary, a database column) there is ErrStored, because storing Redacted
// would lose the value silently. It can be read from JSON and text. The zero
// value is the empty secret.
//
// Strings cannot be compared with ==; use Equal.
type String struct {
	// reveal is a function and no text, so that printers which walk values by
	// reflection, private fields included, find nothing but an address.
	reveal func() string
}

// ErrStored is what encoders that store get instead of the secret.
var ErrStored = errors.New("a secret must be encrypted before it is stored")

// New makes value a secret.
func New(value string) String {
	if value == "" {
		return String{}
	}
	return String{reveal: func() string { return value }}
}

// Reveal is the secret itself. Call it where the value is used, and keep the result in no field.
func (s String) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// Empty reports whether there is no text.
func (s String) Empty() bool { return s.reveal == nil }

// Equal compares in a time that tells nothing of the texts, their lengths included.
func (s String) Equal(other String) bool {
	a, b := sha256.Sum256([]byte(s.Reveal())), sha256.Sum256([]byte(other.Reveal()))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// Format writes Redacted for every verb and flag.
func (s String) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Redacted) }

// String is Redacted.
func (s String) String() string { return Redacted }

// GoString is Redacted.
func (s String) GoString() string { return Redacted }

// LogValue is Redacted.
func (s String) LogValue() slog.Value { return slog.StringValue(Redacted) }

// MarshalText is Redacted; JSON map keys, XML and loggers come here.
func (s String) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// MarshalJSON is Redacted.
func (s String) MarshalJSON() ([]byte, error) { return []byte(`"` + Redacted + `"`), nil }

// UnmarshalText takes the text as the secret.
func (s *String) UnmarshalText(text []byte) error {
	*s = New(string(text))
	return nil
}

// UnmarshalJSON takes a JSON string as the secret. The error never repeats the value.
func (s *String) UnmarshalJSON(text []byte) error {
	var value string
	if err := json.Unmarshal(text, &value); err != nil {
		return errors.New("expected a string")
	}
	*s = New(value)
	return nil
}

// MarshalBinary is ErrStored.
func (s String) MarshalBinary() ([]byte, error) { return nil, ErrStored }

// GobEncode is ErrStored.
func (s String) GobEncode() ([]byte, error) { return nil, ErrStored }

// MarshalYAML is ErrStored.
func (s String) MarshalYAML() (any, error) { return nil, ErrStored }

// Value is ErrStored: a model with a String in it cannot be saved by accident.
func (s String) Value() (driver.Value, error) { return nil, ErrStored }

var (
	_ fmt.Formatter            = String{}
	_ fmt.GoStringer           = String{}
	_ slog.LogValuer           = String{}
	_ json.Marshaler           = String{}
	_ json.Unmarshaler         = (*String)(nil)
	_ encoding.TextMarshaler   = String{}
	_ encoding.TextUnmarshaler = (*String)(nil)
	_ encoding.BinaryMarshaler = String{}
	_ gob.GobEncoder           = String{}
	_ driver.Valuer            = String{}
)
