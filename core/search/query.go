package search

import (
	"slices"
	"strings"
	"unicode"

	"github.com/hostler/hostler/core/problem"
)

// maxTerms bounds what one query costs: each of its terms is looked for in everything.
const maxTerms = 12

// The fields that a term can name, as TERM = FIELD ":" VALUE.
const (
	fieldIs      = "is"
	fieldName    = "name"
	fieldStatus  = "status"
	fieldHost    = "host"
	fieldNode    = "node"
	fieldCluster = "cluster"
	fieldTeam    = "team"
	fieldTag     = "tag"
	fieldPool    = "pool"
	fieldIP      = "ip"
	fieldVMID    = "vmid"
	fieldKind    = "kind"
	fieldType    = "type"
)

// Fields are all of them.
var Fields = []string{fieldIs, fieldName, fieldStatus, fieldHost, fieldNode, fieldCluster, fieldTeam, fieldTag, fieldPool, fieldIP,
	fieldVMID, fieldKind, fieldType}

// term is one condition of a query: a word that stands anywhere, or the value of a field. Not turns it round.
type term struct {
	field, value string
	not          bool
}

// parse reads a query: terms between blanks, all of which must hold. A value between quotation marks may have blanks in it, and a
// word between them is never a field. Case does not matter, and a control character is a blank. A field without a value is one
// that somebody is just typing, and says nothing yet; so does a lone hyphen. A word with a colon whose beginning is no field, such
// as an IPv6 address, is a word. Too many terms are problem invalid.
func parse(query string) ([]term, error) {
	var terms []term
	query = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToLower(query))
	for rest := strings.TrimSpace(query); rest != ""; rest = strings.TrimLeftFunc(rest, unicode.IsSpace) {
		var t term
		if after, ok := strings.CutPrefix(rest, "-"); ok {
			t.not, rest = true, after
		}
		if name, after, ok := strings.Cut(rest, ":"); ok && slices.Contains(Fields, name) {
			t.field, rest = name, after
		}
		t.value, rest = value(rest)
		if t.value != "" && !slices.Contains(terms, t) {
			terms = append(terms, t)
		}
	}
	if len(terms) > maxTerms {
		return nil, problem.InvalidField("must have at most 12 terms", "too_many_terms", "query", "q")
	}
	return terms, nil
}

// value is what stands up to the next blank, or between quotation marks; one that is not closed ends with the query.
func value(text string) (value, rest string) {
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		value, rest, _ = strings.Cut(quoted, `"`)
		return strings.TrimSpace(value), rest
	}
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// likeEscape keeps a text from meaning anything to LIKE.
var likeEscape = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// pattern is the value of a field for LIKE: the value itself, in which * stands for anything.
func pattern(value string) string { return strings.ReplaceAll(likeEscape.Replace(value), "*", "%") }
