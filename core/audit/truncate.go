package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxDetails is the maximum size of a row's details in bytes of JSON.
const MaxDetails = 16 << 10

// MaxListedDetails is the maximum size of a row's details in a list, in bytes of JSON.
const MaxListedDetails = 1 << 10

// TruncatedFrom is the key that marks truncated details. Its value is their original size in bytes.
const TruncatedFrom = "truncated_from_bytes"

// cut ends a truncated text.
const cut = "…"

// encode returns redacted details as JSON of at most MaxDetails bytes. In
// longer details, it keeps short values and truncates long ones: texts end with
// "…", lists and objects say how many entries are omitted.
func encode(details map[string]any) ([]byte, error) {
	if len(details) == 0 {
		return []byte("{}"), nil
	}
	whole, err := json.Marshal(details)
	if err != nil || len(whole) <= MaxDetails {
		return whole, err
	}
	return json.Marshal(fit(details, len(whole), MaxDetails))
}

// fit truncates details to at most room bytes of JSON and notes their original size.
func fit(details map[string]any, from any, room int) map[string]any {
	note := map[string]any{TruncatedFrom: from}
	short := shortenMap(details, room-sizeOf(note))
	maps.Copy(short, note)
	return short
}

// listed truncates the details of a row for a list.
func listed(details json.RawMessage) (json.RawMessage, error) {
	if len(details) <= MaxListedDetails {
		return details, nil
	}
	var all map[string]any
	decoder := json.NewDecoder(bytes.NewReader(details))
	decoder.UseNumber() // ids beyond 2^53 stay what they are
	if err := decoder.Decode(&all); err != nil {
		return nil, err
	}
	size := sizeOf(all)
	if size <= MaxListedDetails { // without the spaces that PostgreSQL adds
		return json.Marshal(all)
	}
	from, truncated := all[TruncatedFrom]
	delete(all, TruncatedFrom)
	if !truncated {
		from = size
	}
	return json.Marshal(fit(all, from, MaxListedDetails))
}

// sizeOf returns the length of a value as JSON.
func sizeOf(v any) int {
	text, err := json.Marshal(v)
	if err != nil {
		return len(`null`)
	}
	return len(text)
}

// leftOut returns the note for omitted entries. It is shorter than noteSize.
func leftOut(n int) string { return fmt.Sprintf("%s and %d more", cut, n) }

// noteSize is the space for the note about what was removed, in bytes.
const noteSize = 40

// shorten returns a value whose JSON has at most room bytes; ok is false if not
// even its beginning fits.
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

// shortenText truncates a text until its JSON fits, which can be several times
// longer than the text.
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

// shortenMap gives each value of an object the same room, and what short values
// do not use to the longer ones.
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
