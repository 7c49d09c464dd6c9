package auth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/internal/waittest"
)

// Everybody sees the log-ins to the own account alone, by what they were, and the tries that failed.
func TestLoginsOfOneUser(t *testing.T) {
	t.Parallel()
	s := newService(t)
	mine, stranger := s.account(t, apitest.NoRole), s.account(t, apitest.Owner)
	if answer := s.send(t, "POST", login, credentials(mine.Email, "wrong")); answer.Status != 401 {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	s.send(t, "POST", login, credentials("nobody@example.com", "wrong"))
	factor := identitytest.TOTP(t, s.users, mine)
	var half struct{ Pending string }
	begin := func() {
		t.Helper()
		answer := s.send(t, "POST", login, credentials(mine.Email, identitytest.Password))
		if err := json.Unmarshal(answer.Body, &half); err != nil || half.Pending == "" {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
	}
	complete := func(code string, status int) {
		t.Helper()
		answer := s.send(t, "POST", "/api/v1/auth/totp", fmt.Sprintf(`{"pending":%q,"code":%q}`, half.Pending, code))
		if answer.Status != status {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
	}
	begin()
	complete("000000", 401)
	complete(factor.Code(t, 1), 200)
	begin()
	complete(factor.RecoveryCodes[0], 200)

	var all []struct {
		Outcome, At string
		Error       *string
		Method      *string
		Address     *string
		NewPlace    bool `json:"new_place"`
	}
	answer := s.send(t, "GET", "/api/v1/auth/logins", "", mine.Cookie)
	if err := json.Unmarshal(answer.Body, &all); err != nil || answer.Status != 200 || answer.Header.Get("X-Total-Count") != "5" {
		t.Fatalf("%d %s %v", answer.Status, answer.Body, err)
	}
	var got []string
	for _, one := range all {
		text := one.Outcome
		for _, part := range []*string{one.Method, one.Error} {
			if part != nil {
				text += " " + *part
			}
		}
		got = append(got, text)
		if one.Address == nil || *one.Address == "" || !strings.HasSuffix(one.At, "Z") {
			t.Errorf("%+v", one)
		}
	}
	want := []string{"ok recovery_code", "ok totp", "refused invalid_credentials", "refused invalid_credentials", "ok password"}
	if !slices.Equal(got, want) {
		t.Errorf("the log-ins are %q, want %q", got, want)
	}
	if !all[4].NewPlace {
		t.Error("the first log-in was from no new place")
	}
	for query, want := range map[string]int{"?per_page=2&page=3": 1, "?per_page=2&page=9": 0} {
		answer := s.send(t, "GET", "/api/v1/auth/logins"+query, "", mine.Cookie)
		if strings.Count(string(answer.Body), `"outcome"`) != want || answer.Header.Get("X-Total-Count") != "5" {
			t.Errorf("%s: %s", query, answer.Body)
		}
	}
	if answer := s.send(t, "GET", "/api/v1/auth/logins", "", stranger.Cookie); strings.Count(string(answer.Body), `"outcome"`) != 1 {
		t.Errorf("someone else: %s", answer.Body)
	}
	s.hunt(t, []string{factor.Secret, half.Pending, factor.RecoveryCodes[0]})
}

// An export has what is kept of the caller, of nobody else, and no secret.
func TestExportOfOneself(t *testing.T) {
	t.Parallel()
	s := newService(t)
	mine, stranger := s.account(t, apitest.Viewer), s.account(t, apitest.Owner)
	factor := identitytest.TOTP(t, s.users, mine)
	key := identitytest.Key(t, s.users, mine, identitytest.KeySpec{Scopes: []string{"read"}})
	dbtest.Exec(t, s.db, "UPDATE users SET display_name = $2 WHERE id = $1", mine.ID, "Anna \"\u202e\n</script>")
	s.send(t, "PUT", "/api/v1/auth/preferences", `{"value":{"theme":"dark"}}`, mine.Cookie)
	s.send(t, "PUT", "/api/v1/auth/preferences", `{"value":{"theirs":1}}`, stranger.Cookie)
	s.send(t, "POST", login, credentials(mine.Email, "wrong"))
	dbtest.Exec(t, s.db, `WITH p AS (INSERT INTO identity_providers (name, issuer, client_id, scopes, groups_claim, accounts, trust_email,
			allow_private, fingerprint, enabled)
			VALUES ('Work', 'https://id.example', 'a', '{}', '', 'invited', false, false, '', true) RETURNING id)
		INSERT INTO user_identities (provider_id, subject, user_id) SELECT p.id, u.subject, u.id
		FROM p, (VALUES ('me', $1::bigint), ('theirs', $2::bigint)) u (subject, id)`, mine.ID, stranger.ID)
	dbtest.Exec(t, s.db, `INSERT INTO audit (at, actor_type, actor_id, action, target_kind, target_id, result, address)
		VALUES (now(), 'user', $1, 'user.patch', 'user', $2, 'ok', '198.51.100.77')`, stranger.ID, fmt.Sprint(mine.ID))
	dbtest.Exec(t, s.db, `INSERT INTO jobs (kind, target_kind, target_id, target_name, requested_by, requested_by_email) VALUES
		('vm.start', 'vm', 1, 'web', $1, 'a')`, mine.ID)
	writes := identitytest.Key(t, s.users, mine, identitytest.KeySpec{Scopes: []string{"auth:write"}})
	for key, want := range map[*identitytest.APIKey]int{key: 403, writes: 200} {
		r, err := http.NewRequest("GET", s.URL+"/api/v1/auth/export", nil)
		if err != nil {
			t.Fatal(err)
		}
		key.Set(r)
		answer, err := s.Do(t.Context(), r, nil)
		if err != nil || answer.Status != want || want == 403 && !strings.Contains(string(answer.Body), `"scope":"auth:write"`) {
			t.Errorf("an export with a key: %v %d %s", err, answer.Status, answer.Body)
		}
	}
	dbtest.Exec(t, s.db, "DELETE FROM api_keys WHERE id <> (SELECT min(id) FROM api_keys WHERE user_id = $1) AND user_id = $1", mine.ID)
	answer := s.send(t, "GET", "/api/v1/auth/export", "", mine.Cookie)
	var got map[string]any
	if err := json.Unmarshal(answer.Body, &got); err != nil || answer.Status != 200 {
		t.Fatalf("%d %s %v", answer.Status, answer.Body, err)
	}
	if header := answer.Header.Get("Content-Disposition"); !strings.Contains(header, "hostler-account-") {
		t.Errorf("its name is %s", header)
	}
	for name, want := range map[string]int{"teams": 1, "identities": 1, "sessions": 1, "logins": 1, "known_networks": 1, "known_browsers": 1,
		"api_keys": 1, "notifications": 0, "schedules": 0, "jobs": 1} {
		if list, is := got[name].([]any); !is || len(list) != want {
			t.Errorf("%s: %v, want %d", name, got[name], want)
		}
	}
	account, _ := got["account"].(map[string]any)
	if account["email"] != mine.Email || account["display_name"] != "Anna \"\u202e\n</script>" || account["totp_enabled"] != true ||
		account["recovery_codes_left"] != 10.0 || fmt.Sprint(got["preferences"]) != "map[theme:dark]" {
		t.Errorf("the account is %v, the preferences are %v", account, got["preferences"])
	}
	actions := map[string]bool{}
	trail, _ := got["trail"].([]any)
	for _, row := range trail {
		one, _ := row.(map[string]any)
		actions[fmt.Sprint(one["action"], " ", one["result"])] = true
	}
	if !actions["user.patch ok"] || strings.Contains(string(answer.Body), "198.51.100.77") {
		t.Errorf("what others did to the account, without their addresses: %v", actions)
	}
	if !actions["auth.preferences ok"] || !actions["auth.login refused"] {
		t.Errorf("the audit log has %v", actions)
	}
	hash := dbtest.Value[string](t, s.db, "SELECT password_hash FROM users WHERE id = $1", mine.ID)
	for _, secret := range []string{stranger.Email, "theirs", factor.Secret, mine.Cookie.Value, key.Header[len("Bearer svc_"):], hash, "hash",
		factor.RecoveryCodes[0]} {
		if strings.Contains(string(answer.Body), secret) {
			t.Errorf("it has %q", secret)
		}
	}
	rows := s.trail(t)
	if rows[0].Action != "auth.export" || rows[0].TargetID != fmt.Sprint(mine.ID) || rows[0].Result != "ok" {
		t.Errorf("the audit log ends with %+v", rows[0])
	}
}

// A user has one export at a time, so that nobody keeps others from theirs.
func TestOneExportOfAUserAtATime(t *testing.T) {
	t.Parallel()
	s := newService(t)
	mine, other := s.account(t, apitest.Viewer), s.account(t, apitest.Operator)
	lock, err := s.db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := lock.Exec(t.Context(), "LOCK TABLE user_identities IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	export := func(cookie *http.Cookie) chan int {
		ended := make(chan int, 1)
		go func() { ended <- s.send(t, "GET", "/api/v1/auth/export", "", cookie).Status }()
		return ended
	}
	running := func(n int64) {
		t.Helper()
		waittest.Until(t, "exports wait for the lock", func() bool {
			return dbtest.Value[int64](t, s.db, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'user_identities'::regclass") == n
		})
	}
	first := export(mine.Cookie)
	running(1)
	if answer := s.send(t, "GET", "/api/v1/auth/export", "", mine.Cookie); answer.Status != 429 || answer.Header.Get("Retry-After") == "" {
		t.Errorf("a second export of a user: %d %s", answer.Status, answer.Body)
	}
	second := export(other.Cookie)
	running(2)
	if err := lock.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a, b := <-first, <-second; a != 200 || b != 200 {
		t.Errorf("the exports end with %d and %d", a, b)
	}
	if answer := s.send(t, "GET", "/api/v1/auth/export", "", mine.Cookie); answer.Status != 200 {
		t.Errorf("an export after the first: %d", answer.Status)
	}
}
