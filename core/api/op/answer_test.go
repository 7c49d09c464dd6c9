package op_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/problem"
)

func TestProblemDocument(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	w := s.call("DELETE", "/api/v1/hosts/7", "", append(as("owner"), "X-Request-ID", "abc-1.2_3")...)
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"type": "about:blank", "title": "Confirmation required", "status": 409.0, "detail": "type the name",
		"error": "confirm_required", "confirm_phrase": "yes", "request_id": "abc-1.2_3"}
	if fmt.Sprint(got) != fmt.Sprint(want) || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s %v", w.Header().Get("Content-Type"), got)
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	own := regexp.MustCompile(`^[A-Z0-9]{20,}$`)
	for _, given := range []string{"", "a b", "x\ty", strings.Repeat("a", 65), "<script>", "é"} {
		w := s.call("GET", "/api/v1/hosts", "", append(as("viewer"), "X-Request-ID", given)...)
		if id := w.Header().Get("X-Request-ID"); !own.MatchString(id) {
			t.Errorf("for %q: %q", given, id)
		}
	}
	if w := s.call("GET", "/nothing", "", "X-Request-ID", "mine"); w.Header().Get("X-Request-ID") != "mine" {
		t.Errorf("the caller's id was not echoed: %v", w.Header())
	}
}

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	for _, w := range []*httptest.ResponseRecorder{s.call("GET", "/api/v1/hosts", "", as("viewer")...), s.call("GET", "/x", ""),
		s.call("POST", "/api/v1/hosts/7/panic", "", as("owner")...)} {
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "X-Frame-Options": "DENY",
			"Referrer-Policy": "no-referrer"} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%d: %s is %q", w.Code, name, got)
			}
		}
	}
}

func TestInternalErrorsTellNothing(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	for _, action := range []string{"break", "panic"} {
		w := s.call("POST", "/api/v1/hosts/7/"+action, "", as("owner")...)
		if w.Code != 500 || strings.Contains(w.Body.String(), "secret cause") || strings.Contains(w.Body.String(), "ouch") ||
			!strings.Contains(w.Body.String(), `"error":"internal"`) {
			t.Errorf("%s: %d %s", action, w.Code, w.Body)
		}
	}
}

// A user who is refused many times has a bounded number of rows; what failed may have done something, and has a row each time.
func TestAuditOfManyAttempts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path, result string
		most         int
	}{"refused": {"/api/v1/hosts/8/start", audit.ResultRefused, 60}, "failed": {"/api/v1/hosts/7/slow", audit.ResultFailed, 70}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSample(t, sampleConfig{})
			for range 70 {
				s.call("POST", tt.path, "", as("operator@2")...)
			}
			rows := 0
			for _, e := range s.trail() {
				if e.ActorID != nil && e.Result == tt.result {
					rows++
				}
			}
			if rows != tt.most {
				t.Errorf("70 attempts have %d rows, want %d", rows, tt.most)
			}
		})
	}
}

func TestAuditAttempts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method, path, body, as string
		want                         string // action target kind/id/name team result error; "" for no row
	}{
		{"nobody", "DELETE", "/api/v1/hosts/7", "", "", ""},
		{"role too low", "DELETE", "/api/v1/hosts/7", "", "viewer", "host.remove host/7/ team - refused forbidden"},
		{"role too low on the thing", "POST", "/api/v1/hosts/7/start", "", "viewer@2", "host.start host/7/ team - refused forbidden"},
		{"bad input", "POST", "/api/v1/hosts", "{}", "admin", "host.create // team - refused invalid"},
		{"foreign thing", "POST", "/api/v1/hosts/8/start", "", "operator@2", "host.start host/8/node8 team 3 refused not_found"},
		{"missing thing", "POST", "/api/v1/hosts/99/start", "", "operator@2", "host.start host/99/ team - refused not_found"},
		{"state", "DELETE", "/api/v1/hosts/7", "", "owner", "host.remove host/7/node7 team 2 refused confirm_required"},
		{"hypervisor failed", "POST", "/api/v1/hosts/7/slow", "", "owner", "host.slow host/7/node7 team 2 failed hypervisor_error"},
		{"panic", "POST", "/api/v1/hosts/7/panic", "", "owner", "host.panic host/7/node7 team 2 failed internal"},
		{"success", "DELETE", "/api/v1/hosts/7", `{"confirm":"yes"}`, "owner", "host.remove host/7/node7 team 2 ok "},
		{"hostile action", "POST", "/api/v1/hosts/7/%3Cb%3E", "", "owner", "host.invalid host/7/node7 team 2 refused invalid"},
		{"action that is not declared", "POST", "/api/v1/hosts/7/explode", "", "owner", "host.invalid host/7/node7 team 2 refused invalid"},
		{"reading", "GET", "/api/v1/hosts/7", "", "owner", ""},
		{"public", "POST", "/api/v1/auth/login", `{}`, "", "session.login // team - refused invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSample(t, sampleConfig{})
			headers := []string{"X-Request-ID", "rid"}
			if tt.as != "" {
				headers = append(headers, as(tt.as)...)
			}
			s.call(tt.method, tt.path, tt.body, headers...)
			got := ""
			trail := s.trail()
			for _, e := range trail {
				team := "-"
				if e.TeamID != nil {
					team = fmt.Sprint(*e.TeamID)
				}
				got += fmt.Sprintf("%s %s/%s/%s team %s %s %s", e.Action, e.TargetKind, e.TargetID, e.TargetName, team, e.Result, e.Error)
			}
			if got != tt.want {
				t.Errorf("\n got %q\nwant %q", got, tt.want)
			}
			if len(trail) == 1 && (trail[0].ActorType == audit.ActorAnonymous) != (tt.as == "") {
				t.Errorf("actor type %s", trail[0].ActorType)
			}
			if len(trail) == 1 && (trail[0].Address != "192.0.2.1" || trail[0].RequestID != "rid" || (tt.as != "" && *trail[0].ActorID != 5)) {
				t.Errorf("%+v", trail[0])
			}
		})
	}
}

func TestForwardedAddressIsNotBelieved(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	s.call("DELETE", "/api/v1/hosts/7", "", append(as("owner hosts:write"), "X-Forwarded-For", "10.9.9.9")...)
	if e := s.trail()[0]; e.Address != "192.0.2.1" || e.ActorType != audit.ActorAPIKey {
		t.Errorf("%+v", e)
	}
}

func TestStrictAudit(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{strict: true})
	if w := s.call("DELETE", "/api/v1/hosts/7", `{"confirm":"yes"}`, as("owner")...); w.Code != 500 {
		t.Errorf("a change without a row of its own: %d %s", w.Code, w.Body)
	}
	if w := s.call("DELETE", "/api/v1/hosts/7", ``, as("owner")...); w.Code != 409 {
		t.Errorf("a refusal: %d %s", w.Code, w.Body)
	}
}

// lone is an API of one operation.
func lone(t *testing.T, config op.Config, declare func(*op.API)) *op.API {
	t.Helper()
	s := &sample{}
	config.Router, config.Authenticator, config.Resolver, config.Recorder = route.New(), s, s, s
	a := op.New(config)
	declare(a)
	return a
}

type nothing struct{}

var public = op.Spec{ID: "try", Summary: "Try", Tag: "Try", Public: true}

func TestAnswerThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	a := lone(t, op.Config{}, func(a *op.API) {
		op.Get(a, "/api/v1/try", func(context.Context, *nothing) (*op.Body[map[string]float64], error) {
			return &op.Body[map[string]float64]{Body: map[string]float64{"x": math.Inf(1)}}, nil
		}, public)
	})
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/try", nil))
	if w.Code != 500 || !json.Valid(w.Body.Bytes()) || !strings.Contains(w.Body.String(), `"error":"internal"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestHandlersTime(t *testing.T) {
	t.Parallel()
	spec := public
	spec.Timeout = time.Millisecond
	a := lone(t, op.Config{}, func(a *op.API) {
		op.Get(a, "/api/v1/try", func(ctx context.Context, _ *nothing) (*op.Empty, error) {
			<-ctx.Done()
			return nil, fmt.Errorf("asking: %w", ctx.Err())
		}, spec)
	})
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/try", nil))
	if w.Code != 504 || !strings.Contains(w.Body.String(), `"error":"timeout"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestRetryAfterAndStatusWithoutBody(t *testing.T) {
	t.Parallel()
	spec := public
	spec.Status = http.StatusAccepted
	fail := true
	a := lone(t, op.Config{}, func(a *op.API) {
		op.Post(a, "/api/v1/try", func(context.Context, *nothing) (*op.Empty, error) {
			if fail {
				p := problem.New(problem.CodeRateLimited, "later")
				p.RetryAfter = 30
				return nil, fmt.Errorf("logging in: %w", p)
			}
			return nil, nil
		}, spec)
	})
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest("POST", "/api/v1/try", nil))
	if w.Code != 429 || w.Header().Get("Retry-After") != "30" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	fail = false
	w = httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest("POST", "/api/v1/try", nil))
	if w.Code != 202 || w.Body.Len() > 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
