// Command generate writes the manual pages of the program hostler and the
// document docs/hostler.md from the tree of commands. It runs in the folder of
// the package command, by go generate. The output only depends on the commands:
// it contains no date, so the same commands give the same files and a check can
// compare them.
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
	// manual is the folder of the manual pages, and document is the path of the
	// Markdown document, both relative to the package command.
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

// run writes the manual pages and the document. It removes the pages of
// commands that no longer exist, but keeps the page of hostler-console, which
// is another program.
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

// pages writes a manual page for the program and one for each noun. Verbs have
// no pages of their own: their noun's page contains them.
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

// withoutDate removes the date from the title line of a page. cobra always
// writes the current month there, which would change the files each month.
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

// withVerbs inserts the verbs of a noun with their flags and examples before
// the section SEE ALSO. It also replaces that section, because cobra refers to
// pages of the verbs, which do not exist.
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

// roff escapes a text for a manual page: backslashes, hyphens, which troff
// would typeset as other characters than a minus, and lines that begin with a
// dot or an apostrophe, which troff reads as requests. An empty line becomes a
// vertical space.
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

// describe writes a command and the commands below it as Markdown. The depth of
// the command determines the level of its heading.
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
