package firewall

import (
	"context"
	"time"
)

// Bounds of one answer of a log: lines, where a query sets no limit and at most, and bytes of a line, which is cut there.
const (
	DefaultLogLines = 500
	MaxLogLines     = 2000
	MaxLogLine      = 4096
)

// LogQuery is a window of a log.
type LogQuery struct {
	// Start is how many lines are left out at the beginning; Limit the most lines, 0 for DefaultLogLines, and never more than MaxLogLines.
	// A negative one is Invalid with the field "start" or "limit".
	Start, Limit int
	// Since and Until, where they are not zero, leave out lines of other times, to the second. Start counts what is left.
	Since, Until time.Time
}

// Check refuses a negative Start or Limit.
func (q LogQuery) Check() error {
	switch {
	case q.Start < 0:
		return Invalid("start", "it must not be negative")
	case q.Limit < 0:
		return Invalid("limit", "it must not be negative")
	}
	return nil
}

// Lines is the limit that holds.
func (q LogQuery) Lines() int {
	if q.Limit <= 0 {
		return DefaultLogLines
	}
	return min(q.Limit, MaxLogLines)
}

// Log is a window of a log.
type Log struct {
	Lines []LogLine
	// Total is how many lines the query has without its Start and Limit; -1 where the backend does not know.
	Total int
}

// LogLine is one line.
type LogLine struct {
	// N counts from 1 within the query's times. A log that was begun anew counts from 1 again.
	N    int
	Text string
	// Entry is what the backend understands of the line; nil where it knows no such line, and for the hypervisor's own remarks.
	Entry *LogEntry
}

// LogEntry is what a line tells of a packet. What it does not say is empty.
type LogEntry struct {
	Time time.Time
	// Guest is the id of the guest that it is about, as of Guest.ID; empty for the node itself.
	Guest string
	// Scope is the kind of scope whose rules wrote the line: of a node, whose list has those of the cluster too, of a guest, or of a group.
	// Group is the name of that group.
	Scope ScopeKind
	Group string
	// Level is one of the words in which rules have it.
	Level string
	// Chain is what the backend calls the list of rules, Direction DirectionIn, DirectionOut or DirectionForward where that is known.
	Chain, Direction string
	Action           string
	Protocol         string
	// Source and Destination are addresses, without ports.
	Source, Destination         string
	SourcePort, DestinationPort string
	// InterfaceIn and InterfaceOut are where the packet came in and would go out.
	InterfaceIn, InterfaceOut string
}

// LogReader is satisfied by firewalls that have a log. Needs the Monitoring capability, and for the log of a guest the Console capability
// where there is a credential for it; where the credential may not read logs the answer is Denied and names what is missing.
type LogReader interface {
	// Log reads a window of the log of a scope, oldest first. A log that was never written is one without lines.
	Log(ctx context.Context, scope Scope, query LogQuery) (Log, error)
}
