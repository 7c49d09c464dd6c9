package firewall

import (
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/sdk/plugin"
)

// Bounds of what a request may hold, in bytes. A backend whose hypervisor takes less refuses more.
const (
	MaxText    = 512
	MaxComment = 1024
	MaxName    = 64
)

// Invalid is the error of a field that does not do.
func Invalid(field, format string, args ...any) error {
	return withField(plugin.Invalid, field, format, args...)
}

// Stale is the error of a digest that is another by now.
func Stale() error {
	return withField(plugin.Conflict, FieldDigest, "it was changed by somebody else meanwhile: the digest is another one by now")
}

func withField(kind plugin.ErrorKind, field, format string, args ...any) error {
	e := plugin.Errorf(kind, format, args...)
	e.Field = field
	return e
}

// CheckText refuses a text that is no single line of UTF-8 without control characters, or longer than limit bytes, as Invalid. Backends
// call it for every text that comes in, before anything is sent.
func CheckText(field, text string, limit int) error {
	switch {
	case len(text) > limit:
		return Invalid(field, "it must have %d bytes at most", limit)
	case !utf8.ValidString(text):
		return Invalid(field, "it is no UTF-8")
	}
	for _, r := range text {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return Invalid(field, "it must be one line without control characters")
		}
	}
	return nil
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// CheckName refuses what no name of an alias, a set or a group can be, as Invalid: it has letters, digits, "_", "." and "-", the first of
// them a letter or a digit.
func CheckName(field, text string) error {
	if len(text) > MaxName || !nameForm.MatchString(text) {
		return Invalid(field, "it must have 1 to %d letters, digits, '_', '.' or '-', and begin with a letter or a digit", MaxName)
	}
	return nil
}

// CheckRule refuses a rule with a text that CheckText refuses, an unknown direction, or no action, as Invalid with the field.
func CheckRule(rule Rule) error {
	if !slices.Contains(Directions(), rule.Direction) {
		return Invalid(FieldDirection, "there is no such direction")
	}
	if rule.Action == "" {
		return Invalid(FieldAction, "it is missing")
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
