package identity_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/proxy"
)

// strange is an address that no account knows; each number has another.
func strange(n int) identity.Client { return from(fmt.Sprintf("198.51.%d.%d", 100+n/250, n%250)) }

// browser is a client that keeps its device cookie.
type browser struct {
	address string
	cookie  string
}

func (b *browser) client() identity.Client {
	return identity.Client{Address: b.address, Devices: identity.DevicesOf("other=1; service_device="+b.cookie, proxy.Site{Path: "/"})}
}

// logIn expects a session, and keeps the cookie.
func (b *browser) logIn(t *testing.T, s *identity.Store, email string) {
	t.Helper()
	in, err := s.LogIn(t.Context(), email, identitytest.Password, b.client())
	if err != nil || in.Token == "" || in.Devices == "" {
		t.Fatalf("%s: %+v, %v", b.address, in, err)
	}
	b.cookie = in.Devices
}

// guess makes wrong tries and says how many were looked at before the first that was limited, at most 100.
func guess(t *testing.T, s *identity.Store, email string, client func(n int) identity.Client) (looked int) {
	t.Helper()
	for n := range 100 {
		_, err := s.LogIn(t.Context(), email, wrong, client(n))
		switch code(err) {
		case problem.CodeInvalidCredentials:
			looked++
		case problem.CodeRateLimited:
			return looked
		default:
			t.Fatalf("got %v", err)
		}
	}
	return looked
}

// Strangers who use their tries up lock out neither a browser that has logged in before, wherever it is and on whichever
// instance, nor an address from which the account has logged in; other strangers they do.
func TestStrangersDoNotLockTheOwnerOut(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	a, b := identitytest.New(dbtest.Open(t, url)), identitytest.New(dbtest.Open(t, url))
	user := identitytest.As(t, a, identity.Owner)
	laptop, office := &browser{address: "203.0.113.1"}, &browser{address: "2001:db8:7:7::1"}
	laptop.logIn(t, a, user.Email)
	office.logIn(t, a, user.Email)
	if n := guess(t, a, user.Email, strange); n != 10 {
		t.Fatalf("strangers had %d guesses", n)
	}
	for name, client := range map[string]identity.Client{
		"another place":                    {Address: "203.0.113.99"},
		"with a cookie of their own":       {Address: "203.0.113.98", Devices: []string{strings.Repeat("A", 43)}},
		"a neighbour of the office":        {Address: "2001:db8:7:8::1"},
		"the session's token for a cookie": {Address: "203.0.113.97", Devices: []string{user.Cookie.Value}},
	} {
		if _, err := b.LogIn(t.Context(), user.Email, identitytest.Password, client); code(err) != problem.CodeRateLimited {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The browser on a journey; again with the cookie it got there.
	for _, address := range []string{"203.0.113.50", "203.0.113.51"} {
		laptop.address = address
		laptop.logIn(t, b, user.Email)
	}
	// Another browser in the office's network.
	(&browser{address: "2001:db8:7:7:ffff::2"}).logIn(t, b, user.Email)
	if n := guess(t, b, user.Email, func(n int) identity.Client { return strange(n + 500) }); n != 0 {
		t.Errorf("strangers had %d guesses more after the owner's log-ins", n)
	}
}

// Strangers behind the owner's own proxy or router use that address up, and the browser still gets in.
func TestStrangersAtTheSameAddressDoNotLockTheBrowserOut(t *testing.T) {
	t.Parallel()
	s := identitytest.New(dbtest.New(t))
	user := identitytest.As(t, s, identity.Owner)
	laptop := &browser{address: "203.0.113.1"}
	laptop.logIn(t, s, user.Email)
	same := from("203.0.113.1")
	for n := range 40 {
		_, _ = s.LogIn(t.Context(), fmt.Sprintf("nobody%d@example.com", n), wrong, same)
	}
	_ = guess(t, s, user.Email, func(int) identity.Client { return same })
	if _, err := s.LogIn(t.Context(), user.Email, identitytest.Password, same); code(err) != problem.CodeRateLimited {
		t.Errorf("without the cookie: %v", err)
	}
	laptop.logIn(t, s, user.Email)
}

// What is known has a budget of the same size, and no more: guesses at an account are bounded whoever makes them.
func TestGuessesAreLimitedForWhatIsKnown(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	user, other := identitytest.As(t, s, identity.Owner), identitytest.As(t, s, identity.Owner)
	laptop := &browser{address: "203.0.113.1"}
	laptop.logIn(t, s, user.Email)
	stolen := *laptop
	if n := guess(t, s, user.Email, func(n int) identity.Client {
		stolen.address = strange(n).Address
		return stolen.client()
	}); n != 10 {
		t.Errorf("a stolen cookie gave %d guesses", n)
	}
	if _, err := s.LogIn(t.Context(), user.Email, identitytest.Password, laptop.client()); code(err) != problem.CodeRateLimited {
		t.Errorf("the cookie's eleventh try: %v", err)
	}
	if n := guess(t, s, user.Email, func(int) identity.Client { return from("203.0.113.1") }); n != 10 {
		t.Errorf("a known address had %d guesses", n)
	}
	if n := guess(t, s, user.Email, strange); n != 10 {
		t.Errorf("strangers had %d guesses", n)
	}
	// The cookie is for one account.
	if n := guess(t, s, other.Email, func(n int) identity.Client {
		stolen.address = strange(n + 300).Address
		return stolen.client()
	}); n != 10 {
		t.Errorf("another account gave %d guesses", n)
	}
	if _, err := s.LogIn(t.Context(), other.Email, identitytest.Password, strange(900)); code(err) != problem.CodeRateLimited {
		t.Errorf("the cookie of one account had a budget at another: %v", err)
	}
	// In parallel, too.
	dbtest.Exec(t, d, "DELETE FROM login_failures")
	var looked atomic.Int32
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			if _, err := s.LogIn(t.Context(), user.Email, wrong, laptop.client()); code(err) == problem.CodeInvalidCredentials {
				looked.Add(1)
			}
		})
	}
	wg.Wait()
	if looked.Load() != 10 {
		t.Errorf("%d guesses at once", looked.Load())
	}
}

// A log-in renews the cookie: what was stolen before is worth nothing then, and wrong tries made with it are forgotten.
func TestALogInEndsACookieThatWasStolen(t *testing.T) {
	t.Parallel()
	s := identitytest.New(dbtest.New(t))
	user := identitytest.As(t, s, identity.Owner)
	laptop := &browser{address: "203.0.113.1"}
	laptop.logIn(t, s, user.Email)
	stolen := *laptop
	laptop.logIn(t, s, user.Email)
	if stolen.cookie == laptop.cookie || strings.Contains(laptop.cookie, stolen.cookie) {
		t.Error("the cookie was not renewed")
	}
	guess(t, s, user.Email, strange)
	stolen.address = "203.0.113.66"
	if _, err := s.LogIn(t.Context(), user.Email, identitytest.Password, stolen.client()); code(err) != problem.CodeRateLimited {
		t.Errorf("the stolen cookie: %v", err)
	}
	laptop.address = "203.0.113.67"
	laptop.logIn(t, s, user.Email)
}

// One browser is known to the accounts that used it, eight at most, and each log-in renews its own only.
func TestSeveralAccountsInOneBrowser(t *testing.T) {
	t.Parallel()
	s := identitytest.New(dbtest.New(t))
	shared := &browser{address: "203.0.113.1"}
	var users []*identitytest.Account
	for range 9 {
		users = append(users, identitytest.As(t, s, identity.Viewer))
		shared.logIn(t, s, users[len(users)-1].Email)
	}
	before := strings.Split(shared.cookie, ".")
	shared.logIn(t, s, users[5].Email)
	after := strings.Split(shared.cookie, ".")
	if len(before) != 8 || len(after) != 8 {
		t.Fatalf("%d and %d tokens", len(before), len(after))
	}
	kept := slices.DeleteFunc(slices.Clone(before), func(token string) bool { return token == before[3] })
	if !slices.Equal(after[1:], kept) || slices.Contains(before, after[0]) {
		t.Errorf("before %v\nafter %v", before, after)
	}
	shared.address = "203.0.113.2" // not known
	for i, user := range users {
		guess(t, s, user.Email, func(n int) identity.Client { return strange(i*20 + n) })
		_, err := s.LogIn(t.Context(), user.Email, identitytest.Password, shared.client())
		if want := map[bool]problem.Code{true: problem.CodeRateLimited}[i == 0]; code(err) != want {
			t.Errorf("account %d: %v", i, err)
		}
	}
}

func TestDevicesOf(t *testing.T) {
	t.Parallel()
	one, two := strings.Repeat("A", 43), strings.Repeat("B", 42)+"A"
	many := strings.Join(slices.Repeat([]string{one}, 100), ".")
	for header, want := range map[string][]string{
		"":                      nil,
		"service_device=":       nil,
		"service_device=" + one: {one},
		"a=b; service_device=" + one + "." + two + "; service_session=x": {one, two},
		"service_device=x." + one + "..'or 1=1":                          {one},
		"service_device=" + one + "; service_device=" + two:              nil, // one of them was planted
		"__Host-service_device=" + one:                                   nil,
		"service_device=" + strings.Repeat(".", 5000):                    nil,
		"service_device=" + many:                                         slices.Repeat([]string{one}, 8),
	} {
		if got := identity.DevicesOf(header, proxy.Site{Path: "/"}); !slices.Equal(got, want) {
			t.Errorf("%.60s: %v", header, got)
		}
	}
	got := identity.DevicesOf("service_device="+one+"; __Host-service_device="+two, proxy.Site{Secure: true, Path: "/"})
	if !slices.Equal(got, []string{two}) {
		t.Errorf("over TLS: %v", got)
	}
}

// Requests of a browser that has logged in are told from others' while its cookie is good, by one name for its account.
func TestBrowserOfARequest(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	users := identitytest.New(d)
	account := identitytest.As(t, users, identity.Viewer)
	laptop := &browser{address: "192.0.2.1"}
	laptop.logIn(t, users, account.Email)
	name := func(cookie string) string {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
		r.Header.Set("Cookie", cookie)
		got, err := users.Browser(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	known := name("service_device=" + laptop.cookie)
	if known == "" || known != name("a=b; service_device="+laptop.cookie) {
		t.Errorf("the browser is %q", known)
	}
	for _, stranger := range []string{"", "service_device=" + strings.Repeat("A", 43), "service_device=x"} {
		if got := name(stranger); got != "" {
			t.Errorf("%q is %q", stranger, got)
		}
	}
	dbtest.Exec(t, d, "UPDATE login_devices SET expires_at = now() - interval '1 second'")
	if got := name("service_device=" + laptop.cookie); got != "" {
		t.Errorf("after its time it is %q", got)
	}
}

// What a browser is known by ends: with time, with the password, with the account; the address stays known through a reset.
func TestBrowsersAndAddressesAreForgotten(t *testing.T) {
	t.Parallel()
	const next = "mehlwurm-zebra-19"
	type state struct {
		*factored
		laptop   *browser
		caller   *identity.Caller
		password string
	}
	days := func(table, column, interval string) func(*state) {
		return func(f *state) {
			dbtest.Exec(f.t, f.db, fmt.Sprintf("UPDATE %s SET %s = %[2]s - interval '%s'", table, column, interval))
		}
	}
	reset := func(f *state) {
		admin := asCaller(f.t, f.users, identitytest.As(f.t, f.users, identity.Owner))
		if _, err := f.users.ResetPassword(f.t.Context(), admin, f.user.ID, identity.NewPassword{Password: next}); err != nil {
			f.t.Fatal(err)
		}
		f.password = next
	}
	for name, test := range map[string]struct {
		change          func(*state)
		device, address bool
	}{
		"nothing": {func(*state) {}, true, true},
		"89 days": {days("login_devices", "expires_at", "89 days 23 hours"), true, true},
		"90 days": {days("login_devices", "expires_at", "90 days 1 second"), false, true},
		"29 days": {days("login_addresses", "seen_at", "29 days 23 hours"), true, true},
		"30 days": {days("login_addresses", "seen_at", "30 days 1 second"), true, false},
		"reset":   {reset, false, true},
		"deactivation": {func(f *state) {
			admin := asCaller(f.t, f.users, identitytest.As(f.t, f.users, identity.Owner))
			for _, active := range []bool{false, true} {
				if _, err := f.users.PatchUser(f.t.Context(), admin, f.user.ID, identity.UserChange{Active: &active}); err != nil {
					f.t.Fatal(err)
				}
			}
		}, false, true},
		"change from elsewhere": {func(f *state) {
			phone := asCaller(f.t, f.users, identitytest.LogIn(f.t, f.users, f.user.User))
			if _, err := f.users.ChangePassword(f.t.Context(), phone, change(identitytest.Password, next), from("192.0.2.1")); err != nil {
				f.t.Fatal(err)
			}
			f.password = next
		}, false, true},
		"change in this browser": {func(f *state) {
			done, err := f.users.ChangePassword(f.t.Context(), f.caller, change(identitytest.Password, next), f.laptop.client())
			if err != nil || done.Devices == f.laptop.cookie {
				f.t.Fatalf("%+v, %v", done, err)
			}
			f.laptop.cookie, f.password = done.Devices, next
		}, true, true},
		"change with a key": {func(f *state) {
			key := &identity.Caller{UserID: f.user.ID, Email: f.user.Email, KeyID: 1}
			done, err := f.users.ChangePassword(f.t.Context(), key, change(identitytest.Password, next), f.laptop.client())
			if err != nil || done.Devices != "" || done.Token != "" {
				f.t.Fatalf("%+v, %v", done, err)
			}
			f.password = next
		}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &state{factored: &factored{t: t, db: dbtest.New(t)}, laptop: &browser{address: "203.0.113.1"}, password: identitytest.Password}
			f.users = identitytest.New(f.db)
			f.user = identitytest.As(t, f.users, identity.Viewer)
			in, err := f.users.LogIn(t.Context(), f.user.Email, identitytest.Password, f.laptop.client())
			if err != nil {
				t.Fatal(err)
			}
			f.laptop.cookie = in.Devices
			session := identity.Cookie(in.Token, proxy.Site{Path: "/"})
			if f.caller, err = f.users.Authenticate(t.Context(), with(&session)); err != nil {
				t.Fatal(err)
			}
			test.change(f)
			guess(t, f.users, f.user.Email, strange)
			known := map[bool]problem.Code{false: problem.CodeRateLimited}
			travelling := f.laptop.client()
			travelling.Address = "203.0.113.80"
			tries := []struct {
				name   string
				client identity.Client
				want   bool
			}{{"the browser", travelling, test.device}, {"the address", from("203.0.113.1"), test.address}}
			if test.device { // those who are refused come first: a log-in also deletes what is over
				slices.Reverse(tries)
			}
			for _, pair := range tries {
				if _, err := f.users.LogIn(t.Context(), f.user.Email, f.password, pair.client); code(err) != known[pair.want] {
					t.Errorf("%s: %v", pair.name, err)
				}
			}
		})
	}
}

// Neither table grows without bound: not by log-ins without a cookie, which push no browser out that keeps its own, and
// not by time.
func TestBrowsersAndAddressesDoNotGather(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	user := identitytest.As(t, s, identity.Viewer)
	laptop, fleeting := &browser{address: "203.0.113.1"}, &browser{address: "203.0.113.3"}
	laptop.logIn(t, s, user.Email)
	laptop.logIn(t, s, user.Email)
	fleeting.logIn(t, s, user.Email)
	for n := range 30 {
		(&browser{address: strange(n).Address}).logIn(t, s, user.Email)
	}
	if devices, addresses := dbtest.Value[int](t, d, "SELECT count(*) FROM login_devices"),
		dbtest.Value[int](t, d, "SELECT count(*) FROM login_addresses"); devices != 21 || addresses != 20 {
		t.Errorf("%d browsers and %d addresses", devices, addresses)
	}
	guess(t, s, user.Email, func(n int) identity.Client { return strange(n + 400) })
	fleeting.address, laptop.address = "203.0.113.60", "203.0.113.61"
	if _, err := s.LogIn(t.Context(), user.Email, identitytest.Password, fleeting.client()); code(err) != problem.CodeRateLimited {
		t.Errorf("the oldest of those that never came back: %v", err)
	}
	for range 25 {
		laptop.logIn(t, s, user.Email)
	}
	dbtest.Exec(t, d, "UPDATE login_devices SET expires_at = now() WHERE NOT returned")
	dbtest.Exec(t, d, "UPDATE login_addresses SET seen_at = now() - interval '30 days' WHERE network <> '203.0.113.61'")
	if _, err := s.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if devices, addresses := dbtest.Value[int](t, d, "SELECT count(*) FROM login_devices"),
		dbtest.Value[int](t, d, "SELECT count(*) FROM login_addresses"); devices != 1 || addresses != 1 {
		t.Errorf("after pruning: %d browsers and %d addresses", devices, addresses)
	}
	dbtest.Exec(t, d, "DELETE FROM users")
	if left := dbtest.Value[int](t, d, "SELECT (SELECT count(*) FROM login_devices) + (SELECT count(*) FROM login_addresses)"); left != 0 {
		t.Errorf("%d rows of a deleted account", left)
	}
}

// Strangers who know the password lock nobody out of the second step, neither by wrong codes nor by log-ins that they
// leave waiting.
func TestStrangersDoNotLockTheOwnerOutOfTheSecondFactor(t *testing.T) {
	t.Parallel()
	f := newFactored(t)
	laptop := &browser{address: "203.0.113.1"}
	first := func(client identity.Client) string {
		t.Helper()
		in, err := f.users.LogIn(t.Context(), f.user.Email, identitytest.Password, client)
		if err != nil || in.Devices != "" || in.Pending == "" {
			t.Fatalf("%+v, %v", in, err)
		}
		return in.Pending
	}
	second := func(pending, typed string, client identity.Client) (*identity.LoginResult, error) {
		return f.users.LogInTOTP(context.WithoutCancel(t.Context()), pending, typed, client)
	}
	in, err := second(first(laptop.client()), f.Code(t, 1), laptop.client())
	if err != nil || in.Devices == "" {
		t.Fatalf("%+v, %v", in, err)
	}
	laptop.cookie = in.Devices
	waiting := first(laptop.client())
	for n := range 100 {
		first(strange(n))
	}
	if n := dbtest.Value[int](f.t, f.db, "SELECT count(*) FROM pending_logins"); n != 101 {
		t.Errorf("%d log-ins wait", n)
	}
	for n := range 10 {
		if _, err := second(first(strange(n)), "000000", strange(n)); code(err) != problem.CodeInvalidCredentials {
			t.Fatalf("code %d: %v", n, err)
		}
	}
	if _, err := second(first(strange(20)), f.RecoveryCodes[0], strange(20)); code(err) != problem.CodeRateLimited {
		t.Errorf("a stranger's eleventh code: %v", err)
	}
	travelling := laptop.client()
	travelling.Address = "203.0.113.70"
	if _, err := second(waiting, f.RecoveryCodes[0], travelling); err != nil {
		t.Errorf("the browser: %v", err)
	}
	if _, err := second(first(from("203.0.113.1")), f.RecoveryCodes[1], from("203.0.113.1")); err != nil {
		t.Errorf("the known address: %v", err)
	}
	// Those who are known have ten codes each, too.
	made := 0
	for n := range 30 {
		if _, err := second(first(from("203.0.113.1")), "000000", from("203.0.113.1")); code(err) == problem.CodeRateLimited {
			made = n
			break
		}
	}
	if made != 10 {
		t.Errorf("the known address had %d codes", made)
	}
}

// A flood of strangers takes all slots for hashing but the one that is for others.
func TestAFloodOfStrangersLeavesRoomForTheOwner(t *testing.T) {
	if testing.Short() {
		t.Skip("sends a flood: make check runs it")
	}
	t.Parallel()
	d := dbtest.New(t)
	user := identitytest.As(t, identitytest.New(d), identity.Viewer)
	s := identity.New(d, identity.Config{Argon2: identitytest.CheapHash, Hashes: 1, HashWait: time.Second})
	laptop := &browser{address: "203.0.113.1"}
	laptop.logIn(t, s, user.Email)
	release := s.FillSlots()
	if _, err := s.LogIn(t.Context(), user.Email, identitytest.Password, strange(1)); code(err) != problem.CodeRateLimited {
		t.Errorf("a stranger: %v", err)
	}
	laptop.logIn(t, s, user.Email)
	caller := asCaller(t, s, user)
	if _, err := s.ChangePassword(t.Context(), caller, change(identitytest.Password, "mehlwurm-zebra-19"), strange(2)); err != nil {
		t.Errorf("a change of the password: %v", err)
	}
	release()
	if _, err := s.LogIn(t.Context(), user.Email, "mehlwurm-zebra-19", strange(3)); err != nil {
		t.Errorf("a stranger after the flood: %v", err)
	}
}
