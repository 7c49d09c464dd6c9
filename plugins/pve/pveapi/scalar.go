package pveapi

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// form is the JSON type of a value as it was written. Proxmox VE writes the
// same field as number in one answer and as text in another, depending on how
// Perl used it last.
type form uint8

// These are the forms.
const (
	formNull form = iota
	formFalse
	formTrue
	formNumber
	formText
	formCompound
)

// Scalar is one value of an answer as it was written. It points into the
// reader's buffer, and is valid until the next row is read. A field may be a
// number in one release and a string in another, so that each accessor accepts
// every form with a meaning.
type Scalar struct {
	form    form
	escaped bool
	raw     []byte
}

// Object passes the members of an object to d. It returns false for other
// values.
func (s Scalar) Object(d RowDecoder) bool {
	return s.form == formCompound && Object(s.raw, d) == nil
}

// TextScalar returns a scalar for a text without escapes, for parts of other
// texts.
func TextScalar(raw []byte) Scalar { return Scalar{form: formText, raw: raw} }

// Null reports whether there is no value.
func (s Scalar) Null() bool { return s.form == formNull }

// Bytes returns the text of a string or number with escapes unresolved; nil for
// other values. It is for comparisons.
func (s Scalar) Bytes() []byte {
	if s.form == formText || s.form == formNumber {
		return s.raw
	}
	return nil
}

// Text returns the value as text: strings, numbers as they were written,
// booleans as 1 and 0, everything else empty. The result is valid UTF-8 and
// contains no NUL, which neither protobuf nor PostgreSQL accepts.
func (s Scalar) Text() string {
	switch s.form {
	case formTrue:
		return "1"
	case formFalse:
		return "0"
	case formNumber:
		return string(s.raw)
	case formText:
		if s.escaped {
			return clean(unescape(s.raw))
		}
		return clean(string(s.raw))
	}
	return ""
}

// Int returns the value as a whole number. Fractions are cut off. ok is false
// if there is no number or it is too large.
func (s Scalar) Int() (n int64, ok bool) {
	switch s.form {
	case formTrue:
		return 1, true
	case formFalse:
		return 0, true
	case formNumber, formText:
		if n, ok := digits(s.raw); ok {
			return n, true
		}
		f, ok := s.Float()
		if !ok || f < math.MinInt64 || f >= math.MaxInt64 {
			return 0, false
		}
		return int64(f), true
	}
	return 0, false
}

// Float returns the value as a number. ok is false if there is none, or it is
// not finite.
func (s Scalar) Float() (f float64, ok bool) {
	switch s.form {
	case formTrue:
		return 1, true
	case formFalse:
		return 0, true
	case formNumber, formText:
		raw := s.raw
		if s.form == formText {
			raw = bytes.TrimSpace(raw)
		}
		if len(raw) == 0 || len(raw) > 64 || raw[0] != '-' && raw[0] != '+' && raw[0] != '.' && (raw[0] < '0' || raw[0] > '9') {
			return 0, false
		}
		// The string shares the memory of the buffer and is not kept.
		f, err := strconv.ParseFloat(unsafe.String(&raw[0], len(raw)), 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return 0, false
		}
		return f, true
	}
	return 0, false
}

// Bool accepts everything that Proxmox VE reads as true: 1, true, on, yes, as a
// string or not. Everything else is false.
func (s Scalar) Bool() bool {
	switch s.form {
	case formTrue:
		return true
	case formNumber:
		f, ok := s.Float()
		return ok && f != 0
	case formText:
		switch string(s.raw) {
		case "1", "true", "on", "yes":
			return true
		}
	}
	return false
}

// digits reads a plain decimal number with up to 18 digits, the common case.
func digits(raw []byte) (int64, bool) {
	negative := len(raw) > 0 && raw[0] == '-'
	if negative {
		raw = raw[1:]
	}
	if len(raw) == 0 || len(raw) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

// unescape resolves the escapes in a string that the lexer has checked.
func unescape(raw []byte) string {
	quoted := make([]byte, 0, len(raw)+2)
	quoted = append(quoted, '"')
	quoted = append(quoted, raw...)
	quoted = append(quoted, '"')
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return ""
	}
	return text
}

// clean makes a text fit for PostgreSQL, which takes neither invalid UTF-8 nor
// the zero character.
func clean(text string) string {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "")
	}
	return text
}

// scalarOf reads one complete JSON value.
func scalarOf(data []byte) (Scalar, error) {
	// A number is complete only if something follows it.
	l := lexer{b: append(bytes.Clone(data), '\n')}
	return l.value()
}

// Text is a text in a small answer, in any JSON form.
type Text string

// UnmarshalJSON takes any scalar.
func (t *Text) UnmarshalJSON(data []byte) error {
	s, err := scalarOf(data)
	*t = Text(s.Text())
	return err
}

// Int is a whole number that may be missing.
type Int struct {
	N   int64
	Set bool
}

// UnmarshalJSON accepts any scalar. A value that is no number counts as
// missing.
func (n *Int) UnmarshalJSON(data []byte) error {
	s, err := scalarOf(data)
	n.N, n.Set = s.Int()
	return err
}

// Ptr is nil for a number that is missing.
func (n Int) Ptr() *int64 {
	if !n.Set {
		return nil
	}
	return &n.N
}

// Float is a number that may be missing.
type Float struct {
	F   float64
	Set bool
}

// UnmarshalJSON takes any scalar; what is no number leaves the value unset.
func (f *Float) UnmarshalJSON(data []byte) error {
	s, err := scalarOf(data)
	f.F, f.Set = s.Float()
	return err
}

// Ptr is nil for a number that is missing.
func (f Float) Ptr() *float64 {
	if !f.Set {
		return nil
	}
	return &f.F
}

// Flag is a boolean; a missing one is false.
type Flag bool

// UnmarshalJSON takes any scalar.
func (f *Flag) UnmarshalJSON(data []byte) error {
	s, err := scalarOf(data)
	*f = Flag(s.Bool())
	return err
}

var (
	_ json.Unmarshaler = (*Text)(nil)
	_ json.Unmarshaler = (*Int)(nil)
	_ json.Unmarshaler = (*Float)(nil)
	_ json.Unmarshaler = (*Flag)(nil)
)
