package command

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hostler/hostler/client/transport"
)

// event is one event of a stream, as described in the HTML standard
// (server-sent events). data contains the data lines joined by line feeds.
type event struct{ id, name, data string }

// maxEvent is the maximum size of a line of a stream, and of the data of one
// event, in bytes.
const maxEvent = 4 << 20

// silence is how long a stream may be silent before the client gives up on it.
// The service sends a comment at least twice in that time, so a longer silence
// means that the connection is dead, for example after the computer slept.
const silence = 90 * time.Second

// events reads a stream of the API until it ends or until give returns false.
// It returns the ID of the last event, which the caller passes as last to
// continue without a gap. The error is nil if give ended the stream, io.EOF if
// the service ended it, and another error if the connection broke or was silent
// for too long. events does not reconnect.
//
// Only the fields id, event and data are read; comments count as a sign of
// life, and unknown fields are ignored, as the standard requires.
func (s *session) events(ctx context.Context, path string, query url.Values, last string, give func(event) bool) (string, error) {
	client, err := s.connection()
	if err != nil {
		return last, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	answer, err := client.Open(ctx, transport.Request{
		Method: http.MethodGet, Path: path, Query: query, Repeatable: true, Accept: "text/event-stream", LastEvent: last,
	})
	if err != nil {
		return last, err
	}
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(make([]byte, 0, 64<<10), maxEvent)
	var e event
	for lines.Scan() {
		quiet.Reset(silence)
		line := lines.Text()
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if e.data != "" || e.name != "" {
				if !give(e) {
					return last, nil
				}
			}
			e = event{}
		case field == "id":
			e.id, last = value, value
		case field == "event":
			e.name = value
		case field == "data" && e.data != "":
			e.data += "\n" + value
		case field == "data":
			e.data = value
		}
		if len(e.data) > maxEvent {
			return last, errors.New("the service sent an event that is too large")
		}
	}
	if err := lines.Err(); err != nil {
		return last, err
	}
	return last, io.EOF
}
