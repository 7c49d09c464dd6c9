package catalog

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// These rank how well an entry matches a query; smaller is better.
const (
	rankSame = iota
	rankBegins
	rankWord
	rankName
	rankElsewhere
	rankTypo
)

// Limits of a search. They bound its time.
const (
	// maxTerms bounds what a query costs.
	maxTerms = 12
	// maxTypo is the longest word that is looked at for typos, in characters:
	// its cost is the product of both lengths.
	maxTypo = 40
)

// match returns the entries that contain every term, and how well each matches.
// Only if there are none, a term may contain typos: one in words of four or
// five letters, two in longer ones.
func match(all []*listed, terms []string) ([]*listed, map[*listed]int) {
	ranks := map[*listed]int{}
	fits := keep(all, ranks, func(l *listed) (int, bool) { return literal(l, terms) })
	if len(fits) > 0 {
		return fits, ranks
	}
	return keep(all, ranks, func(l *listed) (int, bool) { return typo(l, terms) }), ranks
}

// keep returns the entries that fit and records their ranks.
func keep(all []*listed, ranks map[*listed]int, rank func(*listed) (int, bool)) []*listed {
	var fits []*listed
	for _, l := range all {
		if r, ok := rank(l); ok {
			fits = append(fits, l)
			ranks[l] = r
		}
	}
	return fits
}

// literal ranks an entry that contains every term literally.
func literal(l *listed, terms []string) (int, bool) {
	if slices.Contains(l.has, false) {
		return 0, false
	}
	rank := 0
	for _, term := range terms {
		rank = max(rank, l.rankOf(term))
	}
	if strings.Join(terms, " ") == l.folded {
		rank = rankSame
	}
	return rank, true
}

// rankOf returns how well a word fits an entry; smaller is better.
func (l *listed) rankOf(term string) int {
	at := strings.Index(l.names, term)
	switch {
	case term == l.folded || term == l.Slug:
		return rankSame
	case at == 0:
		return rankBegins
	case at > 0 && !letter(l.names[:at]):
		return rankWord
	case at > 0:
		return rankName
	}
	return rankElsewhere
}

// letter reports whether a text ends with a letter or digit.
func letter(before string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	return unicode.IsLetter(last) || unicode.IsDigit(last)
}

// typo ranks an entry that contains every term with typos, in its name, slug
// and tags.
func typo(l *listed, terms []string) (int, bool) {
	words := strings.FieldsFunc(l.names+" "+strings.ToLower(strings.Join(l.Tags, " ")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	worst := 0
	for i, term := range terms {
		if l.has[i] {
			continue
		}
		best := maxTypo
		for _, word := range words {
			best = min(best, distance(term, word))
		}
		if best > allowed(term) {
			return 0, false
		}
		worst = max(worst, best)
	}
	return rankTypo + worst, true
}

// allowed returns how many typos a term may have.
func allowed(term string) int {
	switch n := utf8.RuneCountInString(term); {
	case n < 4 || n > maxTypo:
		return 0
	case n < 6:
		return 1
	default:
		return 2
	}
}

// distance returns how many edits turn one word into the other, or into its
// beginning, because the user may still be typing. It returns maxTypo for words
// that cannot match.
func distance(term, word string) int {
	most, length := allowed(term), utf8.RuneCountInString(term)
	if most == 0 || utf8.RuneCountInString(word) < length-most {
		return maxTypo
	}
	best := maxTypo
	for _, cut := range []int{length, length + 1, length + most} {
		if best > most {
			best = min(best, levenshtein.ComputeDistance(term, word[:prefix(word, cut)]))
		}
	}
	return best
}

// prefix returns the byte offset after n characters of a word.
func prefix(word string, n int) int {
	for at := range word {
		if n == 0 {
			return at
		}
		n--
	}
	return len(word)
}
