package pveapi

import "errors"

// maxDepth is the deepest nesting of a value; a deeper one is refused, because
// the lexer calls itself.
const maxDepth = 64

var (
	// errShort means that the buffer ended inside a value: read more and try again.
	errShort  = errors.New("the JSON text ends early")
	errSyntax = errors.New("the answer is not valid JSON")
	errDeep   = errors.New("the JSON text is nested too deeply")
)

// lexer reads JSON values from a buffer that may end anywhere. It accepts
// exactly the grammar of RFC 8259.
type lexer struct {
	b []byte
	i int
}

// space skips white space (RFC 8259, section 2).
func (l *lexer) space() {
	for l.i < len(l.b) {
		switch l.b[l.i] {
		case ' ', '\n', '\t', '\r':
			l.i++
		default:
			return
		}
	}
}

// peek returns the next byte that is not white space, and leaves it in place.
func (l *lexer) peek() (byte, error) {
	l.space()
	if l.i >= len(l.b) {
		return 0, errShort
	}
	return l.b[l.i], nil
}

// take expects c as the next byte that is not white space.
func (l *lexer) take(c byte) error {
	got, err := l.peek()
	if err != nil {
		return err
	}
	if got != c {
		return errSyntax
	}
	l.i++
	return nil
}

// text reads a string, and returns the text between the quotes and whether it
// contains escapes.
func (l *lexer) text() (raw []byte, escaped bool, err error) {
	if err := l.take('"'); err != nil {
		return nil, false, err
	}
	start := l.i
	for i := l.i; i < len(l.b); i++ {
		switch c := l.b[i]; {
		case c == '"':
			l.i = i + 1
			return l.b[start:i], escaped, nil
		case c == '\\':
			n, err := escape(l.b[i:])
			if err != nil {
				return nil, false, err
			}
			escaped = true
			i += n - 1
		case c < ' ':
			return nil, false, errSyntax
		}
	}
	return nil, false, errShort
}

// escape returns the length of the escape sequence at the beginning of b.
func escape(b []byte) (int, error) {
	if len(b) < 2 {
		return 0, errShort
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	case 'u':
		for i := 2; i < 6; i++ {
			if i >= len(b) {
				return 0, errShort
			}
			if c := b[i] | 0x20; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return 0, errSyntax
			}
			if c := b[i]; c < '0' { // 0x10 to 0x19 look like digits once the bit 0x20 is set
				return 0, errSyntax
			}
		}
		return 6, nil
	}
	return 0, errSyntax
}

// value reads any value. Arrays and objects are checked and returned as one
// piece.
func (l *lexer) value() (Scalar, error) {
	c, err := l.peek()
	if err != nil {
		return Scalar{}, err
	}
	start := l.i
	switch {
	case c == '"':
		raw, escaped, err := l.text()
		return Scalar{form: formText, raw: raw, escaped: escaped}, err
	case c == '-' || c >= '0' && c <= '9':
		err := l.number()
		return Scalar{form: formNumber, raw: l.b[start:l.i]}, err
	case c == '{' || c == '[':
		err := l.compound(0)
		return Scalar{form: formCompound, raw: l.b[start:l.i]}, err
	case c == 't':
		return Scalar{form: formTrue}, l.word("true")
	case c == 'f':
		return Scalar{form: formFalse}, l.word("false")
	case c == 'n':
		return Scalar{form: formNull}, l.word("null")
	}
	return Scalar{}, errSyntax
}

// word reads one of true, false and null.
func (l *lexer) word(w string) error {
	for k := 0; k < len(w); k++ {
		if l.i >= len(l.b) {
			return errShort
		}
		if l.b[l.i] != w[k] {
			return errSyntax
		}
		l.i++
	}
	return nil
}

// digits takes one digit or more.
func (l *lexer) digits() error {
	start := l.i
	for l.i < len(l.b) && l.b[l.i] >= '0' && l.b[l.i] <= '9' {
		l.i++
	}
	if l.i >= len(l.b) {
		return errShort
	}
	if l.i == start {
		return errSyntax
	}
	return nil
}

// number reads a number. A number that reaches the end of the buffer is short,
// because more digits may follow.
func (l *lexer) number() error {
	if l.b[l.i] == '-' {
		l.i++
	}
	if l.i < len(l.b) && l.b[l.i] == '0' {
		l.i++
		if l.i >= len(l.b) {
			return errShort
		}
	} else if err := l.digits(); err != nil {
		return err
	}
	if l.b[l.i] == '.' {
		l.i++
		if err := l.digits(); err != nil {
			return err
		}
	}
	if l.b[l.i]|0x20 == 'e' {
		l.i++
		if l.i < len(l.b) && (l.b[l.i] == '+' || l.b[l.i] == '-') {
			l.i++
		}
		return l.digits()
	}
	return nil
}

// compound takes an array or an object.
func (l *lexer) compound(depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	open := l.b[l.i]
	end := byte('}')
	if open == '[' {
		end = ']'
	}
	l.i++
	for first := true; ; first = false {
		c, err := l.peek()
		if err != nil {
			return err
		}
		if c == end && first {
			l.i++
			return nil
		}
		if open == '{' {
			if _, _, err := l.text(); err != nil {
				return err
			}
			if err := l.take(':'); err != nil {
				return err
			}
		}
		if c, err = l.peek(); err != nil {
			return err
		}
		if c == '{' || c == '[' {
			err = l.compound(depth + 1)
		} else {
			_, err = l.value()
		}
		if err != nil {
			return err
		}
		if c, err = l.peek(); err != nil {
			return err
		}
		l.i++
		if c == end {
			return nil
		}
		if c != ',' {
			return errSyntax
		}
	}
}
