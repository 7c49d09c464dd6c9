package lxdapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/plugin"
)

// Wait asks again and again, and gives the end in one form though LXD and Incus tell a failure differently.
func TestWait(t *testing.T) {
	t.Parallel()
	ended := func(status int, err string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { answer(w, operation(uuid, status, err)) }
	}
	for name, c := range map[string]struct {
		last http.HandlerFunc
		kind plugin.ErrorKind // of the failure; empty for success
	}{
		"success":            {ended(200, ""), ""},
		"failure":            {ended(400, "The instance is already running"), plugin.Conflict},
		"of Incus":           {say(`{"type":"error","error_code":500,"error":"The instance is already running"}`), plugin.Conflict},
		"name on the bridge": {ended(400, `Failed start validation: Instance DNS name "web1" already used on network`), plugin.Conflict},
		"no reason":          {ended(400, ""), plugin.Refused},
		"cancelled":          {ended(401, ""), plugin.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/1.0/operations/"+uuid+"/wait" || r.URL.Query().Get("timeout") != "400" { // two thirds of patience
					t.Errorf("asked for %s", r.RequestURI)
				}
				if asked.Add(1) == 1 {
					answer(w, operation(uuid, 103, ""))
				} else {
					c.last(w, r)
				}
			})
			op, err := client.Wait(t.Context(), uuid)
			if err != nil || op.ID != uuid || !op.Ended() || asked.Load() != 2 {
				t.Fatalf("%+v, %v after %d requests", op, err, asked.Load())
			}
			if failure := op.Failure(); c.kind == "" && failure != nil {
				t.Error(failure)
			} else if c.kind != "" {
				wantKind(t, failure, c.kind)
			}
		})
	}
}

// WaitFor asks once, for whole seconds and no longer than an answer may take.
func TestWaitFor(t *testing.T) {
	t.Parallel()
	for most, seconds := range map[time.Duration]string{0: "1", 3500 * time.Millisecond: "3", time.Hour: "400"} {
		client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/1.0/operations/"+uuid+"/wait" || r.URL.Query().Get("timeout") != seconds {
				t.Errorf("asked for %s", r.RequestURI)
			}
			answer(w, operation(uuid, 103, ""))
		})
		if op, err := client.WaitFor(t.Context(), uuid, most); err != nil || op.ID != uuid || op.Ended() {
			t.Errorf("%+v, %v", op, err)
		}
	}
	gone := serve(t, func(w http.ResponseWriter, _ *http.Request) { refusal(w, 404, "Operation not found") })
	if _, err := gone.WaitFor(t.Context(), uuid, time.Second); !errors.Is(err, lxdapi.ErrOperationNotFound) {
		t.Error(err)
	}
}

func TestWaitThatCannotTell(t *testing.T) {
	t.Parallel()
	other := "00000000-0000-0000-0000-000000000000"
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		kind   plugin.ErrorKind
	}{
		"gone":              {func(w http.ResponseWriter, _ *http.Request) { refusal(w, 404, "Operation not found") }, plugin.NotFound},
		"another operation": {func(w http.ResponseWriter, _ *http.Request) { answer(w, operation(other, 200, "")) }, plugin.Protocol},
		"no operation":      {func(w http.ResponseWriter, _ *http.Request) { answer(w, "null") }, plugin.Protocol},
		"broken":            {raw(""), plugin.Unreachable},
		"a real 500":        {func(w http.ResponseWriter, _ *http.Request) { refusal(w, 500, "disk is full") }, plugin.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := serve(t, c.answer).Wait(t.Context(), uuid)
			wantKind(t, err, c.kind)
			if errors.Is(err, lxdapi.ErrOperationNotFound) != (name == "gone") {
				t.Error(err)
			}
		})
	}
	// One that answers at once that the operation goes on is not asked without a pause.
	var asked atomic.Int32
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); answer(w, operation(uuid, 103, "")) })
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	if _, err := client.Wait(ctx, uuid); plugin.KindOf(err) != plugin.Timeout || asked.Load() > 3 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

// An operation is what the answer to a change must be.
func TestChangesNeedAnOperation(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"done at once": func(w http.ResponseWriter, _ *http.Request) { answer(w, "null") },
		"bad id":       func(w http.ResponseWriter, _ *http.Request) { began(w, "../../x") },
		"no id":        func(w http.ResponseWriter, _ *http.Request) { began(w, "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := serve(t, handler).Act(t.Context(), web1, lxdapi.Start, lxdapi.ActOptions{})
			wantKind(t, err, plugin.Protocol)
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodDelete:
			refusal(w, 501, "not implemented")
		case r.URL.Path == "/1.0/operations/"+uuid:
			answer(w, "{}")
		default:
			refusal(w, 400, "This operation can't be cancelled")
		}
	})
	if err := client.Cancel(t.Context(), uuid); err != nil {
		t.Error(err)
	}
	wantKind(t, client.Cancel(t.Context(), "00000000-0000-0000-0000-000000000000"), plugin.Conflict)
}

// The list is by state; an operation tells its instances, its progress and no secret.
func TestOperations(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, fmt.Sprintf(`{"running":[{"id":%q,"class":"websocket","status_code":103,"created_at":"2026-11-22T00:20:42.9Z",
			"resources":{"instances":["/1.0/instances/web1","/1.0/instances/web2/snapshots/s1?project=other","/1.0/instances/..","%%zz"],
			"containers":["/1.0/containers/web1"]},
			"metadata":{"fds":{"0":"%[2]s"},"secret":"%[2]s","create_progress":"50%%","x_progress":{"a":1}},"may_cancel":true,"location":"none"}],
			"success":[%[3]s],"failure":null}`, uuid, canary, operation(uuid, 200, "")))
	})
	all, _, err := client.Operations(t.Context(), lxdapi.Scope{Project: "customers"})
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	one := all[0]
	want := fmt.Sprintf("%+v", lxdapi.Operation{ID: uuid, Class: "websocket", StatusCode: 103, Created: one.Created, MayCancel: true,
		Location: "none", Progress: "50%",
		Instances: []lxdapi.InstanceRef{{Project: "customers", Name: "web1"}, {Project: "other", Name: "web2"}}})
	if got := fmt.Sprintf("%+v", one); got != want || one.Created.IsZero() {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
