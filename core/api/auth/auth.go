// Package auth is the HTTP side of log-in: sessions, the second factor, who one is, the own password.
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

// Deps is what the operations work with.
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

// Register declares the operations. Those that need no role are for everyone who is logged in: they are about the
// caller's own account only.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Users, deps.Providers, deps.Passkeys, make(chan struct{}, exports), &sync.Map{}}
	op.Post(a, "/api/v1/auth/login", h.logIn, op.Spec{
		ID: "log_in", Summary: "Log in", Tag: tag, Secret: true, Public: true, Audit: op.Audit{Action: "auth.login"},
		Description: "Opens a session and sets its cookie `service_session` (`__Host-service_session` over TLS). A wrong password, an " +
			"unknown address and an inactive account all answer 401 `invalid_credentials`. After 10 wrong tries for one account, or 30 " +
			"from one address, within 15 minutes the answer is 429 `rate_limited`; `Retry-After` has the seconds to wait. A session ends " +
			"when it was not used for 12 hours, and after 7 days.\n\n" +
			"Nobody is locked out by strangers. A log-in also sets the cookie `service_device` (`__Host-service_device` over TLS) for 90 days: " +
			"it " +
			"lets nobody in, but a browser that sends it has 10 tries of its own at that account, and so has each address from which the account " +
			"logged in within 30 days. The cookie is good until the next log-in from that browser, which renews it, and until the password " +
			"changes; one is for up to eight accounts.\n\n" +
			"With a second factor on, the answer to the right password is `totp_required` and `pending`, without a cookie; `/api/v1/auth/totp` " +
			"completes the log-in, or `/api/v1/auth/passkeys/login` by a passkey where `factors` has it.",
	})
	op.Post(a, "/api/v1/auth/logout", h.logOut, op.Spec{
		ID: "log_out", Summary: "Log out", Tag: tag, On: op.Anywhere, Status: http.StatusNoContent,
		Audit:       op.Audit{Action: "auth.logout"},
		Description: "Ends the session that the request came with and clears its cookie. With an API key it is 409 `invalid_state`.",
	})
	op.Get(a, "/api/v1/auth/me", h.me, op.Spec{
		ID: "get_me", Summary: "Show who is logged in", Tag: tag, On: op.Anywhere,
		Description: "The caller's account, roles and session. `role` is the role in the team `default`, which holds on everything; null " +
			"without one.",
	})
	op.Get(a, "/api/v1/auth/preferences", h.preferences, op.Spec{
		ID: "get_preferences", Summary: "Show own preferences", Tag: tag, On: op.Anywhere,
		Description: "What the caller has chosen for pages, such as saved views: an object that the service keeps and does not read.",
	})
	op.Put(a, "/api/v1/auth/preferences", h.setPreferences, op.Spec{
		ID: "set_preferences", Summary: "Store own preferences", Tag: tag, On: op.Anywhere,
		Audit: op.Audit{Action: "auth.preferences"},
		Description: "Replaces what the caller has chosen for pages. With `revision` it answers 409 `invalid_state` where somebody, such as " +
			"another browser, has changed it since that revision was read.",
	})
	op.Get(a, "/api/v1/auth/sessions", h.sessions, op.Spec{
		ID: "list_sessions", Summary: "List own sessions", Tag: tag, On: op.Anywhere,
		Description: "The caller's live sessions on all devices, the one used last first; at most 100, the oldest end beyond that.",
	})
	op.Delete(a, "/api/v1/auth/sessions/:session_id", h.revoke, op.Spec{
		ID: "revoke_session", Summary: "End one of the own sessions", Tag: tag, On: op.Anywhere, Status: http.StatusNoContent,
		Audit:       op.Audit{Action: "auth.session_revoke", Target: "session_id"},
		Description: "The device with that session is logged out at once. Someone else's session is 404, like one that does not exist.",
	})
	op.Get(a, "/api/v1/auth/logins", h.logins, op.Spec{
		ID: "list_logins", Summary: "List log-ins to the own account", Tag: tag, On: op.Anywhere,
		Description: "Log-ins to the caller's account of the last 90 days, at most 1,000, and tries that failed as far as the audit trail has " +
			"them, the newest first. Tries that were refused as too many are not among them.",
	})
	op.Download(a, "/api/v1/auth/export", h.export, op.Spec{
		ID: "export_account", Summary: "Export what is kept of oneself", Tag: tag, On: op.Anywhere, Personal: true,
		Audit: op.Audit{Action: "auth.export"}, Content: []string{"application/json"}, Timeout: 5 * time.Minute,
		Description: "One JSON object of one moment: account, teams, identities at providers, sessions, log-ins, known networks and browsers, " +
			"API keys, preferences, what one was told of the account, schedules and jobs that one has asked for, and in `trail` " +
			"what one did and what was done to the account. Addresses of other people who worked on the account are left out of `trail`. " +
			"No secret and no hash of one is in it. An API key needs the scope `auth:write`. An export that fails breaks the connection off, " +
			"so that half a file never looks whole. Every export is in the trail. At most two run at once, and one per user (429).",
	})
	op.Post(a, "/api/v1/auth/password", h.changePassword, op.Spec{
		ID: "change_password", Summary: "Change the own password", Tag: tag, On: op.Anywhere, Status: http.StatusOK,
		Audit: op.Audit{Action: "auth.password"},
		Description: "Ends all other sessions and gives this one a new cookie; other browsers are strangers to the account again. API keys " +
			"stay good, and the answer says how many, unless `revoke_keys` is true. Passkeys and identities at providers stay valid in any " +
			"case, and the answer counts them. A wrong present password is a 422 at `current`, because the " +
			"session itself is good; ten of them within 15 minutes are 429 `rate_limited`. The new password needs 12 characters, and must be " +
			"neither a common one nor the e-mail address.",
	})
	registerTOTP(a, h)
	registerPasskeys(a, h)
	registerProviders(a, h)
}
