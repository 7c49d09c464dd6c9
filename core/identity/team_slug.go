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

// SlugPattern is the form of a slug: small ASCII letters, digits and hyphens,
// at most 63 characters, no hyphen at the ends. This is also the form of a DNS
// label (RFC 1035, section 2.3.1, with RFC 1123).
const SlugPattern = `^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`

// slugPattern is the compiled SlugPattern.
var slugPattern = regexp.MustCompile(SlugPattern)

// maxDerivedSlug leaves space for a number after the slug.
const maxDerivedSlug = 52

// ascii replaces letters whose decomposition has no ASCII letter. The text is
// case-folded before.
var ascii = strings.NewReplacer("æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ħ", "h", "ı", "i", "ŋ", "n",
	"ŧ", "t")

// checkSlug returns invalid for a malformed slug.
func checkSlug(slug *string) error {
	if slug != nil && !slugPattern.MatchString(*slug) {
		return problem.InvalidField("must be lowercase letters, digits and hyphens, at most 63, starting and ending with a letter or "+
			"digit",
			"string_pattern_mismatch", "body", "slug")
	}
	return nil
}

// slugOf derives a slug from a name. Accents are dropped, and every run of
// other characters becomes one hyphen. A name without letters and digits
// becomes "team".
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

// freeSlug returns the slug of a name, or the first of slug-2, slug-3 and so on
// that no team has. The caller holds govern's lock, so that the slug is still
// free when the team is written.
func freeSlug(ctx context.Context, tx *db.Tx, name string) (string, error) {
	base := slugOf(name)
	rows, err := tx.Pgx.Query(ctx, "SELECT slug FROM teams WHERE starts_with(slug, $1)", base)
	if err != nil {
		return "", fmt.Errorf("finding a free slug: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", fmt.Errorf("finding a free slug: %w", err)
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
