package command

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/hostler/hostler/client/transport"
)

// topicOf returns the topic of the event stream that announces changes of an
// operation's response. It is empty for operations without one; --watch then
// only refreshes at an interval.
func topicOf(op string) string {
	return map[string]string{
		"list_vms": "guest", "list_apps": "guest", "list_guests": "guest", "get_vm": "guest", "get_app": "guest", "list_hosts": "host",
		"get_host": "host", "list_nodes": "node", "list_jobs": "job", "get_job": "job", "list_alerts": "alert", "get_alert": "alert",
	}[op]
}

// atLeast is the minimum time between two refreshes. Many events in a row, such
// as those of a bulk operation, cause one refresh per second and not one per
// event.
const atLeast = time.Second

// watch shows a response again and again until Ctrl-C: when the event stream
// announces a change, and once per interval for values without events, such as
// CPU load. With a topic the interval is at least 30 seconds, because events
// bring the rest.
//
// A failure is shown and retried after two seconds, so that a restart of the
// service does not end the command. An HTTP status below 500 ends it, and so do
// more than 20 failures in a row.
func (s *session) watch(ctx context.Context, topic string, interval time.Duration, show func(context.Context) error) error {
	if interval < atLeast {
		return &failure{statusUsage, "invalid value for --interval: at least 1s"}
	}
	if _, err := s.connection(); err != nil { // made once, before two goroutines want it
		return err
	}
	changed := make(chan struct{}, 1)
	if topic != "" {
		interval = max(interval, 30*time.Second)
		go s.listen(ctx, topic, changed)
	}
	for failed := 0; ; {
		s.screen.Measure()
		if !s.machine() {
			s.screen.ClearPage()
		}
		err := show(ctx)
		var p *transport.Problem
		switch {
		case ctx.Err() != nil:
			return &failure{status: statusInterrupted}
		case err == nil:
			failed = 0
		case errors.As(err, &p) && p.Status < 500 || failed >= 20:
			return err
		default:
			failed++
			_, text := explain(err)
			s.screen.Say("%s", text)
		}
		wait := time.NewTimer(interval)
		if failed > 0 {
			wait.Reset(2 * time.Second)
		}
		select {
		case <-ctx.Done():
			wait.Stop()
			return &failure{status: statusInterrupted}
		case <-wait.C:
			continue
		case <-changed:
			wait.Stop()
		}
		select {
		case <-ctx.Done():
			return &failure{status: statusInterrupted}
		case <-time.After(atLeast):
		}
	}
}

// listen sends to changed when the event stream announces a change of the
// topic. It reconnects three seconds after the stream ends and continues after
// the last event. The send does not block: changed has room for one signal, and
// one pending refresh covers all changes before it. The event hello only marks
// the beginning of the stream.
func (s *session) listen(ctx context.Context, topic string, changed chan<- struct{}) {
	last := ""
	for ctx.Err() == nil {
		last, _ = s.events(ctx, "/api/v1/events/stream", url.Values{"topics": {topic}}, last, func(e event) bool {
			if e.name != "hello" {
				select {
				case changed <- struct{}{}:
				default: // it is known already
				}
			}
			return true
		})
		select {
		case <-ctx.Done():
		case <-time.After(3 * time.Second):
		}
	}
}
