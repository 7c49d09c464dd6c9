package nodeunit

import (
	"context"
	"io"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

const (
	// chunk is how much of the output is asked for at once.
	chunk = 256 << 10
	// The pauses between two questions grow from shortest to longest while nothing new comes, and to away while the machine does not answer.
	shortest = 200 * time.Millisecond
	longest  = 3 * time.Second
	away     = 30 * time.Second
)

// Follow writes what a run prints into output, from the byte offset on, until it is final and all is written, and gives how it ended. It
// asks in pauses that grow while there is nothing new. A machine that cannot be reached is asked again until ctx ends, because the run
// goes on. A run that is Prepared when it begins is waited for. next is the offset to go on with after an error; a failure of the writer
// is Follow's.
func Follow(ctx context.Context, node hypervisor.NodeExecutor, run string, offset int64, output io.Writer) (s State, next int64,
	err error) {
	next = offset
	pause := shortest
	for {
		state, printed, err := ReadState(ctx, node, run, next, chunk)
		switch {
		case ctx.Err() != nil:
			return s, next, ctx.Err()
		case err != nil && !passes(err):
			return s, next, err
		case err != nil:
			pause = min(2*pause, away)
		default:
			s = state
			if len(printed) > 0 {
				if _, err := output.Write(printed); err != nil {
					return s, next, err
				}
				next += int64(len(printed))
				pause = shortest
			}
			if next < s.Output && len(printed) > 0 {
				continue
			}
			if s.Final() {
				return s, next, nil
			}
			if len(printed) == 0 {
				pause = min(2*pause, longest)
			}
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return s, next, ctx.Err()
		case <-timer.C:
		}
	}
}

// passes reports whether a question may be answered when it is asked again.
func passes(err error) bool {
	switch plugin.KindOf(err) {
	case plugin.Unreachable, plugin.Timeout, plugin.Busy:
		return true
	}
	return false
}
