package command

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/api"
	"github.com/hostler/hostler/client/output"
)

// noun is a command that groups verbs, such as vm or storage.
type noun struct {
	name    string
	aliases []string
	short   string
	verbs   []verb
	// more returns commands of the noun that are not a single operation with
	// JSON, such as a console or an upload. It may be nil.
	more func(s *session) []*cobra.Command
}

// verb is a command that calls one operation of the API. A row of the table
// only says what the API's document cannot: names, arguments and columns.
type verb struct {
	name    string
	aliases []string
	// op is the ID of the operation. appOp is the operation for apps, for a
	// verb whose argument is a guest: then op is the one for VMs.
	op, appOp string
	// args describes the arguments, separated by spaces. Each one is the name
	// of a path parameter, then optionally a colon and the kind of object that
	// it names (see kinds). A + before the name makes it a field of the body.
	// The last argument can end in ... and then be repeated.
	args string
	// path contains path parameters with a fixed value, and body contains body
	// fields with a fixed value.
	path map[string]string
	body map[string]any
	// columns are those of a list (output.Columns); empty shows one thing by its fields.
	columns string
	// rows is the path of the list within the response; empty if the response is
	// the list itself.
	rows string
	// short replaces the summary of the operation in the help. example is an
	// example of the arguments, without the names of the program, the noun and
	// the verb.
	short, example string
}

// act contains the values of the flags of one command. Which flags a command
// has depends on its operation; the others keep their zero values.
type act struct {
	fields *fieldFlags
	// These are flags of operations that change something: --plan, --wait,
	// --confirm, --plan-digest, --timeout (zero: no limit) and --body.
	plan, wait      bool
	confirm, digest string
	timeout         time.Duration
	bodyFile        string
	// These are flags of operations that read: --watch, --interval and --limit
	// (zero: no limit).
	watch    bool
	interval time.Duration
	limit    int
}

// nounCommand returns the command of a noun, with one command for each verb.
func (s *session) nounCommand(n noun) *cobra.Command {
	c := group(&cobra.Command{Use: n.name, Aliases: n.aliases, Short: n.short})
	for _, v := range n.verbs {
		c.AddCommand(s.verbCommand(n, v))
	}
	if n.more != nil {
		c.AddCommand(n.more(s)...)
	}
	return c
}

// group makes a command that only contains other commands. Without arguments it
// prints its help. With an unknown word it returns statusUsage; cobra alone
// would print the help and exit with 0, which scripts take for success.
func group(c *cobra.Command) *cobra.Command {
	c.RunE = func(cmd *cobra.Command, words []string) error {
		if len(words) > 0 {
			return usage(cmd, fmt.Errorf("unknown command %q of %s", words[0], cmd.CommandPath()))
		}
		return cmd.Help()
	}
	c.Args = cobra.ArbitraryArgs
	return c
}

// verbCommand returns the command of one verb. It derives the flags from the
// description of the operation: one for each query parameter and body field,
// and --wait, --plan, --confirm, --limit and --watch if the operation supports
// them. It panics at startup if the table names an operation that does not
// exist.
func (s *session) verbCommand(n noun, v verb) *cobra.Command {
	op := api.Find(v.op)
	args := parseArguments(v.args)
	short := v.short
	if short == "" {
		short = op.Summary
	}
	c := &cobra.Command{Use: v.name + args.usage(), Aliases: v.aliases, Short: short, Args: args.check}
	c.ValidArgsFunction = s.completeArguments(args)
	c.Long = short + ".\n\nAPI: " + op.Method + " " + op.Path + " (" + op.ID
	if v.appOp != "" {
		c.Long += "; for an app " + v.appOp
	}
	c.Long += ")."
	if op.Role != "" && op.Role != "none" {
		c.Long += " Requires the role " + op.Role + "."
	}
	if v.example != "" {
		c.Example = "  hostler " + n.name + " " + v.name + " " + v.example
	}
	a := &act{}
	a.fields = s.addFieldFlags(c, op, args, v)
	flags := c.Flags()
	if op.Method == http.MethodGet {
		flags.BoolVar(&a.watch, "watch", false, "refresh when the data changes, until Ctrl-C")
		flags.DurationVar(&a.interval, "interval", 5*time.Second, "with --watch: time between refreshes of data without change events")
		if op.Paged {
			flags.IntVar(&a.limit, "limit", 100, "maximum number of entries; 0 for all")
		}
	}
	if op.Job {
		flags.BoolVar(&a.wait, "wait", false, "follow the job until it ends; the exit status reports its result")
		flags.DurationVar(&a.timeout, "timeout", 0, "with --wait: maximum time to wait; 0 for no limit")
	}
	if op.Plan {
		flags.BoolVar(&a.plan, "plan", false, "show the plan and change nothing")
		flags.StringVar(&a.digest, "plan-digest", "", "refuse if the plan no longer has this digest")
	}
	if op.Confirm {
		flags.StringVar(&a.confirm, "confirm", "", "confirmation phrase, usually the name of the object")
	}
	if len(op.Body) > 0 {
		flags.StringVar(&a.bodyFile, "body", "", "file with the JSON body of the request, - for standard input; flags override its fields")
	}
	c.RunE = func(cmd *cobra.Command, words []string) error { return s.run(cmd.Context(), v, op, args, a, words) }
	return c
}

// target is a request that is ready to send, except for the confirmation.
// askPhrase and change add the phrase and the digest to its maps.
type target struct {
	op    *api.Operation
	path  string
	query url.Values
	body  map[string]any
	// label is the first argument as the user typed it, for messages.
	label string
	// columns are the columns of a table, for responses that are lists, and rows
	// is the path of the list in the response.
	columns, rows string
}

// rowsOf returns the list within a response.
func (t target) rowsOf(value any) any {
	if t.rows == "" {
		return value
	}
	return output.At(value, t.rows)
}

// run performs a verb. The body is assembled in this order, and later values
// win: the file of --body, the fixed fields of the verb, the arguments, the
// flags. Names are resolved before anything is sent, so a command with a wrong
// name has no effect.
func (s *session) run(ctx context.Context, v verb, op *api.Operation, args arguments, a *act, words []string) error {
	values, err := s.resolveArguments(ctx, args, words)
	if err != nil {
		return err
	}
	if values.app && v.appOp != "" {
		op = api.Find(v.appOp)
	}
	for name, value := range v.path {
		values.path[name] = value
	}
	t := target{
		op: op, path: op.Expand(values.path), query: url.Values{}, body: map[string]any{}, label: values.label, columns: v.columns,
		rows: v.rows,
	}
	if a.bodyFile != "" {
		text, err := s.readInput(a.bodyFile)
		if err != nil {
			return err
		}
		if json.Unmarshal(text, &t.body) != nil {
			return &failure{statusUsage, "cannot read " + a.bodyFile + ": not a JSON object"}
		}
	}
	for name, value := range v.body {
		t.body[name] = value
	}
	for name, value := range values.body {
		t.body[name] = value
	}
	if err := s.take(ctx, a.fields, t); err != nil {
		return err
	}
	if op.Method != http.MethodGet {
		return s.change(ctx, t, a)
	}
	show := func(ctx context.Context) error { return s.show(ctx, t, v.columns, a.limit) }
	if a.watch {
		return s.watch(ctx, topicOf(op.ID), a.interval, show)
	}
	return show(ctx)
}

// list prints a response as a table, or as fields if it is not a list or has no
// columns. --columns replaces the columns of the verb. A list of plain texts,
// such as the log of a job, is printed line by line.
func (s *session) list(columns string, value any) {
	rows, ok := value.([]any)
	if !ok {
		s.screen.Fields(value)
		return
	}
	if s.columns != "" {
		columns = s.columns
	}
	if _, objects := firstOf(rows).(map[string]any); len(rows) > 0 && !objects {
		for _, row := range rows { // lines of a log
			s.screen.Print(output.Show("", row, time.Now()) + "\n")
		}
		return
	}
	if columns == "" {
		s.screen.Fields(value)
		return
	}
	if s.format == formatWide {
		columns = wide(columns, firstOf(rows))
	}
	s.screen.Table(output.Columns(columns), rows)
}

// wide adds the fields of a row that have a single value to the columns of a
// verb. Fields of nested objects are not added.
func wide(columns string, row any) string {
	object, _ := row.(map[string]any)
	shown := output.Columns(columns)
	for _, field := range slices.Sorted(maps.Keys(object)) {
		switch object[field].(type) {
		case *output.Object, map[string]any, []any:
			continue
		}
		if !slices.ContainsFunc(shown, func(c output.Column) bool { return c.Path == field }) {
			columns += " " + field
		}
	}
	return columns
}

// firstOf returns the first row of a list, or nil if it is empty.
func firstOf(rows []any) any {
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

// usage returns the placeholders of the arguments, each with a space before it.
func (a arguments) usage() string {
	var text strings.Builder
	for _, arg := range a {
		text.WriteString(" " + arg.label())
	}
	return text.String()
}
