package lxd_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
)

// A hundred waits hold one stream and no request.
func TestManyAreFollowedByOneStream(t *testing.T) {
	t.Parallel()
	const count = 100
	s := newEventServer(t)
	driver := s.driver(t, patience, patience)
	var all []*waiting
	for i := range count {
		id := fmt.Sprintf("4a25b882-e5a2-401e-8715-%012d", i)
		s.set(id, 103, "")
		all = append(all, waitFor(t.Context(), open(t, driver, with(s.target, endpoint.Capabilities()[i%3])), id, 0))
	}
	s.followed(t, count)
	s.want(t, 2*count, count, 1)
	for i, w := range all {
		s.tell(fmt.Sprintf("4a25b882-e5a2-401e-8715-%012d", i), 200, "")
		w.ok(t)
	}
	s.gone(t)
	s.want(t, 2*count, count, 1)
}

// Another certificate does not hear what the stream of the first tells.
func TestStreamsOfTwoCertificates(t *testing.T) {
	t.Parallel()
	s := newEventServer(t)
	driver := s.driver(t, patience, patience)
	other := s.target
	made, err := endpoint.NewClientCertificate(endpoint.Lifecycle)
	must(t, "making a certificate", err)
	other.Credential = made
	first, second := waitFor(t.Context(), open(t, driver, s.target), uuid, 0), waitFor(t.Context(), open(t, driver, other), uuid, 0)
	waittest.Until(t, "two streams", func() bool { return len(s.open()) == 2 && s.count("read") == 4 })
	s.tell(uuid, 200, "")
	first.ok(t)
	second.ok(t)
	s.gone(t)
}

// The last wait ends the stream, however it ends; the end of the driver ends all streams and no wait.
func TestStreamsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("breaks connections: make check runs it")
	}
	t.Parallel()
	s := newEventServer(t)
	driver := s.driver(t, patience, patience)
	host := open(t, driver, s.target)
	ctx, cancel := context.WithCancel(t.Context())
	first, second := waitFor(ctx, host, uuid, 0), waitFor(t.Context(), host, uuid, 0)
	s.followed(t, 2)
	cancel()
	if <-first.over; !errors.Is(first.err, context.Canceled) {
		t.Error(first.err)
	}
	if len(s.open()) != 1 {
		t.Error("the stream ended with the first of its users")
	}
	driver.Close()
	s.gone(t)
	waittest.Until(t, "that the end is asked for", func() bool { return s.count("wait") == 3 })
	third := waitFor(t.Context(), host, uuid, 0) // a driver that was closed begins no stream
	waittest.Until(t, "that the end is asked for", func() bool { return s.count("wait") == 5 })
	s.set(uuid, 200, "")
	second.ok(t)
	third.ok(t)
	if n := s.count("events"); n != 1 {
		t.Errorf("%d streams", n)
	}

	// One that does not come about is given up with the wait, too.
	s = newEventServer(t)
	given := make(chan struct{})
	s.stream = func(w http.ResponseWriter, _ *http.Request) bool {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, _ = conn.Read(make([]byte, 1)) // until the other side goes
			close(given)
		}
		return true
	}
	ctx, cancel = context.WithCancel(t.Context())
	w := waitFor(ctx, s.host(t, patience), uuid, 0)
	waittest.Until(t, "the request for a stream", func() bool { return s.count("events") == 1 })
	cancel()
	<-w.over
	<-given
}
