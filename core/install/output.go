package install

import (
	"regexp"
	"strings"

	"github.com/hostler/hostler/core/nodeunit"
)

// output is what was read of the output of the scripts. It is a part of the
// checkpoint.
type output struct {
	// Offset is how many bytes of the output are in the transcript.
	Offset int64 `json:"offset"`
	// Done says that the scripts reported that they are done. Share is the
	// progress from 0 to 1, by the texts that the source defines for it.
	Done  bool    `json:"done,omitempty"`
	Share float64 `json:"share,omitempty"`
	// URL is the last URL in the output. If the source defines a text for
	// success, only URLs after it count.
	URL string `json:"url,omitempty"`
}

var address = regexp.MustCompile(`https?://[^\s"'<>` + "`" + `]+`)

// lines returns what copies the output into the transcript.
func (w *work) lines() *nodeunit.Lines { return &nodeunit.Lines{Take: w.take, Keep: w.save} }

// take handles one line of size bytes. shown are the texts that a terminal
// would show in that line one after the other, such as a progress bar; all are
// searched, and the last one is logged.
func (w *work) take(size int64, shown []string) {
	w.Offset += size
	for _, text := range shown {
		for _, s := range w.Launch.Steps {
			if strings.Contains(text, s.Text) && s.Progress > w.Share {
				w.Share = s.Progress
				w.run.SetProgress(w.Share)
			}
		}
		if w.Launch.Succeeded != "" && strings.Contains(text, w.Launch.Succeeded) {
			w.Done = true
		}
		if found := address.FindAllString(text, -1); len(found) > 0 && (w.Done || w.Launch.Succeeded == "") {
			url, _, _ := strings.Cut(found[len(found)-1], "?") // a query may have a one-time code
			w.URL = w.hidden(url)
		}
	}
	if len(shown) > 0 {
		w.run.Log(shown[len(shown)-1])
	}
}
