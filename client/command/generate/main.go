// Command generate writes the manual pages of the program hostler, and docs/hostler.md, from its commands. It runs in the folder of the
// package command.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/hostler/hostler/client/command"
	"github.com/hostler/hostler/client/output"
)

const (
	manual   = "../../updater/packaging/man"
	document = "../../docs/hostler.md"
)

func main() {
	_ = os.Unsetenv("HOSTLER_CONTEXT") // the default of a flag
	if err := run(manual, document); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run writes both. Pages of commands that are gone are removed.
func run(manual, document string) error {
	root := command.New("", strings.NewReader(""), &output.Screen{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}})
	root.DisableAutoGenTag = true
	old, err := filepath.Glob(filepath.Join(manual, "hostler-*.1"))
	if err != nil {
		return err
	}
	for _, page := range append(old, filepath.Join(manual, "hostler.1")) {
		if filepath.Base(page) != "hostler-console.1" { // another program's
			if err := os.Remove(page); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
	}
	// Without a date, so that the same commands give the same pages.
	if err := pages(root, manual); err != nil {
		return err
	}
	var text bytes.Buffer
	text.WriteString("# The commands of hostler\n\nGenerated from the program: `hostler COMMAND --help` says the same. " +
		"[Five minutes](five-minutes.md) shows it at work.\n\n")
	if err := describe(&text, root); err != nil {
		return err
	}
	return os.WriteFile(document, append(bytes.TrimRight(text.Bytes(), "\n"), '\n'), 0o644)
}

// pages writes a manual page for each noun, and one for the program; those of single verbs say no more than the noun's.
func pages(root *cobra.Command, dir string) error {
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		if !c.IsAvailableCommand() && c != root || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		var page bytes.Buffer
		if err := doc.GenMan(c, &doc.GenManHeader{Section: "1", Source: "Hostler", Manual: "Hostler"}, &page); err != nil {
			return err
		}
		text := withoutDate(page.String())
		if c != root && c.HasSubCommands() {
			text = withVerbs(text, c)
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// withoutDate takes the month out of a page's title, which would be that of its making.
func withoutDate(page string) string {
	lines := strings.SplitAfter(page, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".TH ") {
			parts := strings.Split(line, `"`)
			if len(parts) > 5 {
				parts[5] = ""
			}
			lines[i] = strings.Join(parts, `"`)
		}
	}
	return strings.Join(lines, "")
}

// withVerbs puts the noun's verbs with their flags before what else to see.
func withVerbs(page string, noun *cobra.Command) string {
	var verbs strings.Builder
	verbs.WriteString(".SH COMMANDS\n")
	for _, c := range noun.Commands() {
		if c.Name() == "help" {
			continue
		}
		fmt.Fprintf(&verbs, ".SS %q\n%s\n", roff(c.UseLine()), roff(c.Long))
		if flags := strings.TrimRight(c.LocalFlags().FlagUsages(), "\n"); flags != "" {
			fmt.Fprintf(&verbs, ".PP\n.nf\n%s\n.fi\n", roff(flags))
		}
		if c.Example != "" {
			fmt.Fprintf(&verbs, ".PP\nFor example:\n.PP\n.nf\n%s\n.fi\n", roff(c.Example))
		}
	}
	before, after, found := strings.Cut(page, ".SH SEE ALSO\n")
	if !found {
		return page + verbs.String()
	}
	_ = after // the verbs, which have no pages
	return before + verbs.String() + ".SH SEE ALSO\n\\fBhostler\\fP(1)\n"
}

// roff escapes what a manual page would read as its own.
func roff(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\e`), "-", `\-`)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
		if line == "" {
			lines[i] = ".sp"
		}
	}
	return strings.Join(lines, "\n")
}

// describe writes a command and those below it as Markdown.
func describe(out *bytes.Buffer, c *cobra.Command) error {
	if c.Name() == "help" || c.Name() == "completion" {
		return nil
	}
	switch level := strings.Count(c.CommandPath(), " "); level {
	case 0:
	case 1:
		fmt.Fprintf(out, "## %s\n\n", c.CommandPath())
	default:
		fmt.Fprintf(out, "### %s\n\n", c.CommandPath())
	}
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	fmt.Fprintf(out, "```\n%s\n```\n\n", strings.TrimRight(text, "\n"))
	if c.Runnable() && !c.HasSubCommands() {
		fmt.Fprintf(out, "```\n%s\n\n%s```\n\n", c.UseLine(), c.LocalFlags().FlagUsages())
	}
	if c.Example != "" {
		fmt.Fprintf(out, "```sh\n%s\n```\n\n", c.Example)
	}
	for _, below := range c.Commands() {
		if err := describe(out, below); err != nil {
			return err
		}
	}
	return nil
}
