package catalog

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/sdk/plugin"
)

// slugForm and keyForm are stored and part of URLs, so they are narrow.
var (
	slugForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)
	keyForm  = regexp.MustCompile(`^[a-z0-9][a-z0-9_]{0,62}$`)
)

// ValidSlug reports whether s is well-formed as Entry.Slug.
func ValidSlug(s string) bool { return slugForm.MatchString(s) }

// Limits of an entry: bytes of a line, bytes of a longer text, and length of a
// list.
const (
	maxLine = 1000
	maxText = 64 << 10
	maxList = 100
)

// bad returns an error of kind Protocol: the source's data is malformed.
func bad(format string, args ...any) error { return plugin.Errorf(plugin.Protocol, format, args...) }

// CheckEntry returns Protocol for a malformed entry. The service rejects a whole
// sync that contains one.
func CheckEntry(e Entry) error {
	if !ValidSlug(e.Slug) {
		return bad("%.80q is not a valid slug", e.Slug)
	}
	lines := []string{e.Name, e.Licence, e.Website, e.Docs, e.ConfigPath, e.Credentials, e.Disabled, e.Removed, e.Icon}
	lists := [][]string{e.Categories, e.Tags, e.Authors, e.Sources, e.Architectures}
	for _, list := range lists {
		if len(list) > maxList {
			return bad("%s has a list with too many entries: %d", e.Slug, len(list))
		}
		lines = append(lines, list...)
	}
	for _, line := range lines {
		if !isLine(line) {
			return bad("a text of %s has more than one line, or more than %d bytes", e.Slug, maxLine)
		}
	}
	switch {
	case !slices.Contains(EntryTypes(), e.Type):
		return bad("%s has no valid type", e.Slug)
	case e.Name == "":
		return bad("%s has no name", e.Slug)
	case !isHex(e.Digest, 64):
		return bad("%s has no valid digest", e.Slug)
	case !isText(e.Description) || len(e.Notes) > maxList:
		return bad("the description or the notes of %s are too long or not valid text", e.Slug)
	case e.VariantOf != "" && !ValidSlug(e.VariantOf) || e.Successor != "" && !ValidSlug(e.Successor):
		return bad("%s refers to an invalid slug", e.Slug)
	case e.Removed == "" && !e.App.Valid():
		return bad("%s is not pinned", e.Slug)
	case e.Prompts < 0:
		return bad("%s asks a negative number of questions", e.Slug)
	}
	return checkParts(e)
}

// checkParts validates the nested parts of an entry.
func checkParts(e Entry) error {
	for _, note := range e.Notes {
		if note.Level != InfoNote && note.Level != WarningNote || !isText(note.Text) {
			return bad("a note of %s is invalid", e.Slug)
		}
	}
	for _, address := range append([]string{e.Website, e.Docs}, e.Sources...) {
		if address != "" && !isURL(address) {
			return bad("%s has an invalid URL", e.Slug)
		}
	}
	if w := e.Web; w != nil {
		badPath := w.Path != "" && (w.Path[0] != '/' || !isLine(w.Path))
		if w.Protocol != "http" && w.Protocol != "https" || w.Port < 1 || w.Port > 65535 || badPath {
			return bad("the web address of %s is invalid", e.Slug)
		}
	}
	d := e.Defaults
	if d.Cores < 0 || d.MemoryMB < 0 || d.DiskGB < 0 || !isLine(d.OS) || !isLine(d.OSVersion) {
		return bad("the default size or operating system of %s is invalid", e.Slug)
	}
	if len(e.Privileges) > maxList || len(e.Overrides) > maxList {
		return bad("%s has too many privileges or overrides", e.Slug)
	}
	for _, p := range e.Privileges {
		if !keyForm.MatchString(p.Key) || !isText(p.Text) {
			return bad("a privilege of %s is invalid", e.Slug)
		}
	}
	return checkOptions(e.Overrides)
}

// checkOptions validates the definitions of options, which come from the source.
func checkOptions(options []Option) error {
	seen := map[string]bool{}
	for _, o := range options {
		if !keyForm.MatchString(o.Key) || seen[o.Key] {
			return bad("%.80q is not a valid option key, or occurs twice", o.Key)
		}
		seen[o.Key] = true
		if !slices.Contains([]OptionType{Line, Text, Integer, Boolean, Choice, URL, Folder}, o.Type) ||
			(o.Type == Choice) != (len(o.Values) > 0) {
			return bad("the type of the option %s is invalid", o.Key)
		}
		if !isText(o.Default) || !isText(o.Description) || o.Min > o.Max {
			return bad("the option %s is invalid: its default, description or range", o.Key)
		}
	}
	return nil
}

// CheckOption reports whether a value has the type of the option. It does not check
// Option.Required.
func CheckOption(o Option, value string) bool {
	switch o.Type {
	case Text:
		return isText(value)
	case Integer:
		n, err := strconv.ParseInt(value, 10, 64)
		return err == nil && strconv.FormatInt(n, 10) == value && (o.Min == 0 && o.Max == 0 || o.Min <= n && n <= o.Max)
	case Boolean:
		return value == "true" || value == "false"
	case Choice:
		return slices.Contains(o.Values, value)
	case URL:
		return isLine(value) && isURL(value)
	case Folder:
		return isLine(value) && path.IsAbs(value) && path.Clean(value) == value
	default:
		return isLine(value)
	}
}

// isURL reports whether s is an http or https address.
func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// isLine reports whether s is valid UTF-8 without control characters, of at most
// maxLine bytes.
func isLine(s string) bool {
	return len(s) <= maxLine && utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0
}

// isText reports whether s is valid UTF-8 of at most maxText bytes. Line breaks and
// tabs are allowed.
func isText(s string) bool {
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	return len(s) <= maxText && utf8.ValidString(s) && strings.IndexFunc(s, control) < 0
}
