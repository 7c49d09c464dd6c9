package op_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/hostler/hostler/core/api/op"
)

// textServer answers at paths of its own with texts of that length.
func textServer(t *testing.T) *httptest.Server {
	t.Helper()
	text := strings.Repeat("all of it alike ", 1000)
	server := httptest.NewServer(lone(t, op.Config{}, func(a *op.API) {
		get := func(path string, size int, secret bool) {
			spec := public
			spec.ID, spec.Secret = path, secret
			op.Get(a, "/api/v1/"+path, func(context.Context, *nothing) (*op.Body[string], error) {
				return &op.Body[string]{Body: text[:size]}, nil
			}, spec)
		}
		get("long", len(text), false)
		get("short", 900, false)
		get("secret", len(text), true)
		spec := public
		spec.ID = "events"
		op.Stream(a, "/api/v1/events", func(_ context.Context, _ *nothing, s *op.EventStream) error { return s.Send("1", "e", text) }, spec)
		spec.ID, spec.Content = "file", []string{"text/csv", "application/zip"}
		op.Download(a, "/api/v1/file", func(_ context.Context, in *struct {
			Media string `query:"media"`
		}, f *op.File) error {
			if err := f.Open(in.Media, "x"); err != nil {
				return err
			}
			_, err := io.WriteString(f, text)
			return err
		}, spec)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestAnswersAreCompressed(t *testing.T) {
	t.Parallel()
	server := textServer(t)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	t.Cleanup(client.CloseIdleConnections)
	for _, tt := range []struct{ path, accept, want string }{
		{"long", "", ""}, {"long", "identity", ""}, {"long", "br", ""}, {"long", "gzip;q=0", ""}, {"long", "*;q=0", ""},
		{"long", "gzip", "gzip"}, {"long", "zstd", "zstd"}, {"long", "gzip, deflate, br, zstd", "zstd"},
		{"long", "gzip;q=1, zstd;q=0.5", "gzip"},
		{"short", "gzip", ""}, {"secret", "gzip, zstd", ""}, {"events", "gzip", ""},
		{"file?media=text/csv", "gzip", "gzip"}, {"file?media=application/zip", "gzip", ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/api/v1/"+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.accept != "" {
			r.Header.Set("Accept-Encoding", tt.accept)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != 200 || answer.Header.Get("Content-Encoding") != tt.want {
			t.Errorf("%s with %q: %d %q %v", tt.path, tt.accept, answer.StatusCode, answer.Header.Get("Content-Encoding"), err)
			continue
		}
		// What is plain because nothing else was asked for suits everybody, and no cache keeps it.
		plain := tt.accept == "" && answer.Header.Get("Cache-Control") == "no-store"
		if !plain && !strings.Contains(strings.Join(answer.Header.Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("%s with %q: a cache would give it to anyone: %v", tt.path, tt.accept, answer.Header)
		}
		if answer.Header.Get("No-Gzip-Compression") != "" {
			t.Errorf("%s with %q: a header of ours goes out", tt.path, tt.accept)
		}
		if whole := plainText(t, body, tt.want); !bytes.Contains(whole, []byte("all of it alike all of it")) ||
			(tt.want != "" && len(body) > len(whole)/10) {
			t.Errorf("%s with %q: %d of %d bytes", tt.path, tt.accept, len(body), len(whole))
		}
	}
}

func plainText(t *testing.T, body []byte, encoding string) []byte {
	t.Helper()
	var reader io.Reader = bytes.NewReader(body)
	switch encoding {
	case "gzip":
		z, err := gzip.NewReader(reader)
		if err != nil {
			t.Fatal(err)
		}
		reader = z
	case "zstd":
		z, err := zstd.NewReader(reader)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		reader = z
	}
	whole, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}
