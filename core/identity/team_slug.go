package identity

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/unicode/norm"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// SlugPattern is what a slug looks like: letters, digits and hyphens in small ASCII, at most 63, none at the ends a hyphen.
const SlugPattern = `^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`

// slugPattern is the compiled SlugPattern.
var slugPattern = regexp.MustCompile(SlugPattern)

// maxDerivedSlug leaves room for a number behind it.
const maxDerivedSlug = 52

// ascii replaces letters that have no ASCII letter in their decomposition. Case is folded before.
var ascii = strings.NewReplacer("æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ħ", "h", "ı", "i", "ŋ", "n",
	"ŧ", "t")

// checkSlug returns invalid for a malformed slug.
func checkSlug(slug *string) error {
	if slug != nil && !slugPattern.MatchString(*slug) {
		return problem.InvalidField("must be small letters, digits and hyphens, at most 63, beginning and ending with a letter or digit",
			"string_pattern_mismatch", "body", "slug")
	}
	return nil
}

// slugOf derives a slug from a name: accents go, whatever is no ASCII letter or digit becomes one hyphen. A name of
// which nothing is left is "team".
func slugOf(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range ascii.Replace(norm.NFKD.String(fold(name))) {
		switch {
		case unicode.Is(unicode.Mn, r) || r == '\'' || r == '’':
			continue
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
		default:
			gap = true
		}
		if b.Len() >= maxDerivedSlug {
			break
		}
	}
	slug := b.String()
	slug = strings.TrimRight(slug[:min(len(slug), maxDerivedSlug)], "-")
	if slug == "" {
		return "team"
	}
	return slug
}

// freeSlug is the name's slug, or else the first of slug-2, slug-3 … that no team has. It must be called under govern's
// lock, so that it is still free when the team is written.
func freeSlug(ctx context.Context, tx *db.Tx, name string) (string, error) {
	base := slugOf(name)
	rows, err := tx.Pgx.Query(ctx, "SELECT slug FROM teams WHERE starts_with(slug, $1)", base)
	if err != nil {
		return "", fmt.Errorf("looking for a free slug: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", fmt.Errorf("looking for a free slug: %w", err)
	}
	taken := make(map[string]bool, len(list))
	for _, slug := range list {
		taken[slug] = true
	}
	slug := base
	for n := 2; taken[slug]; n++ {
		slug = base + "-" + strconv.Itoa(n)
	}
	return slug, nil
}
