package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/api"
	"github.com/hostler/hostler/client/output"
)

// noun is a group of commands.
type noun struct {
	name    string
	aliases []string
	short   string
	verbs   []verb
	// more are commands of its own kind.
	more func(s *session) []*cobra.Command
}

// verb is a command that is one operation of the API.
type verb struct {
	name    string
	aliases []string
	// op is the operation's id; appOp that of apps, where the thing is a guest and op that of VMs.
	op, appOp string
	// args are what the arguments stand for, with spaces between: the name of a
	// path's parameter, behind a colon the kind of thing that it names
	// (resolve.go); with + before it, a field of the body. The last one may end
	// in ... and be given several times.
	args string
	// path are parameters that are always the same, and body fields.
	path map[string]string
	body map[string]any
	// columns are those of a list (output.Columns); empty shows one thing by its fields.
	columns string
	// short stands in the place of the operation's summary; example is a line
	// without the program's name.
	short, example string
}

// act is what the command line says of a verb.
type act struct {
	fields *fieldFlags
	// Of what changes something.
	plan, wait      bool
	confirm, digest string
	timeout         time.Duration
	bodyFile        string
	// Of lists.
	watch    bool
	interval time.Duration
	limit    int
}

// nounCommand makes the command of a noun with one command for each verb.
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
// lists them. It refuses an unknown command.
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

// verbCommand makes the command of one verb from the description of its
// operation: flags of the body's fields and of the query, and --wait, --plan
// and --confirm where the operation knows them. So a new field of the API has a
// flag with the next build.
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

// target is an operation with everything that it needs.
type target struct {
	op    *api.Operation
	path  string
	query url.Values
	body  map[string]any
	// label is what the argument named, for what is said about it.
	label string
	// columns are the columns of a table, for responses that are lists.
	columns string
}

// run makes the request of a command. The body is put together in this order,
// and the later wins: the file of --body, what the verb sets, the arguments,
// the flags.
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
	t := target{op: op, path: op.Expand(values.path), query: url.Values{}, body: map[string]any{}, label: values.label, columns: v.columns}
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

// list shows rows as a table.
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
	s.screen.Table(output.Columns(columns), rows)
}

// firstOf gives the first row, or nil.
func firstOf(rows []any) any {
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

// usage is how the arguments are written.
func (a arguments) usage() string {
	var text strings.Builder
	for _, arg := range a {
		text.WriteString(" " + arg.label())
	}
	return text.String()
}
