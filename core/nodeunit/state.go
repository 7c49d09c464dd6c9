package nodeunit

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Phase is where a run is.
type Phase string

// The phases.
const (
	// Prepared is on the machine and was not started; a Start may be under way.
	Prepared Phase = "prepared"
	Running  Phase = "running"
	// Ended has told how.
	Ended Phase = "ended"
	// Rebooted was cut off by the machine going down, in order or not.
	Rebooted Phase = "rebooted"
	// Lost is gone, and nobody could write down how it ended.
	Lost Phase = "lost"
)

// State is how a run is.
type State struct {
	Phase Phase
	// ExitCode is that of the program, for one that has Ended by itself.
	ExitCode int
	// Signal is the one that has ended it, without "SIG"; empty for one that has ended by itself.
	Signal string
	// TimedOut says that it was ended at its limit, Stopped that Stop was called, and Changed that nothing ran, because the unit found
	// files that were not what they should be. OutOfMemory is where the kernel ended it for want of memory.
	TimedOut, Stopped, Changed, OutOfMemory bool
	// StartedAt and EndedAt are by the machine's clock, to the second; zero where it is not so yet, or not known.
	StartedAt, EndedAt time.Time
	// Output is how many bytes it has printed.
	Output int64
}

// Final reports whether nothing of it will change any more but by Remove. That is so, too, for one that was stopped before it started.
func (s State) Final() bool {
	return s.Phase == Prepared && s.Stopped || s.Phase != Prepared && s.Phase != Running
}

// OK reports whether the program has ended by itself, and well.
func (s State) OK() bool {
	return s.Phase == Ended && s.ExitCode == 0 && s.Signal == "" && !s.TimedOut && !s.Changed && !s.OutOfMemory
}

// ReadState tells how a run is, and what it has printed from the byte offset on, at most most bytes, which may be zero and are 512 KiB at
// most. NotFound for one that is not there.
func ReadState(ctx context.Context, node hypervisor.NodeExecutor, run string, offset int64, most int) (State, []byte, error) {
	if offset < 0 || most < 0 || most > maxAnswer/2 {
		return State{}, nil, invalid("offset", "an offset must not be negative, and at most %d bytes can be read", maxAnswer/2)
	}
	out, err := call(ctx, node, scriptsOf(node).look, askLimit, nil, run, strconv.FormatInt(offset, 10), strconv.Itoa(most))
	if err != nil {
		return State{}, nil, err
	}
	return parse(out)
}

// parse reads what the script look prints.
func parse(out []byte) (State, []byte, error) {
	head, output, whole := bytes.Cut(out, []byte("\n\n"))
	told := map[string][]string{}
	for line := range strings.Lines(string(head)) {
		if fields := strings.Fields(line); len(fields) > 0 {
			told[fields[0]] = fields[1:]
		}
	}
	boot, active, sized := told["boot"], told["active"], told["size"]
	broken := plugin.Errorf(plugin.Protocol, "the machine does not report the state of the run")
	if !whole || len(boot) != 2 || len(sized) != 1 {
		return State{}, nil, broken
	}
	var s State
	var err error
	if s.Output, err = strconv.ParseInt(sized[0], 10, 64); err != nil || s.Output < 0 {
		return State{}, nil, broken
	}
	_, s.Stopped = told["stopping"]
	_, s.Changed = told["changed"]
	started, begun := told["started"]
	if begun && len(started) != 2 || len(active) == 0 {
		return State{}, nil, broken
	}
	ended, over := told["ended"]
	switch {
	case begun && over:
		if !s.end(ended) {
			return State{}, nil, broken
		}
	case active[0] == "active" || active[0] == "activating" || active[0] == "deactivating" || active[0] == "reloading":
		s.Phase = Running
	case !begun:
		s.Phase = Prepared
	case started[0] != boot[0]:
		s.Phase = Rebooted
	default:
		s.Phase = Lost
	}
	if begun {
		s.StartedAt = clock(started[1])
	}
	return s, output, nil
}

// end reads the line of the unit's end: systemd's result, how its program ended, the code or the signal, when, and how the system was.
func (s *State) end(line []string) bool {
	if len(line) < 4 {
		return false
	}
	result, how, status := line[0], line[1], line[2]
	s.Phase, s.EndedAt = Ended, clock(line[3])
	s.TimedOut, s.OutOfMemory = result == "timeout" && !s.Stopped, result == "oom-kill"
	if how == "exited" {
		code, err := strconv.Atoi(status)
		s.ExitCode = code
		return err == nil && code >= 0 && code < 256
	}
	s.Signal = strings.TrimPrefix(status, "SIG")
	if len(line) > 4 && line[4] == "stopping" && !s.Stopped && !s.TimedOut {
		s.Phase = Rebooted
	}
	return true
}

func clock(seconds string) time.Time {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}
