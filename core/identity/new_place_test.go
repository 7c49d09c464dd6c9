package identity_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// Users are told of log-ins from places that their account does not know: neither of the first of all, nor of a known browser or network.
func TestNewPlacesAreTold(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	user := identitytest.As(t, s, identity.Viewer) // who has logged in once, somewhere
	told := func(want int) {
		t.Helper()
		if got := dbtest.Value[int](t, d, "SELECT count(*) FROM notification_events WHERE user_id = $1 AND kind = 'new_login'",
			user.ID); got != want {
			t.Errorf("told %d times, want %d", got, want)
		}
	}
	home := &browser{address: "192.0.2.7"}
	told(0)
	home.logIn(t, s, user.Email)
	told(1)
	home.logIn(t, s, user.Email)
	home.address = "198.51.100.9" // the browser is taken along
	home.logIn(t, s, user.Email)
	(&browser{address: "192.0.2.7"}).logIn(t, s, user.Email) // another one at home
	told(1)
	stranger := identity.Client{Address: "203.0.113.4", UserAgent: "curl/8\r\nX: y\x00" + strings.Repeat("é", 1000)}
	if _, err := s.LogIn(t.Context(), user.Email, identitytest.Password, stranger); err != nil {
		t.Fatal(err)
	}
	told(2)
	body := dbtest.Value[string](t, d, "SELECT body FROM notification_events ORDER BY id DESC LIMIT 1")
	if !strings.Contains(body, "Address: 203.0.113.4") || !strings.Contains(body, "Browser: curl/8 X: y") || len(body) > 1500 {
		t.Errorf("it says %q", body)
	}
	(&browser{address: "203.0.113.5"}).logIn(t, s, user.Email)
	told(3)
}
