package pveapi

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minBareValue is the length from which a sent value is removed from a text
// even without quotes. A shorter one may be a part of any word.
const minBareValue = 8

// HideValues removes from the refusal of a parameter the values that it quotes.
// They may be anything, also secrets. What Proxmox VE itself says stays, such
// as the allowed values. sent are the parameters of the request; their values
// are found whatever they contain.
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

// partsOf returns the parts of a value that Proxmox VE may repeat alone, such
// as the address in "bridge=vmbr0,ip=192.0.2.5/24".
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

// quotedPart returns the range of the first quoted text, with its quotes; begin
// is -1 if there is none. A quotation without an end reaches to the end of the
// text. A quote inside a word is an apostrophe.
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

// closing returns the index after the closing quote of a text that begins with
// a quote.
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
