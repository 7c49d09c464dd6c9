// Package command is what the program hostler does: a noun, a verb, and what it is about. Most commands are rows of a table (nouns.go):
// the operation of the API that a verb is, what its arguments name, and which fields of its answer are shown. Their flags come from the
// API's document.
package command

//go:generate go run ./generate

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hostler/hostler/client/output"
	"github.com/hostler/hostler/client/transport"
)

// session is one run of the program.
type session struct {
	version string
	in      io.Reader
	screen  *output.Screen

	// What the flags of every command say.
	contextName string
	json        bool
	jq          string
	columns     string
	quiet       bool

	// maxListing bounds the pages of one list together, in bytes; maxListing when zero.
	maxListing int

	client *transport.Client
	// known is the name of the context that client was made from, for what is kept about it.
	known string
}

const long = `hostler controls a Hostler service from the command line.

Log in once. A command is a noun and a verb. Objects are given by name or ID; write a name that is a number as name:100.

  hostler login https://hostler.example.org
  hostler vm list
  hostler vm start web-1 --wait
  hostler api GET /api/v1/settings

Operations that take time are jobs: --wait follows the job, and the exit status reports its result. Destructive commands show their plan
and ask for a phrase. --confirm gives the phrase in scripts, and --plan only shows the plan.

` + statusTable

// New is the whole command. It reads what is typed from in, and writes to the screen.
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
	flags.BoolVar(&s.json, "json", false, "print the response of the API as JSON")
	flags.StringVar(&s.jq, "jq", "", "filter the response with a jq program")
	flags.StringVar(&s.columns, "columns", "", "fields to show in a list, such as id,name,node")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "print only the response")
	_ = root.RegisterFlagCompletionFunc("context", func(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return s.completeContexts(c, nil, word)
	})
	root.AddCommand(s.loginCommand(), s.logoutCommand(), s.whoamiCommand(), s.contextCommand(), s.apiCommand(), s.inventoryCommand(),
		s.searchCommand())
	for _, n := range nouns {
		root.AddCommand(s.nounCommand(n))
	}
	return root
}

// Run executes the command line and gives the exit status.
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

// check refuses flags that do not go together.
func (s *session) check() error {
	if s.columns != "" && (s.json || s.jq != "") {
		return &failure{status: statusUsage, text: "--columns cannot be combined with --json or --jq: it is for tables"}
	}
	if s.jq != "" {
		if _, err := output.Compile(s.jq); err != nil {
			return &failure{status: statusUsage, text: err.Error()}
		}
	}
	return nil
}

// machine says that a program reads what is written.
func (s *session) machine() bool { return s.json || s.jq != "" }

// say tells a person about what happens, unless they want to hear nothing.
func (s *session) say(format string, args ...any) {
	if !s.quiet {
		s.screen.Say(format, args...)
	}
}

// asks says whether somebody is there who can be asked.
func (s *session) asks() bool {
	file, ok := s.in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && s.screen.ErrTerminal
}

// ask reads a line from whoever is there. Without anybody it reads from what is piped in.
func (s *session) ask(ctx context.Context, question string) (string, error) {
	if s.asks() {
		s.screen.PrintErr(output.Clean(question))
	}
	return typed(ctx, func() (string, error) { return readLine(s.in) })
}

// askHidden is ask for what must not be seen.
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

// typed reads what somebody types until Ctrl-C.
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

// maxLine bounds what is typed, in bytes: the output of a script may be pasted as one line.
const maxLine = 64 << 10

// readLine reads one byte at a time, so that nothing of the next line is taken.
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

// answer writes what the API has answered, for a program or for a person, who sees it by show.
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
	value, err := output.Parse(body)
	if err != nil {
		return err
	}
	show(value)
	return nil
}
