// Package output writes what people and programs read of the program hostler: texts that cannot act on a terminal, tables that fit it,
// JSON and what is chosen of it, and a line that shows progress.
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

// Clean replaces whatever would act on a terminal or turn a line around: control characters but for line ends and tabs, marks of the
// direction of writing, and bytes that are no UTF-8. Names in answers are what somebody typed, on a guest or elsewhere.
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

// CleanLine is Clean for a text of one line.
func CleanLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return r
	}, Clean(text))
}

func acts(r rune) bool {
	return unicode.IsControl(r) || r == 0x061c || r == 0x200e || r == 0x200f || r == 0x2028 || r == 0x2029 ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Width is how many columns of a terminal a clean text takes.
func Width(text string) (columns int) {
	for _, r := range text {
		columns += runeWidth(r)
	}
	return columns
}

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

// Truncate shortens a clean text to so many columns; what is cut off is shown by an ellipsis.
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

// JSON is an answer for a program or a reader: checked, in lines when pretty, and with escapes where its texts could act on a terminal.
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

// escape writes the characters of JSON's texts that could act as \u and their number. Outside of texts there are none but line ends.
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
