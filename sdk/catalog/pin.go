package catalog

import (
	"slices"
	"strings"
)

// Pin identifies one state of everything that an entry consists of, for ever:
// commits and checksums, never branches or tags. A source whose scripts come from
// several repositories has one part for each.
type Pin []PinPart

// PinPart is one repository, or folder, at one state.
type PinPart struct {
	// Repository is the name for people, such as "community/scripts". It is
	// "folder" for a folder.
	Repository string
	// Commit is 40 or 64 lower-case hexadecimal digits.
	Commit string
}

// Limits of a pin: the number of parts, and the bytes of a repository's name.
const (
	maxPinParts   = 8
	maxRepository = 200
)

// Valid reports whether the pin has 1 to 8 well-formed parts, sorted by repository
// and without duplicates.
func (p Pin) Valid() bool {
	if len(p) == 0 || len(p) > maxPinParts {
		return false
	}
	for i, part := range p {
		if part.Repository == "" || len(part.Repository) > maxRepository || !printable(part.Repository) || !isHex(part.Commit, 40, 64) {
			return false
		}
		if i > 0 && p[i-1].Repository >= part.Repository {
			return false
		}
	}
	return true
}

// String returns the pin on one line: the parts as repository@commit, separated by
// spaces.
func (p Pin) String() string {
	parts := make([]string, len(p))
	for i, part := range p {
		parts[i] = part.Repository + "@" + part.Commit
	}
	return strings.Join(parts, " ")
}

// Equal reports whether both pins identify the same state.
func (p Pin) Equal(other Pin) bool { return slices.Equal(p, other) }

// ParsePin is the inverse of String. It returns false for a malformed pin.
func ParsePin(s string) (Pin, bool) {
	var p Pin
	for part := range strings.SplitSeq(s, " ") {
		at := strings.LastIndexByte(part, '@')
		if at < 0 || len(p) == maxPinParts {
			return nil, false
		}
		p = append(p, PinPart{Repository: part[:at], Commit: part[at+1:]})
	}
	return p, p.Valid()
}

// isHex reports whether s consists of lower-case hexadecimal digits and has one of
// the lengths.
func isHex(s string, lengths ...int) bool {
	return slices.Contains(lengths, len(s)) && strings.Trim(s, "0123456789abcdef") == ""
}

// printable reports whether s is ASCII without spaces and control characters.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
