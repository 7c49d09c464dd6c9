package processtest

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

// Two log-ins use one code at the same moment, each on another instance: one gets a session. A code of the authenticator
// and a recovery code are alike in this.
func codeIsUsedOnce(t *testing.T, p *pair) {
	t.Helper()
	user := p.owner.user(t, "two-factors", "viewer")
	session := user.as(t, p.a)
	var e struct {
		Secret string
		Codes  []string `json:"recovery_codes"`
	}
	session.must(t, http.StatusOK, http.MethodPost, "/api/v1/auth/totp/enroll", nil, &e)
	code := func() string {
		text, err := totp.GenerateCode(e.Secret, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	session.must(t, http.StatusNoContent, http.MethodPost, "/api/v1/auth/totp/confirm", map[string]any{"code": code()}, nil)
	for round := range 8 {
		right := e.Codes[round/2]
		if round%2 == 0 {
			// As half a minute later. The wrong tries of the rounds before are forgotten with it.
			alter(t, p.db, "UPDATE users SET totp_last_step = NULL WHERE id = $1", user.ID)
			right = code()
		}
		alter(t, p.db, "DELETE FROM login_failures")
		var requests []func() (answer, error)
		for _, s := range []*service{p.a, p.b} {
			device := newClient(s)
			var first struct{ Pending string }
			device.must(t, http.StatusOK, http.MethodPost, "/api/v1/auth/login", map[string]any{"email": user.Email, "password": accountPassword},
				&first)
			requests = append(requests, func() (answer, error) {
				return device.try(context.WithoutCancel(t.Context()), http.MethodPost, "/api/v1/auth/totp",
					map[string]any{"pending": first.Pending, "code": right})
			})
		}
		got := atOnce(t, requests...)
		in, cookies := 0, 0
		for _, a := range got {
			for _, c := range a.Header.Values("Set-Cookie") {
				if strings.HasPrefix(c, "service_session=") {
					cookies++
				}
			}
			switch a.Status {
			case http.StatusOK:
				in++
			case http.StatusUnauthorized:
			default:
				t.Errorf("a code was answered by %s", statuses(got))
			}
		}
		if in != 1 || cookies != 1 {
			t.Fatalf("round %d: %d log-ins and %d cookies by one code: %s", round, in, cookies, statuses(got))
		}
	}
}
