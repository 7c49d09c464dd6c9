package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/channel"
	"github.com/hostler/hostler/internal/waittest"
)

// What is signed and young is taken, all else is refused.
func TestReceive(t *testing.T) {
	t.Parallel()
	out := &waittest.Text{}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- receive(ctx, []string{"--secret", "s"}, out) }()
	waittest.Until(t, "it listens", func() bool { return strings.HasSuffix(out.String(), "/\n") })
	_, url, _ := strings.Cut(strings.TrimSpace(out.String()), "at ")
	const body = `{"title":"web1\nis down","kind":"alert","severity":"critical","at":"2026-01-02T03:04:05Z","link":"/x"}`
	for name, test := range map[string]struct {
		secret string
		age    time.Duration
		body   string
		want   int
	}{
		"good": {"s", 0, body, 204}, "another secret": {"t", 0, body, 401}, "old": {"s", time.Hour, body, 401}, "no JSON": {"s", 0, "x", 400},
		"too long": {"s", 0, strings.Repeat("x", maxPayload+1), 413},
	} {
		stamp := fmt.Sprint(time.Now().Add(-test.age).Unix())
		signature, err := channel.Sign(test.secret, "id", stamp, []byte(test.body))
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Webhook-Id", "id")
		r.Header.Set("Webhook-Timestamp", stamp)
		r.Header.Set("Webhook-Signature", "v1,AAAA "+signature)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != test.want {
			t.Errorf("%s: %d, want %d", name, answer.StatusCode, test.want)
		}
	}
	if want := "2026-01-02T03:04:05Z alert critical: \"web1\\nis down\" /x\n"; !strings.Contains(out.String(), want) {
		t.Errorf("it says %q", out.String())
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
