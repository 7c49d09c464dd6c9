// Package apitest tests the HTTP API from outside. It has helpers for single
// scenarios, and three tests that run over every operation of the OpenAPI
// document:
//
//   - MatrixWith checks which callers may use an operation
//   - Garbage sends invalid input
//   - Nulls sends null in every place of a body
//
// All of them work both on a handler in the process and on a real server. An
// API says where it is and how a request is made in the name of a caller.
package apitest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/identity"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Updating reports whether golden files are written instead of compared. The
// flag is only set once a test runs.
func Updating() bool { return *update }

// Caller is who makes a request: a user with one role in one team. A nil
// *Caller is somebody without a log-in.
type Caller struct {
	Role identity.Role
	// Team is the ID of the team; 0 is the default team.
	Team int64
}

// Callers with a role in the default team. NoRole is logged in and may nothing.
var (
	// NoRole is logged in but has no role.
	NoRole   = &Caller{Role: identity.NoRole}
	Viewer   = &Caller{Role: identity.Viewer}
	Operator = &Caller{Role: identity.Operator}
	Admin    = &Caller{Role: identity.Admin}
	Owner    = &Caller{Role: identity.Owner}
)

// In returns a caller with a role in another team.
func In(team int64, role identity.Role) *Caller { return &Caller{Role: role, Team: team} }

func (c *Caller) String() string {
	if c == nil {
		return "anonymous"
	}
	if c.Team != 0 {
		return fmt.Sprintf("%s@%d", c.Role, c.Team)
	}
	return c.Role.String()
}

// API is the instance of the API under test.
type API struct {
	// Handler is called in the process. When it is nil, requests go to URL through Client (http.DefaultClient when nil).
	Handler http.Handler
	URL     string
	Client  *http.Client
	// LogIn makes r come from the caller: it sets a cookie or an Authorization
	// header. It is never called for requests without a log-in.
	LogIn func(r *http.Request, c *Caller)
	// Document returns the OpenAPI document. If it is nil, the API is asked for
	// it. All instances have the same document, and producing it takes longer
	// than most tests.
	Document func() []byte
}

// Response is an answer with its whole body.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Problem returns the member error of a problem, or "" if the answer is not
// one.
func (a *Response) Problem() string {
	var p struct{ Error string }
	if a.Header.Get("Content-Type") != "application/problem+json" || json.Unmarshal(a.Body, &p) != nil {
		return ""
	}
	return p.Error
}

// Decode decodes the JSON body into a value. The test fails if it is not JSON.
func (a *Response) Decode(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal(a.Body, into); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
}

// patience is the maximum time of one request.
const patience = 2 * time.Minute

// Do sends a request in the name of the caller; nil is nobody. It returns only
// the head of an event stream that does not end, and of a socket, which it
// closes at once. It returns an error for an answer whose status, media type or
// schema the OpenAPI document does not declare.
func (a *API) Do(ctx context.Context, r *http.Request, as *Caller) (*Response, error) {
	answer, err := a.exchange(ctx, r, as)
	if err != nil {
		return nil, err
	}
	err = a.hold(r, answer, func(r *http.Request) (*Response, error) { return a.exchange(ctx, r, nil) })
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, err)
	}
	return answer, nil
}

func (a *API) exchange(ctx context.Context, r *http.Request, as *Caller) (*Response, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r = r.WithContext(ctx)
	if as != nil {
		a.LogIn(r, as)
	}
	if a.Handler != nil {
		return a.call(ctx, cancel, r)
	}
	client := a.Client
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, err)
	}
	defer response.Body.Close()
	answer := &Response{Status: response.StatusCode, Header: response.Header}
	if response.Header.Get("Content-Type") == "text/event-stream" || response.StatusCode == http.StatusSwitchingProtocols {
		return answer, nil
	}
	if answer.Body, err = io.ReadAll(response.Body); err != nil {
		return nil, fmt.Errorf("%s %s: reading the answer: %w", r.Method, r.URL.Path, err)
	}
	return answer, nil
}

// call runs the handler in the process. The request ends after the head of an
// event stream.
func (a *API) call(ctx context.Context, cancel func(), r *http.Request) (*Response, error) {
	if r.RemoteAddr == "" {
		r.RemoteAddr = "192.0.2.1:1234"
	}
	w := &recorder{ResponseRecorder: httptest.NewRecorder(), streaming: cancel}
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		a.Handler.ServeHTTP(w, r)
	}()
	select {
	case cause := <-done:
		if cause != nil {
			return nil, fmt.Errorf("%s %s: the handler panicked: %v", r.Method, r.URL.Path, cause)
		}
		return &Response{Status: w.Code, Header: w.Result().Header, Body: w.Body.Bytes()}, nil
	case <-time.After(patience + 5*time.Second):
		return nil, fmt.Errorf("%s %s: no answer, and the handler ignores its context: %w", r.Method, r.URL.Path, ctx.Err())
	}
}

// recorder ends the request when an event stream begins.
type recorder struct {
	*httptest.ResponseRecorder
	streaming func()
}

func (w *recorder) WriteHeader(status int) {
	w.ResponseRecorder.WriteHeader(status)
	if w.Header().Get("Content-Type") == "text/event-stream" {
		w.streaming()
	}
}

// Hijack returns a connection whose peer has already disconnected. The handler
// of a socket gets it.
func (w *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, peer := net.Pipe()
	if err := peer.Close(); err != nil {
		return nil, nil, err
	}
	return conn, bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn)), nil
}

// Scenario is one request with the expected answer.
type Scenario struct {
	Name, Method, URL string
	Headers           map[string]string
	// Body is sent as application/json, unless Headers has another
	// Content-Type.
	Body string
	// As is who asks; nil is nobody.
	As     *Caller
	Status int
	// Error is the expected error ID of a problem, or "" if the request
	// succeeds.
	Error string
	// Contains has texts that must be in the body of the answer, Lacks those
	// that must not.
	Contains, Lacks []string
	// Golden is the file with the expected body, or "" for none.
	Golden string
	// After checks the answer and what the request has changed.
	After func(t *testing.T, answer *Response)
}

// Run runs the scenarios one after another as subtests. A later one sees what
// an earlier one has changed.
func (a *API) Run(t *testing.T, scenarios ...Scenario) {
	t.Helper()
	for _, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) { a.run(t, s) })
	}
}

// Expect sends a request below /api/v1 and returns the answer. The answer must
// have the status, the error ID and the texts.
func (a *API) Expect(t *testing.T, method, url, body string, as *Caller, status int, code string, contains ...string) (answer *Response) {
	t.Helper()
	a.Run(t, Scenario{Name: method + " " + url, Method: method, URL: "/api/v1/" + url, Body: body, As: as, Status: status,
		Error: code, Contains: contains, After: func(_ *testing.T, got *Response) { answer = got }})
	if answer == nil {
		t.FailNow()
	}
	return answer
}

// Get sends a GET below /api/v1 as a viewer and decodes the answer into a
// value.
func (a *API) Get(t *testing.T, url string, into any) {
	t.Helper()
	a.Expect(t, http.MethodGet, url, "", Viewer, http.StatusOK, "").Decode(t, into)
}

func (a *API) run(t *testing.T, s Scenario) {
	answer, err := a.Do(t.Context(), a.request(s.Method, s.URL, s.Body, s.Headers), s.As)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Status != s.Status || answer.Problem() != s.Error {
		t.Errorf("%s %s as %s: %d %q, want %d %q\n%s", s.Method, s.URL, s.As, answer.Status, answer.Problem(), s.Status, s.Error, answer.Body)
	}
	for _, piece := range s.Contains {
		if !bytes.Contains(answer.Body, []byte(piece)) {
			t.Errorf("the answer lacks %q:\n%s", piece, answer.Body)
		}
	}
	for _, piece := range s.Lacks {
		if bytes.Contains(answer.Body, []byte(piece)) {
			t.Errorf("the answer contains %q:\n%s", piece, answer.Body)
		}
	}
	if s.Golden != "" {
		Golden(t, s.Golden, answer.Body)
	}
	if s.After != nil {
		s.After(t, answer)
	}
}

func (a *API) request(method, target, body string, headers map[string]string) *http.Request {
	r, err := http.NewRequest(method, a.URL+target, strings.NewReader(body))
	if err != nil {
		panic(fmt.Sprintf("apitest: %s %s: %v", method, target, err))
	}
	if body == "" {
		r.Body, r.ContentLength = http.NoBody, 0
	} else {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return r
}

// Golden compares got with the file. With go test -update it writes the file.
func Golden(t testing.TB, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go generate writes it, or go test -update", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is no longer what comes out; look at the difference and run go generate, or go test -update\n%s", file,
			difference(want, got))
	}
}

// difference returns the first place in which two texts differ, with a few
// lines around it.
func difference(want, got []byte) string {
	const around = 4
	a, b := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	cut := func(lines []string) string {
		return strings.Join(lines[max(0, min(at-around, len(lines))):min(len(lines), at+around)], "\n")
	}
	return fmt.Sprintf("line %d\n--- file\n%s\n+++ now\n%s", at+1, cut(a), cut(b))
}
