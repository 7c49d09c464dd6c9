package firewall

import (
	"context"
	"net/netip"
	"strconv"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/problem"
)

const (
	// streamTime bounds a stream, so that connections do not gather behind a proxy that keeps dead ones.
	streamTime = 30 * time.Minute
	// lookAgain is how often the log is read while somebody follows it.
	lookAgain = 2 * time.Second
	// mostLines are sent at once.
	mostLines = 500
)

func (h handlers) registerLog(a *op.API, d declared) {
	const log, stream = "/log", "/log/stream"
	op.Get(a, d.path+log, h.log, d.read("read_%_log", "Read the firewall log", log,
		"Reads the log from the hypervisor, oldest first. The fields contain the parsed parts of a line; a line "+
			"that cannot be parsed has only `text`. `start` counts the lines of the requested period; "+
			"`X-Next-Start` is where to continue. Filters skip lines that cannot be parsed, and examine at most "+
			"20,000 lines: a short response is not necessarily the end. The end is reached when `X-Next-Start` "+
			"equals `X-Total-Count`. To follow the log, use `log/stream`. The log of a guest is read with the "+
			"console token, if the host has one."))
	spec := d.read("follow_%_log", "Follow the firewall log", stream,
		"Sends each new line as a Server-Sent Event `line` with the same fields as in the list. Its ID is the line number. "+
			"Without `start`, it begins with new lines. A client that reconnects with `Last-Event-ID` misses nothing, "+
			"unless the log was restarted. While the hypervisor does not respond, no events are sent. A stream ends "+
			"after 30 minutes; then reconnect.")
	aliases := spec.Aliases
	spec.Aliases = nil
	op.Stream(a, d.path+stream, h.followLog, spec)
	for _, alias := range aliases {
		spec.ID, spec.Scope = alias.ID, "firewall"
		op.Stream(a, alias.Path, h.followLog, spec)
	}
}

// LogFilter has the query parameters that narrow a log.
type LogFilter struct {
	Since  time.Time `query:"since" example:"2026-01-01T00:00:00Z" doc:"Only lines at or after this time"`
	Until  time.Time `query:"until" example:"2026-01-02T00:00:00Z" doc:"Only lines until this time"`
	Action string    `query:"action" maxLength:"64" example:"DROP" doc:"Only packets with this action, case-insensitive"`
	Proto  string    `query:"proto" maxLength:"64" example:"tcp" doc:"Only packets of this protocol, case-insensitive"`
	Source string    `query:"source" maxLength:"64" example:"198.51.100.0/24" doc:"Only packets from this address or network"`
	Dest   string    `query:"dest" maxLength:"64" example:"192.0.2.10" doc:"Only packets to this address or network"`
}

// filter parses the addresses of the filter. An invalid one is the problem
// invalid.
func (f *LogFilter) filter() (firewall.LogFilter, error) {
	out := firewall.LogFilter{Since: f.Since, Until: f.Until, Action: f.Action, Protocol: f.Proto}
	var faults []problem.Fault
	read := func(name, text string) (network netip.Prefix) {
		if text == "" {
			return network
		}
		network, ok := firewall.Network(text)
		if !ok {
			faults = append(faults, problem.Fault{Loc: []any{"query", name}, Msg: "must be an address or a network", Type: "value_error"})
		}
		return network
	}
	out.Source, out.Destination = read("source", f.Source), read("dest", f.Dest)
	if !f.Since.IsZero() && !f.Until.IsZero() && f.Until.Before(f.Since) {
		faults = append(faults, problem.Fault{Loc: []any{"query", "until"}, Msg: "must not be before since", Type: "value_error"})
	}
	if len(faults) > 0 {
		return out, problem.Invalid(faults...)
	}
	return out, nil
}

type logInput struct {
	LogFilter
	Start int `query:"start" default:"0" minimum:"0" maximum:"2147483647" doc:"Number of lines to skip"`
	Limit int `query:"limit" default:"500" minimum:"1" maximum:"2000" doc:"Maximum number of lines"`
}

type logOutput struct {
	Total int `header:"X-Total-Count" doc:"Number of lines in the requested period; -1 if the hypervisor does not report it"`
	Next  int `header:"X-Next-Start" doc:"Value of start for the next request"`
	Body  []firewall.LogLine
}

func (h handlers) log(ctx context.Context, in *logInput) (*logOutput, error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	f.Start, f.Limit = in.Start, in.Limit
	on, err := h.scope(ctx)
	if err != nil {
		return nil, err
	}
	w, err := h.Firewalls.Log(ctx, on, f)
	return &logOutput{Total: w.Total, Next: w.Next, Body: w.Lines}, err
}

type followLogInput struct {
	LogFilter
	Start int    `query:"start" default:"-1" minimum:"-1" maximum:"2147483647" doc:"Number of lines to skip; -1 to start with the oldest available line"`
	Limit int    `query:"limit" default:"0" minimum:"0" maximum:"1000000" doc:"Number of lines after which the stream ends; 0 for no limit"`
	Last  string `header:"Last-Event-ID" maxLength:"10" pattern:"^[0-9]*$" doc:"Number of the last received line; takes precedence over start"`
}

// followLog sends new lines of the log. It makes the first request before the
// answer begins, so that a log that cannot be followed is an ordinary problem.
func (h handlers) followLog(ctx context.Context, in *followLogInput, out *op.EventStream) error {
	f, err := in.filter()
	if err != nil {
		return err
	}
	if f.Start = in.Start; in.Last != "" {
		n, err := strconv.ParseInt(in.Last, 10, 32)
		if err != nil {
			return problem.InvalidField("must be the number of a line", "too_large", "header", "Last-Event-ID")
		}
		f.Start = int(n)
	}
	on, err := h.scope(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, streamTime)
	defer cancel()
	if f.Limit = mostLines; f.Start < 0 {
		if f.Start, err = h.Firewalls.LogEnd(ctx, on, f); err != nil {
			return err
		}
	}
	w, err := h.Firewalls.Log(ctx, on, f)
	if err != nil {
		return err
	}
	if err := out.Open(); err != nil {
		return err
	}
	for sent := 0; ; {
		for _, line := range w.Lines {
			if err := out.Send(strconv.Itoa(line.N), "line", line); err != nil {
				return err
			}
			if sent++; sent == in.Limit {
				return nil
			}
		}
		if f.Start = w.Next; w.Total >= 0 && w.Total < w.Next {
			f.Start = 0 // it was begun anew
		}
		if !w.More {
			select {
			case <-time.After(lookAgain):
			case <-h.Stopping:
				return nil
			case <-ctx.Done():
				return nil
			}
		}
		if w, err = h.Firewalls.Log(ctx, on, f); err != nil {
			w = firewall.LogWindow{Next: f.Start, Total: -1} // nothing comes until it answers again
		}
	}
}
