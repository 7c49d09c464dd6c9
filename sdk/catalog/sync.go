package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// SyncRequest is what a sync starts from.
type SyncRequest struct {
	// Cursor is that of the last End that was taken whole, and empty for everything. A cursor that the source does not know counts as empty.
	Cursor string
	// Wanted is the pin to hand over; nil for the newest.
	Wanted Pin
}

// SyncStep is one message of a sync. Exactly one of its fields is set.
type SyncStep struct {
	Begin *Begin
	Entry *Entry
	// Removed is the slug of an entry that is gone without a trace. What left a reason behind stays, as an Entry with Removed.
	Removed string
	End     *End
}

// Begin says what will come.
type Begin struct {
	// Pin is what is handed over.
	Pin Pin
	// Whole says that the entries which come are all there are: the cursor was not known, or the source cannot tell changes. Unchanged says
	// that nothing but the End comes.
	Whole, Unchanged bool
	// Categories are all there are, in the order in which people see them.
	Categories []Category
}

// Category is what entries are sorted under.
type Category struct {
	Key  string
	Name string
}

// End says that all has come.
type End struct {
	// Cursor is for the next SyncRequest; empty when each sync brings everything.
	Cursor string
	// Entries is how many there are at the pin, also those that did not come this time, and Digest is the CatalogDigest of all of them.
	Entries int
	Digest  string
}

// EntryDigest is the checksum of all that an entry says, in 64 small hexadecimal digits. The service compares it with nothing but other
// ones of the same source, so a source may make it in its own way.
func EntryDigest(e Entry) string {
	e.Digest = ""
	raw, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("catalog: an entry cannot be marshalled: %v", err)) // it has texts, numbers and times only
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// CatalogDigest is the checksum of a whole catalog, of the digests of its entries by slug: SHA-256 over the lines "slug digest\n", sorted
// by slug as bytes.
func CatalogDigest(digests map[string]string) string {
	h := sha256.New()
	for _, slug := range slices.Sorted(maps.Keys(digests)) {
		_, _ = fmt.Fprintf(h, "%s %s\n", slug, digests[slug])
	}
	return hex.EncodeToString(h.Sum(nil))
}
