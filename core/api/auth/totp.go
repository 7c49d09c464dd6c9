package auth

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
)

// registerTOTP declares the operations on the second factor: to complete a
// log-in with it, and to enrol, enable and disable it.
func registerTOTP(a *op.API, h handlers) {
	op.Post(a, "/api/v1/auth/totp", h.logInTOTP, op.Spec{
		ID: "complete_log_in", Summary: "Complete a log-in with the second factor", Tag: tag, Secret: true, Public: true,
		Audit: op.Audit{Action: "auth.login"},
		Description: "Completes a log-in that returned `totp_required`: creates a session and sets its cookie. `code` is " +
			"the six digits of the authenticator app or a recovery code, case-insensitive, with or without spaces and " +
			"hyphens. A code can be used once. A wrong or used code is 401 `invalid_credentials`, with the number of " +
			"`tries_left` for this log-in. At 0, after 5 minutes, and if the password changed meanwhile, the log-in ends " +
			"and must start again with the password. After 10 wrong codes for one account, over all its log-ins, or 30 " +
			"attempts from one IP address, within 15 minutes the response is 429 `rate_limited`. A browser or an IP " +
			"address that the account knows has a separate limit of 10, as for log-ins.",
	})
	op.Post(a, "/api/v1/auth/totp/enroll", h.enroll, op.Spec{
		ID: "enroll_totp", Summary: "Begin to enrol a second factor", Tag: tag, Secret: true, On: op.Anywhere,
		Audit: op.Audit{Action: "auth.totp_enroll"},
		Description: "Creates the secret for an authenticator app (RFC 6238: SHA-1, six digits, 30 seconds) and ten " +
			"recovery codes that can be used once each; both are shown only once. The enrolment has no effect until " +
			"it is confirmed, and a repeated request replaces it. 409 `invalid_state` if a second factor is enabled " +
			"already, and with an API key, because enrolment requires a session.",
	})
	op.Post(a, "/api/v1/auth/totp/confirm", h.confirm, op.Spec{
		ID: "confirm_totp", Summary: "Enable the second factor", Tag: tag, On: op.Anywhere, Status: http.StatusNoContent,
		Audit: op.Audit{Action: "auth.totp_confirm"},
		Description: "Accepts a code of the enrolled secret; log-ins then require a code. A wrong code is a 422 at " +
			"`code`; ten of them within 15 minutes are 429 `rate_limited`. 409 `invalid_state` without an enrolment to " +
			"confirm, and with an API key.",
	})
	op.Delete(a, "/api/v1/auth/totp", h.disable, op.Spec{
		ID: "disable_totp", Summary: "Disable the second factor", Tag: tag, On: op.Anywhere, Status: http.StatusNoContent,
		Audit: op.Audit{Action: "auth.totp_disable"},
		Description: "Requires the password in the body. Deletes the secret and the recovery codes, and an unconfirmed " +
			"enrolment. A wrong password is a 422 at `password`; ten of them within 15 minutes are 429 `rate_limited`. " +
			"409 `invalid_state` without a second factor.",
	})
}

type logInTOTPInput struct {
	Client
	Body struct {
		Pending string `json:"pending" maxLength:"64" doc:"Token from the response to the log-in"`
		Code    string `json:"code" maxLength:"64" example:"123 456" doc:"Six digits, or a recovery code"`
	}
}

func (h handlers) logInTOTP(ctx context.Context, in *logInTOTPInput) (*logInOutput, error) {
	done, err := h.users.LogInTOTP(ctx, in.Body.Pending, in.Body.Code, in.from)
	if err != nil {
		return nil, err
	}
	return loggedIn(done, in.site), nil
}

// Enrolment is a second factor that is not confirmed yet. It takes effect with
// confirm.
type Enrolment struct {
	Secret        string   `json:"secret" doc:"Secret in base32, to type into an authenticator app"`
	URI           string   `json:"otpauth_uri" doc:"Secret as an otpauth:// URI for authenticator apps"`
	QR            string   `json:"qr_svg" doc:"QR code of the URI as an SVG image"`
	RecoveryCodes []string `json:"recovery_codes" doc:"Ten recovery codes; each replaces one code of the authenticator app once"`
}

func (h handlers) enroll(ctx context.Context, _ *struct{}) (*op.Body[Enrolment], error) {
	e, err := h.users.EnrollTOTP(ctx, identity.FromContext(ctx))
	if err != nil {
		return nil, err
	}
	return &op.Body[Enrolment]{Body: Enrolment{Secret: e.Secret, URI: e.URI, QR: e.QR, RecoveryCodes: e.RecoveryCodes}}, nil
}

type confirmInput struct {
	Client
	Body struct {
		Code string `json:"code" maxLength:"64" example:"123 456" doc:"Six digits of the authenticator app"`
	}
}

func (h handlers) confirm(ctx context.Context, in *confirmInput) (*op.Empty, error) {
	return &op.Empty{}, h.users.ConfirmTOTP(ctx, identity.FromContext(ctx), in.Body.Code, in.from)
}

type disableInput struct {
	Body struct {
		Password string `json:"password" maxLength:"1024" example:"seven-yellow-donkeys" doc:"Current password"`
	}
}

func (h handlers) disable(ctx context.Context, in *disableInput) (*op.Empty, error) {
	return &op.Empty{}, h.users.DisableTOTP(ctx, identity.FromContext(ctx), in.Body.Password)
}
