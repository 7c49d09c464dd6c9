package firewall

import (
	"context"
	"time"
)

// Limits of a log request: lines if the query sets no limit, lines at most, and
// bytes of a line, which is cut there.
const (
	DefaultLogLines = 500
	MaxLogLines     = 2000
	MaxLogLine      = 4096
)

// LogQuery selects a window of a log.
type LogQuery struct {
	// Start is the number of lines to skip at the beginning. Limit is the largest
	// number of lines: 0 means DefaultLogLines, and more than MaxLogLines counts as
	// MaxLogLines. A negative value is Invalid with the field "start" or "limit".
	Start, Limit int
	// Since and Until select lines of a period, to the second, unless they are
	// zero. Start counts the selected lines.
	Since, Until time.Time
}

// Check returns Invalid for a negative Start or Limit.
func (q LogQuery) Check() error {
	switch {
	case q.Start < 0:
		return Invalid("start", "it must not be negative")
	case q.Limit < 0:
		return Invalid("limit", "it must not be negative")
	}
	return nil
}

// Lines returns the effective limit.
func (q LogQuery) Lines() int {
	if q.Limit <= 0 {
		return DefaultLogLines
	}
	return min(q.Limit, MaxLogLines)
}

// Log is a window of a log.
type Log struct {
	Lines []LogLine
	// Total is the number of lines in the period, regardless of Start and Limit. It
	// is -1 if the backend does not know.
	Total int
}

// LogLine is one line.
type LogLine struct {
	// N is the number of the line within the period, from 1. It starts at 1 again
	// if the log was rotated.
	N    int
	Text string
	// Entry is the parsed line. It is nil for lines that the backend does not
	// understand, and for remarks of the hypervisor.
	Entry *LogEntry
}

// LogEntry is what a line says about a packet. Missing parts are empty.
type LogEntry struct {
	Time time.Time
	// Guest is the ID of the guest, as in Guest.ID. It is empty for the node
	// itself.
	Guest string
	// Scope is the kind of scope whose rule wrote the line: a node (which also has
	// the rules of the cluster), a guest or a group. Group is the name of that
	// group.
	Scope ScopeKind
	Group string
	// Level is the log level in the words of rules.
	Level string
	// Chain is the backend's name of the list of rules. Direction is DirectionIn,
	// DirectionOut or DirectionForward if known.
	Chain, Direction string
	Action           string
	Protocol         string
	// Source and Destination are addresses without ports.
	Source, Destination         string
	SourcePort, DestinationPort string
	// InterfaceIn and InterfaceOut are the interfaces through which the packet came
	// in and would leave.
	InterfaceIn, InterfaceOut string
}

// LogReader is implemented by firewalls that have a log. It needs the Monitoring
// capability. The log of a guest needs the Console capability if there is a
// credential for it. A credential that may not read the log gets Denied with the
// missing privileges.
type LogReader interface {
	// Log reads a window of the log of a scope, oldest line first. A log that was
	// never written has no lines.
	Log(ctx context.Context, scope Scope, query LogQuery) (Log, error)
}
