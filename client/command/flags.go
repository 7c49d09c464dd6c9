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
	// secret is read from a file and never from the command line, which other users of a machine can see.
	secret bool
	query  bool
}

// idFields are fields whose value is the id of a thing that has a name.
var idFields = map[string]string{"host_id": "host", "target_host_id": "host", "team_id": "team", "host": "host", "vm": "vm", "app": "app"}

// secretFields are never taken from the command line.
var secretFields = []string{"password", "token_secret", "paste", "secret", "code"}

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
		c.Flags().StringSliceVar(&f.clear, "clear", nil, "clear what is there: "+strings.Join(nullable, ", "))
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

func (s *session) addFieldFlag(c *cobra.Command, f fieldFlag) {
	about := f.About
	if about == "" {
		about = "the " + strings.ReplaceAll(f.Name, "_", " ")
	}
	if len(f.Values) > 0 {
		about = strings.TrimPrefix(about+": "+strings.Join(f.Values, ", "), ": ")
	}
	if f.kind != "" {
		about = strings.TrimPrefix(about+" (name or id)", " ")
	}
	if f.Required {
		about = strings.TrimPrefix(about+" (needed)", " ")
	}
	flags := c.Flags()
	switch {
	case f.secret:
		flags.String(f.flag, "", strings.TrimSpace("file to read it from, - for what is piped in. "+about))
	case f.Kind == api.Switch:
		flags.Bool(f.flag, false, about)
	case f.Kind == api.Texts:
		flags.StringSlice(f.flag, nil, about)
	case f.Kind == api.JSON:
		flags.String(f.flag, "", strings.TrimSpace(about+" (JSON, or @ and a file with it)"))
	default:
		flags.String(f.flag, "", about)
	}
	switch {
	case len(f.Values) > 0:
		_ = c.RegisterFlagCompletionFunc(f.flag, cobra.FixedCompletions(f.Values, cobra.ShellCompDirectiveNoFileComp))
	case f.kind != "":
		_ = c.RegisterFlagCompletionFunc(f.flag, func(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
			return s.names(c.Context(), f.kind, word), cobra.ShellCompDirectiveNoFileComp
		})
	}
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
		return &failure{statusUsage, "--" + field.flag + " is needed"}
	}
	if !s.asks() {
		return &failure{statusUsage, "--" + field.flag + " is needed: - reads it from what is piped in"}
	}
	text, err := s.askHidden(ctx, strings.ReplaceAll(field.Name, "_", " ")+": ")
	body[field.Name] = text
	return err
}

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
	wrong := func(want string) error { return &failure{statusUsage, fmt.Sprintf("--%s takes %s", field.flag, want)} }
	switch {
	case field.secret:
		content, err := s.readInput(text)
		return strings.TrimRight(string(content), "\r\n"), err
	case field.kind != "":
		found, err := s.resolve(ctx, field.kind, text)
		return found.id, err
	case field.Kind == api.Switch:
		return text == "true", nil
	case field.Kind == api.Texts:
		return flag.Value.(pflag.SliceValue).GetSlice(), nil
	case field.Kind == api.Whole:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, wrong("a whole number")
		}
		return n, nil
	case field.Kind == api.Number:
		if _, ok := new(big.Float).SetString(text); !ok {
			return nil, wrong("a number")
		}
		return json.Number(text), nil
	case field.Kind == api.JSON:
		if file, ok := strings.CutPrefix(text, "@"); ok {
			content, err := readFile(file)
			if err != nil {
				return nil, err
			}
			text = string(content)
		}
		if !json.Valid([]byte(text)) {
			return nil, wrong(`JSON, such as '{"key":"value"}'`)
		}
		return json.RawMessage(text), nil
	case len(field.Values) > 0 && !slices.Contains(field.Values, text):
		return nil, wrong("one of " + strings.Join(field.Values, ", "))
	}
	return text, nil
}
