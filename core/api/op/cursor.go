package op

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
)

// cursor reads text that is known to be well-formed JSON. It reports no faults
// and panics on other text.
type cursor struct {
	text string
	at   int
}

// next skips white space and returns the next byte; 0 at the end.
func (c *cursor) next() byte {
	for c.at < len(c.text) {
		switch b := c.text[c.at]; b {
		case ' ', '\t', '\n', '\r':
			c.at++
		default:
			return b
		}
	}
	return 0
}

// ends reports whether the current object or array has no further member, and
// moves behind its bracket or to the next member.
func (c *cursor) ends() bool {
	switch c.next() {
	case '}', ']':
		c.at++
		return true
	case ',':
		c.at++
	}
	return false
}

// key reads an object's key and the colon.
func (c *cursor) key() quoted {
	c.next()
	key := c.quoted()
	c.next()
	c.at++
	return key
}

// quoted reads a string.
func (c *cursor) quoted() quoted {
	begin, escapes := c.at, false
	for c.at++; c.text[c.at] != '"'; c.at++ {
		if c.text[c.at] == '\\' {
			escapes = true
			c.at++
		}
	}
	c.at++
	return quoted{c.text[begin:c.at], escapes}
}

// bare reads a number, true, false or null.
func (c *cursor) bare() string {
	begin := c.at
	for ; c.at < len(c.text); c.at++ {
		switch c.text[c.at] {
		case ',', ']', '}', ' ', '\t', '\n', '\r':
			return c.text[begin:c.at]
		}
	}
	return c.text[begin:]
}

// leave moves to the end of the array or object in which the cursor stands.
func (c *cursor) leave() {
	for open := 1; open > 0; c.at++ {
		switch c.text[c.at] {
		case '"':
			c.quoted()
			c.at--
		case '[', '{':
			open++
		case ']', '}':
			open--
		}
	}
}

// quoted is a JSON string as written, with its quotes.
type quoted struct {
	raw     string
	escapes bool
}

// text returns the decoded string.
func (q quoted) text() string {
	if !q.escapes {
		return q.raw[1 : len(q.raw)-1]
	}
	var text string
	_ = json.Unmarshal([]byte(q.raw), &text) // it is well-formed
	return text
}

// unfit returns the fault of an escape for something that cannot be stored:
// NUL, or half of a surrogate pair, which encoding/json would silently replace
// (RFC 8259 section 8.2).
func (q quoted) unfit() (msg, kind string) {
	if !q.escapes {
		return "", ""
	}
	for rest := q.raw; ; {
		i := strings.IndexByte(rest, '\\')
		if i < 0 {
			return "", ""
		}
		if rest[i+1] != 'u' {
			rest = rest[i+2:]
			continue
		}
		unit := codeUnit(rest[i:])
		rest = rest[i+6:]
		switch {
		case unit == 0:
			return "must not contain NUL characters", "string_nul"
		case !utf16.IsSurrogate(unit):
		case utf16.DecodeRune(unit, codeUnit(rest)) == '\uFFFD':
			return "must not contain half of a surrogate pair", "string_unicode"
		default:
			rest = rest[6:]
		}
	}
}

// codeUnit returns the code unit of the escape \uXXXX at the beginning of a
// text; -1 if there is none.
func codeUnit(text string) rune {
	if !strings.HasPrefix(text, `\u`) {
		return -1
	}
	unit, _ := strconv.ParseUint(text[2:6], 16, 16) // it is well-formed
	return rune(unit)
}
