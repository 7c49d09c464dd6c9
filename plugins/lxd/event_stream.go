package lxd

import (
	"context"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/endpoint"
)

// keptEvents is the number of events that are kept per stream. A wait that
// falls further behind asks the server instead.
const keptEvents = 500

// streamKey identifies a stream: the target without its capability, and the
// project. The server only sends the events that the certificate may see.
type streamKey struct {
	target  endpoint.Target
	project string
}

// streams are the open event streams. A stream is opened by its first user and
// closed by its last.
type streams struct {
	log   hclog.Logger
	ctx   context.Context
	close context.CancelFunc

	mu   sync.Mutex
	open map[streamKey]*stream
	all  sync.WaitGroup
}

// stream is one stream of events.
type stream struct {
	ring  *lxdapi.EventRing
	ended chan struct{} // closed when there will be no more events
	stop  context.CancelFunc
	users int
}

// newStreams returns an empty set of event streams. Its close function ends all
// of them.
func newStreams(log hclog.Logger) *streams {
	ctx, cancel := context.WithCancel(context.Background())
	return &streams{log: log, ctx: ctx, close: cancel, open: map[streamKey]*stream{}}
}

// join returns the stream of a project at a host and opens it for the first
// user. The caller must call leave exactly once.
func (s *streams) join(h *Host, project string) (joined *stream, leave func()) {
	key := streamKey{h.target, project}
	key.target.Credential.Capability = "" // the certificate counts
	s.mu.Lock()
	defer s.mu.Unlock()
	joined, ok := s.open[key]
	if !ok {
		joined = s.begin(h, project)
		s.open[key] = joined
	}
	joined.users++
	return joined, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if joined.users--; joined.users == 0 {
			joined.stop()
			delete(s.open, key)
		}
	}
}

// begin opens a stream. The caller locks s.mu.
func (s *streams) begin(h *Host, project string) *stream {
	ctx, stop := context.WithCancel(s.ctx)
	begun := &stream{ring: lxdapi.NewEventRing(keptEvents), ended: make(chan struct{}), stop: stop}
	s.all.Go(func() {
		defer close(begun.ended)
		err := h.api.Watch(ctx, lxdapi.Scope{Project: project}, begun.ring, lxdapi.WatchTiming{})
		if ctx.Err() == nil {
			s.log.Debug("the host's events cannot be followed", "address", h.target.Address, "project", project, "error", err)
		}
	})
	return begun
}

// end closes all streams and waits until their goroutines have ended. Streams
// that are opened later end at once.
func (s *streams) end() {
	s.mu.Lock() // no stream begins after this that all does not count
	s.close()
	s.mu.Unlock()
	s.all.Wait()
}

// endOf returns an operation as the stream reported its end, or nil if it has
// not. It is the last resort for an operation that the server has already
// forgotten.
func (s *stream) endOf(id string) *lxdapi.Operation {
	events, _, _ := s.ring.Since(0)
	for i := range events {
		if op := &events[i].Operation; op.ID == id && op.Ended() {
			return op
		}
	}
	return nil
}
