package identity_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// announced says what fn announces on the channel identity, once each.
func announced(t *testing.T, d *db.DB, fn func()) []string {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), d.Pool.Config().ConnConfig.Copy())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), "LISTEN identity"); err != nil {
		t.Fatal(err)
	}
	fn()
	dbtest.Exec(t, d, "SELECT pg_notify('identity', 'the end')")
	var all []string
	for {
		n, err := conn.WaitForNotification(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n.Payload == "the end" {
			return all
		}
		if !slices.Contains(all, n.Payload) {
			all = append(all, n.Payload)
		}
	}
}

// Whatever takes or changes rights is announced, however it is done; what happens all the time is not.
func TestChangesOfRightsAreAnnounced(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	team := identitytest.Team(t, d, "blue")
	for name, test := range map[string]struct {
		sql   string
		quiet bool
	}{
		"deactivation":                {sql: "UPDATE users SET is_active = false WHERE id = $1"},
		"password":                    {sql: "UPDATE users SET password_hash = 'x' WHERE id = $1"},
		"deletion":                    {sql: "DELETE FROM users WHERE id = $1"},
		"session revoked":             {sql: "DELETE FROM sessions WHERE user_id = $1"},
		"session shortened":           {sql: "UPDATE sessions SET expires_at = now() WHERE user_id = $1"},
		"session renewed":             {sql: "UPDATE sessions SET token_hash = 'x' WHERE user_id = $1"},
		"role lowered":                {sql: "UPDATE team_members SET role = 'viewer' WHERE user_id = $1"},
		"taken from a team":           {sql: "DELETE FROM team_members WHERE user_id = $1"},
		"put into a team":             {sql: fmt.Sprintf("INSERT INTO team_members (user_id, team_id, role) VALUES ($1, %d, 'viewer')", team)},
		"key revoked":                 {sql: "DELETE FROM api_keys WHERE user_id = $1"},
		"key narrowed":                {sql: "UPDATE api_keys SET scopes = '{read}' WHERE user_id = $1"},
		"use of a key":                {sql: "UPDATE api_keys SET last_used_at = now() WHERE user_id = $1", quiet: true},
		"use of a session":            {sql: "UPDATE sessions SET last_seen_at = now() WHERE user_id = $1", quiet: true},
		"another name":                {sql: "UPDATE users SET display_name = 'x', updated_at = now() WHERE id = $1", quiet: true},
		"the same activity":           {sql: "UPDATE users SET is_active = true WHERE id = $1", quiet: true},
		"log-in of another session":   {sql: "INSERT INTO sessions (user_id, token_hash, expires_at) VALUES ($1, 'y', now())", quiet: true},
		"log-in noted at the account": {sql: "UPDATE users SET last_login_at = now() WHERE id = $1", quiet: true},
	} {
		user := identitytest.As(t, s, identity.Operator)
		identitytest.Key(t, s, user, identitytest.KeySpec{})
		want := []string{fmt.Sprint(user.ID)}
		if test.quiet {
			want = nil
		}
		if got := announced(t, d, func() { dbtest.Exec(t, d, test.sql, user.ID) }); !slices.Equal(got, want) {
			t.Errorf("%s announces %q, want %q", name, got, want)
		}
	}
	identitytest.As(t, s, identity.Operator)
	if got := announced(t, d, func() {
		dbtest.Exec(t, d, "UPDATE sessions SET last_seen_at = now() - interval '13 hours'")
		dbtest.Exec(t, d, "DELETE FROM sessions")
	}); len(got) > 0 {
		t.Errorf("the end of sessions that had run out announces %q", got)
	}
	member := identitytest.User(t, s, identitytest.In{team: identity.Admin})
	if got := announced(t, d, func() { dbtest.Exec(t, d, "DELETE FROM teams WHERE id = $1", team) }); !slices.Contains(got,
		fmt.Sprint(member.ID)) {
		t.Errorf("the end of a team announces %q", got)
	}
	if got := announced(t, d, func() { dbtest.Exec(t, d, "TRUNCATE sessions CASCADE") }); !slices.Equal(got, []string{""}) {
		t.Errorf("emptying a table announces %q", got)
	}
}

func TestWatchWakesWhomItConcerns(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	here, there := dbtest.Open(t, url), dbtest.Open(t, url)
	s := identitytest.New(here)
	a, b := identitytest.As(t, s, identity.Viewer), identitytest.As(t, s, identity.Viewer)
	wokenA, stopA := s.Watch(a.ID)
	again, stopAgain := s.Watch(a.ID)
	wokenB, stopB := s.Watch(b.ID)
	defer stopB()
	woken := func(who string, c <-chan struct{}) {
		t.Helper()
		select {
		case <-c:
		case <-time.After(2 * time.Minute):
			t.Fatalf("%s was not woken", who)
		}
	}
	for _, c := range []<-chan struct{}{wokenA, again, wokenB} {
		woken("one at the beginning", c)
	}
	for range 50 {
		dbtest.Exec(t, there, "UPDATE sessions SET expires_at = expires_at + interval '1 second' WHERE user_id = $1", a.ID)
	}
	woken("the first of a", wokenA)
	woken("the second of a", again)
	stopAgain()
	stopAgain()
	if len(wokenB) > 0 {
		t.Error("another user was woken")
	}
	_, err := there.Pool.Exec(t.Context(),
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%events'")
	if err != nil {
		t.Fatal(err)
	}
	woken("everybody after a break", wokenB)
	stopA()
	dbtest.Exec(t, there, "TRUNCATE sessions CASCADE")
	woken("everybody when all sessions are gone", wokenB)
}
