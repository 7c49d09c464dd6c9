package install

import (
	"bytes"
	"regexp"
	"strings"
)

// maxLine is how long a line without an end becomes before it is taken as one, in bytes.
const maxLine = 64 << 10

// output is what is known of what the scripts have printed.
type output struct {
	// Offset is how many bytes are in the transcript.
	Offset int64 `json:"offset"`
	// Done says that they have said they are done, and Share how far they were, from 0 to 1.
	Done  bool    `json:"done,omitempty"`
	Share float64 `json:"share,omitempty"`
	// URL is the last address that they have printed, after that where they say that they are done.
	URL string `json:"url,omitempty"`
}

// reader takes the output line by line into the transcript. Its writes are kept before they return.
type reader struct {
	w *work
	// next is the offset of what comes next, and rest what has come of a line that has no end yet.
	next int64
	rest []byte
}

func newReader(w *work) *reader { return &reader{w: w, next: w.Offset} }

// Write implements io.Writer.
func (r *reader) Write(p []byte) (int, error) {
	r.rest = append(r.rest, p...)
	for {
		at := bytes.IndexByte(r.rest, '\n')
		if at < 0 && len(r.rest) < maxLine {
			break
		}
		if at < 0 {
			at = maxLine - 1
		}
		r.take(r.rest[:at+1])
		r.rest = r.rest[at+1:]
	}
	r.rest = bytes.Clone(r.rest) // so that the lines before can be freed
	if err := r.w.save(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// close takes what is left without an end of its line.
func (r *reader) close() error {
	r.take(r.rest)
	r.rest = nil
	return r.w.save()
}

// sequences are those by which programs colour text and move the cursor (ECMA-48 sections 5.3 and 5.4).
var sequences = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]`)

var address = regexp.MustCompile(`https?://[^\s"'<>` + "`" + `]+`)

// take takes one line. What a terminal would show in its place one after the other is as many lines; of them the last is told.
func (r *reader) take(line []byte) {
	w := r.w
	w.Offset += int64(len(line))
	shown := ""
	for text := range strings.SplitSeq(sequences.ReplaceAllLiteralString(strings.ToValidUTF8(string(line), "?"), ""), "\r") {
		if text = strings.TrimRight(text, " \t\n"); text == "" {
			continue
		}
		shown = text
		for _, s := range w.Launch.Steps {
			if strings.Contains(text, s.Text) && s.Progress > w.Share {
				w.Share = s.Progress
				w.run.Share(w.Share)
			}
		}
		if w.Launch.Succeeded != "" && strings.Contains(text, w.Launch.Succeeded) {
			w.Done = true
		}
		if found := address.FindAllString(text, -1); len(found) > 0 && (w.Done || w.Launch.Succeeded == "") {
			w.URL = w.hidden(found[len(found)-1])
		}
	}
	if shown != "" {
		w.run.Log(shown)
	}
}
