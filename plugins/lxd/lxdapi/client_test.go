package lxdapi_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestRequestsAreOfTheFormThatIsTaken(t *testing.T) {
	t.Parallel()
	type seen struct {
		method, uri, kind, match, body string
		shown                          int
		proto                          int
	}
	got := make(chan seen, 1)
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- seen{r.Method, r.RequestURI, r.Header.Get("Content-Type"), r.Header.Get("If-Match"), string(body),
			len(r.TLS.PeerCertificates), r.ProtoMajor}
		if r.Method == http.MethodGet {
			answer(w, "null")
		} else {
			began(w, uuid)
		}
	})
	web := lxdapi.InstanceRef{Project: "a&b", Name: "web 1"}
	end := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		send func(context.Context) error
		want seen
	}{
		"list of a project": {
			func(ctx context.Context) error {
				_, _, err := client.Instances(ctx, lxdapi.Scope{Project: "a&b"})
				return err
			},
			seen{method: "GET", uri: "/1.0/instances?project=a%26b&recursion=1"},
		},
		"list of all": {
			func(ctx context.Context) error {
				_, _, err := client.Instances(ctx, lxdapi.Scope{All: true})
				return err
			},
			seen{method: "GET", uri: "/1.0/instances?all-projects=true&recursion=1"},
		},
		"member": {
			func(ctx context.Context) error { _, err := client.StorageResources(ctx, "local", "lxd2"); return err },
			seen{method: "GET", uri: "/1.0/storage-pools/local/resources?target=lxd2"},
		},
		"stop": {
			func(ctx context.Context) error {
				_, err := client.Act(ctx, web, lxdapi.Stop, lxdapi.ActOptions{Timeout: 90 * time.Second})
				return err
			},
			seen{method: "PUT", uri: "/1.0/instances/web%201/state?project=a%26b", body: `{"action":"stop","timeout":90}`},
		},
		"forced restart": {
			func(ctx context.Context) error {
				_, err := client.Act(ctx, lxdapi.InstanceRef{Name: "web1"}, lxdapi.Restart, lxdapi.ActOptions{Force: true})
				return err
			},
			seen{method: "PUT", uri: "/1.0/instances/web1/state", body: `{"action":"restart","force":true}`},
		},
		"snapshot": {
			func(ctx context.Context) error {
				_, err := client.CreateSnapshot(ctx, web, lxdapi.SnapshotSpec{Name: "s1", Expires: end, Stateful: true})
				return err
			},
			seen{method: "POST", uri: "/1.0/instances/web%201/snapshots?project=a%26b",
				body: `{"name":"s1","expires_at":"2030-01-02T03:04:05Z","stateful":true}`},
		},
		"snapshot that stays": {
			func(ctx context.Context) error {
				_, err := client.CreateSnapshot(ctx, web, lxdapi.SnapshotSpec{Name: "s1"})
				return err
			},
			seen{method: "POST", uri: "/1.0/instances/web%201/snapshots?project=a%26b", body: `{"name":"s1"}`},
		},
		"delete": {
			func(ctx context.Context) error { _, err := client.DeleteSnapshot(ctx, web, "s 1"); return err },
			seen{method: "DELETE", uri: "/1.0/instances/web%201/snapshots/s%201?project=a%26b"},
		},
		"restore": {
			func(ctx context.Context) error {
				_, err := client.RestoreSnapshot(ctx, web, "s1", false, `"abc"`)
				return err
			},
			seen{method: "PUT", uri: "/1.0/instances/web%201?project=a%26b", match: `"abc"`, body: `{"restore":"s1"}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.send(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.want.shown, c.want.proto = 1, 1
			if c.want.body != "" {
				c.want.kind = "application/json"
			}
			if s := <-got; s != c.want {
				t.Errorf("got  %+v\nwant %+v", s, c.want)
			}
		})
	}
}

// What changes something is sent once, on a connection of its own; reading shares one.
func TestChangesAreSentOnce(t *testing.T) {
	t.Parallel()
	remotes := make(chan string, 10)
	var cut atomic.Bool
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		remotes <- r.RemoteAddr
		switch {
		case cut.Load():
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
		case r.Method == http.MethodGet:
			answer(w, "[]")
		default:
			began(w, uuid)
		}
	})
	for range 2 {
		if _, err := client.Projects(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	start := func() error {
		_, err := client.Act(t.Context(), lxdapi.InstanceRef{Name: "web1"}, lxdapi.Start, lxdapi.ActOptions{})
		return err
	}
	for range 2 {
		if err := start(); err != nil {
			t.Fatal(err)
		}
	}
	a, b, c, d := <-remotes, <-remotes, <-remotes, <-remotes
	if a != b || c == a || d == a || c == d {
		t.Errorf("reading went over %s and %s, changes over %s and %s", a, b, c, d)
	}
	cut.Store(true)
	wantKind(t, start(), plugin.Unreachable)
	if len(remotes) != 1 {
		t.Errorf("a change that was cut off was sent %d times", len(remotes))
	}
}

func TestTheCertificateIsCheckedOnEveryConnection(t *testing.T) {
	t.Parallel()
	wrong := strings.Repeat("AB:", 31) + "AB"
	for name, c := range map[string]struct {
		change func(*endpoint.Target)
		kind   plugin.ErrorKind
	}{
		"wrong pin":     {func(t *endpoint.Target) { t.Fingerprint = wrong }, plugin.Untrusted},
		"not trusted":   {func(t *endpoint.Target) { t.Fingerprint, t.VerifyTLS = "", true }, plugin.Untrusted},
		"pin in small":  {func(t *endpoint.Target) { t.Fingerprint = strings.ToLower(t.Fingerprint) }, ""},
		"any":           {func(t *endpoint.Target) { t.Fingerprint = "" }, ""},
		"local address": {func(t *endpoint.Target) { t.AllowLocal = false }, plugin.Forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				if r.Method == http.MethodGet {
					answer(w, `{"auth":"untrusted"}`)
				} else {
					began(w, uuid)
				}
			}, c.change)
			server, meta, readErr := client.Server(t.Context())
			_, writeErr := client.Act(t.Context(), lxdapi.InstanceRef{Name: "web1"}, lxdapi.Start, lxdapi.ActOptions{})
			watchErr := error(nil)
			if c.kind != "" {
				watchErr = client.Watch(t.Context(), lxdapi.Scope{}, lxdapi.NewEventRing(1), lxdapi.WatchTiming{Backoff: time.Millisecond})
			}
			if c.kind == "" {
				if readErr != nil || writeErr != nil || server.Trusted() || meta.Fingerprint == "" || meta.Certificate == nil || meta.Date.IsZero() {
					t.Errorf("%v, %v, %+v, %+v", readErr, writeErr, server, meta)
				}
				return
			}
			for _, err := range []error{readErr, writeErr, watchErr} {
				if e := wantKind(t, err, c.kind); c.kind == plugin.Untrusted && e.Fingerprint == "" {
					t.Error("the error does not say which certificate was shown")
				}
			}
			if asked.Load() != 0 {
				t.Error("something was sent")
			}
		})
	}
}

func TestNothingOlderThanTLS13(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{MaxVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	_, _, err := clientOf(t, server, patience).Server(t.Context())
	wantKind(t, err, plugin.Unreachable)
}

func TestPrintedClientsHoldNoSecret(t *testing.T) {
	t.Parallel()
	client := serve(t, http.NotFound)
	secret, err := identity()
	if err != nil {
		t.Fatal(err)
	}
	own, err := lxdapi.ParseIdentity(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
		text := fmt.Sprintf(format+format+format, client, own, struct{ I lxdapi.Identity }{own})
		if !strings.Contains(text, "lxdapi.") || strings.Contains(text, "PRIVATE") || strings.Contains(text, "ecdsa") {
			t.Error("a secret is in ", text)
		}
	}
}

func TestConnectionsAreFewAndTargetsBounded(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var now, most atomic.Int32
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		<-release
		now.Add(-1)
		answer(w, "[]")
	})
	done := make(chan error, 12)
	for range 12 {
		go func() { _, err := client.Projects(t.Context()); done <- err }()
	}
	waittest.Until(t, "four requests", func() bool { return now.Load() >= 4 })
	close(release)
	for range 12 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if most.Load() > 4 {
		t.Errorf("%d connections at a time", most.Load())
	}
	pool := lxdapi.NewPool(lxdapi.Timeouts{})
	for i := range 1000 {
		if _, err := pool.NewClient(endpoint.Target{Address: fmt.Sprintf("192.0.2.1:%d", i+1)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := pool.Len(); n > 512 {
		t.Errorf("%d targets are kept", n)
	}
}

func TestTheCallersContextEndsACall(t *testing.T) {
	t.Parallel()
	started := make(chan struct{}, 1)
	client := serve(t, func(_ http.ResponseWriter, r *http.Request) { started <- struct{}{}; <-r.Context().Done() })
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if _, err := client.Projects(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client.Projects(ctx)
	wantKind(t, err, plugin.Timeout)
}

func TestNamesThatCannotBeAreNotSent(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); answer(w, "null") })
	ctx := t.Context()
	for _, bad := range []string{".", "..", "a/b", `a\b`, "a\x00b", "a\nb", "\xff", strings.Repeat("a", 256)} {
		ref, scope := lxdapi.InstanceRef{Name: bad}, lxdapi.Scope{Project: bad}
		for name, call := range map[string]func() error{
			"instance": func() error { _, _, err := client.Instance(ctx, ref); return err },
			"project":  func() error { _, _, err := client.Instances(ctx, scope); return err },
			"project of one": func() error {
				_, _, err := client.Instance(ctx, lxdapi.InstanceRef{Project: bad, Name: "web1"})
				return err
			},
			"operations":         func() error { _, _, err := client.Operations(ctx, scope); return err },
			"metrics":            func() error { _, err := client.Metrics(ctx, bad); return err },
			"watch":              func() error { return client.Watch(ctx, scope, lxdapi.NewEventRing(1), lxdapi.WatchTiming{}) },
			"act":                func() error { _, err := client.Act(ctx, ref, lxdapi.Start, lxdapi.ActOptions{}); return err },
			"snapshots":          func() error { _, err := client.Snapshots(ctx, ref); return err },
			"snapshot":           func() error { _, err := client.CreateSnapshot(ctx, ref, lxdapi.SnapshotSpec{Name: "s1"}); return err },
			"name of a snapshot": func() error { _, err := client.CreateSnapshot(ctx, web1, lxdapi.SnapshotSpec{Name: bad}); return err },
			"deleted snapshot":   func() error { _, err := client.DeleteSnapshot(ctx, web1, bad); return err },
			"restored snapshot":  func() error { _, err := client.RestoreSnapshot(ctx, web1, bad, false, ""); return err },
			"restored instance":  func() error { _, err := client.RestoreSnapshot(ctx, ref, "s1", false, ""); return err },
			"pool":               func() error { _, err := client.StorageResources(ctx, bad, ""); return err },
			"member of a pool":   func() error { _, err := client.StorageResources(ctx, "local", bad); return err },
			"member":             func() error { _, err := client.Resources(ctx, bad); return err },
			"operation":          func() error { _, err := client.Operation(ctx, bad); return err },
			"wait":               func() error { _, err := client.Wait(ctx, bad); return err },
			"wait for a time":    func() error { _, err := client.WaitFor(ctx, bad, time.Second); return err },
			"cancel":             func() error { return client.Cancel(ctx, bad) },
		} {
			if err := call(); plugin.KindOf(err) != plugin.Invalid {
				t.Errorf("%s %q: %v", name, bad, err)
			}
		}
	}
	for _, id := range []string{"", "../../instances", strings.ToUpper(uuid), uuid + "0", strings.Replace(uuid, "-", "/", 1)} {
		if _, err := client.Wait(ctx, id); plugin.KindOf(err) != plugin.Invalid {
			t.Errorf("operation %q: %v", id, err)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

var web1 = lxdapi.InstanceRef{Name: "web1"}
