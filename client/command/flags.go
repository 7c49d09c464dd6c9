package command

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hostler/hostler/client/api"
)

// fieldFlags are the flags of a command that stand for fields of its operation,
// both query parameters and body fields.
type fieldFlags struct {
	set    *pflag.FlagSet
	fields []fieldFlag
	// clear contains the values of --clear: names of flags whose fields are
	// sent as null. Only PATCH operations have that flag.
	clear []string
}

// fieldFlag is the flag of one field.
type fieldFlag struct {
	api.Field
	flag string
	// kind is the kind of object whose name or ID the flag accepts (see kinds).
	// It is empty for other values.
	kind string
	// secret reports whether the value is always a secret. Then the flag ends
	// in -file and names a file: other users of the machine can read a command
	// line.
	secret bool
	// mixed reports whether the value can contain secrets among other values,
	// such as the config of a storage. It must come from @FILE or standard
	// input.
	mixed bool
	// query reports whether the field is a query parameter instead of a body
	// field.
	query bool
}

// null is the value of a flag that sends JSON's null. In a PATCH, null clears a
// field; a field that is absent stays as it is.
const null = "null"

// takesNull reports whether the value null of the flag means JSON's null. It
// does not for free text: there "null" is a text like any other, and --clear is
// the way to clear it.
func (f fieldFlag) takesNull() bool {
	return f.Null && !f.query && !f.secret && !f.mixed && (len(f.Values) > 0 || f.Kind != api.Text && f.Kind != api.Texts)
}

// values returns the words that the flag accepts, including null if it may be
// cleared. It returns nil for a field without a list of values.
func (f fieldFlag) values() []string {
	if len(f.Values) > 0 && f.takesNull() {
		return append(slices.Clone(f.Values), null)
	}
	return f.Values
}

// idFields maps fields that contain an ID to the kind of the object, so that
// their flags accept names as well and lose the suffix -id.
var idFields = map[string]string{"host_id": "host", "target_host_id": "host", "team_id": "team", "host": "host", "vm": "vm", "app": "app"}

// secretFields lists body fields that are always secrets. Their flags end in
// -file, and hostler api requires a reference for them. A new secret field of
// the API must be added here.
var secretFields = []string{
	"password", "token_secret", "paste", "secret", "code", "bearer_token", "client_secret", "current", "new", "pending", "setup_token",
}

// mixedFields lists body fields that can contain secrets beside other values.
// They are never read from the command line either.
var mixedFields = []string{"answers", "config", "credential", "options", "overrides", "secrets", "tokens"}

// addFieldFlags adds the flags of an operation's fields to a command. Fields
// that an argument or the verb itself sets get no flag. A PATCH with fields
// that accept null also gets --clear, because most types have no other way to
// write null.
func (s *session) addFieldFlags(c *cobra.Command, op *api.Operation, args arguments, v verb) *fieldFlags {
	f := &fieldFlags{set: c.Flags()}
	given := func(name string) bool {
		_, fixed := v.body[name]
		return fixed || slices.ContainsFunc(args, func(a argument) bool { return a.body && a.name == name })
	}
	var nullable []string
	add := func(field api.Field, query bool) {
		if given(field.Name) {
			return
		}
		flag := fieldFlag{Field: field, flag: flagName(field.Name), kind: idFields[field.Name], query: query}
		flag.secret = !query && slices.Contains(secretFields, field.Name)
		flag.mixed = !query && slices.Contains(mixedFields, field.Name)
		if field.Kind != api.Whole {
			flag.kind = ""
		}
		if flag.secret {
			flag.flag += "-file"
		}
		s.addFieldFlag(c, flag)
		f.fields = append(f.fields, flag)
		if field.Null && !query && op.Method == "PATCH" {
			nullable = append(nullable, flag.flag)
		}
	}
	for _, field := range op.Query {
		add(field, true)
	}
	for _, field := range op.Body {
		add(field, false)
	}
	if len(nullable) > 0 {
		c.Flags().StringSliceVar(&f.clear, "clear", nil, "fields to clear: "+strings.Join(nullable, ", "))
		_ = c.RegisterFlagCompletionFunc("clear", cobra.FixedCompletions(nullable, cobra.ShellCompDirectiveNoFileComp))
	}
	return f
}

// flagName returns the name of the flag of a field. Underscores and dots become
// hyphens; q is called search, because its name alone explains nothing.
func flagName(field string) string {
	if field == "q" {
		return "search"
	}
	name := strings.TrimSuffix(field, "_")
	if idFields[field] != "" {
		name = strings.TrimSuffix(name, "_id")
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "_", "-"), ".", "-")
}

// addFieldFlag adds one flag. Its type and its completion follow from the API's
// schema, and its help is the description of the field with the accepted
// values, so the help needs no upkeep.
func (s *session) addFieldFlag(c *cobra.Command, f fieldFlag) {
	about := startLower(f.About)
	if about == "" {
		about = strings.ReplaceAll(f.Name, "_", " ")
	}
	values := f.values()
	explained := !slices.ContainsFunc(values, func(value string) bool { return !strings.Contains(about, value+": ") })
	if len(values) > 0 && !explained {
		about = strings.TrimPrefix(about+": "+strings.Join(values, ", "), ": ")
	}
	if f.kind != "" {
		about = strings.TrimPrefix(about+" (name or ID)", " ")
	}
	if f.Required {
		about = strings.TrimPrefix(about+" (required)", " ")
	}
	flags := c.Flags()
	switch {
	case f.secret:
		flags.String(f.flag, "", strings.TrimSpace("file that contains it, - for standard input. "+about))
	case f.mixed && f.Kind == api.Texts:
		flags.String(f.flag, "", strings.TrimSpace(about+" (@FILE with one per line, or - for standard input)"))
	case f.mixed:
		flags.String(f.flag, "", strings.TrimSpace(about+" (@FILE with JSON, or - for standard input)"))
	case f.Kind == api.Switch:
		flags.Bool(f.flag, false, about)
	case f.Kind == api.Texts:
		flags.StringSlice(f.flag, nil, about)
	case f.Kind == api.Time && f.query:
		flags.String(f.flag, "", strings.TrimSpace(about+" (a date, a time such as 2030-01-31T08:00:00Z, or a duration before now such as 24h)"))
	case f.Kind == api.Time:
		flags.String(f.flag, "", strings.TrimSpace(about+" (a date, a time such as 2030-01-31T08:00:00Z, or a duration from now such as 720h)"))
	case f.Kind == api.JSON:
		flags.String(f.flag, "", strings.TrimSpace(about+" (JSON, @FILE with JSON, or - for standard input)"))
	default:
		flags.String(f.flag, "", about)
	}
	switch {
	case len(values) > 0:
		_ = c.RegisterFlagCompletionFunc(f.flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	case f.kind != "":
		_ = c.RegisterFlagCompletionFunc(f.flag, func(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
			return s.names(c.Context(), f.kind, word), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// startLower returns a text that starts in lower case, as all descriptions of
// flags do. It keeps a first word with more capitals, such as SHA-256.
func startLower(text string) string {
	word, _, _ := strings.Cut(text, " ")
	if word == "" || word[1:] != strings.ToLower(word[1:]) {
		return text
	}
	return strings.ToLower(word) + text[len(word):]
}

// take puts the values of the flags into the query and the body of a request.
// Only flags that were given are sent: the service has its own defaults, and in
// a PATCH an absent field is unchanged. A required secret without a flag is
// asked for at the terminal.
func (s *session) take(ctx context.Context, f *fieldFlags, t target) error {
	for _, field := range f.fields {
		flag := f.set.Lookup(field.flag)
		if !flag.Changed {
			if err := s.missing(ctx, field, t.body); err != nil {
				return err
			}
			continue
		}
		value, err := s.value(ctx, field, flag)
		if err != nil {
			return err
		}
		if field.query {
			addQuery(t.query, field.Name, value)
			continue
		}
		t.body[field.Name] = value
	}
	for _, name := range f.clear {
		i := slices.IndexFunc(f.fields, func(field fieldFlag) bool { return field.flag == name && field.Null })
		if i < 0 {
			return &failure{statusUsage, fmt.Sprintf("--clear: %s cannot be cleared", name)}
		}
		t.body[f.fields[i].Name] = nil
	}
	return nil
}

// missing handles a field without a flag on the command line. A required secret
// is asked for if a person is at the terminal; any other required field is a
// usage error. A field that the body already contains, from --body for example,
// is fine.
func (s *session) missing(ctx context.Context, field fieldFlag, body map[string]any) error {
	if _, given := body[field.Name]; given || !field.Required {
		return nil
	}
	if !field.secret {
		return &failure{statusUsage, "--" + field.flag + " is required"}
	}
	if !s.asks() {
		return &failure{statusUsage, "--" + field.flag + " is required; use - to read it from standard input"}
	}
	text, err := s.askHidden(ctx, strings.ReplaceAll(field.Name, "_", " ")+": ")
	body[field.Name] = text
	return err
}

// addQuery sets a query parameter in the form that the API reads: a list
// separated by commas, an object as JSON and everything else as text.
func addQuery(query url.Values, name string, value any) {
	if list, ok := value.([]string); ok {
		query.Set(name, strings.Join(list, ","))
		return
	}
	if text, ok := value.(json.RawMessage); ok {
		value = string(text)
	}
	query.Set(name, fmt.Sprint(value))
}

// value converts the value of a flag to the type of its field: a number, a time
// in UTC, a list, JSON, the ID of a named object, or text. It checks what can
// be checked locally, so that typos are reported with the name of the flag
// before anything is sent. Numbers are not converted to float64, which would
// change long ones.
func (s *session) value(ctx context.Context, field fieldFlag, flag *pflag.Flag) (any, error) {
	text := flag.Value.String()
	if field.mixed || field.Kind == api.JSON {
		content, referenced, err := s.readReference(text)
		if err != nil {
			return nil, err
		}
		if field.mixed && !referenced {
			return nil, exposed("--"+field.flag, "--"+field.flag+" ")
		}
		text = string(content)
	}
	if text == null && field.takesNull() {
		return nil, nil
	}
	wrong := func(want string) error {
		return &failure{statusUsage, fmt.Sprintf("invalid value for --%s: expected %s", field.flag, want)}
	}
	switch {
	case field.secret:
		content, err := s.readInput(text)
		return strings.TrimRight(string(content), "\r\n"), err
	case field.kind != "":
		found, err := s.resolve(ctx, field.kind, text)
		return found.id, err
	case field.Kind == api.Switch:
		return text == "true", nil
	case field.mixed && field.Kind == api.Texts:
		return lines(text), nil
	case field.Kind == api.Texts:
		return flag.Value.(pflag.SliceValue).GetSlice(), nil
	case field.Kind == api.Whole:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, wrong("an integer")
		}
		return n, nil
	case field.Kind == api.Time:
		return moment(text, time.Now(), field.query)
	case field.Kind == api.Number:
		if _, ok := new(big.Float).SetString(text); !ok {
			return nil, wrong("a number")
		}
		return json.Number(text), nil
	case field.Kind == api.JSON:
		if !json.Valid([]byte(text)) {
			if field.mixed {
				return nil, wrong("a file with JSON")
			}
			return nil, wrong(`JSON, such as '{"key":"value"}'`)
		}
		return json.RawMessage(text), nil
	case len(field.Values) > 0 && !slices.Contains(field.Values, text):
		return nil, wrong("one of " + strings.Join(field.values(), ", "))
	}
	return text, nil
}

// readReference reads the file of @FILE, or standard input for "-". Other text
// is returned unchanged with referenced false, so a literal value cannot start
// with @.
func (s *session) readReference(text string) (content []byte, referenced bool, err error) {
	path, file := strings.CutPrefix(text, "@")
	if !file && text != "-" {
		return []byte(text), false, nil
	}
	content, err = s.readInput(path)
	return content, true, err
}

// exposed returns the error for a value that can contain secrets and was given
// on the command line. before is the text that precedes the reference in the
// example, such as "--config ".
func exposed(name, before string) error {
	return &failure{statusUsage, fmt.Sprintf("cannot take %s from the command line: it can hold secrets, and other users of this machine "+
		"can read the command line; put the value in a file and use %s@FILE, or pipe it in and use %s-", name, before, before)}
}

// lines splits a text into its lines, without line ends. The last line may end
// without one. It returns an empty list, not nil, for an empty text: the API
// distinguishes [] from null.
func lines(text string) []string {
	all := []string{}
	for line := range strings.Lines(text) {
		all = append(all, strings.TrimRight(line, "\r\n"))
	}
	return all
}
