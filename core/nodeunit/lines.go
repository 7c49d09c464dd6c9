package nodeunit

import (
	"bytes"
	"regexp"
	"strings"
)

// maxLine is how long a line without an end becomes before it is taken as one, in bytes.
const maxLine = 64 << 10

// Lines cuts what a run prints into lines, for a transcript. It is the writer for Follow. It is closed when the run is final.
type Lines struct {
	// Take gets a line: how many bytes of the output it is, and what a terminal would have shown in its place, one after the other, without
	// what colours it or moves the cursor; nothing for an empty one.
	Take func(size int64, shown []string)
	// Keep is called when the lines of a write were taken, and before it returns: what was taken is to be kept then. Its error is the
	// write's.
	Keep func() error

	rest []byte
}

// Write implements io.Writer.
func (l *Lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		at := bytes.IndexByte(l.rest, '\n')
		if at < 0 && len(l.rest) < maxLine {
			break
		}
		if at < 0 {
			at = maxLine - 1
		}
		l.take(l.rest[:at+1])
		l.rest = l.rest[at+1:]
	}
	l.rest = bytes.Clone(l.rest) // so that the lines before can be freed
	if err := l.Keep(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close takes what is left without an end of its line.
func (l *Lines) Close() error {
	l.take(l.rest)
	l.rest = nil
	return l.Keep()
}

// sequences are those by which programs colour text and move the cursor (ECMA-48 sections 5.3 and 5.4).
var sequences = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]`)

func (l *Lines) take(line []byte) {
	var shown []string
	for text := range strings.SplitSeq(sequences.ReplaceAllLiteralString(strings.ToValidUTF8(string(line), "?"), ""), "\r") {
		if text = strings.TrimRight(text, " \t\n"); text != "" {
			shown = append(shown, text)
		}
	}
	l.Take(int64(len(line)), shown)
}
