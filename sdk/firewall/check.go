package firewall

import (
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/sdk/plugin"
)

// Limits of the texts in a request, in bytes. A backend whose hypervisor accepts
// less rejects more.
const (
	MaxText    = 512
	MaxComment = 1024
	MaxName    = 64
)

// Invalid returns an error of kind Invalid for a field.
func Invalid(field, format string, args ...any) error {
	return withField(plugin.Invalid, field, format, args...)
}

// Stale returns the Conflict error of an outdated digest, with the field
// FieldDigest.
func Stale() error {
	return withField(plugin.Conflict, FieldDigest, "it was changed in the meantime: the digest is out of date")
}

// withField returns an error of a kind with a field.
func withField(kind plugin.ErrorKind, field, format string, args ...any) error {
	e := plugin.Errorf(kind, format, args...)
	e.Field = field
	return e
}

// CheckText returns Invalid for a text that is longer than limit bytes, or is not
// one line of UTF-8 without control characters. A line break in a value could add a
// line to a configuration file of the hypervisor. Backends call it for every text
// of a request before they send anything.
func CheckText(field, text string, limit int) error {
	switch {
	case len(text) > limit:
		return Invalid(field, "it must have at most %d bytes", limit)
	case !utf8.ValidString(text):
		return Invalid(field, "it must be valid UTF-8")
	}
	for _, r := range text {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return Invalid(field, "it must be one line without control characters")
		}
	}
	return nil
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// CheckName returns Invalid for a text that cannot be the name of an alias, a set
// or a group: 1 to 64 letters, digits, "_", "." and "-", beginning with a letter or
// a digit.
func CheckName(field, text string) error {
	if len(text) > MaxName || !nameForm.MatchString(text) {
		return Invalid(field, "it must have 1 to %d letters, digits, '_', '.' or '-', and start with a letter or a digit", MaxName)
	}
	return nil
}

// CheckRule returns Invalid, with the field, for a rule with an unknown direction,
// without action, or with a text that CheckText rejects.
func CheckRule(rule Rule) error {
	if !slices.Contains(Directions(), rule.Direction) {
		return Invalid(FieldDirection, "unknown direction")
	}
	if rule.Action == "" {
		return Invalid(FieldAction, "it is required")
	}
	if rule.Direction == DirectionGroup {
		if err := CheckName(FieldAction, rule.Action); err != nil {
			return err
		}
	}
	if err := CheckText(FieldAction, rule.Action, MaxText); err != nil {
		return err
	}
	for _, field := range []string{FieldMacro, FieldProtocol, FieldSource, FieldDestination, FieldSourcePort, FieldDestinationPort,
		FieldInterface, FieldLog, FieldICMPType} {
		if err := CheckText(field, *rule.text(field), MaxText); err != nil {
			return err
		}
	}
	return CheckText(FieldComment, rule.Comment, MaxComment)
}
