package pveapi

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minBareValue is the length from which on a value that was sent is also cut
// out where it stands without quotes: a shorter one may be part of any word.
const minBareValue = 8

// HideValues takes out of a refusal of a parameter the values that it quotes:
// they may be anything, secrets too. What the hypervisor itself says stays,
// such as the values that there may be. sent are the parameters of the request,
// whose values are found whatever is in them.
func HideValues(text string, sent url.Values) string {
	var values []string
	for _, all := range sent {
		for _, value := range all {
			values = append(values, value)
			values = append(values, partsOf(value)...)
		}
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, value := range values {
		if value == "" {
			continue
		}
		for _, quote := range []string{"'", `"`} {
			text = strings.ReplaceAll(text, quote+value+quote, quote+quote)
		}
		if len(value) >= minBareValue {
			text = strings.ReplaceAll(text, value, "[value]")
		}
	}
	var out strings.Builder
	for {
		begin, end := quotedPart(text)
		if begin < 0 {
			out.WriteString(text)
			return out.String()
		}
		switch before := text[:begin]; {
		case strings.HasSuffix(before, "enumeration "), strings.HasSuffix(before, "type check ("),
			strings.HasSuffix(before, " with type "): // the hypervisor's own
			out.WriteString(text[:end])
		case strings.HasSuffix(before, " (") && strings.HasPrefix(text[end:], ")"):
			out.WriteString(strings.TrimSuffix(before, " ("))
			end++
		default:
			out.WriteString(strings.TrimSuffix(before, " "))
		}
		text = text[end:]
	}
}

// partsOf are those of a value that the hypervisor may tell alone, such as the
// address of "bridge=vmbr0,ip=192.0.2.5/24".
func partsOf(value string) (parts []string) {
	for property := range strings.SplitSeq(value, ",") {
		if _, of, named := strings.Cut(property, "="); named {
			property = of
		}
		parts = append(parts, property)
		for part := range strings.SplitSeq(property, "/") {
			parts = append(parts, part)
		}
	}
	return parts
}

// quotedPart finds the first text in quotes, with these; begin is -1 when there
// is none. One that does not end goes on to the end. A quote within a word is
// an apostrophe.
func quotedPart(text string) (begin, end int) {
	last := ' '
	for i, r := range text {
		if (r == '\'' || r == '"') && !inWord(last) {
			return i, i + closing(text[i:], byte(r))
		}
		last = r
	}
	return -1, -1
}

// closing is where a text that begins with a quote has its other one, and after it.
func closing(text string, quote byte) int {
	for i := 1; i < len(text); i++ {
		if text[i] != quote {
			continue
		}
		if next, _ := utf8.DecodeRuneInString(text[i+1:]); i+1 == len(text) || !inWord(next) {
			return i + 1
		}
	}
	return len(text)
}

// inWord reports whether a character continues a word: a secret is hidden as a
// word, not as a part of a longer one.
func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
