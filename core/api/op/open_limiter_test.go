package op_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/internal/waittest"
)

// byHeader finds the caller by the user's id in a header.
type byHeader struct{ *sample }

func (byHeader) Authenticate(_ context.Context, r *http.Request) (*identity.Caller, error) {
	return &identity.Caller{UserID: int64(len(r.Header.Get("User"))), Teams: map[int64]identity.Role{1: identity.Viewer}}, nil
}

// One user cannot take all that lasts: not all streams, nor all downloads.
func TestAnswersThatLastAreBoundedByUser(t *testing.T) {
	t.Parallel()
	s := &sample{}
	a := op.New(op.Config{Router: route.New(), Authenticator: byHeader{s}, Resolver: s, Recorder: s})
	op.Stream(a, "/api/v1/stream", func(ctx context.Context, _ *nothing, out *op.EventStream) error {
		if err := out.Open(); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}, op.Spec{ID: "stream", Summary: "Stream", Tag: "Try", Role: identity.Viewer, On: op.Anywhere})
	op.Download(a, "/api/v1/download", func(ctx context.Context, _ *nothing, f *op.File) error {
		if err := f.Open("text/plain", "x"); err != nil {
			return err
		}
		if _, err := f.Write(make([]byte, 64<<10)); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}, op.Spec{ID: "download", Summary: "Download", Tag: "Try", Role: identity.Viewer, On: op.Anywhere, Content: []string{"text/plain"}})
	server := httptest.NewServer(a)
	defer server.Close()
	for path, most := range map[string]int{"/api/v1/stream": 64, "/api/v1/download": 2} {
		all, leave := context.WithCancel(t.Context())
		get := func(user string) *http.Response {
			t.Helper()
			r, err := http.NewRequestWithContext(all, http.MethodGet, server.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("User", user)
			answer, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = answer.Body.Close() })
			return answer
		}
		for range most {
			if answer := get("a"); answer.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d", path, answer.StatusCode)
			}
		}
		if answer := get("a"); answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") == "" {
			t.Errorf("%s: one more is %d", path, answer.StatusCode)
		}
		if answer := get("bb"); answer.StatusCode != http.StatusOK {
			t.Errorf("%s: another user meets %d", path, answer.StatusCode)
		}
		leave()
		all, leave = context.WithCancel(t.Context())
		defer leave()
		waittest.Until(t, path+" no longer counts those that ended", func() bool { return get("a").StatusCode == http.StatusOK })
	}
}
