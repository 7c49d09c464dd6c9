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

// hideGiven replaces secrets in a text, in each spelling that a server may repeat them in: as they are, URL-escaped, escaped for JSON or
// HTML, in base64 with other text before and behind them, and up to maxEscapes of these one in the other.
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
	// maxEscapes is how many escapes in one another are undone.
	maxEscapes = 3
	// shortForm is the length up to which a piece of base64 could be part of any word.
	shortForm = 5
)

// finder looks for secrets in readings of a text.
type finder struct {
	plain, encoded []string
	found          []span
}

// span is a part of the text, in bytes.
type span struct{ from, to int }

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

// inBase64 returns the letters of base64 that depend on the secret alone, for each number of bytes that may stand before it.
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

// read looks for the secrets in a reading, and in those that undo its escapes.
func (f *finder) read(r reading, depth int) {
	for _, secret := range f.plain {
		r.each(r.text, secret, func(from, to int) { f.found = append(f.found, span{r.place(from), r.place(to)}) })
	}
	letters := oneAlphabet.Replace(r.text)
	for _, form := range f.encoded {
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

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}

// cut puts a placeholder in the place of what was found.
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

// reading is a text without some of its escapes.
type reading struct {
	text string
	// at is where each byte, and the end, stands in the text that was given; nil for that text itself.
	at []int32
}

func (r reading) place(i int) int {
	if r.at == nil {
		return i
	}
	return int(r.at[i])
}

// each calls found for each place of a part in a text as long as the reading's.
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

// undo returns the reading without one kind of escapes; changed is false where it has none.
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

// escape is one way to write letters as others. undo returns what the escape at the beginning of a text stands for, and its length; zero
// where there is none.
type escape struct {
	mark byte
	undo func(text string) (plain string, length int)
}

var escapes = []escape{
	{'%', undoPercent},
	{'+', func(string) (string, int) { return " ", 1 }},
	{'\\', undoBackslash},
	{'&', undoEntity},
}

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

// undoBackslash knows the escapes of JSON and of Go.
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

func undoEntity(text string) (string, int) {
	const longest = 12
	end := strings.IndexByte(text[:min(len(text), longest)], ';') + 1
	if plain := html.UnescapeString(text[:end]); plain != text[:end] {
		return plain, end
	}
	return "", 0
}
