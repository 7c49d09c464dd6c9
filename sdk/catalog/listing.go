package catalog

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Listing contains all entries of a source at one pin. A source that has them all
// in memory uses Send to implement Catalog.Sync.
type Listing struct {
	Pin        Pin
	Categories []Category
	// Entries may be in any order; Send sorts them. Each must have its Digest.
	Entries []Entry
}

// Send delivers the listing in the form of Catalog.Sync. If the cursor is that of
// an earlier Send, it delivers only the changes. The cursor contains short digests
// of the earlier entries, so the source need not remember them.
func (l Listing) Send(ctx context.Context, cursor string, each func(SyncStep) error) error {
	slices.SortFunc(l.Entries, func(a, b Entry) int { return strings.Compare(a.Slug, b.Slug) })
	digests := make(map[string]string, len(l.Entries))
	for _, e := range l.Entries {
		digests[e.Slug] = e.Digest
	}
	digest := CatalogDigest(digests)
	begin := Begin{Pin: l.Pin, Categories: l.Categories, Whole: true}
	earlier, known := ParseCursor(cursor)
	if known {
		begin.Unchanged = earlier.Digest == digest
		begin.Whole = !begin.Unchanged && earlier.Entries == nil
	}
	steps := []SyncStep{{Begin: &begin}}
	if !begin.Unchanged {
		steps = append(steps, l.changes(earlier, begin.Whole, digests)...)
	}
	steps = append(steps, SyncStep{End: &End{Cursor: l.cursor(digest), Entries: len(digests), Digest: digest}})
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := each(step); err != nil {
			return err
		}
	}
	return nil
}

// changes returns the steps for the entries that differ from the earlier sync, or
// for all of them if whole is true.
func (l Listing) changes(earlier Earlier, whole bool, digests map[string]string) (steps []SyncStep) {
	for i := range l.Entries {
		e := &l.Entries[i]
		if whole || earlier.Entries[e.Slug].Digest != e.Digest[:shortDigest] {
			steps = append(steps, SyncStep{Entry: e})
		}
	}
	if !whole {
		for slug := range earlier.Entries {
			if _, ok := digests[slug]; !ok {
				steps = append(steps, SyncStep{Removed: slug})
			}
		}
	}
	return steps
}

// Earlier is the information in a cursor about the sync that returned it.
type Earlier struct {
	// Digest is the CatalogDigest of that sync. Pin is its pin, nil if the cursor
	// contains the digest only.
	Digest string
	Pin    Pin
	// Entries are the entries of that sync by slug. It is nil if they were too many
	// for a cursor.
	Entries map[string]EarlierEntry
}

// EarlierEntry is the information in a cursor about one entry.
type EarlierEntry struct {
	// Digest is the first 16 digits of the entry's digest. App is the pin of the
	// app.
	Digest string
	App    Pin
}

// cursorForm is the first word of a cursor and changes with its format. shortDigest
// is the length of digests in it.
const (
	cursorForm  = "listing-1"
	shortDigest = 16
)

// cursor returns a line with the format, the digest of the catalog and the number
// of different pins, followed by the pins, one per line, the listing's own pin
// first, and by one line for each entry. If that exceeds MaxCursor, it returns the
// first two words only, and the next sync delivers everything unless nothing has
// changed.
func (l Listing) cursor(digest string) string {
	var pins, entries strings.Builder
	numbers := map[string]int{l.Pin.String(): 0}
	pins.WriteString(l.Pin.String() + "\n")
	for _, e := range l.Entries {
		app := e.App.String()
		number, ok := numbers[app]
		if !ok {
			number = len(numbers)
			numbers[app] = number
			pins.WriteString(app + "\n")
		}
		fmt.Fprintf(&entries, "%s %s %d\n", e.Slug, e.Digest[:shortDigest], number)
	}
	head := cursorForm + " " + digest
	whole := fmt.Sprintf("%s %d\n%s%s", head, len(numbers), pins.String(), entries.String())
	if len(whole) > MaxCursor {
		return head
	}
	return whole
}

// ParseCursor reads a cursor of Listing.Send. It returns false for any other text;
// the caller then delivers everything.
func ParseCursor(cursor string) (Earlier, bool) {
	head, rest, _ := strings.Cut(cursor, "\n")
	fields := strings.Fields(head)
	if len(fields) < 2 || fields[0] != cursorForm || !isHex(fields[1], 64) {
		return Earlier{}, false
	}
	earlier := Earlier{Digest: fields[1]}
	if len(fields) == 2 {
		return earlier, rest == ""
	}
	count, err := strconv.Atoi(fields[2])
	if err != nil || count < 0 || count > MaxEntries {
		return Earlier{}, false
	}
	pins := make([]Pin, count)
	for i := range pins {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		pin, ok := ParsePin(line)
		// A removed entry may have no pin.
		if !ok && line != "" { // what is removed may have none
			return Earlier{}, false
		}
		pins[i] = pin
	}
	if len(pins) > 0 {
		earlier.Pin = pins[0]
	}
	earlier.Entries = map[string]EarlierEntry{}
	for line := range strings.Lines(rest) {
		fields := strings.Fields(line)
		if len(fields) != 3 || !ValidSlug(fields[0]) || !isHex(fields[1], shortDigest) {
			return Earlier{}, false
		}
		number, err := strconv.Atoi(fields[2])
		if err != nil || number < 0 || number >= len(pins) {
			return Earlier{}, false
		}
		earlier.Entries[fields[0]] = EarlierEntry{Digest: fields[1], App: pins[number]}
	}
	return earlier, true
}
