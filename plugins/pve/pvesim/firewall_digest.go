package pvesim

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// textModified is the answer to a digest that is not the present one.
const textModified = "detected modified configuration - file changed by other user? Try again."

// digestOf is the checksum of a list of rows as the real server makes it: of all that they show, but their errors.
func digestOf(rows ...map[string]any) string {
	h := sha1.New()
	for _, row := range rows {
		for _, name := range slices.Sorted(maps.Keys(row)) {
			_, _ = fmt.Fprintf(h, "%s:%v\n", name, row[name])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// withDigest writes the digest of a list into each of its rows, and returns it.
func withDigest(rows []map[string]any) string {
	digest := digestOf(rows...)
	for _, row := range rows {
		row["digest"] = digest
	}
	return digest
}

// fileComment is what is left of a comment when it is read back: the real server writes it behind a line of a file. What follows a
// line feed would be lines of their own there, and is lost here.
func fileComment(s string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(first)
}
