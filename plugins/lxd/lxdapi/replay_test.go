package lxdapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/plugin"
)

// trustedServer is what GET /1.0 says to whom it knows.
const trustedServer = `{"auth":"trusted","environment":{"server":"lxd","server_version":"5.0.2"}}`

// replay answers as the recorded server did.
func replay(t *testing.T, e lxdtest.Exchange) *lxdapi.Client {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/1.0" && e.Path != "/1.0" { // what the client asks after a 403
			if e.Request.Auth == "admin" || e.Request.Auth == "limited" {
				answer(w, trustedServer)
			} else {
				answer(w, `{"auth":"untrusted"}`)
			}
			return
		}
		checkSent(t, e, r)
		for _, h := range e.Header {
			if !strings.EqualFold(h[0], "Content-Length") && !strings.EqualFold(h[0], "Transfer-Encoding") {
				w.Header().Add(h[0], h[1])
			}
		}
		w.WriteHeader(e.Status)
		if e.Text != "" {
			_, _ = io.WriteString(w, e.Text)
		} else {
			_, _ = w.Write(e.Response)
		}
	})
}

// checkSent holds what the client sends against the recorded request. What leads to an error may have been asked for
// in another way.
func checkSent(t *testing.T, e lxdtest.Exchange, r *http.Request) {
	t.Helper()
	if r.Method != e.Method {
		t.Errorf("sent %s", r.Method)
	}
	path, _, _ := strings.Cut(e.Path, "?")
	if r.URL.Path != path && !strings.HasPrefix(path, "/1.0/certificates/") {
		t.Errorf("asked for %s", r.URL.Path)
	}
	if e.Status >= 300 || e.Method == http.MethodPost && path == "/1.0/certificates" {
		return
	}
	body, _ := io.ReadAll(r.Body)
	if len(body) > 0 && !same(body, e.Request.Body) {
		t.Errorf("sent %s, recorded is %s", body, e.Request.Body)
	}
}

func same(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// TestReplay sends every recorded answer and error that the client has a call for through it.
func TestReplay(t *testing.T) {
	t.Parallel()
	exchanges := lxdtest.Exchanges(t)
	covered := 0
	for _, e := range exchanges {
		call := callOf(t, e)
		if call == nil || strings.HasPrefix(strings.TrimPrefix(e.Case, "incus/"), "WS__") {
			continue
		}
		covered++
		t.Run(e.Case, func(t *testing.T) {
			t.Parallel()
			got, err := call(t.Context(), replay(t, e))
			if e.Status >= 300 {
				wantKind(t, err, kindOfCase(e))
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkAnswer(t, e, got)
		})
	}
	t.Logf("%d of %d exchanges", covered, len(exchanges))
	if covered < 150 {
		t.Errorf("only %d exchanges are covered", covered)
	}
}

// kindOfCase is what the facts about LXD say of a recorded error.
func kindOfCase(e lxdtest.Exchange) plugin.ErrorKind {
	trusted := e.Request.Auth == "admin" || e.Request.Auth == "limited"
	switch e.Status {
	case 403:
		if trusted {
			return plugin.Denied
		}
		return plugin.TokenRejected
	case 404:
		if strings.HasSuffix(e.Case, "not_a_uuid") { // it is not even sent
			return plugin.Invalid
		}
		return plugin.NotFound
	case 409, 412:
		return plugin.Conflict
	}
	for part, kind := range map[string]plugin.ErrorKind{
		"cancel": plugin.Conflict, "standalone": plugin.Unsupported, "silent_member": plugin.Unreachable,
		"offline_member": plugin.Unreachable, "restricted": plugin.Denied,
	} {
		if strings.Contains(e.Case, part) {
			return kind
		}
	}
	return plugin.Invalid
}

// checkAnswer holds what the client read against the recording: every member that it has is the recorded one.
func checkAnswer(t *testing.T, e lxdtest.Exchange, got any) {
	t.Helper()
	switch v := got.(type) {
	case nil: // nothing is read
	case []lxdapi.InstanceMetrics:
		checkMetrics(t, e, v)
	case []lxdapi.Operation:
		var byState map[string][]json.RawMessage
		metadata(t, e, &byState)
		want := 0
		for _, all := range byState {
			want += len(all)
		}
		if len(v) != want {
			t.Errorf("%d operations, want %d", len(v), want)
		}
		checkNoSecret(t, v)
	case *lxdapi.Operation:
		checkOperation(t, e, v)
	default:
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var have, want any
		if err := json.Unmarshal(text, &have); err != nil {
			t.Fatal(err)
		}
		metadata(t, e, &want)
		for _, fault := range differences("metadata", have, want) {
			t.Error(fault)
		}
	}
}

func metadata(t *testing.T, e lxdtest.Exchange, into any) {
	t.Helper()
	var envelope struct{ Metadata json.RawMessage }
	if err := json.Unmarshal(e.Response, &envelope); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(envelope.Metadata, into); err != nil {
		t.Fatal(err)
	}
}

// differences lists where have is not a part of want. What is empty in have may be missing in want.
func differences(at string, have, want any) []string {
	switch h := have.(type) {
	case map[string]any:
		w, _ := want.(map[string]any)
		var all []string
		for key, value := range h {
			all = append(all, differences(at+"."+key, value, w[key])...)
		}
		return all
	case []any:
		w, _ := want.([]any)
		if len(h) != len(w) {
			return []string{fmt.Sprintf("%s has %d elements, want %d", at, len(h), len(w))}
		}
		var all []string
		for i := range h {
			all = append(all, differences(fmt.Sprintf("%s[%d]", at, i), h[i], w[i])...)
		}
		return all
	}
	none, _ := want.([]any)
	switch {
	case have == nil && (want == nil || none != nil && len(none) == 0), reflect.DeepEqual(have, want):
		return nil
	case want == nil && (reflect.ValueOf(have).IsZero() || have == "0001-01-01T00:00:00Z"):
		return nil
	}
	return []string{fmt.Sprintf("%s is %v, want %v", at, have, want)}
}

func checkOperation(t *testing.T, e lxdtest.Exchange, got *lxdapi.Operation) {
	t.Helper()
	checkNoSecret(t, *got)
	var envelope struct{ Type, Error string }
	if err := json.Unmarshal(e.Response, &envelope); err != nil {
		t.Fatal(err)
	}
	if envelope.Type == "error" { // Incus, of one that failed
		if got.Err == "" || got.StatusCode != lxdapi.OperationFailed || got.Failure() == nil {
			t.Errorf("%+v", got)
		}
		return
	}
	var want struct {
		ID, Class string
		Code      int  `json:"status_code"`
		MayCancel bool `json:"may_cancel"`
		Err       string
		Resources struct{ Instances []string }
	}
	metadata(t, e, &want)
	if got.ID != want.ID || got.Class != want.Class || got.StatusCode != want.Code || got.MayCancel != want.MayCancel ||
		(got.Err == "") != (want.Err == "") || len(got.Instances) != len(want.Resources.Instances) ||
		got.Ended() && (got.Failure() == nil) != (want.Code == 200) || got.Created.IsZero() {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func checkNoSecret(t *testing.T, v any) {
	t.Helper()
	if strings.Contains(fmt.Sprintf("%+v", v), "<secret") {
		t.Errorf("a secret is in %+v", v)
	}
}

func checkMetrics(t *testing.T, e lxdtest.Exchange, all []lxdapi.InstanceMetrics) {
	t.Helper()
	for _, m := range all {
		if !strings.Contains(e.Text, fmt.Sprintf(`name=%q,project=%q`, m.Name, m.Project)) || m.CPUSeconds == nil || *m.CPUSeconds <= 0 {
			t.Errorf("%+v", m)
		}
	}
	if (len(all) == 0) != (!strings.Contains(e.Text, "_cpu_seconds_total{")) {
		t.Errorf("%d instances", len(all))
	}
	if e.Case == "GET__metrics__whole_text" {
		if m := all[0]; len(all) != 1 || *m.MemoryTotal != 67108864 || *m.NetworkSent != 516 || *m.NetworkReceived != 0 ||
			*m.Processes != 2 || *m.RootSize != 270553174016 || m.DiskRead != nil {
			t.Errorf("%+v", all)
		}
	}
}
