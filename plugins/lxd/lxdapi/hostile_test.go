package lxdapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/plugin"
)

const envelope = `{"type":"sync","metadata":`

func flush(w http.ResponseWriter) { w.(http.Flusher).Flush() }

// raw answers with bytes of its own.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer func() { _ = conn.Close() }()
		_, _ = fmt.Fprint(conn, text)
	}
}

// say answers with a text.
func say(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// endless begins with one text and goes on with another.
func endless(first, then string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, first)
		piece := strings.Repeat(then, 32<<10/len(then))
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, piece); err != nil {
				return
			}
		}
	}
}

// status answers with a status in front.
func status(code int, handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		handler(w, r)
	}
}

// stop begins and says nothing more.
func stop(w http.ResponseWriter, r *http.Request) {
	fmt.Fprint(w, envelope)
	flush(w)
	<-r.Context().Done()
}

// drip sends a byte now and then, for ever.
func drip(w http.ResponseWriter, r *http.Request) {
	fmt.Fprint(w, envelope+`[`)
	for r.Context().Err() == nil {
		fmt.Fprint(w, " ")
		flush(w)
		select {
		case <-r.Context().Done():
		case <-time.After(impatience / 10):
		}
	}
}

// TestHostileServers: every answer that is none ends a call with an error that says so, and nothing else.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		kind   plugin.ErrorKind
	}{
		"never answers":        {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, plugin.Timeout},
		"stops in the body":    {stop, plugin.Timeout},
		"drips":                {drip, plugin.Timeout},
		"endless space":        {endless(envelope, " "), plugin.Protocol},
		"endless rows":         {endless(envelope+`[{"name":"a"}`, `,{"name":"a"}`), plugin.Protocol},
		"endless text":         {endless(envelope+`[{"name":"`, "a"), plugin.Protocol},
		"endless unknown key":  {endless(`{"type":"sync","x":"`, "a"), plugin.Protocol},
		"endless refusal":      {status(500, endless(`{"error":"`, "a")), plugin.Protocol},
		"deep":                 {say(envelope + strings.Repeat(`[`, 1<<20)), plugin.Protocol},
		"deep object":          {say(envelope + `[` + strings.Repeat(`{"config":`, 1<<20)), plugin.Protocol},
		"deep unknown key":     {say(`{"x":` + strings.Repeat(`[`, 1<<20)), plugin.Protocol},
		"huge number":          {say(envelope + `[{"name":"a","stateful":1e999}]}`), plugin.Protocol},
		"huge whole number":    {say(`{"type":"sync","error_code":99999999999999999999,"metadata":[]}`), plugin.Protocol},
		"wrong type":           {say(envelope + `[{"name":7}]}`), plugin.Protocol},
		"no date":              {say(envelope + `[{"name":"a","created_at":7}]}`), plugin.Protocol},
		"bad date":             {say(envelope + `[{"name":"a","created_at":"yesterday"}]}`), plugin.Protocol},
		"object for a list":    {say(envelope + `{"name":"a"}}`), plugin.Protocol},
		"name that climbs":     {say(envelope + `[{"name":"../a"}]}`), plugin.Protocol},
		"no name":              {say(envelope + `[{}]}`), plugin.Protocol},
		"NUL in a name":        {say(envelope + `[{"name":"a\u0000b"}]}`), plugin.Protocol},
		"unknown type":         {say(`{"type":"magic","metadata":[]}`), plugin.Protocol},
		"no type":              {say(`{"metadata":[]}`), plugin.Protocol},
		"something behind":     {say(envelope + `[]}{}`), plugin.Protocol},
		"cut off":              {raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + envelope), plugin.Unreachable},
		"cut without a length": {raw("HTTP/1.0 200 OK\r\n\r\n" + envelope), plugin.Protocol},
		"web page":             {say("<html>hello</html>"), plugin.Protocol},
		"nothing":              {say(""), plugin.Protocol},
		"not an object":        {say(`"x"`), plugin.Protocol},
		"null":                 {say("null"), plugin.Protocol},
		"not HTTP":             {raw("SSH-2.0-OpenSSH_9.2\r\n"), plugin.Protocol},
		"endless headers":      {raw("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 50000)), plugin.Unreachable},
		"redirect":             {http.RedirectHandler("https://192.0.2.1/", http.StatusFound).ServeHTTP, plugin.Protocol},
		"another server's 404": {http.NotFound, plugin.Protocol},
		"behind a proxy":       {status(502, say("<html>")), plugin.Unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := patience
			if c.kind == plugin.Timeout {
				limit = impatience
			}
			_, _, err := serveWithin(t, limit, c.answer).Instances(t.Context(), lxdapi.Scope{})
			wantKind(t, err, c.kind)
		})
	}
}

// A server may say secrets in what it refuses with: they go no further.
func TestRefusalsHoldNoSecret(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"no such operation: /1.0/operations/" + uuid + "/websocket?secret=" + canary,
		`bad request: {"fds":{"0":"x"},"secret":"` + canary + `"}`,
		"wrong password: " + canary,
		"unknown token eyJjbGllbnRfbmFtZSI6" + canary + "==",
		"-----BEGIN PRIVATE KEY-----\n" + canary + "\n-----END PRIVATE KEY-----",
	} {
		for _, status := range []int{400, 403, 404, 409, 500, 501, 503} {
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/1.0" {
					answer(w, `{"auth":"untrusted"}`)
				} else {
					refusal(w, status, text)
				}
			})
			_, err := client.Projects(t.Context())
			if err == nil || strings.Contains(err.Error(), canary) {
				t.Errorf("%d: %v", status, err)
			}
		}
		failed := operation(uuid, 400, text)
		client := serve(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, failed) })
		op, err := client.Wait(t.Context(), uuid)
		if err != nil || op.Failure() == nil || strings.Contains(fmt.Sprintf("%+v %v", op, op.Failure()), canary) {
			t.Errorf("%+v, %v", op, err)
		}
	}
	long := strings.Repeat("ä", 100_000) + "\x00\x1b[31m"
	_, err := serve(t, func(w http.ResponseWriter, _ *http.Request) { refusal(w, 500, long) }).Projects(t.Context())
	if e := wantKind(t, err, plugin.Protocol); len(e.Message) > 4<<10 { // a refusal of 64 KiB is none
		t.Errorf("the message has %d bytes", len(e.Message))
	}
	_, err = serve(t, func(w http.ResponseWriter, _ *http.Request) { refusal(w, 500, long[:60_000]) }).Projects(t.Context())
	if e := wantKind(t, err, plugin.Refused); len(e.Message) > 4<<10 || strings.ContainsAny(e.Message, "\x00\x1b") {
		t.Errorf("the message has %d bytes", len(e.Message))
	}
}

// 403 says two things; only GET /1.0 tells which.
func TestBothMeaningsOf403(t *testing.T) {
	t.Parallel()
	for auth, kind := range map[string]plugin.ErrorKind{
		`{"auth":"untrusted"}`: plugin.TokenRejected,
		`{"auth":"trusted","environment":{"server_version":"5.0.2"}}`: plugin.Denied,
		`7`: plugin.Denied, // it does not say
	} {
		client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/1.0" {
				answer(w, auth)
			} else {
				refusal(w, 403, "not authorized")
			}
		})
		_, err := client.Projects(t.Context())
		wantKind(t, err, kind)
		_, err = client.Act(t.Context(), web1, lxdapi.Start, lxdapi.ActOptions{})
		wantKind(t, err, kind)
		wantKind(t, client.Watch(t.Context(), lxdapi.Scope{}, lxdapi.NewEventRing(1), lxdapi.WatchTiming{}), kind)
	}
}
