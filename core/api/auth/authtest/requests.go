// Package authtest has good requests to log-in, sessions and second factors.
package authtest

import (
	"encoding/json"
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		stranger := identitytest.As(f.T, f.Users, identity.Owner)
		return map[string]string{"session_id": session(f, stranger)}
	},
	Changes: changes,
	Reads: map[string]requesttest.Read{
		"get_me":        {Teamless: "the caller's own account"},
		"list_sessions": {Teamless: "the caller's own sessions"},
	},
}

// changes are of accounts of their own: they end sessions, and change passwords and factors.
func changes(f *requesttest.Fixture) []requesttest.Change {
	owner := func() *identitytest.Account { return identitytest.As(f.T, f.Users, identity.Owner) }
	guest, leaving, renewing, cleaning, careful, enrolling := owner(), owner(), owner(), owner(), owner(), owner()
	identitytest.LogIn(f.T, f.Users, cleaning.User)
	factor, begun := identitytest.TOTP(f.T, f.Users, careful), identitytest.Enrol(f.T, f.Users, enrolling)
	return []requesttest.Change{
		{Operation: "log_in", Body: logIn(guest)},
		{Operation: "complete_log_in", Body: fmt.Sprintf(`{"pending":%q,"code":%q}`, pending(f, careful), factor.Code(f.T, 1))},
		{Operation: "enroll_totp"},
		{Operation: "confirm_totp", As: enrolling, Body: fmt.Sprintf(`{"code":%q}`, begun.Code(f.T, 0))},
		{Operation: "disable_totp", As: careful, Body: fmt.Sprintf(`{"password":%q}`, identitytest.Password)},
		{Operation: "change_password", As: renewing,
			Body: fmt.Sprintf(`{"current":%q,"new":"mehlwurm-zebra-19"}`, identitytest.Password)},
		{Operation: "revoke_session", As: cleaning, Path: map[string]string{"session_id": session(f, cleaning)}},
		{Operation: "log_out", As: leaving},
	}
}

func logIn(account *identitytest.Account) string {
	return fmt.Sprintf(`{"email":%q,"password":%q}`, account.Email, identitytest.Password)
}

// session is the account's last one.
func session(f *requesttest.Fixture, account *identitytest.Account) string {
	f.T.Helper()
	return f.ID("SELECT max(id) FROM sessions WHERE user_id = $1", account.ID)
}

// pending is what a log-in without its second factor gives.
func pending(f *requesttest.Fixture, account *identitytest.Account) string {
	f.T.Helper()
	var half struct{ Pending string }
	answer := f.Ask("POST", "/api/v1/auth/login", logIn(account), 200)
	if err := json.Unmarshal(answer.Body, &half); err != nil {
		f.T.Fatal(err)
	}
	return half.Pending
}
