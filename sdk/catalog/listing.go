package catalog

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Listing is all entries of a source at one pin. Sources that have all of them at hand need not make a sync by hand.
type Listing struct {
	Pin        Pin
	Categories []Category
	// Entries need not be sorted. Each must have its Digest.
	Entries []Entry
}

// Send hands the listing over as Catalog.Sync does. Who has a cursor of an earlier Send gets what has changed since then. The cursor holds
// what the earlier entries were, so the source need not remember them.
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

// Earlier is what a cursor tells of the sync that it is from.
type Earlier struct {
	// Digest is the CatalogDigest of that sync, and Pin its pin; nil when the cursor holds no more than the digest.
	Digest string
	Pin    Pin
	// Entries are those of that sync by slug; nil when they were too many for a cursor.
	Entries map[string]EarlierEntry
}

// EarlierEntry is what a cursor tells of one entry.
type EarlierEntry struct {
	// Digest is the first 16 digits of the entry's.
	Digest string
	App    Pin
}

const (
	cursorForm  = "listing-1"
	shortDigest = 16
)

// cursor is a line with the digest of all and the number of different pins, these pins, one a line, of which the first is the listing's
// own
// and the others are those of apps, and the entries.
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

// ParseCursor reads the cursor of a Listing; false for what is none.
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
