package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxDetails is the most that a row keeps of its details, in bytes of JSON.
const MaxDetails = 16 << 10

// TruncatedFrom is the key of details that were shortened: its value is how many bytes they had.
const TruncatedFrom = "truncated_from_bytes"

// cut ends a text of which the rest is left out.
const cut = "…"

// encode returns the JSON of redacted details in at most MaxDetails bytes. Of longer details, short values stay whole and long ones lose
// their end: texts end with "…", lists and objects say how many of their entries are left out.
func encode(details map[string]any) ([]byte, error) {
	if len(details) == 0 {
		return []byte("{}"), nil
	}
	whole, err := json.Marshal(details)
	if err != nil || len(whole) <= MaxDetails {
		return whole, err
	}
	note := map[string]any{TruncatedFrom: len(whole)}
	short := shortenMap(details, MaxDetails-sizeOf(note))
	maps.Copy(short, note)
	return json.Marshal(short)
}

// sizeOf is the length of a value's JSON.
func sizeOf(v any) int {
	text, err := json.Marshal(v)
	if err != nil {
		return len(`null`)
	}
	return len(text)
}

// leftOut tells of entries that are left out. It has fewer bytes than noteSize.
func leftOut(n int) string { return fmt.Sprintf("%s and %d more", cut, n) }

const noteSize = 40

// shorten is a value with a JSON of at most room bytes; ok is false where not even its beginning has room.
func shorten(v any, room int) (short any, ok bool) {
	if sizeOf(v) <= room {
		return v, true
	}
	if room < 2*noteSize {
		return nil, false
	}
	switch v := v.(type) {
	case string:
		return shortenText(v, room)
	case []any:
		short := shortenList(v, room)
		return short, len(short) > 0
	case map[string]any:
		short := shortenMap(v, room)
		return short, len(short) > 0
	}
	return nil, false
}

// shortenText cuts a text. A character takes up to six bytes more in JSON than in the text, so that it is cut until it fits.
func shortenText(s string, room int) (string, bool) {
	for n := min(len(s), room); n > 0; n = n * 3 / 4 {
		if short := strings.ToValidUTF8(s[:n], "") + cut; sizeOf(short) <= room {
			return short, true
		}
	}
	return "", false
}

// shortenList keeps the first entries of a list.
func shortenList(list []any, room int) (short []any) {
	room -= 2 + noteSize // brackets
	for i, entry := range list {
		kept, ok := shorten(entry, room-1)
		if !ok {
			return append(short, leftOut(len(list)-i))
		}
		short = append(short, kept)
		room -= sizeOf(kept) + 1 // and a comma
	}
	return short
}

// shortenMap gives each value of an object the same room, and what short ones leave to the longer ones.
func shortenMap(m map[string]any, room int) map[string]any {
	sizes := make(map[string]int, len(m))
	for key, value := range m {
		sizes[key] = sizeOf(value)
	}
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if sizes[a] != sizes[b] {
			return sizes[a] - sizes[b]
		}
		return strings.Compare(a, b)
	})
	short := map[string]any{}
	room -= 2 + noteSize
	for i, key := range keys {
		name := sizeOf(key) + 2 // a colon and a comma
		kept, ok := shorten(m[key], room/(len(keys)-i)-name)
		if !ok {
			short[cut] = leftOut(len(keys) - len(short))
			break
		}
		short[key] = kept
		room -= name + sizeOf(kept)
	}
	return short
}
