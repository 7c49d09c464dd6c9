package pve

import (
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// vouching is how many older tasks are asked for to see how far back a node's archive goes.
const vouching = 5

// archived is from when on a page of a node's list is complete, as its own rows tell: a page begins with what runs and goes on
// with what ended, last first, so that neither the limit nor the archive's rotation has taken away what ended later than a task
// of the page. What began after that task's end did end later, or runs. Zero when no task of the page has ended.
func archived(tasks []hypervisor.Task) (since time.Time) {
	for _, t := range tasks {
		if !t.Ended.IsZero() {
			since = earlier(since, t.Ended.Add(archiving))
		}
	}
	return since
}

// earlier is the earlier of two times, of which the zero one does not count.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
