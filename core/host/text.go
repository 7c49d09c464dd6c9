package host

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/core/problem"
)

// Clean makes a text of a plugin safe to store and to answer with: at most 1024
// bytes, valid UTF-8, no NUL. PostgreSQL refuses the other two in a text.
func Clean(s string) string { return CleanTo(s, 1024) }

// CleanTo is Clean with another limit, in bytes. A character that the limit
// cuts becomes U+FFFD.
func CleanTo(s string, most int) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s[:min(len(s), most)], "\x00", ""), "\uFFFD")
}

// CleanOrNil is Clean, and returns nil for an empty result.
func CleanOrNil(s string) *string { return orNil(Clean(s)) }

// cleanAll cleans at most 256 texts. The result is never nil, so that JSON has
// an empty list.
func cleanAll(list []string) []string {
	out := make([]string, 0, min(len(list), 256))
	for _, s := range list[:min(len(list), 256)] {
		out = append(out, Clean(s))
	}
	return out
}

// name checks the name of a host: 1 to 100 printable characters; spaces at the
// ends are removed.
func name(text string) (string, error) {
	trimmed := strings.TrimSpace(text)
	if n := utf8.RuneCountInString(trimmed); n == 0 || n > 100 || !utf8.ValidString(trimmed) ||
		strings.ContainsFunc(trimmed, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", problem.InvalidField("must be 1 to 100 printable characters", "value_error", "body", "name")
	}
	return trimmed, nil
}
