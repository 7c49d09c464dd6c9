package host

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/core/problem"
)

// Clean makes what a plugin says text that PostgreSQL and JSON take, of bearable length.
func Clean(s string) string { return CleanTo(s, 1024) }

// CleanTo is Clean for texts of at most that many bytes.
func CleanTo(s string, most int) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s[:min(len(s), most)], "\x00", ""), "\uFFFD")
}

// CleanOrNil is Clean, and nil for a text of which nothing is left.
func CleanOrNil(s string) *string { return orNil(Clean(s)) }

// cleanAll cleans a list and is never nil.
func cleanAll(list []string) []string {
	out := make([]string, 0, min(len(list), 256))
	for _, s := range list[:min(len(list), 256)] {
		out = append(out, Clean(s))
	}
	return out
}

// name reads a host's name: 1 to 100 characters, none of them invisible, no space at the ends.
func name(text string) (string, error) {
	trimmed := strings.TrimSpace(text)
	if n := utf8.RuneCountInString(trimmed); n == 0 || n > 100 || !utf8.ValidString(trimmed) ||
		strings.ContainsFunc(trimmed, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", problem.InvalidField("must be 1 to 100 printable characters", "value_error", "body", "name")
	}
	return trimmed, nil
}
