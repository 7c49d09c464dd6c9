package install

import (
	"regexp"
	"strings"

	"github.com/hostler/hostler/core/nodeunit"
)

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

var address = regexp.MustCompile(`https?://[^\s"'<>` + "`" + `]+`)

// lines takes the output into the transcript.
func (w *work) lines() *nodeunit.Lines { return &nodeunit.Lines{Take: w.take, Keep: w.save} }

// take takes one line. What a terminal would show in its place one after the other is as many lines; of them the last is told.
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
