package pve_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// follow waits for a task and gives its lines.
func follow(t testing.TB, host *pve.Host, id string, from int) ([]string, hypervisor.TaskResult, error) {
	t.Helper()
	var lines []string
	result, err := host.WaitTask(t.Context(), id, from, func(l hypervisor.LogLine) error {
		if l.N != from+len(lines)+1 {
			t.Errorf("line %d comes as number %d", from+len(lines)+1, l.N)
		}
		lines = append(lines, l.Text)
		return nil
	})
	return lines, result, err
}

func TestActionsAndTheirTasks(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1, LongPStart: true})
	host, eyes := w.host(t, endpoint.Lifecycle), w.host(t, endpoint.Monitoring)
	vm := w.guest(t, pvesim.GuestSpec{Node: "pve2"})
	ct := w.guest(t, pvesim.GuestSpec{Type: pvesim.LXC, Node: "pve2"})
	for _, c := range []struct {
		ref    hypervisor.GuestRef
		action hypervisor.Action
		kind   plugin.ErrorKind // of Act's own error
		end    string
		after  string
	}{
		{vm, hypervisor.Start, "", hypervisor.TaskOK, hypervisor.GuestRunning},
		{vm, hypervisor.Start, "", hypervisor.TaskFailed, hypervisor.GuestRunning}, // VMs take it and fail in the task
		{vm, hypervisor.Pause, "", hypervisor.TaskOK, hypervisor.GuestPaused},
		{vm, hypervisor.Resume, "", hypervisor.TaskOK, hypervisor.GuestRunning},
		{vm, hypervisor.Reset, "", hypervisor.TaskOK, hypervisor.GuestRunning},
		{vm, hypervisor.Restart, "", hypervisor.TaskOK, hypervisor.GuestRunning},
		{vm, hypervisor.Shutdown, "", hypervisor.TaskOK, hypervisor.GuestStopped},
		{vm, hypervisor.Stop, "", hypervisor.TaskOK, hypervisor.GuestStopped}, // stopped already
		{vm, hypervisor.Restart, plugin.Conflict, "", hypervisor.GuestStopped},
		{vm, hypervisor.Pause, plugin.Conflict, "", hypervisor.GuestStopped},
		{ct, hypervisor.Start, "", hypervisor.TaskOK, hypervisor.GuestRunning},
		{ct, hypervisor.Start, plugin.Conflict, "", hypervisor.GuestRunning}, // containers say so at once
		{ct, hypervisor.Restart, "", hypervisor.TaskOK, hypervisor.GuestRunning},
		{ct, hypervisor.Stop, "", hypervisor.TaskOK, hypervisor.GuestStopped},
		{ct, hypervisor.Stop, plugin.Conflict, "", hypervisor.GuestStopped},
		{ct, hypervisor.Pause, plugin.Unsupported, "", hypervisor.GuestStopped},
	} {
		what := fmt.Sprintf("%s %s", c.ref.Kind, c.action)
		w.ResetStats()
		id, err := host.Act(t.Context(), c.ref, c.action)
		writes := 0
		for request, n := range w.Stats().Requests {
			if strings.HasPrefix(request, "POST ") {
				writes += int(n)
			}
		}
		if want := 1; writes != want && c.kind != plugin.Unsupported {
			t.Errorf("%s: %d writes", what, writes)
		}
		if c.kind != "" {
			wantKind(t, err, c.kind)
		} else {
			must(t, what, err)
			lines, result, err := follow(t, host, id, 0)
			if err != nil || result.Status != c.end || len(lines) == 0 || !strings.HasPrefix(lines[len(lines)-1], "TASK ") {
				t.Errorf("%s: %+v, %v, %q", what, result, err, lines)
			}
		}
		guest, err := eyes.Guest(t.Context(), c.ref)
		if err != nil || guest.Status != c.after || guest.At.IsZero() || time.Since(guest.At).Abs() > time.Minute || guest.GuestRef != c.ref {
			t.Errorf("%s: the guest is %+v, %v", what, guest, err)
		}
	}
}

// TestAnActionIsSentOnce, whatever becomes of the connection.
func TestAnActionIsSentOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault pvesim.Fault
		kind  plugin.ErrorKind
		taken bool
	}{
		"cut before": {pvesim.Fault{Kind: pvesim.FaultCut}, plugin.Unreachable, false},
		"cut after":  {pvesim.Fault{Kind: pvesim.FaultCut, After: true}, plugin.Unreachable, true},
		"no answer":  {pvesim.Fault{Kind: pvesim.FaultHang, After: true}, plugin.Timeout, true},
		"595 after": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 595, Reason: "Connection refused", After: true}, plugin.Unreachable,
			true},
		"596 after": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 596, Reason: "Connection timed out", After: true}, plugin.Timeout,
			true},
		"599 after": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 599, Reason: "Too many redirections", After: true},
			plugin.Unreachable, true},
		"503": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 503, Reason: "x"}, plugin.Unreachable, false},
		"busy": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 500, Reason: "can't lock file '/var/lock/x' - got timeout"},
			plugin.Busy, false},
		"nothing comes": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 200}, "", false},
		"not permitted": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 403, Reason: "Permission check failed (/vms/100, VM.PowerMgmt)"},
			plugin.Denied, false},
		"token rejected": {pvesim.Fault{Kind: pvesim.FaultStatus, Status: 401, Reason: "Authentication failed!"}, plugin.TokenRejected, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, pvesim.Options{Guests: -1})
			ref := w.guest(t, pvesim.GuestSpec{})
			c.fault.Match = pvesim.Match{Method: "POST"}
			w.fault(t, c.fault)
			id, err := w.host(t, endpoint.Lifecycle).Act(t.Context(), ref, hypervisor.Start)
			if c.kind != "" {
				wantKind(t, err, c.kind)
			} else if err != nil || id != "" {
				t.Errorf("%q, %v: an answer without a task is no task", id, err)
			}
			if n := w.Faults()[0].Struck; n != 1 {
				t.Errorf("it was sent %d times", n)
			}
			// The trace of what was taken can be found.
			list, err := w.host(t, endpoint.Lifecycle).Tasks(t.Context(), hypervisor.TaskQuery{Limit: 10, Guest: &ref})
			if err != nil || (len(list.Tasks) == 1) != c.taken {
				t.Errorf("tasks %+v, %v", list.Tasks, err)
			}
		})
	}
}

func TestWaitingOutlastsLostConnections(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string][]pvesim.Fault{
		"cuts":                 {{Kind: pvesim.FaultCut, Times: 8}},
		"refused":              {{Kind: pvesim.FaultRefuse, Times: 8}},
		"595":                  {{Kind: pvesim.FaultStatus, Status: 595, Reason: "Connection refused", Times: 8}},
		"hang":                 {{Kind: pvesim.FaultHang, Times: 1}},
		"status only":          {{Kind: pvesim.FaultCut, Times: 8, Match: pvesim.Match{Path: "/nodes/{node}/tasks/{upid}/status"}}},
		"log only, at the end": {{Kind: pvesim.FaultCut, Times: 8, Match: pvesim.Match{Path: "/nodes/{node}/tasks/{upid}/log"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, pvesim.Options{})
			id := w.task(t, "vzdump", 300*time.Millisecond, "OK", "one", "two", "three")
			for _, f := range faults {
				w.fault(t, f)
			}
			lines, result, err := follow(t, w.host(t, endpoint.Lifecycle), id, 0)
			if err != nil || !result.OK() || !slices.Equal(lines, []string{"one", "two", "three", "TASK OK"}) {
				t.Errorf("%+v, %v, %q", result, err, lines)
			}
		})
	}
}

func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	t.Run("with a silence that lasts", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t, pvesim.Options{})
		pace := quick
		pace.Silence = 300 * time.Millisecond
		w.driver = pve.NewWithTiming(nil, pace)
		id := w.task(t, "vzdump", time.Hour, "OK", "one")
		w.fault(t, pvesim.Fault{Kind: pvesim.FaultRefuse})
		_, _, err := follow(t, w.host(t, endpoint.Lifecycle), id, 0)
		wantKind(t, err, plugin.Unreachable)
	})
	t.Run("at once with a token that is refused", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t, pvesim.Options{})
		id := w.task(t, "vzdump", time.Hour, "OK", "one")
		host := w.host(t, endpoint.Lifecycle)
		must(t, "revoking", w.RevokeToken(w.Tokens()["lifecycle"].ID))
		_, _, err := follow(t, host, id, 0)
		wantKind(t, err, plugin.TokenRejected)
	})
	t.Run("with the context", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t, pvesim.Options{})
		id := w.task(t, "vzdump", time.Hour, "OK", "one")
		ctx, cancel := context.WithCancel(t.Context())
		_, err := w.host(t, endpoint.Lifecycle).WaitTask(ctx, id, 0, func(hypervisor.LogLine) error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("with the caller's error", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t, pvesim.Options{})
		id := w.task(t, "vzdump", time.Hour, "OK", "one")
		enough := errors.New("enough")
		_, err := w.host(t, endpoint.Lifecycle).WaitTask(t.Context(), id, 0, func(hypervisor.LogLine) error { return enough })
		if !errors.Is(err, enough) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("with another's task", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t, pvesim.Options{})
		id, err := w.StartTask("pve1", "root@pam", "vzdump", "100", time.Hour, "OK", "one")
		must(t, "starting a task", err)
		_, _, err = follow(t, w.open(t, w.target(endpoint.Lifecycle, w.token("/", true, "VM.PowerMgmt"))), id, 0)
		wantKind(t, err, plugin.Denied)
	})
}

func TestEndsOfTasks(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{})
	host := w.host(t, endpoint.Lifecycle)
	for exit, status := range map[string]string{
		"OK": hypervisor.TaskOK, "WARNINGS: 3": hypervisor.TaskWarning, "unexpected status": hypervisor.TaskUnknown,
		"VM quit/powerdown failed - got timeout": hypervisor.TaskFailed,
	} {
		id := w.task(t, "qmshutdown", 0, exit, "line")
		for range 2 { // it may be followed again after its end
			lines, result, err := follow(t, host, id, 0)
			if err != nil || result.Status != status || result.Message != exit || len(lines) < 1 || lines[0] != "line" {
				t.Errorf("%s: %+v, %v, %q", exit, result, err, lines)
			}
		}
		if lines, _, err := follow(t, host, id, 1); err != nil || slices.Contains(lines, "line") {
			t.Errorf("%s from line 1: %q, %v", exit, lines, err)
		}
	}
}

// TestLongLogsComeWhole through windows, and quietly growing ones too.
func TestLongLogsComeWhole(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{})
	var want []string
	for i := range 3500 {
		want = append(want, fmt.Sprint("line ", i))
	}
	for _, d := range []time.Duration{0, 200 * time.Millisecond} {
		id := w.task(t, "vzdump", d, "OK", want...)
		lines, result, err := follow(t, w.host(t, endpoint.Lifecycle), id, 0)
		if err != nil || !result.OK() || len(lines) != len(want)+1 || !slices.Equal(lines[:len(want)], want) {
			t.Errorf("%d lines, %+v, %v", len(lines), result, err)
		}
	}
}

// TestAnEmptyLogHasNoLines: the hypervisor writes a line of its own in its place.
func TestAnEmptyLogHasNoLines(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{})
	host := w.host(t, endpoint.Lifecycle)
	id := w.task(t, "qmshutdown", time.Hour, "OK")
	log, err := host.TaskLog(t.Context(), id, hypervisor.LogQuery{})
	if err != nil || len(log.Lines) > 0 || log.Total != 0 {
		t.Errorf("%+v, %v", log, err)
	}
	w.Advance(time.Hour)
	lines, _, err := follow(t, host, id, 0)
	if err != nil || !slices.Equal(lines, []string{"TASK OK"}) {
		t.Errorf("%q, %v", lines, err)
	}
}

func TestTasksOfAllNodes(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 3, Guests: -1})
	ref := w.guest(t, pvesim.GuestSpec{Node: "pve1"})
	guest, created := fmt.Sprint(ref.ID), w.Tasks()[0].UPID
	start := func(node, kind, id, exit string, d time.Duration) string {
		upid, err := w.StartTask(node, "root@pam", kind, id, d, exit)
		must(t, "starting a task", err)
		return upid
	}
	for i := range 60 {
		start(fmt.Sprintf("pve%d", i%3+1), "vzdump", "", "OK", 0)
	}
	w.Advance(10 * time.Minute)
	failed := start("pve2", "qmstart", guest, "no space", 0)
	moved := start("pve3", "qmstop", guest, "OK", 0)
	running := start("pve1", "qmshutdown", guest, "OK", time.Hour)
	host := w.host(t, endpoint.Monitoring)
	ids := func(query hypervisor.TaskQuery) []string {
		t.Helper()
		list, err := host.Tasks(t.Context(), query)
		must(t, "listing tasks", err)
		var ids []string
		for i, task := range list.Tasks {
			if i > 0 && task.Started.After(list.Tasks[i-1].Started) {
				t.Error("not the newest first")
			}
			ids = append(ids, task.ID)
		}
		slices.Sort(ids)
		return ids
	}
	sorted := func(ids ...string) []string { slices.Sort(ids); return ids }
	for name, c := range map[string]struct {
		query hypervisor.TaskQuery
		want  []string
	}{
		"of a guest":          {hypervisor.TaskQuery{Limit: 50, Guest: &ref}, sorted(created, failed, moved, running)},
		"of a guest, failed":  {hypervisor.TaskQuery{Limit: 50, Guest: &ref, Errors: true}, sorted(failed)},
		"of a node and guest": {hypervisor.TaskQuery{Limit: 50, Guest: &ref, Node: "pve3"}, sorted(moved)},
		"newest":              {hypervisor.TaskQuery{Limit: 3}, sorted(failed, moved, running)},
		"since":               {hypervisor.TaskQuery{Limit: 100, Since: w.Now().Add(-5 * time.Minute)}, sorted(failed, moved, running)},
		"failed":              {hypervisor.TaskQuery{Limit: 500, Errors: true}, sorted(failed)},
	} {
		if got := ids(c.query); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	if n := len(ids(hypervisor.TaskQuery{Limit: 500})); n != 64 {
		t.Errorf("%d tasks in all", n)
	}
	list, err := host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 50, Guest: &ref, Node: "pve1"})
	tasks := list.Tasks
	if err != nil || len(tasks) != 2 || tasks[0].Status != hypervisor.TaskRunning ||
		tasks[0].Operation != hypervisor.Shutdown.Operation() || !tasks[0].Ended.IsZero() || tasks[0].GuestID != ref.ID {
		t.Errorf("%+v, %v", tasks, err)
	}

	// Without a node, lists of everything go on; who looks for a guest's trace must not be told that there is none.
	must(t, "switching a node off", w.SetNodeOnline("pve1", false))
	entry := w.target(endpoint.Monitoring, w.Tokens()["monitoring"])
	entry.Address, entry.Fingerprint = strings.TrimPrefix(w.URL("pve2"), "https://"), w.Fingerprint("pve2")
	host = w.open(t, entry)
	got, err := host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 500})
	if err != nil || len(got.Tasks) != 42 || !got.CompleteSince.IsZero() {
		t.Errorf("%d tasks, complete since %v, %v", len(got.Tasks), got.CompleteSince, err)
	}
	_, err = host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 500, Guest: &ref})
	wantKind(t, err, plugin.Unreachable)
	if _, err = host.Guest(t.Context(), ref); plugin.KindOf(err) != plugin.Unreachable && plugin.KindOf(err) != plugin.Timeout {
		t.Errorf("guest of a node that is off: %v", err)
	}
}

func TestStoppingTasks(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{})
	host, eyes := w.host(t, endpoint.Lifecycle), w.host(t, endpoint.Monitoring)
	id := w.task(t, "qmshutdown", time.Hour, "OK", "line")
	must(t, "stopping", host.StopTask(t.Context(), id))
	_, result, err := follow(t, host, id, 0)
	if err != nil || result.OK() || result.Status == hypervisor.TaskRunning {
		t.Errorf("%+v, %v", result, err)
	}
	must(t, "stopping what has ended", host.StopTask(t.Context(), id))
	for _, unknown := range []string{"UPID:pve1:00000001:00000001:6B00E000:vzstart:101:root@pam:",
		"UPID:ghost:00000001:00000001:6B00E000:vzstart:101:root@pam:", "UPID:bogus"} {
		wantKind(t, host.StopTask(t.Context(), unknown), plugin.NotFound)
		_, err := eyes.TaskLog(t.Context(), unknown, hypervisor.LogQuery{})
		wantKind(t, err, plugin.NotFound)
		_, _, err = follow(t, eyes, unknown, 0)
		wantKind(t, err, plugin.NotFound)
	}
	other, err := w.StartTask("pve1", "root@pam", "vzdump", "", time.Hour, "OK")
	must(t, "starting a task", err)
	err = w.open(t, w.target(endpoint.Backup, w.Tokens()["backup"])).StopTask(t.Context(), other)
	if e := wantKind(t, err, plugin.Denied); e.Path != "/nodes/pve1" || !slices.Equal(e.Missing, []string{"Sys.Modify"}) {
		t.Errorf("%+v", e)
	}
}

// A running task is asked for its log, and only now and then for its status: each request costs the host a connection.
func TestWaitingCostsLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for long: make check runs it")
	}
	t.Parallel()
	w := newFixture(t, pvesim.Options{})
	var logs, states int64
	// A busy machine asks less often in the same time.
	for lasts := 600 * time.Millisecond; logs < 4 && lasts < time.Minute; lasts *= 2 {
		task := w.task(t, "qmigrate", lasts, "OK", "one", "two")
		before := w.Stats().Requests
		if lines, result, err := follow(t, w.host(t, endpoint.Monitoring), task, 0); err != nil || !result.OK() || len(lines) != 3 {
			t.Fatalf("%q, %+v, %v", lines, result, err)
		}
		after := w.Stats().Requests
		logs = after["GET /nodes/{node}/tasks/{upid}/log"] - before["GET /nodes/{node}/tasks/{upid}/log"]
		states = after["GET /nodes/{node}/tasks/{upid}/status"] - before["GET /nodes/{node}/tasks/{upid}/status"]
	}
	if logs < 4 || states > logs/4+2 {
		t.Errorf("%d log requests and %d status requests", logs, states)
	}
}
