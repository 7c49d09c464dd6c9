package op

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"
)

// stuckWriter is the connection of a reader that takes nothing: what is written to it waits for its deadline.
type stuckWriter struct {
	http.ResponseWriter
	writing, late chan struct{}
	passed        sync.Once
}

func (w *stuckWriter) Write([]byte) (int, error) {
	close(w.writing)
	<-w.late
	return 0, os.ErrDeadlineExceeded
}

func (w *stuckWriter) SetWriteDeadline(at time.Time) error {
	if !at.IsZero() && !at.After(time.Now()) {
		w.passed.Do(func() { close(w.late) })
	}
	return nil
}

// The end of the right to a stream does not wait for an event that the reader does not take, and remains why the stream ended.
func TestEventStream_EndsWhileAnEventIsStuck(t *testing.T) {
	t.Parallel()
	stuck := &stuckWriter{ResponseWriter: httptest.NewRecorder(), writing: make(chan struct{}), late: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(t.Context())
	w := &responseWriter{ResponseWriter: stuck}
	s := &EventStream{w: w, control: http.NewResponseController(w), cancel: cancel}
	opened := make(chan error)
	go func() { opened <- s.Open() }()
	<-stuck.writing
	revoked := errors.New("the key was revoked")
	ended := make(chan struct{})
	go func() {
		s.end(revoked)
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the end waits for the reader")
		stuck.passed.Do(func() { close(stuck.late) })
	}
	if err := <-opened; err == nil || context.Cause(ctx) != revoked {
		t.Errorf("an event ended with %v, and the stream with %v", err, context.Cause(ctx))
	}
	if err := s.Send("2", "", "after the end"); err == nil {
		t.Error("an event was sent after the end")
	}
}
