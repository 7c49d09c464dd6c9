package pve

import (
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// vouching is the number of older tasks that are read to find out how far back
// a node's archive reaches.
const vouching = 5

// archived returns the time since which a page of a node's list is complete, as
// its own rows show. A page begins with the running tasks and continues with
// the ended ones, the last ended first. So neither the limit nor the rotation
// of the archive has removed a task that ended later than one on the page, and
// a task that began after that end either ended later or runs. The result is
// zero if no task of the page has ended.
func archived(tasks []hypervisor.Task) (since time.Time) {
	for _, t := range tasks {
		if !t.Ended.IsZero() {
			since = earlier(since, t.Ended.Add(archiving))
		}
	}
	return since
}

// earlier returns the earlier of two times; the zero time does not count.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
