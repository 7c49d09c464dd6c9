// Package authtest has valid requests to log-in, sessions and second factors.
// The tests over all operations of the API send them; see package requesttest.
package authtest

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		stranger := identitytest.As(f.T, f.Users, identity.Owner)
		return map[string]string{"session_id": session(f, stranger),
			"passkey_id": strconv.FormatInt(identitytest.Passkey(f.T, f.Users, stranger).ID, 10)}
	},
	Changes: changes,
	Reads: map[string]requesttest.Read{
		"get_me":          {Teamless: "the caller's own account"},
		"get_preferences": {Teamless: "the caller's own preferences"},
		"list_sessions":   {Teamless: "the caller's own sessions"},
		"list_passkeys":   {Teamless: "the caller's own passkeys"},
		"list_logins":     {Teamless: "the caller's own log-ins"},
		"export_account":  {Teamless: "the caller's own account"},

		"list_log_in_providers": {Teamless: "what everybody may log in by"},
	},
}

// changes are of accounts of their own: they end sessions, and change passwords and factors.
func changes(f *requesttest.Fixture) []requesttest.Change {
	owner := func() *identitytest.Account { return identitytest.As(f.T, f.Users, identity.Owner) }
	guest, leaving, renewing, cleaning, careful, enrolling, departing := owner(), owner(), owner(), owner(), owner(), owner(),
		owner()
	naming, losing := owner(), owner()
	named := map[string]string{"passkey_id": strconv.FormatInt(identitytest.Passkey(f.T, f.Users, naming).ID, 10)}
	lost := map[string]string{"passkey_id": strconv.FormatInt(identitytest.Passkey(f.T, f.Users, losing).ID, 10)}
	const nowhere = "the service has no domain of its own here"
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
		{Operation: "set_preferences", Body: `{"value":{"theme":"dark"}}`},
		{Operation: "begin_provider_log_in", Path: map[string]string{"provider_id": "1"}, Body: `{"return_to":"/"}`, Status: 409,
			Code: "invalid_state", Why: "the address of the service is not known, and there is no provider that answers"},
		{Operation: "complete_provider_log_in", Path: map[string]string{"provider_id": "1"}, Body: `{"state":"none","code":"none"}`,
			Status: 401, Code: "invalid_credentials", Why: "a provider's answer comes from a browser"},
		{Operation: "begin_passkey_log_in", Body: `{}`, Status: 409, Code: "invalid_state", Why: nowhere},
		{Operation: "complete_passkey_log_in", Body: `{"ceremony":"none","credential":{}}`, Status: 409, Code: "invalid_state", Why: nowhere},
		{Operation: "begin_passkey", Body: fmt.Sprintf(`{"password":%q}`, identitytest.Password), Status: 409, Code: "invalid_state",
			Why: nowhere},
		{Operation: "add_passkey", Body: `{"name":"Laptop","ceremony":"none","credential":{}}`, Status: 409, Code: "invalid_state",
			Why: nowhere},
		{Operation: "rename_passkey", As: naming, Path: named, Body: `{"name":"Old laptop"}`},
		{Operation: "delete_passkey", As: losing, Path: lost, Body: fmt.Sprintf(`{"password":%q}`, identitytest.Password)},
		{Operation: "log_out", As: leaving},
		{Operation: "log_out_at_provider", As: departing},
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
	answer := f.Expect("POST", "/api/v1/auth/login", logIn(account), 200)
	if err := json.Unmarshal(answer.Body, &half); err != nil {
		f.T.Fatal(err)
	}
	return half.Pending
}
