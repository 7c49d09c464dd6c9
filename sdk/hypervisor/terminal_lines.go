package hypervisor

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/hostler/hostler/sdk/plugin"
)

// Sequences by which programs colour text and move the cursor (ECMA-48 sections
// 5.3 and 5.4): those with parameters, strings to their end, and short ones. A
// string that does not end goes on to the end of its line.
var sequences = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]`)

// flat makes one of the characters that look alike, and takes away those that are not seen.
var flat = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u00a0", " ", "\t", " ",
	"\u2010", "-", "\u2011", "-", "\u00ad", "", "\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "", "\ufeff", "")

// isTableRule is a line of a table that has nothing in it.
var isTableRule = regexp.MustCompile(`^[ +|=~-]*$`)

// TerminalLines are the lines of what was copied from a terminal without what a
// terminal, a shell or the way here has added: colours and movements of the
// cursor, the borders of tables and windows, continuation prompts and marks of
// quotation, spaces at the ends and characters that are not seen. Empty lines
// stay: they end what may go on in the next line.
func TerminalLines(copied plugin.Secret) []string {
	var lines []string
	for line := range strings.SplitSeq(flat.Replace(sequences.ReplaceAllLiteralString(string(copied), "")), "\n") {
		lines = append(lines, bare(line))
	}
	return lines
}

// bare is one line without its borders and prompts.
func bare(line string) string {
	line = strings.Map(func(r rune) rune {
		switch {
		case r >= 0x2500 && r <= 0x259f: // lines and blocks that borders are drawn with
			return '|'
		case r == ' ' || unicode.IsPrint(r):
			return r
		}
		return -1
	}, line)
	if isTableRule.MatchString(line) {
		return ""
	}
	line = strings.Trim(line, " |")
	for strings.HasPrefix(line, ">") {
		line = strings.TrimLeft(line[1:], " |")
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(line, " | ", " ")), " ")
}
