package identity

import (
	"errors"
	"net/mail"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Limits of an address in bytes, from RFC 5321 sections 4.5.3.1.1 and 4.5.3.1.3
// (a path of 256 with its brackets).
const (
	maxEmail     = 254
	maxEmailUser = 64
)

// errEmail is the fault of an address that cannot be stored.
var errEmail = errors.New("is not a plain email address such as anna@example.com")

// Email is an address in its two forms.
type Email struct {
	// Address is what people are shown: as typed, without space around it, in
	// compatibility-composed form (NFKC).
	Address string
	// Key is what accounts are told apart by: case folded, the domain in its
	// ASCII form. Addresses that look the same in full width, in another case,
	// with a ligature or as punycode have the same key.
	Key string
}

// ParseEmail reads a plain address, user@domain. It refuses display names,
// comments, quoted users and address literals, and addresses that mix Latin
// letters with those of an alphabet that looks like it. The error is errEmail
// for all of them.
func ParseEmail(typed string) (Email, error) {
	if len(typed) > 4*maxEmail || !utf8.ValidString(typed) {
		return Email{}, errEmail
	}
	address := norm.NFKC.String(strings.TrimSpace(typed))
	parsed, err := mail.ParseAddress(address)
	if err != nil || parsed.Name != "" || parsed.Address != address {
		return Email{}, errEmail
	}
	at := strings.LastIndexByte(address, '@')
	user, domain := address[:at], address[at+1:]
	if len(user) > maxEmailUser || strings.ContainsAny(user, "\"\\@ ") || !printable(address) ||
		slices.ContainsFunc(append(strings.Split(domain, "."), user), mixed) {
		return Email{}, errEmail
	}
	ascii, err := idna.Lookup.ToASCII(latin.Replace(fold(domain)))
	if err != nil || len(user)+1+len(ascii) > maxEmail {
		return Email{}, errEmail
	}
	return Email{Address: address, Key: latin.Replace(fold(user)) + "@" + strings.ToLower(ascii)}, nil
}

// latin replaces folded Cyrillic and Greek letters that look like a Latin one
// (the single-letter entries for small Latin letters in the confusables of
// Unicode TR 39). It is for keys only: people see the address as they typed it.
var latin = strings.NewReplacer(
	"а", "a", "с", "c", "ԁ", "d", "е", "e", "һ", "h", "і", "i", "ј", "j", "ӏ", "l", "о", "o", "р", "p", "ԛ", "q", "г", "r", "ѕ", "s",
	"ѵ", "v", "ԝ", "w", "х", "x", "у", "y", "α", "a", "ο", "o", "ρ", "p", "σ", "o", "ν", "v", "υ", "u", "γ", "y", "ι", "i",
)

// fold returns the form in which texts are compared: NFKC, case folded, and
// NFKC again, because folding can undo the first.
func fold(s string) string { return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s))) }

// printable reports whether an address contains only visible characters.
// Invisible ones could make two addresses look the same.
func printable(s string) bool {
	for _, r := range s {
		// Cf are characters that cannot be seen: zero-width joiners, direction marks, soft hyphens.
		if !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) || unicode.Is(unicode.Variation_Selector, r) {
			return false
		}
	}
	return true
}

// mixed reports whether a text has Latin letters beside Cyrillic, Greek,
// Armenian or Cherokee ones, some of which look like Latin.
func mixed(s string) bool {
	latin, other := false, false
	for _, r := range s {
		latin = latin || unicode.Is(unicode.Latin, r)
		other = other || unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee)
	}
	return latin && other
}
