package pve

import (
	"context"
	"regexp"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

var (
	// errorWords match a line of a log that reports an error.
	errorWords = regexp.MustCompile(`(?i)\b(?:error|fatal|fail(?:ed|ure)?|cannot|can't|could not|unable|denied|refused|timed out|timeout|` +
		`aborted|does not exist|no such|not (?:running|found|available)|no space left)\b`)
	// noCause matches lines with such words that report no cause: the end of
	// the log, which the task's status repeats, addresses, and actions after a
	// failure.
	noCause = regexp.MustCompile(`^TASK |^downloading |^INFO: (?:Failed at |Backup job finished )|could not notify|starting cleanup$`)
	// unexplained matches the end of a line whose cause is in the line before
	// it.
	unexplained = regexp.MustCompile(`(?:check log|exit code \d+|Broken pipe)$`)
	// logStamp is the timestamp with which lines of migrations and of wget
	// begin.
	logStamp = regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d `)
	// urlQuery is an address with a query, which may be a secret.
	urlQuery = regexp.MustCompile(`(https?://[^\s?'"]+)\?[^\s'"]*`)
	// longCommand is a failed command in quotes.
	longCommand = regexp.MustCompile(`command '([^\n]{60,})' failed`)
)

// These limit the texts that are taken from a log.
const (
	// maxCause is how much of a line of a log is told, and maxCommand how much
	// of a command, in bytes.
	maxCause   = 300
	maxCommand = 40
)

// noRoom is the text with which tools report a full storage.
const noRoom = "No space left on device"

// taskCause finds in a task's log why the task failed. Many tasks end only with
// "job errors" or "exit code 8".
type taskCause struct {
	// last is the last line that tells of an error, before the one before it,
	// and full the last one of a storage that is full.
	last, before, full string
}

// read remembers a line of the log that explains a failure. The status of a
// task often says no more than "command failed"; the reason is in its log.
func (c *taskCause) read(line string) {
	line = strings.TrimSpace(line)
	if !errorWords.MatchString(line) || noCause.MatchString(line) {
		return
	}
	line = strings.TrimPrefix(logStamp.ReplaceAllString(line, ""), "INFO: ")
	line = cut(shortCommand(strings.TrimPrefix(line, "ERROR: ")), maxCause)
	if line != c.last {
		c.last, c.before = line, c.last
	}
	if strings.Contains(line, noRoom) {
		c.full = line
	}
}

// of adds the cause to the text with which a task failed.
func (c *taskCause) of(text string) string {
	text = shortCommand(text)
	causes := []string{c.last, c.full}
	if unexplained.MatchString(c.last) {
		causes = []string{c.last, c.before, c.full}
	}
	for _, cause := range causes {
		switch {
		case strings.Contains(text, cause):
		case strings.Contains(cause, text):
			text = cause
		default:
			text = strings.TrimSuffix(text, ".") + ": " + cause
		}
	}
	return text
}

// taskCause adds the cause in the log of a task to the text with which it
// failed. If the log cannot be read, the text stays.
func (h *Host) taskCause(ctx context.Context, u upid, text string) string {
	var cause taskCause
	log, _, err := h.readLog(ctx, u, hypervisor.LogQuery{Limit: logWindow})
	if err != nil {
		return text
	}
	for _, l := range log.Lines {
		cause.read(l.Text)
	}
	return cause.of(text)
}

// shortCommand shortens the commands that a text reports as failed, because the
// cause follows them, and removes the queries of addresses.
func shortCommand(text string) string {
	text = urlQuery.ReplaceAllString(text, "$1")
	found := longCommand.FindStringSubmatchIndex(text)
	if found == nil {
		return text
	}
	return text[:found[2]] + strings.ToValidUTF8(text[found[2]:found[2]+maxCommand], "") + "…" + text[found[3]:]
}
