package lxdapi_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/plugin"
)

// A token is an operation that can be cancelled, and is good for nothing then.
func TestRealCancel(t *testing.T) {
	t.Parallel()
	server := lxdtest.New(t) // the shared one has tokens of other tests
	client := connect(t, server.Trusted(t), patience)
	token, err := lxdapi.ParseJoinToken(server.JoinToken(t, "late"))
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := client.Operations(t.Context(), lxdapi.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	var id string
	for _, op := range all {
		if op.Class == "token" && op.MayCancel && !op.Ended() {
			id = op.ID
		}
	}
	if err := client.Cancel(t.Context(), id); err != nil {
		t.Fatalf("%v among %+v", err, all)
	}
	if op, err := client.Operation(t.Context(), id); err == nil && op.StatusCode != lxdapi.OperationCancelled {
		t.Errorf("%+v", op)
	} else if err != nil && !errors.Is(err, lxdapi.ErrOperationNotFound) {
		t.Error(err)
	}
	wantKind(t, connect(t, server.Stranger(t), patience).Join(t.Context(), token), plugin.TokenRejected)
}

// The server forgets an operation soon after its end, and the ring still has it.
func TestRealOperationGone(t *testing.T) {
	t.Parallel()
	server := lxdtest.Shared(t)
	web := server.Container(t, server.Project(t, "gone"), "web1", lxdtest.Tiny)
	target := server.Trusted(t)
	client := connect(t, target, patience)
	ring := lxdapi.NewEventRing(1000)
	watch(t, client, ring, lxdapi.WatchTiming{Ping: patience}) // a real server answers pings too
	waittest.Until(t, "that the server tells", func() bool { return listens(ring) })
	mark, _ := ring.Mark()

	op, err := client.Act(t.Context(), web, lxdapi.Start, lxdapi.ActOptions{})
	if err != nil {
		t.Fatal(err)
	}
	force(t, client, web)
	if ended, err := client.Wait(t.Context(), op.ID); err != nil || ended.Failure() != nil {
		t.Fatalf("%+v, %v", ended, err)
	}
	listed, _, err := client.Operations(t.Context(), lxdapi.Scope{Project: web.Project}) // and those of no project
	if err != nil || !slices.ContainsFunc(listed, func(o lxdapi.Operation) bool {
		return o.ID == op.ID && len(o.Instances) == 1 && o.Instances[0] == web
	}) {
		t.Errorf("%+v, %v", listed, err)
	}
	waittest.Until(t, "that the operation is gone", func() bool {
		_, err := client.Operation(t.Context(), op.ID)
		return errors.Is(err, lxdapi.ErrOperationNotFound)
	})
	_, err = client.Wait(t.Context(), op.ID)
	if wantKind(t, err, plugin.NotFound); !errors.Is(err, lxdapi.ErrOperationNotFound) {
		t.Error(err)
	}
	wantKind(t, client.Cancel(t.Context(), op.ID), plugin.NotFound)

	events, _, whole := ring.Since(mark)
	succeeded := slices.ContainsFunc(events, func(e lxdapi.Event) bool {
		return e.Operation.ID == op.ID && e.Operation.StatusCode == lxdapi.OperationSucceeded && len(e.Operation.Instances) == 1 &&
			e.Operation.Instances[0] == web
	})
	if !succeeded || !whole {
		t.Errorf("succeeded %v, whole %v: %+v", succeeded, whole, events)
	}
}

// The daemon dies while an operation goes on: the wait ends, the operation is gone, the container goes on, and the watch begins
// anew and says so.
func TestRealRestart(t *testing.T) {
	t.Parallel()
	server := lxdtest.New(t)
	web := server.Container(t, "", "web1", lxdtest.Stubborn)
	client := connect(t, server.Trusted(t), patience)
	if err := act(t, client, web, lxdapi.Start, lxdapi.ActOptions{}); err != nil {
		t.Fatal(err)
	}
	server.Listening(t, web)
	before, _, err := client.Instance(t.Context(), web)
	if err != nil {
		t.Fatal(err)
	}
	ring := lxdapi.NewEventRing(1000)
	watch(t, client, ring, lxdapi.WatchTiming{Ping: patience, Backoff: 10 * time.Millisecond,
		BackoffMax: 100 * time.Millisecond})
	waittest.Until(t, "that the server tells", func() bool { return listens(ring) })
	mark, _ := ring.Mark()

	op, err := client.Act(t.Context(), web, lxdapi.Stop, lxdapi.ActOptions{Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 1)
	go func() { _, err := client.Wait(t.Context(), op.ID); waited <- err }()
	running := func() bool {
		return slices.ContainsFunc(kept(ring), func(e lxdapi.Event) bool {
			return e.Operation.ID == op.ID && e.Operation.StatusCode == 103
		})
	}
	waittest.Until(t, "that the operation goes on", running)
	server.Kill(t)
	wantKind(t, <-waited, plugin.Unreachable)
	_, _, err = client.Server(t.Context())
	wantKind(t, err, plugin.Unreachable)
	waittest.Until(t, "that nobody listens", func() bool { return !listens(ring) })

	server.Start(t)
	if _, err := client.Wait(t.Context(), op.ID); !errors.Is(err, lxdapi.ErrOperationNotFound) {
		t.Error(err)
	}
	after, _, err := client.Instance(t.Context(), web)
	if err != nil || after.Status != "Running" || after.UUID() != before.UUID() || !after.LastUsed.Equal(before.LastUsed) {
		t.Errorf("%+v, %v", after, err)
	}
	waittest.Until(t, "that the server tells again", func() bool { return listens(ring) })
	if _, _, whole := ring.Since(mark); whole || !running() {
		t.Errorf("the ring has lost what it had, or says that nothing is missing: %v", whole)
	}
	mark, _ = ring.Mark()
	if err := act(t, client, web, lxdapi.Stop, lxdapi.ActOptions{Force: true}); err != nil {
		t.Error(err)
	}
	waittest.Until(t, "the end of the stop", func() bool {
		events, _, whole := ring.Since(mark)
		return whole && slices.ContainsFunc(events, func(e lxdapi.Event) bool { return e.Operation.StatusCode == lxdapi.OperationSucceeded })
	})
}

// Figures of what runs.
func TestRealMetrics(t *testing.T) {
	t.Parallel()
	server := lxdtest.Shared(t)
	project := server.Project(t, "metrics")
	web := server.Container(t, project, "web1", lxdtest.Tiny)
	server.Container(t, project, "web2", lxdtest.Tiny) // stopped
	client := connect(t, server.Trusted(t), patience)
	if err := act(t, client, web, lxdapi.Start, lxdapi.ActOptions{}); err != nil {
		t.Fatal(err)
	}
	force(t, client, web)
	var all []lxdapi.InstanceMetrics
	waittest.Until(t, "the figures", func() bool { // an older answer may be kept for 8 s
		var err error
		if all, err = client.Metrics(context.Background(), project); err != nil {
			t.Fatal(err)
		}
		return len(all) > 0
	})
	m := all[0]
	if len(all) != 1 || m.InstanceRef != web || m.CPUSeconds == nil || m.MemoryTotal == nil || *m.MemoryTotal <= 0 ||
		m.MemoryAvailable == nil || m.NetworkSent == nil || m.NetworkReceived == nil || m.Processes == nil || *m.Processes < 1 ||
		m.RootSize == nil || m.RootAvailable == nil {
		t.Errorf("%+v", all)
	}
}
