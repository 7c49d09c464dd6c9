package auth

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/sso"
)

// registerProviders declares log-in and log-out through identity providers. A
// log-in takes two requests: the first returns the address of the provider to
// which the browser goes, and the second completes the log-in with what the
// provider sent back.
func registerProviders(a *op.API, h handlers) {
	op.Get(a, "/api/v1/auth/providers", h.offers, op.Spec{
		ID: "list_log_in_providers", Summary: "List identity providers for log-in", Tag: tag, Public: true,
		Description: "Lists the enabled identity providers by name; empty while `HOSTLER_BASE_URL` is not set.",
	})
	op.Post(a, "/api/v1/auth/providers/:provider_id/login", h.begin, op.Spec{
		ID: "begin_provider_log_in", Summary: "Begin a log-in with an identity provider", Tag: tag, Secret: true, Public: true,
		ReadOnly: true,
		Description: "Returns the URL at the provider to open in the browser, and sets the cookie `service_sign_on` " +
			"(`__Host-service_sign_on` over TLS) for 10 minutes, which is required to complete the log-in. The provider " +
			"redirects the browser to `/login/callback/{provider_id}`, the page that completes the log-in. A browser " +
			"can have only one log-in in progress; a new one replaces it. A provider that is disabled or does not " +
			"respond is 409 `invalid_state`.",
	})
	op.Post(a, "/api/v1/auth/providers/:provider_id/callback", h.completeProvider, op.Spec{
		ID: "complete_provider_log_in", Summary: "Complete a log-in with an identity provider", Tag: tag, Secret: true, Public: true,
		Audit: op.Audit{Action: "auth.login"},
		Description: "Accepts the query parameters that the provider added to the callback URL, once, and only from the " +
			"browser that began the log-in. It creates a session like a log-in by password and returns `return_to`, the " +
			"path that was given at the beginning, or `/`. If the account has a second factor, the response has " +
			"`totp_required` as in a log-in by password, unless the provider reports that it checked one (`mfa` in " +
			"`amr`); the first log-in with the provider always requires it. 401 `invalid_credentials` for an invalid or " +
			"repeated response, for one of another browser, and for a user without an account; 30 of these from one " +
			"IP address within 15 minutes are 429 `rate_limited`. The roles are set by the rules of the provider.",
	})
	op.Post(a, "/api/v1/auth/logout/provider", h.logOutProvider, op.Spec{
		ID: "log_out_at_provider", Summary: "Log out from the service and the identity provider", Tag: tag, On: op.Anywhere,
		Status: http.StatusOK, Audit: op.Audit{Action: "auth.logout"},
		Description: "Ends the session of the request and clears its cookie. `url` is the address to open in the browser " +
			"to log out at the provider of the session; null after a log-in by password, and if the provider has no such " +
			"address.",
	})
}

func (h handlers) offers(ctx context.Context, _ *struct{}) (*op.List[sso.Offer], error) {
	all, err := h.providers.Offers(ctx)
	return &op.List[sso.Offer]{Total: len(all), Body: all}, err
}

// ProviderPath has the path parameter of an identity provider.
type ProviderPath struct {
	ProviderID int64 `path:"provider_id" minimum:"1" doc:"ID of the provider"`
}

type beginInput struct {
	Client
	ProviderPath
	Body struct {
		ReturnTo string `json:"return_to,omitempty" maxLength:"1000" example:"/guests" doc:"Path of the page to open after the log-in; a URL of another site is ignored"`
	}
}

type beginOutput struct {
	SetCookie string `header:"Set-Cookie" doc:"Cookie of the log-in in progress"`
	Body      struct {
		URL string `json:"url" example:"https://id.example.com/auth?client_id=hostler" doc:"URL to open in the browser"`
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
	ProviderPath
	Body struct {
		State  string `json:"state" maxLength:"200" doc:"Value of state from the provider"`
		Code   string `json:"code,omitempty" maxLength:"3000" doc:"Value of code from the provider"`
		Error  string `json:"error,omitempty" maxLength:"200" example:"access_denied" doc:"Value of error from the provider, instead of code"`
		Issuer string `json:"iss,omitempty" maxLength:"500" example:"https://id.example.com" doc:"Value of iss from the provider, if present"`
	}
}

type completeProviderOutput struct {
	SetCookie []string `header:"Set-Cookie" doc:"Cookies of the session and the browser, none while the second factor is required, and the cleared cookie of the log-in in progress"`
	Body      struct {
		User         *User    `json:"user,omitempty" doc:"The logged-in user; absent while the second factor is required"`
		TOTPRequired bool     `json:"totp_required,omitempty" doc:"true if the second factor of the account is required: send pending and a code to /api/v1/auth/totp"`
		Pending      string   `json:"pending,omitempty" doc:"Token of this log-in for the second step, valid for 5 minutes; it is not a session"`
		Factors      []string `json:"factors,omitempty" enum:"totp,passkey" example:"[\"totp\"]" doc:"Second factors of the account; a recovery code can replace any of them and is sent like a totp code"`
		ReturnTo     string   `json:"return_to" example:"/guests" doc:"Path of the page to open, as requested when the log-in began"`
	}
}

func (h handlers) completeProvider(ctx context.Context, in *completeProviderInput) (*completeProviderOutput, error) {
	done, returnTo, err := h.providers.Complete(ctx, in.ProviderID, sso.Callback{Cookie: in.signOn, State: in.Body.State, Code: in.Body.Code,
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
	SetCookie string `header:"Set-Cookie" doc:"Cleared cookie of the session"`
	Body      struct {
		URL *string `json:"url" example:"https://id.example.com/logout?client_id=hostler" doc:"URL to open in the browser to log out at the provider; null if none"`
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
