// Package auth is the HTTP resource of the log-in and of the caller's own
// account. Package identity has the logic. The files of the package are
//
//   - log_in.go: log-in with a password, and log-out
//   - totp.go: the second factor, and the second step of a log-in
//   - passkey.go: passkeys, also for the log-in
//   - provider.go: log-in through an identity provider
//   - session.go, logins.go: the sessions and log-ins of the account
//   - me.go, preferences.go, password.go: the account itself
//
// A log-in answers either with the session cookie, or, if the account has a
// second factor, with a pending token for the second step. The log-in
// operations are public; the others need a log-in but no role, since they
// concern only the account of the caller.
package auth

import (
	"net/http"
	"sync"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/passkey"
	"github.com/hostler/hostler/core/sso"
)

// Deps has what the operations of this package need.
type Deps struct {
	Users     *identity.Store
	Providers *sso.Store
	Passkeys  *passkey.Store
}

type handlers struct {
	users      *identity.Store
	providers  *sso.Store
	ceremonies *passkey.Store
	exports    chan struct{} // holds one for each that is running
	exporting  *sync.Map     // the users whose export is running
}

const tag = "Session"

// Register declares the operations of this package. The operations that need a
// log-in are open to every role, since they concern only the account of the
// caller.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Users, deps.Providers, deps.Passkeys, make(chan struct{}, exports), &sync.Map{}}
	op.Post(a, "/api/v1/auth/login", h.logIn, op.Spec{
		ID: "log_in", Summary: "Log in", Tag: tag, Secret: true, Public: true, Audit: op.Audit{Action: "auth.login"},
		Description: "Creates a session and sets its cookie `service_session` (`__Host-service_session` over TLS). A " +
			"wrong password, an unknown address and an inactive account all return 401 `invalid_credentials`. After 10 " +
			"failed attempts for one account, or 30 from one IP address, within 15 minutes the response is 429 " +
			"`rate_limited`; `Retry-After` is the number of seconds to wait. A session ends after 12 hours without use, " +
			"and after 7 days at the latest.\n\nOther people cannot lock you out. A log-in also sets the cookie " +
			"`service_device` (`__Host-service_device` over TLS) for 90 days. The cookie does not authenticate, but a " +
			"browser that sends it has a separate limit of 10 attempts for that account. The same applies to each IP " +
			"address from which the account logged in within 30 days. The cookie is valid until the next log-in from " +
			"that browser, which renews it, and until the password changes. One cookie covers up to eight " +
			"accounts.\n\nIf the account has a second factor, the response to the correct password has `totp_required` " +
			"and `pending` and sets no cookie. Complete the log-in with `/api/v1/auth/totp`, or with " +
			"`/api/v1/auth/passkeys/login` if `factors` contains a passkey.",
	})
	op.Post(a, "/api/v1/auth/logout", h.logOut, op.Spec{
		ID: "log_out", Summary: "Log out", Tag: tag, On: op.Anywhere, Status: http.StatusNoContent,
		Audit:       op.Audit{Action: "auth.logout"},
		Description: "Ends the session of the request and clears its cookie. With an API key it is 409 `invalid_state`.",
	})
	op.Get(a, "/api/v1/auth/me", h.me, op.Spec{
		ID: "get_me", Summary: "Get the logged-in account", Tag: tag, On: op.Anywhere,
		Description: "Returns the caller's account, roles and session. `role` is the role in the team `default`, which " +
			"applies to everything; null without one.",
	})
	op.Get(a, "/api/v1/auth/preferences", h.preferences, op.Spec{
		ID: "get_preferences", Summary: "Get your preferences", Tag: tag, On: op.Anywhere,
		Description: "Returns the preferences that a user interface stored for the caller, such as saved views. The " +
			"service does not interpret them.",
	})
	op.Put(a, "/api/v1/auth/preferences", h.setPreferences, op.Spec{
		ID: "set_preferences", Summary: "Save your preferences", Tag: tag, On: op.Anywhere,
		Audit: op.Audit{Action: "auth.preferences"},
		Description: "Replaces the preferences of the caller. With `revision`, 409 `invalid_state` if another client " +
			"changed the preferences since that revision.",
	})
	op.Get(a, "/api/v1/auth/sessions", h.sessions, op.Spec{
		ID: "list_sessions", Summary: "List your sessions", Tag: tag, On: op.Anywhere,
		Description: "Lists the active sessions of the caller on all devices, the most recently used first. A user has " +
			"at most 100; the oldest ends when another one starts.",
	})
	op.Delete(a, "/api/v1/auth/sessions/:session_id", h.revoke, op.Spec{
		ID: "revoke_session", Summary: "End one of your sessions", Tag: tag, On: op.Anywhere, Status: http.StatusNoContent,
		Audit: op.Audit{Action: "auth.session_revoke", Target: "session_id"},
		Description: "Logs out the device with that session at once. A session of another user is 404, like one that " +
			"does not exist.",
	})
	op.Get(a, "/api/v1/auth/logins", h.logins, op.Spec{
		ID: "list_logins", Summary: "List log-ins to your account", Tag: tag, On: op.Anywhere,
		Description: "Lists log-ins to the caller's account in the last 90 days, at most 1,000, and failed attempts that " +
			"the audit log still has, newest first. Attempts that were refused because of a rate limit are not " +
			"included.",
	})
	op.Download(a, "/api/v1/auth/export", h.export, op.Spec{
		ID: "export_account", Summary: "Export your data", Tag: tag, On: op.Anywhere, Personal: true,
		Audit: op.Audit{Action: "auth.export"}, Content: []string{"application/json"}, Timeout: 5 * time.Minute,
		Description: "Returns one JSON object as of one moment: account, teams, identities at providers, sessions, " +
			"log-ins, known networks and browsers, API keys, preferences, notices about the account, the caller's " +
			"schedules and jobs, and in `trail` the audit entries by and about the caller. `trail` omits the IP " +
			"addresses of other people who worked on the account. It contains no secret and no hash of one. An API key " +
			"needs the scope `auth:write`. If an export fails, the connection is closed, so that an incomplete file is " +
			"recognizable. Every export is recorded in the audit log. At most two exports run at once, one per user (429).",
	})
	op.Post(a, "/api/v1/auth/password", h.changePassword, op.Spec{
		ID: "change_password", Summary: "Change your password", Tag: tag, On: op.Anywhere, Status: http.StatusOK,
		Audit: op.Audit{Action: "auth.password"},
		Description: "Ends all other sessions and renews the cookie of this one; other browsers are treated as new to " +
			"the account. API keys stay valid, and the response returns their number, unless `revoke_keys` is true. " +
			"Passkeys and identities at providers stay valid in any case, and the response returns their numbers. A " +
			"wrong current password is a 422 at `current`, because the session itself is valid; ten of them within 15 " +
			"minutes are 429 `rate_limited`. The new password must have at least 12 characters and must not be a common " +
			"password or the email address.",
	})
	registerTOTP(a, h)
	registerPasskeys(a, h)
	registerProviders(a, h)
}
