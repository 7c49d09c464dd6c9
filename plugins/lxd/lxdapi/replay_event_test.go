package lxdapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/plugin"
)

// TestReplayEvents lets Watch read every recorded stream of events, and every refusal of one.
func TestReplayEvents(t *testing.T) {
	t.Parallel()
	covered := 0
	for _, e := range lxdtest.Exchanges(t) {
		if !strings.HasPrefix(e.Case, "WS__events_") || strings.Contains(e.Request.URL, "type=logging") {
			continue
		}
		covered++
		t.Run(e.Case, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(e.Handshake, " 101 ") {
				replayEvents(t, e)
				return
			}
			kind := plugin.Refused // what may be mended by another try
			if strings.Contains(e.Handshake, " 403 ") {
				kind = plugin.TokenRejected
			}
			refuseEvents(t, e, kind)
		})
	}
	t.Logf("%d streams of events", covered)
	if covered < 8 {
		t.Errorf("only %d streams are covered", covered)
	}
}

func replayEvents(t *testing.T, e lxdtest.Exchange) {
	t.Helper()
	var told []string // of operations, each as often as it was sent
	for _, f := range e.Frames {
		if f.Dir == "recv" && f.Opcode == 1 && strings.Contains(f.Data, `"type":"operation"`) {
			told = append(told, f.Data)
		}
	}
	sent := make(chan struct{})
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		socket, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = socket.CloseNow() }()
		ctx := socket.CloseRead(r.Context())
		for _, f := range e.Frames {
			switch {
			case f.Dir != "recv":
			case f.Opcode == 9:
				_ = socket.Ping(ctx)
			case f.Opcode == 1:
				_ = socket.Write(ctx, websocket.MessageText, []byte(f.Data))
			}
		}
		close(sent)
		<-ctx.Done()
	})
	ring := lxdapi.NewEventRing(100)
	watch(t, client, ring, lxdapi.WatchTiming{})
	<-sent
	waittest.Until(t, "all events", func() bool { return listens(ring) && len(kept(ring)) == len(told) })
	for i, event := range kept(ring) {
		checkEvent(t, told[i], event)
	}
}

// checkEvent compares an event with the recorded one.
func checkEvent(t *testing.T, told string, event lxdapi.Event) {
	t.Helper()
	var want struct {
		Timestamp, Project string
		Metadata           struct {
			ID, Location string
			Code         int `json:"status_code"`
		}
	}
	if err := json.Unmarshal([]byte(told), &want); err != nil {
		t.Fatal(err)
	}
	op, m := event.Operation, want.Metadata
	if event.Time.Format("2006-01-02T15:04:05.999999999Z") != want.Timestamp || op.ID != m.ID || op.StatusCode != m.Code ||
		op.Location != m.Location || len(op.Instances) > 0 && op.Instances[0].Project != want.Project {
		t.Errorf("%+v, but told was %s", event, told)
	}
}

func refuseEvents(t *testing.T, e lxdtest.Exchange, kind plugin.ErrorKind) {
	t.Helper()
	tried := make(chan struct{}, 100)
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/1.0" {
			answer(w, `{"auth":"untrusted"}`)
			return
		}
		tried <- struct{}{}
		var refused struct {
			ErrorCode int `json:"error_code"`
		}
		if err := json.Unmarshal(e.Response, &refused); err != nil {
			t.Error(err)
		}
		w.WriteHeader(refused.ErrorCode)
		_, _ = w.Write(e.Response)
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- client.Watch(ctx, lxdapi.Scope{}, lxdapi.NewEventRing(1), lxdapi.WatchTiming{Backoff: 1})
	}()
	<-tried
	if kind == plugin.Refused {
		<-tried
		cancel()
		<-ended
		return
	}
	wantKind(t, <-ended, kind)
}
