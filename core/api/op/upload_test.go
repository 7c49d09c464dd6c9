package op_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/problem"
)

const uploadPath = "/api/v1/hosts/8/upload"

// put sends a file.
func (l *lasting) put(t *testing.T, path, media string, body io.Reader, headers ...string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", l.server.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	if media != "" {
		r.Header.Set("Content-Type", media)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := l.server.Client().Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(all)
}

const binary = "application/octet-stream"

func TestUpload(t *testing.T) {
	t.Parallel()
	l := newLasting(t, func(*op.Spec) {})
	const size = 5 << 20 // more than a JSON body may have
	if status, text := l.put(t, uploadPath, binary, io.LimitReader(endless{}, size), as("operator@3")...); status != 200 ||
		text != "5242880\n" {
		t.Errorf("%d %s", status, text)
	}
	if trail := l.trail(); len(trail) != 1 || trail[0].Action != "host.upload" || string(trail[0].Result) != "ok" {
		t.Errorf("the audit log: %+v", trail)
	}
}

// An upload is refused as any operation is, before its body is read.
func TestUploadIsRefused(t *testing.T) {
	t.Parallel()
	l := newLasting(t, func(s *op.Spec) { s.MaxBody = 1000 })
	for _, tt := range []struct {
		name, path, media string
		size              int64
		chunked           bool
		headers           []string
		status            int
		code              string
	}{
		{"nobody", uploadPath, binary, 10, false, nil, 401, "unauthenticated"},
		{"too low a role", uploadPath, binary, 10, false, as("viewer@3"), 403, "forbidden"},
		{"another site", uploadPath, binary, 10, false, append(as("operator@3"), "Cookie", "a=b", "Origin", "https://evil.example"), 403,
			"cross_origin"},
		{"another team's", uploadPath, binary, 10, false, as("operator@2"), 404, "not_found"},
		{"no token", "/api/v1/hosts/7/upload", binary, 10, false, as("operator@2"), 409, "capability_missing"},
		{"no media type", uploadPath, "", 10, false, as("operator@3"), 415, "unsupported_media_type"},
		{"another media type", uploadPath, "text/plain", 10, false, as("operator@3"), 415, "unsupported_media_type"},
		{"too large", uploadPath, binary, 1001, false, as("operator@3"), 413, "too_large"},
		{"too large, which is found out", uploadPath, binary, 1001, true, as("operator@3"), 413, "too_large"},
		{"just so large", uploadPath, binary, 1000, true, as("operator@3"), 200, ""},
	} {
		var body io.Reader = strings.NewReader(strings.Repeat("a", int(tt.size)))
		if tt.chunked {
			body = io.LimitReader(endless{}, tt.size)
		}
		status, text := l.put(t, tt.path, tt.media, body, tt.headers...)
		var p struct{ Error string }
		_ = json.Unmarshal([]byte(text), &p) // a success has none
		if status != tt.status || p.Error != tt.code {
			t.Errorf("%s: %d %s", tt.name, status, text)
		}
	}
}

func TestUploadEndsWithTheRight(t *testing.T) {
	t.Parallel()
	l := newLasting(t, func(*op.Spec) {})
	out, in := io.Pipe()
	t.Cleanup(func() { in.Close() })
	go func() {
		_, _ = in.Write(make([]byte, 1000))
		<-l.began
		l.revoke()
	}()
	status, text := l.put(t, uploadPath, binary, out, as("operator@3")...)
	if status != 401 && status != 0 { // the connection may break before the answer
		t.Errorf("%d %s", status, text)
	}
	if err := <-l.left; err == nil {
		t.Error("the handler read on")
	}
	for _, e := range l.trail() {
		if string(e.Result) == "ok" {
			t.Errorf("%+v", e)
		}
	}
}

func TestUploadThatStandsStill(t *testing.T) {
	t.Parallel()
	l := newLasting(t, func(s *op.Spec) { s.Idle = 50 * time.Millisecond })
	out, in := io.Pipe()
	t.Cleanup(func() { in.Close() })
	go func() { _, _ = in.Write(make([]byte, 1000)) }()
	l.put(t, uploadPath, binary, out, as("operator@3")...)
	if err := <-l.left; problem.CodeOf(err) != problem.CodeRequestTimeout {
		t.Errorf("%v", err)
	}
}

// If the sender of a form stops or is too slow, the response is 408 at once and not "malformed", wherever in a part the sender stops.
func TestUpload_StopsInsideAForm(t *testing.T) {
	t.Parallel()
	const boundary = "--b\r\n"
	for name, sent := range map[string]string{
		"in the first boundary":  "--",
		"in a header's name":     boundary + "Content-Dis",
		"in a header's value":    boundary + `Content-Disposition: form-data; name="file"; filen`,
		"after a header":         boundary + "Content-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n",
		"in the second boundary": boundary + "Content-Disposition: form-data; name=\"a\"\r\n\r\nvalue\r\n--",
	} {
		for _, pause := range []time.Duration{time.Hour, 5 * time.Second} {
			t.Run(fmt.Sprintf("%s, then a byte every %s", name, pause), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { stopsInsideAForm(t, sent, pause) })
			})
		}
	}
}

// stopsInsideAForm sends the beginning of a form, and then a byte now and then.
func stopsInsideAForm(t *testing.T, sent string, pause time.Duration) {
	t.Helper()
	const idle = 30 * time.Second
	failed := make(chan error, 1)
	server := inMemory(t, lone(t, op.Config{}, func(a *op.API) {
		op.Upload(a, "/api/v1/try", func(_ context.Context, _ *nothing, f *op.UploadBody) (*op.Empty, error) {
			parts, err := f.Form()
			for err == nil {
				var part *multipart.Part
				if part, err = parts.NextRawPart(); err == nil {
					_, err = io.Copy(io.Discard, part)
				}
			}
			if _, again := f.Read(make([]byte, 1)); again != f.Err() {
				t.Errorf("it failed with %v, and then with %v", f.Err(), again)
			}
			failed <- f.Err()
			return nil, err
		}, op.Spec{ID: "upload", Summary: "Try", Tag: "Try", Public: true, Content: []string{"multipart/form-data"}, Idle: idle, Rate: 1 << 10,
			Timeout: op.Unlimited})
	}))
	out, in := io.Pipe()
	var sending sync.WaitGroup
	t.Cleanup(func() { in.Close(); sending.Wait() })
	sending.Go(func() {
		for text := sent; ; text = "x" {
			if _, err := in.Write([]byte(text)); err != nil {
				return
			}
			select {
			case <-t.Context().Done():
				return
			case <-time.After(pause):
			}
		}
	})
	began := time.Now()
	answer, err := server.Client().Post(server.URL+"/api/v1/try", "multipart/form-data; boundary=b", out)
	if err == nil {
		defer answer.Body.Close()
	}
	if passed := time.Since(began); passed != idle || err == nil && answer.StatusCode != http.StatusRequestTimeout {
		t.Errorf("%v %v after %s", answer, err, passed) // by the clock of the bubble
	}
	if err := <-failed; problem.CodeOf(err) != problem.CodeRequestTimeout {
		t.Errorf("%v", err)
	}
}

// A sender that never stands still but is too slow is left, and one that is fast enough on the whole is not.
func TestUploadThatIsTooSlow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rate int64
		code problem.Code
	}{"too slow": {1 << 30, problem.CodeRequestTimeout}, "fast enough": {1, ""}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const idle = 100 * time.Millisecond
				l := lastingInMemory(t, func(s *op.Spec) { s.Idle, s.Rate = idle, c.rate })
				out, in := io.Pipe()
				var sending sync.WaitGroup
				t.Cleanup(func() { in.Close(); sending.Wait() })
				sending.Go(func() {
					for began := time.Now(); time.Since(began) < idle+time.Second; time.Sleep(idle / 20) {
						if _, err := in.Write([]byte("some")); err != nil {
							return
						}
					}
					in.Close()
				})
				status, text := l.put(t, uploadPath, binary, out, as("operator@3")...)
				if c.code == "" {
					if status != 200 {
						t.Errorf("%d %s", status, text)
					}
					return
				}
				if err := <-l.left; problem.CodeOf(err) != c.code || !strings.Contains(err.Error(), "too slowly") {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// A sender that never stands still but takes too long for all is told so, and its handler ends.
func TestUploadThatTrickles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, uploadThatTrickles)
}

func uploadThatTrickles(t *testing.T) {
	l := lastingInMemory(t, func(s *op.Spec) { s.Timeout = 200 * time.Millisecond })
	out, in := io.Pipe()
	t.Cleanup(func() { in.Close() })
	go func() {
		for {
			if _, err := in.Write([]byte("a")); err != nil {
				return
			}
			select {
			case <-t.Context().Done():
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	status, text := l.put(t, uploadPath, binary, out, as("operator@3")...)
	if status != 408 && status != 0 || status == 408 && !strings.Contains(text, `"request_timeout"`) { // the connection may break before
		t.Errorf("%d %s", status, text)
	}
	if err := <-l.left; problem.CodeOf(err) != problem.CodeRequestTimeout || !strings.Contains(err.Error(), "200ms") {
		t.Errorf("the handler read on until %v", err)
	}
	for _, e := range l.trail() {
		if string(e.Result) == "ok" {
			t.Errorf("%+v", e)
		}
	}
}

// Once the last byte has arrived, time that runs out is no fault of the sender.
func TestUploadWhoseHandlerTakesTooLong(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(io.Reader) error{
		"to its end": func(f io.Reader) error {
			_, err := io.Copy(io.Discard, f)
			return err
		},
		"just so far": func(f io.Reader) error {
			_, err := io.ReadFull(f, make([]byte, 4))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := inMemory(t, lone(t, op.Config{}, func(a *op.API) {
					op.Upload(a, "/api/v1/try", func(ctx context.Context, _ *nothing, f *op.UploadBody) (*op.Empty, error) {
						if err := read(f); err != nil {
							return nil, err
						}
						<-ctx.Done()
						return nil, ctx.Err()
					}, op.Spec{ID: "upload", Summary: "Try", Tag: "Try", Public: true, Content: []string{binary}, Timeout: 2 * time.Second})
				}))
				answer, err := server.Client().Post(server.URL+"/api/v1/try", binary, strings.NewReader("file"))
				if err != nil || answer.StatusCode != http.StatusGatewayTimeout {
					t.Fatalf("%v %v", answer, err)
				}
				answer.Body.Close()
			})
		})
	}
}

func TestUploadsOfOneCallerAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, uploadsOfOneCallerAreBounded)
}

func uploadsOfOneCallerAreBounded(t *testing.T) {
	l := lastingInMemory(t, func(*op.Spec) {})
	statuses := map[int]int{}
	for range 30 {
		status, _ := l.put(t, uploadPath, binary, strings.NewReader("a"), as("operator@3")...)
		statuses[status]++
	}
	if statuses[200] < 20 || statuses[429] == 0 || statuses[200]+statuses[429] != 30 {
		t.Errorf("%v", statuses)
	}
}

// The document says what a client sends and gets, and the declarations pass.
func TestSocketAndUploadInTheDocument(t *testing.T) {
	t.Parallel()
	l := newLasting(t, func(*op.Spec) {})
	var doc struct {
		Paths map[string]map[string]struct {
			Responses   map[string]any
			RequestBody struct{ Content map[string]any }
			Capability  string `json:"x-capability"`
		}
	}
	if err := json.Unmarshal(l.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	socket, upload := doc.Paths["/api/v1/hosts/{host_id}/console/ws"]["get"], doc.Paths["/api/v1/hosts/{host_id}/upload"]["post"]
	if socket.Responses["101"] == nil || socket.Responses["200"] != nil || socket.Responses["429"] == nil ||
		socket.Capability != "lifecycle" {
		t.Errorf("%+v", socket)
	}
	if upload.Responses["413"] == nil || upload.Responses["415"] == nil || upload.Responses["429"] == nil ||
		upload.RequestBody.Content[binary] == nil {
		t.Errorf("%+v", upload)
	}
	for _, o := range l.Operations() {
		if err := o.Check(); err != nil {
			t.Error(err)
		}
	}
}
