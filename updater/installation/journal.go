package installation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

// Event is what a journal's line says of a step.
type Event string

// The events.
const (
	EventBegun  Event = "begun"
	EventEnded  Event = "ended"
	EventFailed Event = "failed"
)

// Line is one line of the journal. It holds no secret: anyone on the machine may read it.
type Line struct {
	At    time.Time `json:"at"`
	Run   string    `json:"run"`
	Step  Step      `json:"step"`
	Event Event     `json:"event"`
	// Text says more, such as why a step failed.
	Text string `json:"text,omitempty"`
	Plan *Plan  `json:"plan,omitempty"`
}

// Plan is what a run is about. To is known once the manifest was read.
type Plan struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Request is the id of the request that asked for the run; empty when it was started by hand.
	Request string `json:"request,omitempty"`
	// DryRun tells that the run ends before anything changes.
	DryRun bool `json:"dry_run,omitempty"`
	// Revert tells that the run takes an update back which went well, because somebody wants that.
	Revert bool `json:"revert,omitempty"`
}

// maxWords bounds a text that the updater tells, in bytes: a line of the journal must be far smaller than what is read of it.
const maxWords = 4 << 10

// PrintableText is a text for everybody, such as an error that quotes what a program or a server has said: one line of up to 4 KiB,
// without what a terminal would take for an order.
func PrintableText(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, "?"))
	if len(text) > maxWords {
		const more = "…"
		text = strings.ToValidUTF8(text[:maxWords-len(more)], "") + more
	}
	return text
}

// Journal is the path of the journal in the updater's state folder.
func Journal(stateDir string) string { return filepath.Join(stateDir, "journal.jsonl") }

// maxTail bounds how much of a journal is read, in bytes. The journal is kept for ever; nobody needs more than its end.
const maxTail = 1 << 20

// ReadJournal reads the end of the journal, whole lines of up to 1 MiB together. A journal that is not there is empty.
// Lines that cannot be read are left out, but for the last: nobody can say then how the last run stands.
func ReadJournal(path string) ([]Line, error) {
	text, cut, err := readTail(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	rows := bytes.SplitAfter(text, []byte("\n"))
	if cut {
		rows = rows[1:]
	}
	var lines []Line
	var damaged error
	for _, row := range rows {
		if !bytes.HasSuffix(row, []byte("\n")) {
			break // half a line: it is being written, or a power cut ended it
		}
		var line Line
		if damaged = json.Unmarshal(row, &line); damaged == nil {
			lines = append(lines, line)
		}
	}
	if damaged != nil {
		return nil, fmt.Errorf("the last line of the journal %s is damaged (%w): check what the run before it has done, remove the "+
			"line, and resume", path, damaged)
	}
	return lines, nil
}

// readTail also says whether there is more before what it returns.
func readTail(path string) (text []byte, cut bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	from := max(0, info.Size()-maxTail)
	text, err = io.ReadAll(io.NewSectionReader(f, from, maxTail))
	return text, from > 0, err
}
