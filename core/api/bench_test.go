package api_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/service/servicetest"
)

// known is an authenticator that asks nobody.
type known struct{ caller identity.Caller }

func (k *known) Authenticate(context.Context, *http.Request) (*identity.Caller, error) {
	return &k.caller, nil
}

// BenchmarkAuthenticated is what it costs to find out who calls: requests of parallel clients to a real server, by a
// session and by a key, against the same handler with a fixed caller. The ratios are of requests per second; the three
// take turns, so that one disturbance of the machine meets all of them.
func BenchmarkAuthenticated(b *testing.B) {
	service := servicetest.New(b)
	inventorytest.Many(b, service.DB, 100, 0)
	dbtest.Exec(b, service.DB, `INSERT INTO jobs (kind, status, team_id, host_id, target_kind, target_id, target_name, requested_by_email,
		created_at, finished_at)
		SELECT 'vm.start', 'succeeded', 1, 1, 'vm', i % 100 + 1, 'guest-' || i, 'a@example.com', now() - i * interval '1 minute', now()
		FROM generate_series(1, 1000) i`)
	dbtest.Exec(b, service.DB, "ANALYZE")
	users := service.Users
	account := identitytest.As(b, users, identity.Owner)
	key := identitytest.Key(b, users, account, identitytest.KeySpec{})
	serve := func(who op.Authenticator) string {
		service.API.Authenticator = who
		server := httptest.NewServer(service.Handler())
		b.Cleanup(server.Close)
		return server.URL
	}
	fixed := &known{identity.Caller{UserID: account.ID, Email: account.Email, SessionID: 1,
		Teams: map[int64]identity.Role{identity.DefaultTeam: identity.Owner}}}
	open, guarded := serve(fixed), serve(users)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	bySession := func(r *http.Request) { r.AddCookie(account.Cookie) }
	for _, target := range []string{"/api/v1/jobs?per_page=50", "/api/v1/vms"} {
		b.Run(target, func(b *testing.B) {
			b.SetParallelism(4)
			var alone, session, withKey time.Duration
			turns := max(1, min(20, b.N/50))
			for range turns {
				alone += clients(b, client, open+target, bySession)
				session += clients(b, client, guarded+target, bySession)
				withKey += clients(b, client, guarded+target, key.Set)
			}
			done := float64(b.N * turns)
			b.ReportMetric(0, "ns/op") // of all three together: it says nothing
			b.ReportMetric(done/alone.Seconds(), "open-req/s")
			b.ReportMetric(done/session.Seconds(), "session-req/s")
			b.ReportMetric(done/withKey.Seconds(), "key-req/s")
			b.ReportMetric(alone.Seconds()/session.Seconds(), "session/open")
			b.ReportMetric(alone.Seconds()/withKey.Seconds(), "key/open")
		})
	}
}

// clients sends b.N requests at once from several clients and says how long all took.
func clients(b *testing.B, client *http.Client, url string, identify func(*http.Request)) time.Duration {
	begun := time.Now()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
			if err != nil {
				b.Error(err)
				return
			}
			identify(r)
			answer, err := client.Do(r)
			if err != nil {
				b.Error(err)
				return
			}
			if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
				b.Errorf("%d, %v", answer.StatusCode, err)
			}
			_ = answer.Body.Close() // read to its end
		}
	})
	return time.Since(begun)
}
