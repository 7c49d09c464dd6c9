package api_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// pair is two instances on one database. Neither looks at an open stream again within an hour unless it is woken.
type pair struct {
	here, there *fixture
	// url is where the first instance's stream of a job is that does not end.
	url string
}

func newPair(t *testing.T) *pair {
	t.Helper()
	url := dbtest.URL(t)
	spec := memdriver.Spec{VMs: 2, Containers: 1, TaskTime: time.Hour}
	p := &pair{here: newFixtureOn(t, url, spec)}
	p.here.furnish()
	p.there = newFixtureOn(t, url, spec)
	server := httptest.NewServer(p.here.Handler)
	t.Cleanup(server.Close)
	p.url = fmt.Sprintf("%s/api/v1/jobs/%d/events/stream", server.URL, p.here.job)
	return p
}

// open opens the stream; over is closed when it has ended.
func (p *pair) open(t *testing.T, logIn func(*http.Request)) (over chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	logIn(r)
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", answer, err)
	}
	over = make(chan struct{})
	first := make(chan struct{})
	go func() {
		defer close(over)
		defer func() { _ = answer.Body.Close() }()
		scan := bufio.NewScanner(answer.Body)
		for n := 0; scan.Scan(); n++ {
			if n == 0 {
				close(first)
			}
		}
	}()
	select {
	case <-first:
	case <-time.After(hanging):
		t.Fatal("the stream said nothing")
	}
	return over
}

// hanging bounds what hangs. It is far below the hour of the next look.
const hanging = 2 * time.Minute

// ends waits for the end of a stream.
func ends(t *testing.T, name string, over chan struct{}) {
	t.Helper()
	began := time.Now()
	select {
	case <-over:
		t.Logf("%s: ended after %v", name, time.Since(began).Round(time.Millisecond))
	case <-time.After(hanging):
		t.Errorf("%s: the stream goes on", name)
	}
}

// Whatever takes the right to a stream ends it, on whichever instance it happens.
func TestStreamsEndWithTheRightsOnEveryInstance(t *testing.T) {
	if testing.Short() {
		t.Skip("runs several instances: make check runs it")
	}
	t.Parallel()
	p := newPair(t)
	exec := func(sql string) func(*testing.T, *identitytest.Account) {
		return func(t *testing.T, a *identitytest.Account) {
			if _, err := p.there.db.Pool.Exec(t.Context(), sql, a.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	api := func(method, path, body string, status int) func(*testing.T, *identitytest.Account) {
		return func(t *testing.T, a *identitytest.Account) {
			e := teamsFixture{fixture: p.there}
			path := path
			if path == "/auth/sessions/" {
				path += fmt.Sprint(e.id("SELECT min(id) FROM sessions WHERE user_id = $1", a.ID))
				a = identitytest.LogIn(t, p.there.users, a.User)
			}
			if answer := e.send(method, "/api/v1"+path, body, func(r *http.Request) { r.AddCookie(a.Cookie) }); answer.Status != status {
				t.Fatalf("%d %s", answer.Status, answer.Body)
			}
		}
	}
	steady := p.open(t, func(r *http.Request) { r.AddCookie(identitytest.As(t, p.here.users, identity.Viewer).Cookie) })
	for name, change := range map[string]func(*testing.T, *identitytest.Account){
		"log-out":           api("POST", "/auth/logout", "", 204),
		"session revoked":   api("DELETE", "/auth/sessions/", "", 204),
		"own new password":  api("POST", "/auth/password", fmt.Sprintf(`{"current":%q,"new":"mehlwurm-zebra-19"}`, identitytest.Password), 200),
		"deactivation":      exec("UPDATE users SET is_active = false WHERE id = $1"),
		"deletion":          exec("DELETE FROM users WHERE id = $1"),
		"another role":      exec("UPDATE team_members SET role = 'operator' WHERE user_id = $1"),
		"out of the team":   exec("DELETE FROM team_members WHERE user_id = $1"),
		"sessions by hand":  exec("DELETE FROM sessions WHERE user_id = $1"),
		"session shortened": exec("UPDATE sessions SET expires_at = now() WHERE user_id = $1"),
	} {
		account := identitytest.As(t, p.here.users, identity.Viewer)
		over := p.open(t, func(r *http.Request) { r.AddCookie(account.Cookie) })
		change(t, account)
		ends(t, name, over)
	}
	for name, sql := range map[string]string{
		"key revoked":         "DELETE FROM api_keys WHERE id = $1",
		"key narrowed":        "UPDATE api_keys SET scopes = '{vms:write}' WHERE id = $1",
		"key ended":           "UPDATE api_keys SET expires_at = now() WHERE id = $1",
		"the key's user gone": "DELETE FROM users WHERE id = (SELECT user_id FROM api_keys WHERE id = $1)",
	} {
		key := identitytest.Key(t, p.here.users, identitytest.As(t, p.here.users, identity.Viewer), identitytest.KeySpec{})
		over := p.open(t, key.Set)
		if _, err := p.there.db.Pool.Exec(t.Context(), sql, key.ID); err != nil {
			t.Fatal(err)
		}
		ends(t, name, over)
	}
	select {
	case <-steady:
		t.Error("the stream of someone else has ended too")
	default:
	}
}

// A notification that was said while the listening connection was broken is made good.
func TestStreamsEndAlthoughTheListenerWasGone(t *testing.T) {
	if testing.Short() {
		t.Skip("takes the database away: make check runs it")
	}
	t.Parallel()
	p := newPair(t)
	for n := range 3 {
		account := identitytest.As(t, p.here.users, identity.Viewer)
		over := p.open(t, func(r *http.Request) { r.AddCookie(account.Cookie) })
		// The break and the change are one statement: nobody can listen again in between.
		_, err := p.there.db.Pool.Exec(t.Context(), `
			WITH gone AS (SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
			AND application_name LIKE '%events')
			DELETE FROM sessions WHERE user_id = $1 AND (SELECT count(*) FROM gone) >= 0`, account.ID)
		if err != nil {
			t.Fatal(err)
		}
		ends(t, fmt.Sprintf("break %d", n+1), over)
	}
}

// counting counts how often callers are looked up, and how many look-ups run together.
type counting struct {
	op.Authenticator
	asked, running, most atomic.Int64
}

func (c *counting) Authenticate(ctx context.Context, r *http.Request) (*identity.Caller, error) {
	c.asked.Add(1)
	now := c.running.Add(1)
	defer c.running.Add(-1)
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
	}
	return c.Authenticator.Authenticate(ctx, r)
}

// A storm of notifications is few looks at the database for each stream, and few of them at once.
func TestManyWakeUpsAreFewLooks(t *testing.T) {
	if testing.Short() {
		t.Skip("wakes many streams: make check runs it")
	}
	t.Parallel()
	p := newPair(t)
	account := identitytest.As(t, p.here.users, identity.Viewer)
	const streams = 20
	var last chan struct{}
	for range streams {
		last = p.open(t, func(r *http.Request) { r.AddCookie(account.Cookie) })
	}
	p.here.lookups.most.Store(0)
	began := time.Now() // the time is measured around the looks, so that none is counted outside of it
	before := p.here.lookups.asked.Load()
	wakeUps := 0
	for ; time.Since(began) < 700*time.Millisecond; wakeUps++ { // each a transaction of the other instance
		_, err := p.there.db.Pool.Exec(t.Context(),
			"UPDATE sessions SET expires_at = expires_at + $2 * interval '1 second' WHERE user_id = $1", account.ID, wakeUps)
		if err != nil {
			t.Fatal(err)
		}
	}
	looks := p.here.lookups.asked.Load() - before
	storm := time.Since(began)
	if most := int64(streams) * (2 + storm.Milliseconds()/100); looks > most || p.here.lookups.most.Load() > 4 {
		t.Errorf("%d looks, %d at once, of %d streams at %d wake-ups within %v; want at most %d, 4 at once", looks, p.here.lookups.most.Load(),
			streams, wakeUps, storm, most)
	}
	t.Logf("%d looks after %d wake-ups in %v", looks, wakeUps, storm)
	if _, err := p.there.db.Pool.Exec(t.Context(), "DELETE FROM sessions WHERE user_id = $1", account.ID); err != nil {
		t.Fatal(err)
	}
	ends(t, "after the storm", last)
}
