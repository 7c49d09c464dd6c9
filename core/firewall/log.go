package firewall

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// LogLine is one line of a firewall's log, as the API shows it. In a line that
// the driver cannot parse everything but n and text is null.
type LogLine struct {
	N           int        `json:"n" example:"17" doc:"Line number within the requested period, from 1"`
	Text        string     `json:"text" doc:"The line, unchanged"`
	Time        *time.Time `json:"time"`
	Guest       *string    `json:"guest" example:"101" doc:"ID of the guest on the hypervisor; null for the node itself"`
	Scope       *string    `json:"scope" enum:"node,guest,group" example:"group" doc:"Scope whose rules wrote the line: node, which includes the rules of the cluster, guest, or group"`
	Group       *string    `json:"group" example:"web" doc:"Name of the security group"`
	Level       *string    `json:"level" example:"info"`
	Chain       *string    `json:"chain" example:"GROUP-web-IN" doc:"Name of the rule chain, as the hypervisor calls it"`
	Direction   *string    `json:"direction" example:"in"`
	Action      *string    `json:"action" example:"DROP"`
	Protocol    *string    `json:"proto" example:"tcp"`
	Source      *string    `json:"source" example:"198.51.100.7"`
	Destination *string    `json:"dest" example:"192.0.2.10"`
	SourcePort  *string    `json:"sport" example:"50514"`
	DestPort    *string    `json:"dport" example:"22"`
	In          *string    `json:"iface_in" example:"vmbr0"`
	Out         *string    `json:"iface_out" example:"tap101i0"`
}

// LogFilter selects lines of a log. Empty fields do not restrict. A line that
// cannot be parsed matches only filters by time.
type LogFilter struct {
	// Start is how many lines of the times are left out at the beginning, and
	// Limit the most that are answered.
	Start, Limit int
	Since, Until time.Time
	// Action and Protocol are compared without regard to case.
	Action, Protocol string
	// Source and Destination are networks that hold the line's address.
	Source, Destination netip.Prefix
}

// LogWindow is a part of a log.
type LogWindow struct {
	Lines []LogLine
	// Total is how many lines the times have, whatever else is asked for; -1
	// where that is not known.
	Total int
	// Next is the Start with which reading goes on, and More whether there is something already.
	Next int
	More bool
}

// maxScanned limits the lines that one question reads to find matching ones.
const maxScanned = 10 * sdk.MaxLogLines

// narrow reports whether the filter needs parsed lines.
func (f *LogFilter) narrow() bool {
	return f.Action != "" || f.Protocol != "" || f.Source.IsValid() || f.Destination.IsValid()
}

// passes reports whether a line matches.
func (f *LogFilter) passes(e *sdk.LogEntry) bool {
	if !f.narrow() {
		return true
	}
	within := func(network netip.Prefix, address string) bool {
		if !network.IsValid() {
			return true
		}
		addr, err := netip.ParseAddr(address)
		return err == nil && network.Contains(addr.Unmap().WithZone(""))
	}
	return e != nil && (f.Action == "" || strings.EqualFold(f.Action, e.Action)) &&
		(f.Protocol == "" || strings.EqualFold(f.Protocol, e.Protocol)) &&
		within(f.Source, e.Source) && within(f.Destination, e.Destination)
}

// Log reads a part of a scope's log, the oldest line first. If the filters
// exclude much, it reads 20,000 lines and returns where to continue. Problems:
// those of Rules.
func (s *Store) Log(ctx context.Context, on Scope, f LogFilter) (LogWindow, error) {
	w := LogWindow{Lines: []LogLine{}, Next: f.Start}
	for scanned := 0; ; {
		most := sdk.MaxLogLines
		if !f.narrow() {
			most = min(f.Limit-len(w.Lines), sdk.MaxLogLines)
		}
		found, err := s.readLog(ctx, on, sdk.LogQuery{Start: w.Next, Limit: most, Since: f.Since, Until: f.Until})
		if err != nil {
			return LogWindow{}, err
		}
		w.Total = found.Total
		for i := range found.Lines[:min(len(found.Lines), most)] {
			line := &found.Lines[i]
			w.Next++
			scanned++
			if f.passes(line.Entry) {
				w.Lines = append(w.Lines, showLine(line, w.Next))
			}
			if len(w.Lines) == f.Limit {
				w.More = w.Next < found.Total || i+1 < len(found.Lines)
				return w, nil
			}
		}
		w.More = len(found.Lines) >= most
		if !w.More || scanned >= maxScanned {
			return w, nil
		}
	}
}

// readLog asks for a part of a log with the monitoring token. The log of a
// guest shows the guest's traffic, so it is read with the token for consoles if
// the host has one.
func (s *Store) readLog(ctx context.Context, on Scope, query sdk.LogQuery) (sdk.Log, error) {
	question := func(ctx context.Context, able sdk.LogReader, scope sdk.Scope) (sdk.Log, error) {
		return able.Log(ctx, scope, query)
	}
	if on.sdk.Kind == sdk.GuestScope {
		log, err := askAs(ctx, s, endpoint.Console, on, question)
		switch problem.CodeOf(err) {
		case problem.CodeCapabilityMissing, problem.CodeUnsupported:
		default:
			return log, err
		}
	}
	return ask(ctx, s, on, question)
}

// showLine converts a line. A guest can cause log lines, so the text is
// cleaned.
func showLine(line *sdk.LogLine, n int) LogLine {
	shown := LogLine{N: n, Text: host.CleanTo(line.Text, sdk.MaxLogLine)}
	e := line.Entry
	if e == nil {
		return shown
	}
	if !e.Time.IsZero() {
		at := e.Time.UTC()
		shown.Time = &at
	}
	shown.Guest, shown.Level, shown.Chain = host.CleanOrNil(e.Guest), host.CleanOrNil(e.Level), host.CleanOrNil(e.Chain)
	switch e.Scope {
	case sdk.NodeScope, sdk.GuestScope, sdk.GroupScope:
		shown.Scope = new(string(e.Scope))
	}
	shown.Group = host.CleanOrNil(e.Group)
	shown.Direction, shown.Action, shown.Protocol = host.CleanOrNil(e.Direction), host.CleanOrNil(e.Action), host.CleanOrNil(e.Protocol)
	shown.Source, shown.Destination = host.CleanOrNil(e.Source), host.CleanOrNil(e.Destination)
	shown.SourcePort, shown.DestPort = host.CleanOrNil(e.SourcePort), host.CleanOrNil(e.DestinationPort)
	shown.In, shown.Out = host.CleanOrNil(e.InterfaceIn), host.CleanOrNil(e.InterfaceOut)
	return shown
}

// LogEnd returns the Start after the present last line of a scope's log within
// the filter's times.
func (s *Store) LogEnd(ctx context.Context, on Scope, f LogFilter) (int, error) {
	all := LogFilter{Since: f.Since, Until: f.Until, Limit: 1}
	w, err := s.Log(ctx, on, all)
	if err != nil || w.Total >= 0 {
		return w.Total, err
	}
	for all.Limit = sdk.MaxLogLines; w.More; all.Start = w.Next { // it does not tell: count
		if w, err = s.Log(ctx, on, all); err != nil {
			return 0, err
		}
	}
	return w.Next, nil
}

// Network reads an address, which is a network with one address, or a network.
func Network(text string) (netip.Prefix, bool) { return prefixOf(text) }
