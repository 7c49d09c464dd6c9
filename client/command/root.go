// Package command implements the commands of the program hostler. A command
// line is a noun, a verb and arguments.
//
// Most commands are rows of a table (nouns.go): a verb names the operation of
// the API that it calls, the kinds of its arguments, and the fields of the
// response that a table shows. The generated package client/api describes the
// operations, so flags, help texts and the flags --wait, --plan and --confirm
// follow from the API's document. A new field of the API gets a flag with the
// next build. Commands that transfer files or open a terminal are written by
// hand (console.go, transfer.go).
//
// The path of a request through the package:
//
//	verbCommand -> run -> resolveArguments (names to IDs)
//	            -> take (flags to query and body)
//	            -> show     for a GET: pages, answer
//	            -> change   otherwise: plan, phrase, send, result, followToEnd
//
// Every error has an exit status (status.go), and scripts rely on it.
package command

//go:generate go run ./generate

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hostler/hostler/client/output"
	"github.com/hostler/hostler/client/transport"
)

// session is one run of the program. It contains the flags that every command
// has, and the connection, which is created on first use. Commands run one at a
// time, so nothing in it is locked.
type session struct {
	version string
	in      io.Reader
	screen  *output.Screen

	// What the flags of every command say.
	contextName string
	format      string
	json        bool
	jq          string
	columns     string
	quiet       bool

	// maxListing is the maximum size of the pages of one list together, in
	// bytes. The constant maxListing applies if it is zero. Tests set it.
	maxListing int

	client *transport.Client
	// known is the name of the context that client was created from. It is part
	// of the key of the cache for completion.
	known string
}

// long is the help of the root command. The manual page and docs/hostler.md are
// generated from it.
const long = `hostler controls a Hostler service from the command line.

Log in once. A command is a noun and a verb. Objects are given by name or ID; write a name that is a number as name:100.

  hostler login https://hostler.example.org
  hostler vm list
  hostler vm start web-1 --wait
  hostler api GET /api/v1/settings

Operations that take time are jobs: --wait follows the job, and the exit status reports its result. Destructive commands show their plan
and ask for a phrase. --confirm gives the phrase in scripts, and --plan only shows the plan.

` + statusTable

// New returns the root command with all its commands. in is standard input, for
// questions, bodies and secrets. The version is sent in the User-Agent. Each
// call returns a new tree with its own session; a tree can run only one command
// line, because flags keep their values.
func New(version string, in io.Reader, screen *output.Screen) *cobra.Command {
	s := &session{version: version, in: in, screen: screen}
	root := &cobra.Command{
		Use: "hostler", Short: "Manage hosts, VMs and apps from the command line", Long: long, Version: version,
		SilenceUsage: true, SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return s.check() },
	}
	root.SetOut(screen.Out)
	root.SetErr(screen.Err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(c, err) })
	flags := root.PersistentFlags()
	flags.StringVar(&s.contextName, "context", os.Getenv("HOSTLER_CONTEXT"),
		"name of the context to use (HOSTLER_CONTEXT)")
	flags.StringVarP(&s.format, "output", "o", "", "format of the response: json, yaml, name (one name per line), or wide (all fields)")
	flags.BoolVar(&s.json, "json", false, "the same as --output json")
	flags.StringVar(&s.jq, "jq", "", "filter the response with a jq program")
	flags.StringVar(&s.columns, "columns", "", "fields to show in a list, such as id,name,node")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "print only the response")
	_ = root.RegisterFlagCompletionFunc("context", func(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return s.completeContexts(c, nil, word)
	})
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	root.AddCommand(s.loginCommand(), s.logoutCommand(), s.whoamiCommand(), s.contextCommand(), s.apiCommand(), s.inventoryCommand(),
		s.searchCommand())
	for _, n := range nouns {
		root.AddCommand(s.nounCommand(n))
	}
	return root
}

// Run executes a command line and returns the exit status (see the statuses in
// status.go). It prints the error on the screen's Err with the name of the
// program. If ctx was canceled by Ctrl-C, the status is 130 and nothing is
// printed, because the user knows why the command ended.
func Run(ctx context.Context, root *cobra.Command, screen *output.Screen, args []string) int {
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	screen.Done()
	if err == nil {
		return statusDone
	}
	status, text := explain(err)
	if ctx.Err() != nil {
		status, text = statusInterrupted, ""
	}
	if text != "" {
		_, _ = fmt.Fprintln(screen.Err, "hostler: "+output.Clean(text))
	}
	return status
}

// check refuses combinations of global flags, and an invalid jq program, before
// any request is sent. Without that, a typo in --jq would only show after the
// operation was performed.
func (s *session) check() error {
	if s.format != "" && !slices.Contains(formats, s.format) {
		return &failure{statusUsage, fmt.Sprintf("invalid value for --output: %q; use json, yaml, name or wide", s.format)}
	}
	if s.format != "" && (s.jq != "" || s.json && s.format != formatJSON) {
		return &failure{statusUsage, "--output cannot be combined with --json or --jq"}
	}
	s.json = s.json || s.format == formatJSON
	if s.columns != "" && (s.machine() || s.format != "") {
		return &failure{status: statusUsage, text: "--columns cannot be combined with --output, --json or --jq: it is for tables"}
	}
	if s.jq != "" {
		if _, err := output.Compile(s.jq); err != nil {
			return &failure{status: statusUsage, text: err.Error()}
		}
	}
	return nil
}

// machine reports whether a program reads the result. Then hints for people are
// left out.
func (s *session) machine() bool {
	return s.json || s.jq != "" || s.format == formatYAML || s.format == formatName
}

// These are the values of --output; without it, the result is a table or a list
// of fields.
const (
	formatJSON = "json"
	formatYAML = "yaml"
	formatName = "name"
	formatWide = "wide"
)

var formats = []string{formatJSON, formatYAML, formatName, formatWide}

// say prints a message for people on standard error, unless --quiet was given.
func (s *session) say(format string, args ...any) {
	if !s.quiet {
		s.screen.Say(format, args...)
	}
}

// asks reports whether a person can be asked: standard input and standard error
// must both be terminals.
func (s *session) asks() bool {
	file, ok := s.in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && s.screen.ErrTerminal
}

// ask prints a question and reads a line. Without a person it prints nothing
// and reads the line from standard input, so that scripts can pipe an answer.
// It returns statusInterrupted on Ctrl-C.
func (s *session) ask(ctx context.Context, question string) (string, error) {
	if s.asks() {
		s.screen.PrintErr(output.Clean(question))
	}
	return typed(ctx, func() (string, error) { return readLine(s.in) })
}

// askHidden is ask for a password: the terminal does not echo what is typed. It
// restores the state of the terminal even if Ctrl-C ends the question;
// otherwise the shell would stay without echo.
func (s *session) askHidden(ctx context.Context, question string) (string, error) {
	file, ok := s.in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return typed(ctx, func() (string, error) { return readLine(s.in) })
	}
	before, err := term.GetState(int(file.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { // also when Ctrl-C has ended the question
		_ = term.Restore(int(file.Fd()), before)
		s.screen.PrintErr("\n")
	}()
	s.screen.PrintErr(output.Clean(question))
	return typed(ctx, func() (string, error) {
		text, err := term.ReadPassword(int(file.Fd()))
		return string(text), err
	})
}

// typed reads from a terminal until ctx ends. A blocked read cannot be
// canceled, so it runs in a goroutine that is abandoned; the process exits soon
// after.
func typed(ctx context.Context, read func() (string, error)) (string, error) {
	type line struct {
		text string
		err  error
	}
	done := make(chan line, 1)
	go func() {
		text, err := read()
		done <- line{text, err}
	}()
	select {
	case l := <-done:
		return l.text, l.err
	case <-ctx.Done():
		return "", &failure{status: statusInterrupted}
	}
}

// maxLine is the maximum length of a line that is typed or piped, in bytes. It
// is long, because a line can be the pasted output of a script.
const maxLine = 64 << 10

// readLine reads a line byte by byte. A buffered reader would read ahead, and
// the next question, or a body from standard input, would miss these bytes. A
// last line without a line feed is accepted.
func readLine(in io.Reader) (string, error) {
	var line strings.Builder
	one := make([]byte, 1)
	for line.Len() < maxLine {
		n, err := in.Read(one)
		if n == 1 && one[0] == '\n' {
			break
		}
		line.Write(one[:n])
		if err == io.EOF && line.Len() > 0 {
			break
		}
		if err != nil {
			return "", fmt.Errorf("cannot read the input: %w", err)
		}
	}
	return strings.TrimSuffix(line.String(), "\r"), nil
}

// answer prints a response: filtered with --jq, as JSON or YAML, as names, or
// otherwise with show, which gets the parsed value. show is not called for
// programs.
func (s *session) answer(ctx context.Context, body []byte, show func(value any)) error {
	switch {
	case s.jq != "":
		query, err := output.Compile(s.jq)
		if err != nil {
			return err
		}
		text, err := query.Run(ctx, body, s.screen.Columns > 0)
		s.screen.Print(string(text))
		return err
	case s.json:
		text, err := output.JSON(body, s.screen.Columns > 0)
		s.screen.Print(string(text))
		return err
	}
	if s.format == formatYAML {
		text, err := output.YAML(body)
		s.screen.Print(string(text))
		return err
	}
	value, err := output.Parse(body)
	if err != nil {
		return err
	}
	if s.format == formatName {
		rows, ok := value.([]any)
		if !ok {
			rows = []any{value}
		}
		for _, row := range rows {
			s.screen.Print(nameOf(row) + "\n")
		}
		return nil
	}
	show(value)
	return nil
}

// nameOf returns what the command line calls an object: its name, or its ID if
// it has none.
func nameOf(row any) string {
	for _, field := range []string{"name", "email", "slug", "node", "key", "volid", "id"} {
		if value := output.At(row, field); value != nil && value != "" {
			return output.Show(field, value, time.Time{})
		}
	}
	return "-"
}
