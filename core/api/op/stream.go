package op

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Settings of event streams.
const (
	// defaultKeepAlive is below the time after which proxies cut a silent connection.
	defaultKeepAlive = 15 * time.Second
	// sendTime is how long a reader may take to accept one event before the
	// stream ends. It also applies to the messages and pings of sockets.
	sendTime = 10 * time.Second
	// defaultReauthorise is how long a reader can at most continue after its
	// session has expired or a wake-up was lost.
	defaultReauthorise = 5 * time.Second
)

// errEnded is the error of sending an event after the end.
var errEnded = errors.New("the event stream has ended")

// errReaderGone is the cause of the end of an answer whose reader disconnected.
var errReaderGone = errors.New("the reader disconnected")

// EventStream is an open stream of Server-Sent Events (WHATWG HTML section
// 9.2). Its methods are safe for concurrent use. The answer begins with the
// first event or with Open; an error before that becomes an ordinary problem.
type EventStream struct {
	mu      sync.Mutex
	w       *responseWriter
	control *http.ResponseController
	cancel  context.CancelCauseFunc
	begun   bool
	err     error
	ended   atomic.Bool // nothing more is sent
}

// Send writes one event with data as JSON. A reader that reconnects sends the
// last id as Last-Event-ID. An empty id or event is omitted. An error means
// that the reader has disconnected. The handler must return it; its context has
// ended, too.
func (s *EventStream) Send(id, event string, data any) error {
	var b bytes.Buffer
	if err := head(&b, id, event); err != nil {
		return err
	}
	b.WriteString("data: ")
	encoder := json.NewEncoder(&b) // one line, ended by a newline: JSON escapes line breaks in strings
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(data); err != nil {
		return fmt.Errorf("encoding an event: %w", err)
	}
	b.WriteString("\n")
	return s.write(b.Bytes())
}

// SendEncoded is Send for data that is already JSON on one line, such as an
// event that many readers get. Without data it sends only the id: the reader
// remembers the id but sees no event.
func (s *EventStream) SendEncoded(id, event string, data []byte) error {
	var b bytes.Buffer
	b.Grow(len(id) + len(event) + len(data) + 24)
	if err := head(&b, id, event); err != nil {
		return err
	}
	if bytes.ContainsAny(data, "\r\n") {
		return errors.New("sending an event: its data has more than one line")
	}
	if len(data) > 0 {
		b.WriteString("data: ")
		b.Write(data)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return s.write(b.Bytes())
}

// head writes the fields id and event, which come before the data.
func head(b *bytes.Buffer, id, event string) error {
	for _, field := range []struct{ name, value string }{{"id", id}, {"event", event}} {
		if strings.ContainsAny(field.value, "\r\n\x00") {
			return fmt.Errorf("sending an event: its %s contains a line break or NUL", field.name)
		}
		if field.value != "" {
			b.WriteString(field.name + ": " + field.value + "\n")
		}
	}
	return nil
}

// Open begins the answer without an event, so that the reader sees at once that
// the stream is established.
func (s *EventStream) Open() error { return s.write([]byte(":\n\n")) }

// write sends bytes of the stream with a deadline. It returns the stream's
// error after the end.
func (s *EventStream) write(p []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return s.err
	case s.ended.Load():
		return errEnded
	}
	if !s.begun {
		s.begun = true
		h := s.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("X-Accel-Buffering", "no")
		s.w.WriteHeader(http.StatusOK)
	}
	// Only the real server has deadlines. This one may replace the one that end has just set.
	_ = s.control.SetWriteDeadline(time.Now().Add(sendTime))
	if s.ended.Load() {
		return errEnded
	}
	_, err := s.w.Write(p)
	if err == nil {
		err = s.control.Flush()
	}
	_ = s.control.SetWriteDeadline(time.Time{}) // HTTP/2 would end an idle stream at it
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		s.err = fmt.Errorf("writing to the event stream: %w: %w", errReaderGone, err)
		s.cancel(s.err)
		return s.err
	}
	return nil
}

// endReason returns why the stream ended. If the context ended because the
// reader disconnected or may no longer read, that is the reason, and not the
// error that the handler made of it.
func (s *EventStream) endReason(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		if cause == context.Canceled {
			return fmt.Errorf("%w: %w", errReaderGone, err)
		}
		return cause
	}
	return err
}

// started reports whether anything was sent.
func (s *EventStream) started() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

// end stops the stream: it interrupts an event that is being sent, ends the
// context of the handler and makes further writes fail with cause.
func (s *EventStream) end(cause error) {
	s.ended.Store(true)
	s.cancel(cause)
	_ = s.control.SetWriteDeadline(time.Now())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = cause
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(closeTime)) // for the end of the answer
}

// keepAlive sends a comment at each interval, from the first event until the
// context ends. Comments keep proxies from closing a silent connection.
func (s *EventStream) keepAlive(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if s.started() && s.write([]byte(":\n\n")) != nil {
				return
			}
		}
	}
}

// Stream declares an operation that answers GET with Server-Sent Events. The
// stream goes on until the handler returns or the reader disconnects, which
// ends the context of the handler. It also ends when the reader may no longer
// read, or has other roles than at the beginning. One user can have 64 open
// streams per instance; more are refused with rate_limited.
//
// An error before the first event is an ordinary problem. An error after it
// ends the stream without a message; the reader then reconnects with the id of
// the last event that it got:
//
//	type eventsIn struct {
//		JobID int64  `path:"job_id"`
//		Last  string `header:"Last-Event-ID"`
//	}
func Stream[I any](a *API, path string, handler func(context.Context, *I, *EventStream) error, spec Spec) {
	operation := a.declare(http.MethodGet, path, spec, reflect.TypeFor[I]())
	operation.Stream = true
	type events struct{ Body func(huma.Context) }
	declared := operation.describe()
	declared.Responses = map[string]*huma.Response{"200": {
		Description: "A stream of Server-Sent Events whose data is JSON",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	huma.Register(a.huma, declared, func(ctx context.Context, in *I) (*events, error) {
		q := requestOf(ctx)
		if err := q.ready(ctx); err != nil {
			return nil, a.refusal(ctx, err)
		}
		return &events{func(e huma.Context) {
			if e.Method() == http.MethodHead {
				e.SetHeader("Content-Type", "text/event-stream")
				return
			}
			if err := stream(ctx, q, in, handler); err != nil {
				a.fail(ctx, a.problem(ctx, err))
			}
		}}, nil
	})
	a.finish(operation)
}

// stream runs the handler of a stream together with the keep-alive and the
// watch of the reader's rights. Both have ended when it returns, since the
// writer must not be used after that.
func stream[I any](ctx context.Context, q *request, in *I, handler func(context.Context, *I, *EventStream) error) error {
	leave, err := q.api.streams.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	s := &EventStream{w: q.w, control: http.NewResponseController(q.w), cancel: cancel}
	_ = s.control.SetWriteDeadline(time.Time{})
	var beating sync.WaitGroup
	beating.Go(func() { s.keepAlive(ctx, q.api.config.KeepAlive) })
	beating.Go(func() { q.watchRights(ctx, s.end) })
	defer beating.Wait()
	defer cancel(nil)
	err = handler(ctx, in, s)
	if err == nil && !s.started() {
		return s.Open()
	}
	return s.endReason(ctx, err)
}
