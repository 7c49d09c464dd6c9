package auth

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Login is a log-in to the account of the caller, or an attempt.
type Login struct {
	At        time.Time `json:"at"`
	Outcome   string    `json:"outcome" enum:"ok,refused,failed" example:"ok" doc:"refused: wrong password or code; failed: internal error"`
	Error     *string   `json:"error" example:"invalid_credentials" doc:"Error id if the outcome is not ok"`
	Method    *string   `json:"method" enum:"password,totp,recovery_code,provider,passkey" example:"totp" doc:"Last factor that was verified; totp and recovery_code follow the password, a passkey follows it or is used alone, provider is single sign-on. Null for a failed attempt"`
	Address   *string   `json:"address" example:"192.0.2.7" doc:"IP address of the client"`
	UserAgent *string   `json:"user_agent" example:"Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0" doc:"User-Agent of the browser; null for a failed attempt"`
	NewPlace  bool      `json:"new_place" doc:"true if neither the browser nor the network was recently seen with the account; a notice was sent, except for the first log-in of the account"`
}

func (h handlers) logins(ctx context.Context, in *struct{ op.Page }) (*op.List[Login], error) {
	found, total, err := h.users.Logins(ctx, identity.FromContext(ctx).UserID, in.Offset(), in.Limit())
	if err != nil {
		return nil, err
	}
	list := &op.List[Login]{Total: total}
	for i := range found {
		l := &found[i]
		list.Body = append(list.Body, Login{At: l.At.UTC(), Outcome: l.Outcome, Error: orNull(l.Error), Method: orNull(l.Method),
			Address: orNull(l.Address), UserAgent: orNull(l.UserAgent), NewPlace: l.NewPlace})
	}
	return list, nil
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// exports is how many exports one instance runs at a time. Each holds a
// connection to the database for as long as its reader takes.
const exports = 2

func (h handlers) export(ctx context.Context, _ *struct{}, file *op.File) error {
	if err := file.Open("application/json", "hostler-account-"+time.Now().UTC().Format(time.DateOnly)+".json"); err != nil {
		return err
	}
	user := identity.FromContext(ctx).UserID
	if _, running := h.exporting.LoadOrStore(user, true); running {
		busy := problem.New(problem.CodeRateLimited, "an export of your account is already running; try again when it has ended")
		busy.RetryAfter = 10
		return busy
	}
	defer h.exporting.Delete(user)
	select {
	case h.exports <- struct{}{}:
		defer func() { <-h.exports }()
	default:
		busy := problem.New(problem.CodeRateLimited, "%d exports are already running; try again when one has ended", exports)
		busy.RetryAfter = 10
		return busy
	}
	return h.users.Personal(ctx, file, user)
}
