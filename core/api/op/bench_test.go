package op_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
)

// BenchmarkOperation compares an operation with the bare work of its handler: decode, encode.
func BenchmarkOperation(b *testing.B) {
	s := newSample(b, sampleConfig{})
	const body = `{"name":"a","cores":4,"items":[{"size":1},{"size":2}]}`
	request := func(method, path, body string) *http.Request {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer owner")
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		return r
	}
	b.Run("bare post", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, w := request("POST", "/api/v1/hosts", body), httptest.NewRecorder()
			var in createIn
			if err := json.NewDecoder(r.Body).Decode(&in.Body); err != nil {
				b.Fatal(err)
			}
			_ = json.NewEncoder(w).Encode(hostOut{9, in.Body.Name})
		}
	})
	b.Run("op post", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, request("POST", "/api/v1/hosts", body)); w.Code != 201 {
				b.Fatal(w.Code)
			}
			s.entries = nil
		}
	})
	b.Run("bare get", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, w := request("GET", "/api/v1/hosts/7", ""), httptest.NewRecorder()
			_ = json.NewEncoder(w).Encode(hostOut{7, "node7"})
		}
	})
	b.Run("op get", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, request("GET", "/api/v1/hosts/7", "")); w.Code != 200 {
				b.Fatal(w.Code)
			}
		}
	})
	rows := make([]hostOut, 10000)
	for i := range rows {
		rows[i] = hostOut{int64(i), "a guest of a common length"}
	}
	many := newSample(b, sampleConfig{})
	op.Get(many.API, "/api/v1/many", func(context.Context, *nothing) (*op.List[hostOut], error) {
		return &op.List[hostOut]{Total: len(rows), Body: rows}, nil
	}, op.Spec{ID: "many", Summary: "Many", Tag: "Many", Role: identity.Viewer})
	b.Run("bare list of 10000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = json.NewEncoder(io.Discard).Encode(rows)
		}
	})
	b.Run("op list of 10000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			many.ServeHTTP(discard{http.Header{}}, request("GET", "/api/v1/many", ""))
		}
	})
}

// discard is a ResponseWriter that keeps nothing.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}
