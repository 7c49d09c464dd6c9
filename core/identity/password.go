package identity

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/hostler/hostler/core/problem"
)

// These bound a password: characters at least, bytes at most. The upper bound
// only limits the work of a request.
const (
	MinPassword      = 12
	MaxPasswordBytes = 1024
)

//go:embed common_passwords.txt
var commonText string

// commonWords are the folded words and keyboard walks of which the most common
// passwords consist.
var commonWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for line := range strings.Lines(commonText) {
		if word := strings.TrimSpace(line); word != "" && !strings.HasPrefix(word, "#") {
			words[word] = true
		}
	}
	return words
})

// CheckPassword applies the rules to a new password: at least 12 characters, at
// most 1024 bytes, not built like the most common ones, not the account's own
// e-mail address. NIST SP 800-63B (section 5.1.1.2) asks for such a list and
// against rules of composition. The problem is invalid at loc.
func CheckPassword(password string, email Email, loc ...any) error {
	switch {
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return problem.InvalidField("must be text without NUL characters", "value_error", loc...)
	case utf8.RuneCountInString(password) < MinPassword:
		return problem.InvalidField("must have at least 12 characters", "too_short", loc...)
	case len(password) > MaxPasswordBytes:
		return problem.InvalidField("must have at most 1024 bytes", "too_long", loc...)
	case isEmail(password, email):
		return problem.InvalidField("must not be the email address", "same_as_email", loc...)
	case common(password):
		return problem.InvalidField("is one of the most common passwords, or similar to one", "too_common", loc...)
	}
	return nil
}

// preparePassword returns the form that is hashed: NFKC, so that a password can
// be typed on every keyboard (RFC 8265, section 4.2, asks for NFC; NFKC also
// unifies full-width input).
func preparePassword(password string) string { return norm.NFKC.String(password) }

// isEmail reports whether the password is the address or its user part, with or
// without digits or signs around it.
func isEmail(password string, email Email) bool {
	if email.Key == "" {
		return false
	}
	user, _, _ := strings.Cut(email.Key, "@")
	p := fold(password)
	core := strings.TrimFunc(p, notLetter)
	return p == email.Key || p == fold(email.Address) || core == strings.TrimFunc(email.Key, notLetter) || len(user) > 3 && core == user
}

// common reports whether the password is built like the most common ones: one
// or two known words with digits and signs around them, letters replaced by
// digits that look like them, one repeated piece, or a run over the keyboard or
// the alphabet.
func common(password string) bool {
	p := fold(password)
	if fewCharacters(p) || repeated(p) || steady(p) {
		return true
	}
	// A digit at the end is an ornament, in the middle it may stand for a
	// letter: both readings are tried.
	length := utf8.RuneCountInString(p)
	for _, form := range []string{p, unleet.Replace(p), unleet.Replace(strings.TrimRightFunc(p, notLetter))} {
		for _, candidate := range []string{form, strings.TrimFunc(form, notLetter), only(form, unicode.IsLetter), only(form, letterOrDigit)} {
			if length-utf8.RuneCountInString(candidate) <= mostDecoration && twoWords(candidate) {
				return true
			}
		}
	}
	return false
}

// mostDecoration is how many digits and signs around a common word do not make
// it a password: a year and a date, for example. More of them may be strong by
// themselves.
const mostDecoration = 9

// unleet replaces digits and signs that stand for letters, so that "p4ssw0rd"
// is recognised as a common password.
var unleet = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "@", "a", "$", "s", "!", "i", "|",
	"l")

// notLetter reports whether r is not a letter.
func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// letterOrDigit reports whether r is a letter or a digit.
func letterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// only returns s without the unwanted characters.
func only(s string, wanted func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if wanted(r) {
			return r
		}
		return -1
	}, s)
}

// twoWords reports whether s is one common word, two of them, or a repetition
// of one piece.
func twoWords(s string) bool {
	words := commonWords()
	if piece, times := period(s); times > 1 {
		s = piece
	}
	if words[s] {
		return true
	}
	for i := range s {
		if i > 0 && words[s[:i]] && words[s[i:]] {
			return true
		}
	}
	return false
}

// fewCharacters reports at most four different characters, which are too few at
// any length.
func fewCharacters(s string) bool {
	seen := map[rune]bool{}
	for _, r := range s {
		seen[r] = true
	}
	return len(seen) <= 4
}

// repeated reports a short piece that is written several times.
func repeated(s string) bool {
	piece, times := period(s)
	return times > 1 && utf8.RuneCountInString(piece) <= 6
}

// period returns the shortest piece of which s is a repetition, and how often
// it occurs.
func period(s string) (piece string, times int) {
	// s occurs in s+s first at the length of its shortest period.
	if s == "" {
		return s, 0
	}
	n := 1 + strings.Index((s + s)[1:], s)
	return s[:n], len(s) / n
}

// steady reports a password in which nearly every character follows from the
// one before: 123456789012, abcdefghijkl.
func steady(s string) bool {
	runes := []rune(s)
	jumps := 0
	for i := 1; i < len(runes); i++ {
		if d := runes[i] - runes[i-1]; d < -1 || d > 1 {
			jumps++
		}
	}
	return jumps*4 <= len(runes)
}
