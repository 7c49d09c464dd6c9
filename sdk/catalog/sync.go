package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// SyncRequest is the starting point of a sync.
type SyncRequest struct {
	// Cursor is that of the last End that was received completely, or empty for
	// everything. A source treats a cursor that it does not know as empty.
	Cursor string
	// Wanted is the pin to deliver. Nil means the newest.
	Wanted Pin
}

// SyncStep is one message of a sync. Exactly one field is set.
type SyncStep struct {
	Begin *Begin
	Entry *Entry
	// Removed is the slug of an entry that does not exist any more. An entry that
	// was removed for a known reason stays in the catalog, as an Entry with Removed
	// set.
	Removed string
	End     *End
}

// Begin describes the steps that follow.
type Begin struct {
	// Pin is the state that is delivered.
	Pin Pin
	// Whole is true if the following entries are all entries of the catalog,
	// because the cursor was unknown or the source cannot compute changes.
	// Unchanged is true if only an End follows.
	Whole, Unchanged bool
	// Categories are all categories in the order in which they are displayed.
	Categories []Category
}

// Category is a group of entries.
type Category struct {
	Key  string
	Name string
}

// End completes a sync.
type End struct {
	// Cursor is for the next SyncRequest. It is empty if each sync delivers
	// everything.
	Cursor string
	// Entries is the number of entries at the pin, including those that were not
	// delivered this time. Digest is the CatalogDigest of all of them.
	Entries int
	Digest  string
}

// EntryDigest returns the checksum of all fields of an entry except Digest, 64
// lower-case hexadecimal digits. The service compares it only with digests of the
// same source, so a source may compute its digests in another way.
func EntryDigest(e Entry) string {
	e.Digest = ""
	raw, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("catalog: cannot marshal an entry: %v", err)) // it has texts, numbers and times only
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// CatalogDigest returns the checksum of a catalog from the digests of its entries
// by slug: the SHA-256 of the lines "slug digest\n", sorted by slug as bytes.
func CatalogDigest(digests map[string]string) string {
	h := sha256.New()
	for _, slug := range slices.Sorted(maps.Keys(digests)) {
		_, _ = fmt.Fprintf(h, "%s %s\n", slug, digests[slug])
	}
	return hex.EncodeToString(h.Sum(nil))
}
