// Package output writes what the program hostler shows, for people and for
// programs.
//
// It has four parts:
//
//   - Clean, CleanLine and JSON make text safe for a terminal. Users,
//     guests and hypervisors choose the names in responses, so every text
//     from the service passes through one of them before it reaches a
//     terminal.
//   - Screen writes tables, fields, messages and a line of progress. It
//     knows the widths of standard output and standard error, and whether
//     colors are allowed.
//   - Parse, At and Show turn a JSON response into cells: the field name
//     decides the unit (_bytes, _s, _at).
//   - Query filters a response with a jq program.
//
// Results go to standard output and everything else goes to standard error, so
// that a pipe only gets the result.
package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Clean replaces characters that could control a terminal or reorder a line:
// control characters except line feeds and tabs, marks of the writing
// direction, the Unicode line and paragraph separators, and bytes that are not
// UTF-8. Each one becomes U+FFFD, so that the reader sees that something was
// there. Text without such characters is returned unchanged and without a copy.
//
// The reason is that names in responses are chosen by other people: an escape
// sequence in the name of a guest could otherwise hide rows, rewrite earlier
// output or set the title of the window.
func Clean(text string) string {
	if !strings.ContainsFunc(text, acts) && utf8.ValidString(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && acts(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// CleanLine is Clean for a text that must stay on one line: line feeds,
// carriage returns and tabs become spaces. Use it for cells, names and
// messages; use Clean for logs and other texts of several lines.
func CleanLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return r
	}, Clean(text))
}

// acts reports whether a character can change more than its own cell: control
// characters of C0 and C1, the Arabic letter mark (U+061C), the directional
// marks, embeddings, overrides and isolates (U+200E, U+200F, U+202A to U+202E,
// U+2066 to U+2069), and the line and paragraph separators (U+2028, U+2029).
// The directional characters are the ones of the bidirectional algorithm
// (Unicode Standard Annex 9), which can make a line read differently from its
// bytes.
func acts(r rune) bool {
	return unicode.IsControl(r) || r == 0x061c || r == 0x200e || r == 0x200f || r == 0x2028 || r == 0x2029 ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Width returns how many columns of a terminal a clean text takes. Combining
// marks and format characters take none, and wide characters of East Asian
// scripts take two. The text must be clean: a tab or a line feed counts as one
// column.
func Width(text string) (columns int) {
	for _, r := range text {
		columns += runeWidth(r)
	}
	return columns
}

// runeWidth returns the columns of one character. Ambiguous characters of East
// Asian width count as one column, like terminals do outside of East Asian
// locales.
func runeWidth(r rune) int {
	if r < 0x300 { // nearly all of them: the tables are asked for the rest
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Truncate shortens a clean text to at most the given number of columns. A
// shortened text ends in an ellipsis, which takes one of the columns. Truncate
// never cuts inside of a character, so the result can be one column narrower if
// a wide character does not fit.
func Truncate(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}
	taken, end := 0, 0
	for i, r := range text {
		if taken+runeWidth(r) > columns-1 {
			break
		}
		taken += runeWidth(r)
		end = i + utf8.RuneLen(r)
	}
	return text[:end] + "…"
}

// JSON returns a response as JSON that ends in a line feed: indented when
// pretty, otherwise on one line. It keeps the order of the keys and the digits
// of the numbers, because it does not decode the values. Characters that could
// control a terminal are written as \u escapes, which a JSON parser reads back
// as the same characters. It returns an error if body is not valid JSON.
func JSON(body []byte, pretty bool) ([]byte, error) {
	var out bytes.Buffer
	var err error
	if pretty {
		err = json.Indent(&out, body, "", "  ")
	} else {
		err = json.Compact(&out, body)
	}
	if err != nil {
		return nil, fmt.Errorf("the response is not valid JSON: %w", err)
	}
	return append(escape(out.Bytes()), '\n'), nil
}

// escape writes characters that could control a terminal as \u escapes. It can
// work on the whole document instead of on its strings: valid JSON contains
// such characters only inside of strings, except for line feeds and tabs
// between tokens. All characters that acts reports are in the basic
// multilingual plane, so four digits suffice.
func escape(text []byte) []byte {
	if utf8.Valid(text) && !bytes.ContainsFunc(text, func(r rune) bool { return r != '\n' && acts(r) }) {
		return text
	}
	var out bytes.Buffer
	for _, r := range string(text) {
		if r != '\n' && acts(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.Bytes()
}
