package lxd_test

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/lxd"
	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// ended waits for the operation of a server that answers so, and gives up after a silence.
func ended(t *testing.T, silence time.Duration, handler http.HandlerFunc) (hypervisor.TaskResult, []string, error) {
	t.Helper()
	var log []string
	driver := pacedDriver(t, lxd.Timing{Timeouts: lxdapi.Timeouts{Dial: patience, Header: patience, Body: patience}, Silence: silence})
	host := open(t, driver, targetOf(t, serveTLS(t, handler), endpoint.Lifecycle))
	result, err := host.WaitTask(t.Context(), uuid, 0, func(l hypervisor.LogLine) error {
		log = append(log, fmt.Sprint(l.N, " ", l.Text))
		return nil
	})
	return result, log, err
}

func TestEndsOfOperations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait http.HandlerFunc
		want hypervisor.TaskResult
	}{
		"success": {func(w http.ResponseWriter, _ *http.Request) { answer(w, operation(200, "")) },
			hypervisor.TaskResult{Status: hypervisor.TaskOK, Message: "Success"}},
		"failure": {func(w http.ResponseWriter, _ *http.Request) {
			answer(w, operation(400, "The instance is already running"))
		},
			hypervisor.TaskResult{Status: hypervisor.TaskFailed, Message: "The instance is already running"}},
		"failure, as Incus says it": {say(`{"type":"error","error":"The instance is already running","error_code":500,"metadata":null}`),
			hypervisor.TaskResult{Status: hypervisor.TaskFailed, Message: "The instance is already running"}},
		"cancelled": {func(w http.ResponseWriter, _ *http.Request) { answer(w, operation(401, "")) },
			hypervisor.TaskResult{Status: hypervisor.TaskFailed, Message: "the operation was canceled"}},
	} {
		result, log, err := ended(t, patience, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/wait") {
				c.wait(w, r)
				return
			}
			answer(w, operation(103, ""))
		})
		if err != nil || !reflect.DeepEqual(result, c.want) || len(log) != 1 || log[0] != "1 Starting instance" {
			t.Errorf("%s: %+v, %q, %v", name, result, log, err)
		}
	}
}

// A server that is silent for too long ends the wait, one that comes back does not, and one that has forgotten says so.
func TestSilenceOfOperations(t *testing.T) {
	t.Parallel()
	hangUp := func(w http.ResponseWriter) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		_ = conn.Close()
	}
	began := time.Now()
	var first atomic.Bool
	_, _, err := ended(t, soon, func(w http.ResponseWriter, _ *http.Request) {
		if first.CompareAndSwap(false, true) {
			answer(w, operation(103, ""))
			return
		}
		hangUp(w)
	})
	if wantKind(t, err, plugin.Unreachable); time.Since(began) < soon {
		t.Errorf("given up after %s", time.Since(began))
	}
	for name, back := range map[string]http.HandlerFunc{
		"it goes on":   func(w http.ResponseWriter, _ *http.Request) { answer(w, operation(200, "")) },
		"it forgot it": func(w http.ResponseWriter, _ *http.Request) { refusal(w, 404, "Operation not found") },
	} {
		var asked atomic.Int32
		result, _, err := ended(t, patience, func(w http.ResponseWriter, r *http.Request) {
			switch n := asked.Add(1); {
			case n == 1:
				answer(w, operation(103, ""))
			case n < 6:
				hangUp(w)
			default:
				back(w, r)
			}
		})
		if name == "it goes on" {
			if err != nil || !result.OK() {
				t.Errorf("%+v, %v", result, err)
			}
			continue
		}
		wantKind(t, err, plugin.NotFound)
	}
}

// A code is sent once, and only what the server has surely not taken is said to be so.
func TestRedeeming(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		post http.HandlerFunc
		kind plugin.ErrorKind
	}{
		"a code that was used": {func(w http.ResponseWriter, _ *http.Request) {
			refusal(w, 403, "No matching certificate add operation found")
		},
			plugin.TokenRejected},
		"a server that fails": {func(w http.ResponseWriter, _ *http.Request) { refusal(w, 500, "no space left") }, plugin.Internal},
		"a server that hangs up": {func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
		}, plugin.Unreachable},
		"a server that is silent": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, plugin.Timeout},
		"another server":          {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, plugin.Protocol},
		"a server that takes it":  {func(w http.ResponseWriter, _ *http.Request) { answer(w, "null") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int32
			server := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					answer(w, `{"auth":"untrusted"}`)
					return
				}
				sent.Add(1)
				_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client has gone
				c.post(w, r)
			}))
			target := targetOf(t, server, endpoint.Monitoring)
			limit := patience
			if c.kind == plugin.Timeout {
				limit = 5 * impatience // the server says first that it does not know the certificate
			}
			err := newDriver(t, limit).Redeem(t.Context(), target, joinToken(t, target.Fingerprint))
			if c.kind != "" {
				wantKind(t, err, c.kind)
			} else if err != nil {
				t.Error(err)
			}
			if sent.Load() != 1 {
				t.Errorf("sent %d times", sent.Load())
			}
		})
	}
}
