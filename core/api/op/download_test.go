package op_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

type fileIn struct {
	Mode string `path:"mode"`
	From int    `query:"from" minimum:"0"`
}

// large is more than a chunk and than what sockets hold.
var large = bytes.Repeat([]byte("0123456789abcde\n"), 4<<10)

// downloading serves files of several fates as the caller that it is given. ended gets what ended the handler that writes without end.
func downloading(t *testing.T, spec op.Spec) (s *sample, mu *sync.Mutex, url string, ended chan error) {
	t.Helper()
	s, mu, a, ended := files(spec)
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return s, mu, server.URL + filesPath, ended
}

const filesPath = "/api/v1/files/"

func files(spec op.Spec) (s *sample, mu *sync.Mutex, a *op.API, ended chan error) {
	mu, ended = &sync.Mutex{}, make(chan error, 1)
	s = &sample{off: map[string]bool{}, caller: &identity.Caller{UserID: 5, Teams: map[int64]identity.Role{1: identity.Admin}}}
	guarded := &lockedSample{sample: s, mu: mu}
	a = op.New(op.Config{
		Router: route.New(), Authenticator: guarded, Resolver: guarded, Recorder: guarded, Reauthorise: time.Millisecond, StrictAudit: true,
		Entitlements: func(_ context.Context, name string) bool { mu.Lock(); defer mu.Unlock(); return !s.off[name] },
	})
	op.Download(a, filesPath+":mode", func(ctx context.Context, in *fileIn, f *op.File) error {
		if in.Mode == "unopened" {
			_, err := f.Write(large)
			return err
		}
		if in.Mode == "refuse" {
			return problem.New(problem.CodeConflict, "not now")
		}
		if err := f.Open("text/csv; charset=utf-8", `a "b".csv`); err != nil {
			return err
		}
		switch in.Mode {
		case "empty":
			return nil
		case "early":
			_, _ = f.Write([]byte("begun"))
			return problem.New(problem.CodeConflict, "not now")
		case "late", "panic":
			_, _ = f.Write(bytes.Repeat(large, 3))
			if in.Mode == "panic" {
				panic("ouch")
			}
			return errors.New("broke in the middle")
		case "whole":
			for range 40 {
				if _, err := f.Write(large[:20_000]); err != nil {
					return err
				}
			}
			return nil
		}
		for { // endless
			if _, err := f.Write(large); err != nil {
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return err
			}
		}
	}, spec)
	return s, mu, a, ended
}

var fileSpec = op.Spec{
	ID: "get_file", Summary: "Get a file", Tag: "Try", Role: identity.Admin, Entitlement: "files", Audit: op.Audit{Action: "file.get"},
	Content: []string{"text/csv"},
}

func TestDownload(t *testing.T) {
	t.Parallel()
	for mode, test := range map[string]struct {
		status int
		body   string
		cut    bool
		rows   string // results in the audit log
	}{
		"whole":        {status: 200, body: strings.Repeat(string(large[:20_000]), 40), rows: "ok"},
		"empty":        {status: 200, rows: "ok"},
		"refuse":       {status: 409, body: `"error":"conflict"`, rows: "refused"},
		"early":        {status: 409, body: `"error":"conflict"`, rows: "refused"},
		"unopened":     {status: 500, body: `"error":"internal"`, rows: "failed"},
		"late":         {status: 200, cut: true, rows: "ok failed"},
		"panic":        {status: 200, cut: true, rows: "ok failed"},
		"whole?from=x": {status: 422, body: `"error":"invalid"`, rows: "refused"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s, mu, url, _ := downloading(t, fileSpec)
			answer, err := http.Get(url + mode)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			if answer.StatusCode != test.status || errors.Is(err, io.ErrUnexpectedEOF) != test.cut || err != nil && !test.cut {
				t.Errorf("%d %v", answer.StatusCode, err)
			}
			if test.status == 200 && !test.cut && string(body) != test.body || test.status > 200 && !strings.Contains(string(body), test.body) {
				t.Errorf("%d bytes: %.100s", len(body), body)
			}
			h := answer.Header
			if test.status == 200 && (h.Get("Content-Type") != "text/csv; charset=utf-8" ||
				h.Get("Content-Disposition") != `attachment; filename="a \"b\".csv"` || h.Get("Cache-Control") != "no-store") {
				t.Errorf("%v", h)
			}
			if test.status != 200 && (h.Get("Content-Disposition") != "" || h.Get("Content-Type") != "application/problem+json") {
				t.Errorf("%v", h)
			}
			if got := results(s, mu); got != test.rows {
				t.Errorf("the audit log has %q, want %q", got, test.rows)
			}
		})
	}
}

// results waits for the handler, which may outlive the answer by a moment, and lists what the audit log has.
func results(s *sample, mu *sync.Mutex) string {
	mu.Lock()
	defer mu.Unlock()
	var all []string
	for _, e := range s.trail() {
		all = append(all, e.Result)
	}
	return strings.Join(all, " ")
}

func TestDownloadHead(t *testing.T) {
	t.Parallel()
	s, mu, url, _ := downloading(t, fileSpec)
	for mode, status := range map[string]int{"endless": 200, "refuse": 409, "whole?from=-1": 422} {
		answer, err := http.Head(url + mode)
		if err != nil || answer.StatusCode != status {
			t.Errorf("%s: %v %v", mode, answer, err)
		}
		if status == 200 && !strings.Contains(answer.Header.Get("Content-Disposition"), ".csv") {
			t.Errorf("%v", answer.Header)
		}
	}
	if got := results(s, mu); strings.Contains(got, "ok") {
		t.Errorf("nothing was read, and the audit log has %q", got)
	}
}

// The right to read ends in the middle of the file: so does the connection, even when its reader has stopped to read.
func TestDownloadEndsWithTheRightToReadIt(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*sample){
		"logged out": func(s *sample) { s.auth = problem.New(problem.CodeUnauthenticated, "log in") },
		"a lower role": func(s *sample) {
			s.caller = &identity.Caller{UserID: 5, Teams: map[int64]identity.Role{1: identity.Viewer}}
		},
		"feature put off":   func(s *sample) { s.off["files"] = true },
		"reads on meantime": func(s *sample) { s.auth = problem.New(problem.CodeUnauthenticated, "log in") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, mu, url, ended := downloading(t, fileSpec)
			answer, err := http.Get(url + "endless")
			if err != nil || answer.StatusCode != 200 {
				t.Fatalf("%v %v", answer, err)
			}
			defer answer.Body.Close()
			if _, err := io.ReadFull(answer.Body, make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
			read := make(chan error, 1)
			if name == "reads on meantime" {
				go func() { _, err := io.Copy(io.Discard, answer.Body); read <- err }()
			}
			mu.Lock()
			change(s)
			mu.Unlock()
			select {
			case err := <-ended:
				if !strings.Contains(fmt.Sprint(err), "may no longer read the answer") { // and not that a chunk took too long
					t.Errorf("it was ended by %v", err)
				}
			case <-time.After(hanging):
				t.Fatal("the download goes on")
			}
			if name != "reads on meantime" {
				go func() { _, err := io.Copy(io.Discard, answer.Body); read <- err }()
			}
			if err := <-read; err == nil {
				t.Error("the file looks whole")
			}
		})
	}
}

func TestDownloadEndsWithItsReader(t *testing.T) {
	t.Parallel()
	_, _, url, ended := downloading(t, fileSpec)
	answer, err := http.Get(url + "endless")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(answer.Body, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	select {
	case <-ended:
	case <-time.After(hanging):
		t.Fatal("the handler outlived its reader")
	}
}

// A reader that hardly reads is left when the time for all is over.
func TestDownloadTakesNoLongerThanItsTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, downloadTakesNoLongerThanItsTimeout)
}

func downloadTakesNoLongerThanItsTimeout(t *testing.T) {
	spec := fileSpec
	spec.Timeout = 300 * time.Millisecond
	_, _, a, ended := files(spec)
	server := inMemory(t, a)
	answer, err := server.Client().Get(server.URL + filesPath + "endless")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	select {
	case err := <-ended:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it was ended by %v", err)
		}
	case <-time.After(time.Second):
		t.Fatal("it lasts beyond its time")
	}
	if _, err := io.Copy(io.Discard, answer.Body); err == nil {
		t.Error("the file looks whole")
	}
}

// What cannot be recorded is not read.
func TestDownloadThatCannotBeRecorded(t *testing.T) {
	t.Parallel()
	a := op.New(op.Config{Router: route.New(),
		Authenticator: &sample{caller: &identity.Caller{UserID: 5, Teams: map[int64]identity.Role{1: identity.Admin}}}, Recorder: broken{}})
	op.Download(a, "/api/v1/files", func(_ context.Context, _ *nothing, f *op.File) error {
		if err := f.Open("text/csv", "a.csv"); err != nil {
			return err
		}
		_, err := f.Write(bytes.Repeat(large, 5))
		return err
	}, fileSpec)
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/files", nil))
	if w.Code != 500 || bytes.Contains(w.Body.Bytes(), large[:15]) {
		t.Errorf("%d %.200s", w.Code, w.Body)
	}
}

type broken struct{}

func (broken) Record(context.Context, audit.Entry) error { return errors.New("no audit log") }

func TestDownloadIsDescribed(t *testing.T) {
	t.Parallel()
	a := op.New(op.Config{Router: route.New()})
	op.Download(a, "/api/v1/files", func(context.Context, *nothing, *op.File) error { return nil }, fileSpec)
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct{ Content map[string]any }
		}
	}
	if err := json.Unmarshal(a.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	if _, ok := doc.Paths["/api/v1/files"]["get"].Responses["200"].Content["text/csv"]; !ok {
		t.Errorf("%+v", doc.Paths)
	}
	if err := a.Operations()[0].Check(); err != nil {
		t.Error(err)
	}
}
