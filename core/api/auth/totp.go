package auth

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
)

// registerTOTP declares the operations of the second factor.
func registerTOTP(a *op.API, h handlers) {
	op.Post(a, "/api/v1/auth/totp", h.logInTOTP, op.Spec{
		ID: "complete_log_in", Summary: "Complete a log-in with the second factor", Tag: tag, Secret: true, Public: true,
		Audit: op.Audit{Action: "auth.login"},
		Description: "The second step of a log-in that answered `totp_required`: opens a session and sets its cookie. `code` is the " +
			"authenticator's six digits or a recovery code, in any case, with blanks and hyphens or without. A code is good once. A wrong or " +
			"used one is 401 `invalid_credentials`, with `tries_left` for this log-in; at 0, as after 5 minutes or when the password changed " +
			"meanwhile, it is over and begins again with the password. After 10 wrong codes for one account, over all its log-ins, or 30 tries " +
			"from one address, within 15 minutes the answer is 429 `rate_limited`; a browser or an address that the account knows has 10 of its " +
			"own, as at the log-in.",
	})
	op.Post(a, "/api/v1/auth/totp/enroll", h.enroll, op.Spec{
		ID: "enroll_totp", Summary: "Begin a second factor", Tag: tag, Secret: true, On: op.Anywhere,
		Audit: op.Audit{Action: "auth.totp_enroll"},
		Description: "Makes the secret for an authenticator app (RFC 6238: SHA-1, six digits, 30 seconds) and ten recovery codes, each good " +
			"once; all of it is shown this once. It has no effect until it is confirmed, and asking again replaces it. With a second factor on " +
			"it is 409 `invalid_state`, and also with an API key: a second factor is enrolled in a session.",
	})
	op.Post(a, "/api/v1/auth/totp/confirm", h.confirm, op.Spec{
		ID: "confirm_totp", Summary: "Switch the second factor on", Tag: tag, On: op.Anywhere, Status: http.StatusNoContent,
		Audit: op.Audit{Action: "auth.totp_confirm"},
		Description: "Takes a code of the enrolled secret; from then on log-in asks for one. A wrong code is a 422 at `code`; ten of them " +
			"within 15 minutes are 429 `rate_limited`. Nothing to confirm, and an API key, are 409 `invalid_state`.",
	})
	op.Delete(a, "/api/v1/auth/totp", h.disable, op.Spec{
		ID: "disable_totp", Summary: "Switch the second factor off", Tag: tag, On: op.Anywhere, Status: http.StatusNoContent,
		Audit: op.Audit{Action: "auth.totp_disable"},
		Description: "Needs the password, in the body. Forgets the secret and the recovery codes, an enrolment that was not confirmed too. " +
			"A wrong " +
			"password is a 422 at `password`; ten of them within 15 minutes are 429 `rate_limited`. No second factor is 409 `invalid_state`.",
	})
}

type logInTOTPInput struct {
	Client
	Body struct {
		Pending string `json:"pending" maxLength:"64" doc:"From the answer to the log-in"`
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

// Enrolment is a second factor that is to be confirmed.
type Enrolment struct {
	Secret        string   `json:"secret" doc:"The secret in base32, to type into an authenticator app"`
	URI           string   `json:"otpauth_uri" doc:"The secret as such apps take it from a QR code"`
	QR            string   `json:"qr_svg" doc:"That QR code as an SVG picture"`
	RecoveryCodes []string `json:"recovery_codes" doc:"Ten; each stands for one code of the authenticator, once"`
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
		Code string `json:"code" maxLength:"64" example:"123 456" doc:"The six digits that the authenticator shows"`
	}
}

func (h handlers) confirm(ctx context.Context, in *confirmInput) (*op.Empty, error) {
	return &op.Empty{}, h.users.ConfirmTOTP(ctx, identity.FromContext(ctx), in.Body.Code, in.from)
}

type disableInput struct {
	Body struct {
		Password string `json:"password" maxLength:"1024" example:"seven-yellow-donkeys" doc:"The present password"`
	}
}

func (h handlers) disable(ctx context.Context, in *disableInput) (*op.Empty, error) {
	return &op.Empty{}, h.users.DisableTOTP(ctx, identity.FromContext(ctx), in.Body.Password)
}
