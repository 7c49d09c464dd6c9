package identity_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/problem"
)

const wrong = "not-the-password-at-all"

// code is the problem's code of err, "" when there is none.
func code(err error) problem.Code {
	if err == nil {
		return ""
	}
	return problem.CodeOf(err)
}

func from(address string) identity.Client { return identity.Client{Address: address} }

func TestLogInDoesTheSameWorkForEveryone(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	known := identitytest.As(t, s, identity.Viewer)
	inactive := identitytest.As(t, s, identity.Viewer)
	deactivate(t, d, inactive.ID)
	details := map[string]bool{}
	for name, try := range map[string]struct{ email, password string }{
		"wrong password":    {known.Email, wrong},
		"empty password":    {known.Email, ""},
		"prefix":            {known.Email, identitytest.Password[:20]},
		"longer":            {known.Email, identitytest.Password + "x"},
		"huge password":     {known.Email, strings.Repeat("p", 1<<20)},
		"NUL":               {known.Email, identitytest.Password + "\x00"},
		"unknown":           {"nobody@example.com", identitytest.Password},
		"inactive":          {inactive.Email, identitytest.Password},
		"malformed":         {"' OR 1=1 --", identitytest.Password},
		"empty":             {"", ""},
		"NUL in the e-mail": {"user\x00@example.com", identitytest.Password},
		"huge e-mail":       {strings.Repeat("a", 1<<20), identitytest.Password},
		"LIKE":              {"%@example.com", identitytest.Password},
	} {
		before := s.Hashes()
		_, err := s.LogIn(t.Context(), try.email, try.password, from("198.51.100.1"))
		if code(err) != problem.CodeInvalidCredentials {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		details[problem.From(err).Detail] = true
		if n := s.Hashes() - before; n != 1 {
			t.Errorf("%s: %d hashes, want 1", name, n)
		}
	}
	if len(details) != 1 {
		t.Errorf("the answers differ: %v", details)
	}
}

func deactivate(t *testing.T, d *db.DB, user int64) {
	t.Helper()
	if _, err := d.Pool.Exec(t.Context(), "UPDATE users SET is_active = false WHERE id = $1", user); err != nil {
		t.Fatal(err)
	}
}

func TestLogInTakesLookAlikeSpellings(t *testing.T) {
	t.Parallel()
	s := identitytest.New(dbtest.New(t))
	new := identity.NewUser{Email: "Office@example.com", Password: identitytest.Password}
	if _, err := s.CreateUser(t.Context(), new); err != nil {
		t.Fatal(err)
	}
	for _, typed := range []string{"office@EXAMPLE.com", "ｏｆｆｉｃｅ@example.com", " o\ufb03ce@example.com "} {
		if _, err := s.LogIn(t.Context(), typed, identitytest.Password, from("198.51.100.1")); err != nil {
			t.Errorf("%q: %v", typed, err)
		}
		new.Email = typed
		if _, err := s.CreateUser(t.Context(), new); code(err) != problem.CodeConflict {
			t.Errorf("a second account %q: %v", typed, err)
		}
	}
	// The password, too, is the same in full width.
	if _, err := s.LogIn(t.Context(), "office@example.com", "ｃａｎａｒｙ"+identitytest.Password[6:], from("198.51.100.1")); err != nil {
		t.Error(err)
	}
}

// However the tries are spread over addresses, spellings and instances, an account gets no more than its limit.
func TestGuessesAreLimitedForTheAccount(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	a, b := identitytest.New(dbtest.Open(t, url)), identitytest.New(dbtest.Open(t, url))
	user := identitytest.As(t, a, identity.Owner)
	spellings := []string{user.Email, strings.ToUpper(user.Email), " " + user.Email}
	var refused, limited atomic.Int32
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			s := []*identity.Store{a, b}[i%2]
			_, err := s.LogIn(t.Context(), spellings[i%3], wrong, from(fmt.Sprintf("198.51.100.%d", i)))
			switch code(err) {
			case problem.CodeInvalidCredentials:
				refused.Add(1)
			case problem.CodeRateLimited:
				limited.Add(1)
				if wait := problem.From(err).RetryAfter; wait < 1 || wait > 15*60+1 {
					t.Errorf("wait %d seconds", wait)
				}
			default:
				t.Errorf("got %v", err)
			}
		})
	}
	wg.Wait()
	if refused.Load() != 10 || limited.Load() != 50 {
		t.Errorf("%d guesses were looked at, want 10; %d were limited", refused.Load(), limited.Load())
	}
	// The right password does not help now, and costs no hash.
	before := a.Hashes()
	if _, err := a.LogIn(t.Context(), user.Email, identitytest.Password, from("192.0.2.77")); code(err) != problem.CodeRateLimited {
		t.Errorf("got %v", err)
	}
	if a.Hashes() != before {
		t.Error("a limited try was hashed")
	}
	// Others are not concerned.
	identitytest.As(t, b, identity.Viewer)
}

func TestGuessesAreLimitedForTheAddress(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(i int) string{
		"one IPv4":       func(int) string { return "198.51.100.9" },
		"mapped IPv4":    func(i int) string { return []string{"198.51.100.9", "::ffff:198.51.100.9"}[i%2] },
		"one IPv6 /64":   func(i int) string { return fmt.Sprintf("2001:db8:1:2:%x::%x", i, i*7) },
		"zones":          func(i int) string { return fmt.Sprintf("fe80::1%%eth%d", i) },
		"not an address": func(int) string { return "@" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := identitytest.New(dbtest.New(t))
			refused := 0
			for i := range 40 {
				_, err := s.LogIn(t.Context(), fmt.Sprintf("nobody%d@example.com", i), wrong, from(address(i)))
				if code(err) == problem.CodeInvalidCredentials {
					refused++
				} else if code(err) != problem.CodeRateLimited {
					t.Fatal(err)
				}
			}
			if refused != 30 {
				t.Errorf("%d guesses were looked at, want 30", refused)
			}
			other := netip.MustParseAddr("2001:db8:1:3::1").String()
			if _, err := s.LogIn(t.Context(), "nobody@example.com", wrong, from(other)); code(err) != problem.CodeInvalidCredentials {
				t.Errorf("another address: %v", err)
			}
		})
	}
}

func TestSuccessForgivesTheAccountAndNotTheAddress(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	mine, other := identitytest.As(t, s, identity.Viewer), identitytest.As(t, s, identity.Viewer)
	client := from("198.51.100.5")
	try := func(email, password string) problem.Code {
		_, err := s.LogIn(t.Context(), email, password, client)
		return code(err)
	}
	for round := range 3 {
		for range 9 {
			if got := try(mine.Email, wrong); got != problem.CodeInvalidCredentials {
				t.Fatalf("round %d: %s", round, got)
			}
		}
		if got := try(mine.Email, identitytest.Password); got != "" {
			t.Fatalf("round %d: %s", round, got)
		}
	}
	// 27 failures stand against the address, in which one may not hide guesses at others by logging in as oneself.
	for range 3 {
		if got := try(other.Email, wrong); got != problem.CodeInvalidCredentials {
			t.Fatal(got)
		}
	}
	if got := try(other.Email, wrong); got != problem.CodeRateLimited {
		t.Errorf("after 30 failures: %s", got)
	}
	// The window ends.
	if _, err := d.Pool.Exec(t.Context(), "UPDATE login_failures SET window_ends = now() - interval '1 second'"); err != nil {
		t.Fatal(err)
	}
	if got := try(other.Email, identitytest.Password); got != "" {
		t.Errorf("after the window: %s", got)
	}
}

// A full house says so soon, without counting against anyone.
func TestLogInsThatFindNoSlotAreNotCounted(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	user := identitytest.As(t, identitytest.New(d), identity.Viewer)
	slow := identity.New(d, identity.Config{
		Argon2: identity.Argon2{Memory: 32 * 1024, Time: 8, Threads: 1}, Hashes: 1, HashWait: time.Millisecond, AddressTries: 1000,
	})
	if _, err := d.Pool.Exec(t.Context(), "UPDATE users SET password_hash = replace(password_hash, 'm=64,t=1', 'm=32768,t=8')"); err != nil {
		t.Fatal(err)
	}
	var looked, busy atomic.Int32
	try := func() {
		_, err := slow.LogIn(t.Context(), user.Email, wrong, from("198.51.100.1"))
		switch code(err) {
		case problem.CodeInvalidCredentials:
			looked.Add(1)
		case problem.CodeRateLimited:
			busy.Add(1)
		default:
			t.Errorf("got %v", err)
		}
	}
	release := slow.FillSlots()
	try()
	release()
	var wg sync.WaitGroup
	for range 8 { // of which some may meet
		wg.Go(try)
	}
	wg.Wait()
	var failures int32
	err := d.Pool.QueryRow(t.Context(), "SELECT failures FROM login_failures WHERE bucket LIKE 'account:%'").Scan(&failures)
	if err != nil || failures != looked.Load() || looked.Load() != int32(slow.Hashes()) || busy.Load() == 0 {
		t.Errorf("%d counted, %d looked at, %d busy, %v", failures, looked.Load(), busy.Load(), err)
	}
}

func TestLogInRenewsAHashOfAnotherCost(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	user := identitytest.As(t, identitytest.New(d), identity.Viewer)
	dearer := identity.New(d, identity.Config{Argon2: identity.Argon2{Memory: 128, Time: 2, Threads: 1}})
	for round, hashes := range []int64{2, 1} {
		before := dearer.Hashes()
		if _, err := dearer.LogIn(t.Context(), user.Email, identitytest.Password, from("198.51.100.1")); err != nil {
			t.Fatal(err)
		}
		if got := dearer.Hashes() - before; got != hashes {
			t.Errorf("log-in %d: %d hashes, want %d", round, got, hashes)
		}
	}
	var hash string
	if err := d.Pool.QueryRow(t.Context(), "SELECT password_hash FROM users").Scan(&hash); err != nil ||
		!strings.HasPrefix(hash, "$argon2id$v=19$m=128,t=2,p=1$") {
		t.Errorf("%.40s, %v", hash, err)
	}
}

// A row that was tampered with is an error of the service, never a way in and never a huge allocation.
func TestStoredHashesAreNotTrusted(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	user := identitytest.As(t, s, identity.Owner)
	for _, hash := range []string{"", "x",
		"$argon2id$v=19$m=4294967295,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=64,t=0,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "$argon2id$v=19$m=64,t=1,p=1$$",
		"$argon2i$v=19$m=64,t=1,p=1$AAAAAAAAAAA$AAAA"} {
		if _, err := d.Pool.Exec(t.Context(), "UPDATE users SET password_hash = $1", hash); err != nil {
			t.Fatal(err)
		}
		for _, password := range []string{"", identitytest.Password} {
			_, err := s.LogIn(t.Context(), user.Email, password, from("198.51.100.1"))
			if got := code(err); got != problem.CodeInternal && got != problem.CodeInvalidCredentials {
				t.Errorf("%q: %v", hash, err)
			}
			if err != nil && len(hash) > 10 && strings.Contains(err.Error(), hash) {
				t.Errorf("the error repeats the hash: %v", err)
			}
		}
	}
}

func TestLogInGivesUpWithItsRequest(t *testing.T) {
	t.Parallel()
	s := identitytest.New(dbtest.New(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.LogIn(ctx, "a@example.com", wrong, from("198.51.100.1")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
