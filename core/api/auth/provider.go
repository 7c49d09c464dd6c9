package auth

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/sso"
)

// registerProviders declares log-in and log-out by providers of identities.
func registerProviders(a *op.API, h handlers) {
	op.Get(a, "/api/v1/auth/providers", h.offers, op.Spec{
		ID: "list_log_in_providers", Summary: "List how one can log in", Tag: tag, Public: true,
		Description: "The identity providers that are switched on, by name, for a page to offer; empty while `HOSTLER_BASE_URL` is not set.",
	})
	op.Post(a, "/api/v1/auth/providers/:provider_id/login", h.begin, op.Spec{
		ID: "begin_provider_log_in", Summary: "Begin to log in by an identity provider", Tag: tag, Secret: true, Public: true,
		ReadOnly: true,
		Description: "Answers with the address at the provider where the browser goes on, and sets the cookie `service_sign_on` " +
			"(`__Host-service_sign_on` over TLS) for 10 minutes, without which the provider's answer is not taken. The provider sends the " +
			"browser back to `/login/callback/{provider_id}`, the page that completes the log-in. A browser has one log-in by a provider under " +
			"way: the last one. A provider that is switched off or does not answer is 409 `invalid_state`.",
	})
	op.Post(a, "/api/v1/auth/providers/:provider_id/callback", h.completeProvider, op.Spec{
		ID: "complete_provider_log_in", Summary: "Complete a log-in by an identity provider", Tag: tag, Secret: true, Public: true,
		Audit: op.Audit{Action: "auth.login"},
		Description: "Takes what the provider has added to the address of the callback page, once, and from the browser that began. It opens " +
			"a session as a log-in by password does, with `return_to`, the path that was asked for at the beginning, or `/`. An account with a " +
			"second factor is asked for it, as `totp_required` tells, unless the provider says that it has asked for one (`mfa` in `amr`); " +
			"always at its first log-in there. An answer that is not believed, one of another browser and one that comes again, and who has no " +
			"account are 401 `invalid_credentials`; 30 of these from one address within 15 minutes are 429 `rate_limited`. Roles are set anew by " +
			"the provider's rules.",
	})
	op.Post(a, "/api/v1/auth/logout/provider", h.logOutProvider, op.Spec{
		ID: "log_out_at_provider", Summary: "Log out here and at the identity provider", Tag: tag, On: op.Anywhere,
		Status: http.StatusOK, Audit: op.Audit{Action: "auth.logout"},
		Description: "Ends the session that the request came with and clears its cookie. `url` is where the browser goes to log out at the " +
			"provider by which one came in; null after a log-in by password, and where the provider has no such address.",
	})
}

func (h handlers) offers(ctx context.Context, _ *struct{}) (*op.List[sso.Offer], error) {
	all, err := h.providers.Offers(ctx)
	return &op.List[sso.Offer]{Total: len(all), Body: all}, err
}

// Provider names a provider in the path.
type Provider struct {
	ProviderID int64 `path:"provider_id" minimum:"1" doc:"The provider's id"`
}

type beginInput struct {
	Client
	Provider
	Body struct {
		ReturnTo string `json:"return_to,omitempty" maxLength:"1000" example:"/guests" doc:"Path of a page to come to; one of another site is not heeded"`
	}
}

type beginOutput struct {
	SetCookie string `header:"Set-Cookie" doc:"The cookie of the log-in that was begun"`
	Body      struct {
		URL string `json:"url" example:"https://id.example.com/auth?client_id=hostler" doc:"Where the browser goes on"`
	}
}

func (h handlers) begin(ctx context.Context, in *beginInput) (*beginOutput, error) {
	begun, err := h.providers.Begin(ctx, in.ProviderID, in.Body.ReturnTo)
	if err != nil {
		return nil, err
	}
	out, c := &beginOutput{}, identity.SignOnCookie(begun.Cookie, in.site)
	out.SetCookie, out.Body.URL = c.String(), begun.URL
	return out, nil
}

type completeProviderInput struct {
	Client
	Provider
	Body struct {
		State  string `json:"state" maxLength:"200" doc:"As the provider has sent it back"`
		Code   string `json:"code,omitempty" maxLength:"3000" doc:"What it gives for the log-in"`
		Error  string `json:"error,omitempty" maxLength:"200" example:"access_denied" doc:"What it tells instead"`
		Issuer string `json:"iss,omitempty" maxLength:"500" example:"https://id.example.com" doc:"Who it is, where it says so"`
	}
}

type completeProviderOutput struct {
	SetCookie []string `header:"Set-Cookie" doc:"The session's cookie and the browser's, none while the second factor is due, and that of the log-in, cleared"`
	Body      struct {
		User         *User    `json:"user,omitempty" doc:"Who is logged in now; absent while the second factor is due"`
		TOTPRequired bool     `json:"totp_required,omitempty" doc:"True when the account's second factor is asked for: send pending and a code to /api/v1/auth/totp"`
		Pending      string   `json:"pending,omitempty" doc:"Names this log-in for 5 minutes; it is no session"`
		Factors      []string `json:"factors,omitempty" enum:"totp,passkey" example:"[\"totp\"]" doc:"What the account has as second factor; a recovery code, given as one of totp, stands for each"`
		ReturnTo     string   `json:"return_to" example:"/guests" doc:"The path of a page that was asked for at the beginning"`
	}
}

func (h handlers) completeProvider(ctx context.Context, in *completeProviderInput) (*completeProviderOutput, error) {
	done, returnTo, err := h.providers.Complete(ctx, in.ProviderID, sso.Answer{Cookie: in.signOn, State: in.Body.State, Code: in.Body.Code,
		Failure: in.Body.Error, Issuer: in.Body.Issuer}, in.from)
	if err != nil {
		return nil, err
	}
	came, over := loggedIn(done, in.site), identity.NoSignOnCookie(in.site)
	out := &completeProviderOutput{SetCookie: append(came.SetCookie, over.String())}
	out.Body.User, out.Body.TOTPRequired, out.Body.Pending = came.Body.User, came.Body.TOTPRequired, came.Body.Pending
	out.Body.Factors, out.Body.ReturnTo = came.Body.Factors, returnTo
	return out, nil
}

type logOutProviderOutput struct {
	SetCookie string `header:"Set-Cookie" doc:"The session's cookie, cleared"`
	Body      struct {
		URL *string `json:"url" example:"https://id.example.com/logout?client_id=hostler" doc:"Where the browser logs out at the provider; null for nowhere"`
	}
}

func (h handlers) logOutProvider(ctx context.Context, in *logOutInput) (*logOutProviderOutput, error) {
	url, err := h.providers.LogOut(ctx, identity.FromContext(ctx))
	if err != nil {
		return nil, err
	}
	out, over := &logOutProviderOutput{}, identity.NoCookie(in.site)
	out.SetCookie = over.String()
	if url != "" {
		out.Body.URL = &url
	}
	return out, nil
}
