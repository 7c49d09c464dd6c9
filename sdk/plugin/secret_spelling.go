package plugin

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// hideGiven replaces the given secrets in a text, in each spelling that a server
// may repeat them in: unchanged, URL-escaped, escaped for JSON or HTML, in base64
// with other text around them, and up to maxEscapes of these nested in one another.
func hideGiven(text string, secrets []string) string {
	f := finder{}
	for _, secret := range secrets {
		f.add(secret)
	}
	if len(f.plain) == 0 {
		return text
	}
	f.read(reading{text: text}, maxEscapes)
	return f.cut(text)
}

const (
	// maxEscapes is the number of nested escapes that are undone.
	maxEscapes = 3
	// shortForm is the length up to which a piece of base64 could be part of any
	// word.
	shortForm = 5
)

// finder searches for secrets in a text and in the readings that undo its escapes.
// All positions refer to the original text.
type finder struct {
	plain, encoded []string
	found          []span
}

// span is a part of the text, in bytes, from inclusive to exclusive.
type span struct{ from, to int }

// add adds a secret with all of its base64 forms.
func (f *finder) add(secret string) {
	if secret == "" {
		return
	}
	f.plain = append(f.plain, secret)
	f.encoded = append(f.encoded, inBase64(secret)...)
	if escaped := url.QueryEscape(secret); escaped != secret { // as OAuth 2.0 has it before base64 (RFC 6749 section 2.3.1)
		f.encoded = append(f.encoded, inBase64(escaped)...)
	}
}

// inBase64 returns the base64 letters that depend on the secret alone, one form for
// each alignment: 0, 1 or 2 bytes of other text may precede the secret in its group
// of three.
func inBase64(secret string) (forms []string) {
	for before := range 3 {
		letters := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), secret...))
		from, to := (before*8+5)/6, (before+len(secret))*8/6
		if to-from > shortForm {
			forms = append(forms, letters[from:to])
		}
	}
	return forms
}

// read searches for the secrets in a reading, and then in the readings that undo
// one more kind of escape.
func (f *finder) read(r reading, depth int) {
	for _, secret := range f.plain {
		r.each(r.text, secret, func(from, to int) { f.found = append(f.found, span{r.place(from), r.place(to)}) })
	}
	letters := oneAlphabet.Replace(r.text)
	for _, form := range f.encoded {
		// The whole base64 run is cut out, because the letters next to the secret
		// may encode parts of it.
		r.each(letters, form, func(from, to int) { // with all that is encoded with it
			for from > 0 && isBase64(r.text[from-1]) {
				from--
			}
			for to < len(r.text) && (isBase64(r.text[to]) || r.text[to] == '=') {
				to++
			}
			f.found = append(f.found, span{r.place(from), r.place(to)})
		})
	}
	if depth == 0 {
		return
	}
	for i := range escapes {
		if next, changed := r.undo(&escapes[i]); changed {
			f.read(next, depth-1)
		}
	}
}

// isBase64 reports whether c is a letter of either base64 alphabet.
func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}

// cut replaces what was found with placeholders. Overlapping parts become one.
func (f *finder) cut(text string) string {
	slices.SortFunc(f.found, func(a, b span) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	var out strings.Builder
	end := 0
	for _, s := range f.found {
		if s.from >= end {
			out.WriteString(text[end:s.from])
			out.WriteString(hidden)
		}
		end = max(end, s.to)
	}
	out.WriteString(text[end:])
	return out.String()
}

// reading is the text after some of its escapes were undone.
type reading struct {
	text string
	// at maps each byte of the reading, and its end, to the position in the
	// original text. It is nil for the original text itself.
	at []int32
}

// place returns the position in the original text.
func (r reading) place(i int) int {
	if r.at == nil {
		return i
	}
	return int(r.at[i])
}

// each calls found for each occurrence of part in text, which has the same length
// as the reading.
func (r reading) each(text, part string, found func(from, to int)) {
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return
		}
		found(from+i, from+i+len(part))
		from += i + len(part)
	}
}

// undo returns the reading with one kind of escapes undone. It returns false if
// there are none.
func (r reading) undo(e *escape) (plain reading, changed bool) {
	if strings.IndexByte(r.text, e.mark) < 0 {
		return r, false
	}
	var text strings.Builder
	at := make([]int32, 0, len(r.text)+1)
	for i := 0; i < len(r.text); {
		part, length := r.text[i:i+1], 1
		if r.text[i] == e.mark {
			if undone, n := e.undo(r.text[i:]); n > 0 {
				part, length, changed = undone, n, true
			}
		}
		for range len(part) {
			at = append(at, int32(r.place(i)))
		}
		text.WriteString(part)
		i += length
	}
	at = append(at, int32(r.place(len(r.text))))
	return reading{text.String(), at}, changed
}

// escape is one way to write characters as others. Its function undo returns what
// the escape at the beginning of a text stands for, and the length of the escape,
// or zero if the text does not begin with one.
type escape struct {
	mark byte
	undo func(text string) (plain string, length int)
}

// escapes lists those of URLs (percent and plus), of JSON and Go, and of HTML.
var escapes = []escape{
	{'%', undoPercent},
	{'+', func(string) (string, int) { return " ", 1 }},
	{'\\', undoBackslash},
	{'&', undoEntity},
}

// undoPercent decodes "%41" (RFC 3986 section 2.1).
func undoPercent(text string) (string, int) {
	if len(text) < 3 {
		return "", 0
	}
	code, err := strconv.ParseUint(text[1:3], 16, 8)
	if err != nil {
		return "", 0
	}
	return string([]byte{byte(code)}), 3
}

// undoBackslash decodes the escapes of JSON strings and Go literals. JSON writes
// characters outside the basic plane as a pair of surrogates, which UnquoteChar
// refuses.
func undoBackslash(text string) (string, int) {
	if len(text) < 2 {
		return "", 0
	}
	if c := text[1]; c == '/' || c == '"' || c == '\'' {
		return text[1:2], 2
	}
	const pair = len(`\ud83d\ude00`)
	if len(text) >= pair && text[1] == 'u' && text[pair/2:pair/2+2] == `\u` {
		var one string
		if json.Unmarshal([]byte(`"`+text[:pair]+`"`), &one) == nil && utf8.RuneCountInString(one) == 1 {
			return one, pair
		}
	}
	letter, wide, rest, err := strconv.UnquoteChar(text, 0)
	switch {
	case err != nil:
		return "", 0
	case wide:
		return string(letter), len(text) - len(rest)
	}
	return string([]byte{byte(letter)}), len(text) - len(rest)
}

// undoEntity decodes a character reference of HTML, such as "&amp;".
func undoEntity(text string) (string, int) {
	const longest = 12
	end := strings.IndexByte(text[:min(len(text), longest)], ';') + 1
	if plain := html.UnescapeString(text[:end]); plain != text[:end] {
		return plain, end
	}
	return "", 0
}
