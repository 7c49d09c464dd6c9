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

// fieldFlags are the flags of an operation's fields.
type fieldFlags struct {
	set    *pflag.FlagSet
	fields []fieldFlag
	// clear are fields that become null.
	clear []string
}

// fieldFlag is the flag of one field.
type fieldFlag struct {
	api.Field
	flag string
	// kind of thing whose name or id it takes; empty for other values.
	kind string
	// secret is read from a file and never from the command line, which other
	// users of a machine can see.
	secret bool
	// mixed can hold secrets beside other values. It is read from @FILE or
	// standard input, and never from the command line.
	mixed bool
	query bool
}

// null is the value of a flag that sends null.
const null = "null"

// takesNull reports whether the flag's value null means JSON's null. For a text without a list of values it is a text like any other.
func (f fieldFlag) takesNull() bool {
	return f.Null && !f.query && !f.secret && !f.mixed && (len(f.Values) > 0 || f.Kind != api.Text && f.Kind != api.Texts)
}

// values are the words that the flag accepts, null among them; nil where it has no list of values.
func (f fieldFlag) values() []string {
	if len(f.Values) > 0 && f.takesNull() {
		return append(slices.Clone(f.Values), null)
	}
	return f.Values
}

// idFields are fields whose value is the id of a thing that has a name.
var idFields = map[string]string{"host_id": "host", "target_host_id": "host", "team_id": "team", "host": "host", "vm": "vm", "app": "app"}

// secretFields are never taken from the command line. A flag for one ends in -file.
var secretFields = []string{
	"password", "token_secret", "paste", "secret", "code", "bearer_token", "client_secret", "current", "new", "pending", "setup_token",
}

// mixedFields can hold secrets beside other values, so they are never taken
// from the command line either.
var mixedFields = []string{"answers", "config", "credential", "options", "overrides", "secrets", "tokens"}

// addFieldFlags gives a command the flags of an operation's fields that no argument stands for.
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

// flagName is how a field is called on the command line.
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

// addFieldFlag adds the flag of one body field. Its type follows the schema's,
// and its help names the allowed values, so that the help needs no upkeep of
// its own.
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

// startLower returns a text that starts in lower case, as all lines of help do. A first word such as SHA-256 stays.
func startLower(text string) string {
	word, _, _ := strings.Cut(text, " ")
	if word == "" || word[1:] != strings.ToLower(word[1:]) {
		return text
	}
	return strings.ToLower(word) + text[len(word):]
}

// take puts what the flags say into the request. A secret that is needed and was not given is asked for.
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

// missing asks for a secret that is needed, and refuses when another value is.
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

// addQuery sets a query parameter in the form the API reads: a list with
// commas, an object as JSON, all else as its text.
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

// value is what a flag says, as the field has it.
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

// readReference reads what @FILE, or - for standard input, refers to. Any other
// text is returned unchanged, with referenced false.
func (s *session) readReference(text string) (content []byte, referenced bool, err error) {
	path, file := strings.CutPrefix(text, "@")
	if !file && text != "-" {
		return []byte(text), false, nil
	}
	content, err = s.readInput(path)
	return content, true, err
}

// exposed is the error for a value that can hold secrets and was given on the
// command line. before is what precedes the reference.
func exposed(name, before string) error {
	return &failure{statusUsage, fmt.Sprintf("cannot take %s from the command line: it can hold secrets, and other users of this machine "+
		"can read the command line; put the value in a file and use %s@FILE, or pipe it in and use %s-", name, before, before)}
}

// lines splits a text into its lines. The last one may end without a line break.
func lines(text string) []string {
	all := []string{}
	for line := range strings.Lines(text) {
		all = append(all, strings.TrimRight(line, "\r\n"))
	}
	return all
}
