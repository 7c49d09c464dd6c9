package keys_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// An open event stream ends soon after its key is revoked, is over, or its user lost the role or the account.
func TestAKeyThatEndsEndsItsStreams(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	users := identitytest.New(d)
	server := httptest.NewServer(apitest.Resource(op.Config{Authenticator: users, Recorder: audit.Recorder{DB: d},
		Reauthorise: 10 * time.Millisecond}, func(a *op.API) {
		op.Stream(a, "/api/v1/watch", func(ctx context.Context, _ *struct{}, s *op.EventStream) error {
			if err := s.Send("1", "", 1); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}, op.Spec{ID: "watch", Summary: "Watch", Tag: "Watch", Role: identity.Viewer, On: op.Anywhere})
	}))
	t.Cleanup(server.Close)
	exec := func(statement string) func(*testing.T, *identitytest.Account, *identitytest.APIKey) {
		return func(t *testing.T, a *identitytest.Account, k *identitytest.APIKey) {
			if _, err := d.Pool.Exec(t.Context(), fmt.Sprintf(statement, k.ID, a.ID)); err != nil {
				t.Error(err)
			}
		}
	}
	for name, end := range map[string]func(*testing.T, *identitytest.Account, *identitytest.APIKey){
		"revoked": func(t *testing.T, a *identitytest.Account, k *identitytest.APIKey) {
			if err := users.RevokeKey(t.Context(), a.ID, k.ID); err != nil {
				t.Error(err)
			}
		},
		"over":        exec("UPDATE api_keys SET expires_at = now() WHERE id = %d AND user_id = %d"),
		"role lost":   exec("DELETE FROM team_members WHERE %d > 0 AND user_id = %d"),
		"deactivated": exec("UPDATE users SET is_active = false WHERE %d > 0 AND id = %d"),
		"nothing":     nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			account := identitytest.As(t, users, identity.Viewer)
			key := identitytest.Key(t, users, account, identitytest.KeySpec{Scopes: []string{"read"}})
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/api/v1/watch", nil)
			if err != nil {
				t.Fatal(err)
			}
			key.Set(r)
			answer, err := http.DefaultClient.Do(r)
			if err != nil || answer.StatusCode != 200 {
				t.Fatalf("%+v, %v", answer, err)
			}
			defer answer.Body.Close()
			body := bufio.NewReader(answer.Body)
			if line, err := body.ReadString('\n'); err != nil {
				t.Fatalf("%q, %v", line, err)
			}
			ended := make(chan error, 1)
			go func() { _, err := io.Copy(io.Discard, body); ended <- err }()
			if end == nil {
				select {
				case err := <-ended:
					t.Errorf("it ended by itself: %v", err)
				case <-time.After(200 * time.Millisecond):
				}
				return
			}
			end(t, account, key)
			<-ended
			if ctx.Err() != nil {
				t.Error("it did not end")
			}
		})
	}
}
