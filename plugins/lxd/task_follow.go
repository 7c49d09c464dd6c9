package lxd

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
)

// settling is how long after the handshake a stream certainly reports
// everything. It is much shorter than the 5 s after which the server forgets
// operations.
const settling = 500 * time.Millisecond

// follow waits for the end of an operation with the event stream. It returns
// nil without an error if the stream cannot tell: it could not be opened, it
// broke, or events were lost because they came faster than the log takes them.
// The caller then waits in another way. The operation is also read once in the
// beginning, since it may have ended before the stream stood, and again after
// each silence in case the server omitted an event.
func (h *Host) follow(ctx context.Context, s *stream, id string, log *taskLog) (*lxdapi.Operation, error) {
	mark, stands, err := h.listening(ctx, s)
	if !stands {
		return nil, err
	}
	// It may have ended before the stream stood; and now and then it is looked at in case the server has left an event out.
	look := time.NewTimer(settling)
	defer look.Stop()
	var last time.Time
	for {
		changed := s.ring.Changed()
		events, next, whole := s.ring.Since(mark)
		mark = next
		for i := range events {
			e := &events[i]
			if e.Operation.ID != id || !e.Operation.Ended() && !e.Time.After(last) { // another's, told twice, or too late
				continue
			}
			last = e.Time
			if err := log.write(&e.Operation); err != nil || e.Operation.Ended() {
				return &e.Operation, err
			}
		}
		if !whole {
			return nil, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for an operation: %w", ctx.Err())
		case <-changed:
		case <-look.C:
			op, err := h.api.Operation(ctx, id)
			if err != nil {
				return nil, nil
			}
			if err := log.write(op); err != nil || op.Ended() {
				return op, err
			}
			look.Reset(h.pace.Silence)
		}
	}
}

// listening waits until the stream is connected, and returns the position in
// its ring from which to follow it. stands is false if it is not connected in
// time.
func (h *Host) listening(ctx context.Context, s *stream) (mark uint64, stands bool, err error) {
	late := time.NewTimer(h.pace.Stream)
	defer late.Stop()
	for {
		changed := s.ring.Changed()
		if mark, stands = s.ring.Mark(); stands {
			return mark, true, nil
		}
		select {
		case <-ctx.Done():
			return 0, false, fmt.Errorf("waiting for an operation: %w", ctx.Err())
		case <-s.ended:
			return 0, false, nil
		case <-late.C:
			return 0, false, nil
		case <-changed:
		}
	}
}
