package identity_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/problem"
)

// bearing is a request with that Authorization header and the cookies.
func bearing(header string, cookies ...*http.Cookie) *http.Request {
	r := with(cookies...)
	r.Header.Set("Authorization", header)
	return r
}

func TestKeyYieldsItsUserWithAllRoles(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	blue := identitytest.Team(t, d, "blue")
	held := identitytest.In{identity.DefaultTeam: identity.Viewer, blue: identity.Admin}
	user := identitytest.User(t, s, held)
	key := identitytest.Key(t, s, user, identitytest.KeySpec{})
	c, err := s.Authenticate(t.Context(), bearing(key.Header))
	if err != nil {
		t.Fatal(err)
	}
	if c.UserID != user.ID || c.Email != user.Email || c.SessionID != 0 || c.KeyID != key.ID || c.Scopes != nil ||
		!reflect.DeepEqual(c.Teams, map[int64]identity.Role(held)) {
		t.Errorf("%+v", c)
	}
	narrow := identitytest.Key(t, s, user, identitytest.KeySpec{Scopes: []string{"vms:write", "read", "read"}})
	if c, err = s.Authenticate(t.Context(), bearing(narrow.Header)); err != nil ||
		!reflect.DeepEqual(c.Scopes, []string{"read", "vms:write"}) {
		t.Errorf("%+v, %v", c, err)
	}
	// The rights are those of the moment.
	dbtest.Exec(t, d, "DELETE FROM team_members WHERE user_id = $1 AND team_id = $2", user.ID, blue)
	if c, err = s.Authenticate(t.Context(), bearing(key.Header)); err != nil || len(c.Teams) != 1 || c.Highest() != identity.Viewer {
		t.Errorf("%+v, %v", c, err)
	}
}

// A header with a key counts alone: a cookie beside it neither helps nor lends its rights.
func TestKeyBesideACookieCountsAlone(t *testing.T) {
	t.Parallel()
	s := identitytest.New(dbtest.New(t))
	owner, viewer := identitytest.As(t, s, identity.Owner), identitytest.As(t, s, identity.Viewer)
	key := identitytest.Key(t, s, viewer, identitytest.KeySpec{})
	c, err := s.Authenticate(t.Context(), bearing(key.Header, owner.Cookie))
	if err != nil || c.UserID != viewer.ID || c.SessionID != 0 || c.Highest() != identity.Viewer {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := s.Authenticate(t.Context(), bearing("Bearer svc_wrong", owner.Cookie)); code(err) != problem.CodeUnauthenticated {
		t.Errorf("the cookie helps a wrong key: %v", err)
	}
}

// Guessing from the shown beginning, and every other key that does not hold, gets one and the same answer, and nothing
// is written for it.
func TestKeysThatDoNotHoldAreRefusedAlike(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	user, gone := identitytest.As(t, s, identity.Owner), identitytest.As(t, s, identity.Owner)
	good := identitytest.Key(t, s, user, identitytest.KeySpec{}).Header
	revoked := identitytest.Key(t, s, user, identitytest.KeySpec{})
	if err := s.RevokeKey(t.Context(), user.ID, revoked.ID); err != nil {
		t.Fatal(err)
	}
	over := identitytest.Key(t, s, user, identitytest.KeySpec{ExpiresAt: new(time.Now().Add(-time.Hour))})
	inactive := identitytest.Key(t, s, gone, identitytest.KeySpec{})
	deactivate(t, d, gone.ID)
	last := len(good) - 1
	other := map[bool]string{true: "B", false: "A"}[good[last] == 'A']
	writes := func() (n int64) {
		var at string
		if err := d.Pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM login_failures) + (SELECT count(*) FROM audit),
			(SELECT COALESCE(string_agg(k::text, '' ORDER BY id), '') FROM api_keys k)`).Scan(&n, &at); err != nil {
			t.Fatal(err)
		}
		return n*1000 + int64(len(at))
	}
	before, answers := writes(), map[string]string{}
	for name, header := range map[string]string{
		"revoked": revoked.Header, "expired": over.Header, "of an inactive user": inactive.Header,
		"another end": good[:last] + other, "the shown beginning and zeros": good[:len("Bearer svc_")+6] + strings.Repeat("A", 46),
		"only the beginning": good[:len("Bearer svc_")+6], "shorter": good[:last], "longer": good + "A", "padded": good + "=",
		"without the mark": "Bearer " + good[len("Bearer svc_"):], "in capitals": "Bearer " + strings.ToUpper(good[len("Bearer "):]),
		"empty": "Bearer ", "no space": "Bearer", "LIKE": "Bearer svc_%", "SQL": "Bearer ' OR 1=1 --",
		"two spaces": "Bearer  " + good[len("Bearer "):],
		"NUL":        "Bearer svc_\x00", "huge": "Bearer svc_" + strings.Repeat("A", 1<<20),
		"its hash": fmt.Sprintf("Bearer svc_%x", sha256.Sum256([]byte(good))),
	} {
		c, err := s.Authenticate(t.Context(), bearing(header))
		if c != nil || code(err) != problem.CodeUnauthenticated {
			t.Errorf("%s: %+v, %v", name, c, err)
			continue
		}
		answers[fmt.Sprintf("%#v", problem.From(err))] = name
	}
	if len(answers) != 1 {
		t.Errorf("the refusals differ: %v", answers)
	}
	if after := writes(); after != before {
		t.Error("a refused key left a trace in the database")
	}
	for name, header := range map[string]string{"as it is": good, "small scheme": "bearer" + good[len("Bearer"):]} {
		if _, err := s.Authenticate(t.Context(), bearing(header)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Other schemes are nobody's key.
	if _, err := s.Authenticate(t.Context(), bearing("Basic "+good[len("Bearer "):])); code(err) != problem.CodeUnauthenticated {
		t.Errorf("Basic: %v", err)
	}
}

func TestOnlyTheHashAndTheBeginningOfAKeyAreKept(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	user := identitytest.As(t, s, identity.Viewer)
	seen := map[string]bool{}
	for range 20 {
		key, text, err := s.CreateKey(t.Context(), callerOf(user), identity.NewKey{Name: " x "})
		if err != nil {
			t.Fatal(err)
		}
		// 46 characters of 6 bits are behind the beginning: more than 256 bits.
		if !regexp.MustCompile(`^svc_[A-Za-z0-9_-]{52}$`).MatchString(text) || seen[text] || key.Prefix != text[:10] || key.Name != "x" {
			t.Fatalf("%q %+v", text, key)
		}
		seen[text] = true
		var row string
		if err := d.Pool.QueryRow(t.Context(), "SELECT k::text FROM api_keys k WHERE id = $1", key.ID).Scan(&row); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(row, text[10:20]) || !strings.Contains(row, fmt.Sprintf("%x", sha256.Sum256([]byte(text)))) {
			t.Errorf("the row is %s", row)
		}
	}
}

func callerOf(a *identitytest.Account) *identity.Caller {
	return &identity.Caller{UserID: a.ID, Email: a.Email, SessionID: 1}
}

func TestUseOfAKeyIsNotedOnceAMinute(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	user := identitytest.As(t, s, identity.Owner)
	key := identitytest.Key(t, s, user, identitytest.KeySpec{})
	use := func() time.Time {
		t.Helper()
		if _, err := s.Authenticate(t.Context(), bearing(key.Header)); err != nil {
			t.Fatal(err)
		}
		keys, err := s.Keys(t.Context(), user.ID)
		if err != nil || len(keys) != 1 || keys[0].LastUsedAt == nil {
			t.Fatalf("%+v, %v", keys, err)
		}
		return *keys[0].LastUsedAt
	}
	if keys, err := s.Keys(t.Context(), user.ID); err != nil || keys[0].LastUsedAt != nil {
		t.Errorf("before the first use: %+v, %v", keys, err)
	}
	first := use()
	if !use().Equal(first) {
		t.Error("a second use within the minute was written")
	}
	dbtest.Exec(t, d, "UPDATE api_keys SET last_used_at = now() - interval '2 minutes'")
	if again := use(); again.Before(first) {
		t.Errorf("used at %v, before at %v", again, first)
	}
}

func TestKeysOfAKeyMayNotMoreThanItself(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	user := identitytest.As(t, s, identity.Owner)
	soon, later := time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
	narrow := identitytest.KeySpec{Scopes: []string{"api-keys:write", "read"}}
	brief := identitytest.KeySpec{ExpiresAt: &soon}
	for name, test := range map[string]struct {
		of     identitytest.KeySpec
		wanted identity.NewKey
		want   problem.Code
	}{
		"same scopes":          {narrow, identity.NewKey{Scopes: []string{"read", "api-keys:write"}}, ""},
		"fewer scopes":         {narrow, identity.NewKey{Scopes: []string{"read"}}, ""},
		"one scope more":       {narrow, identity.NewKey{Scopes: []string{"read", "vms:write"}}, problem.CodeForbidden},
		"all":                  {narrow, identity.NewKey{}, problem.CodeForbidden},
		"no scopes":            {narrow, identity.NewKey{Scopes: []string{}}, problem.CodeInvalid},
		"an end on an endless": {narrow, identity.NewKey{Scopes: []string{"read"}, ExpiresAt: &later}, ""},
		"the same end":         {brief, identity.NewKey{ExpiresAt: &soon}, ""},
		"a later end":          {brief, identity.NewKey{ExpiresAt: &later}, problem.CodeForbidden},
		"no end":               {brief, identity.NewKey{}, problem.CodeForbidden},
		"any scope":            {brief, identity.NewKey{Scopes: []string{"vms:write"}, ExpiresAt: &soon}, ""},
		"all of an unnarrowed": {identitytest.KeySpec{}, identity.NewKey{}, ""},
		"the past":             {brief, identity.NewKey{ExpiresAt: new(time.Now().Add(-time.Second))}, problem.CodeInvalid},
		"only scopes it reads": {identitytest.KeySpec{Scopes: []string{"api-keys:write"}}, identity.NewKey{Scopes: []string{"read"}},
			problem.CodeForbidden},
		"a name of nothing":     {brief, identity.NewKey{Name: " ", ExpiresAt: &soon}, problem.CodeInvalid},
		"a name with a newline": {brief, identity.NewKey{Name: "a\nb", ExpiresAt: &soon}, problem.CodeInvalid},
	} {
		if test.wanted.Name == "" {
			test.wanted.Name = "child"
		}
		caller, err := s.Authenticate(t.Context(), bearing(identitytest.Key(t, s, user, test.of).Header))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.CreateKey(t.Context(), caller, test.wanted); code(err) != test.want {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	// A key that was revoked, or is over, since its request was let in makes none any more.
	key := identitytest.Key(t, s, user, identitytest.KeySpec{})
	caller, err := s.Authenticate(t.Context(), bearing(key.Header))
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, d, "UPDATE api_keys SET expires_at = now() WHERE id = $1", key.ID)
	if _, _, err := s.CreateKey(t.Context(), caller, identity.NewKey{Name: "x"}); code(err) != problem.CodeUnauthenticated {
		t.Errorf("over: %v", err)
	}
	dbtest.Exec(t, d, "DELETE FROM api_keys WHERE id = $1", key.ID)
	if _, _, err := s.CreateKey(t.Context(), caller, identity.NewKey{Name: "x"}); code(err) != problem.CodeUnauthenticated {
		t.Errorf("revoked: %v", err)
	}
}

// However many create at once, there are never more keys than allowed.
func TestKeysDoNotGatherWithoutBound(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	user := identitytest.As(t, s, identity.Viewer)
	dbtest.Exec(t, d, `INSERT INTO api_keys (user_id, name, key_hash, prefix) SELECT $1, 'x', sha256(i::text::bytea), 'svc_'
		FROM generate_series(1, $2) i`,
		user.ID, identity.MaxKeys-2)
	results := make([]error, 6)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() {
			_, _, results[i] = s.CreateKey(context.WithoutCancel(t.Context()), callerOf(user), identity.NewKey{Name: "x"})
		})
	}
	all.Wait()
	made := 0
	for _, err := range results {
		if err == nil {
			made++
		} else if code(err) != problem.CodeConflict {
			t.Error(err)
		}
	}
	if keys, err := s.Keys(t.Context(), user.ID); made != 2 || len(keys) != identity.MaxKeys || err != nil {
		t.Errorf("%d made, %d keys, %v", made, len(keys), err)
	}
}

func TestKeysBelongToTheirUser(t *testing.T) {
	t.Parallel()
	s := identitytest.New(dbtest.New(t))
	mine, stranger := identitytest.As(t, s, identity.Viewer), identitytest.As(t, s, identity.Owner)
	key := identitytest.Key(t, s, mine, identitytest.KeySpec{})
	if keys, err := s.Keys(t.Context(), stranger.ID); len(keys) != 0 || err != nil {
		t.Errorf("%+v, %v", keys, err)
	}
	if err := s.RevokeKey(t.Context(), stranger.ID, key.ID); code(err) != problem.CodeNotFound {
		t.Error(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	key.Set(r)
	if _, err := s.Authenticate(t.Context(), r); err != nil {
		t.Error(err)
	}
	if err := s.RevokeKey(t.Context(), mine.ID, key.ID); err != nil {
		t.Error(err)
	}
	if err := s.RevokeKey(t.Context(), mine.ID, key.ID); code(err) != problem.CodeNotFound {
		t.Error(err)
	}
	if _, err := s.Authenticate(t.Context(), r); code(err) != problem.CodeUnauthenticated {
		t.Error(err)
	}
}
