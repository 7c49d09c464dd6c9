package auth

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Login is a log-in to the caller's account, or a try.
type Login struct {
	At        time.Time `json:"at"`
	Outcome   string    `json:"outcome" enum:"ok,refused,failed" example:"ok" doc:"refused: the password or the code was wrong; failed: a fault of the service"`
	Error     *string   `json:"error" example:"invalid_credentials" doc:"The problem's identifier where the outcome is not ok"`
	Method    *string   `json:"method" enum:"password,totp,recovery_code,provider,passkey" example:"totp" doc:"What proved who it is; totp and recovery_code come after the password, a passkey does or is alone, provider is one of single sign-on. Null for a try"`
	Address   *string   `json:"address" example:"192.0.2.7" doc:"Where it came from"`
	UserAgent *string   `json:"user_agent" example:"Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0" doc:"The browser's own words; null for a try"`
	NewPlace  bool      `json:"new_place" doc:"Neither the browser nor the network had been seen with the account lately: a notice was sent, but for the first log-in of all"`
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

// exports at a time in one instance: each holds a connection to the database for as long as its reader takes.
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
		busy := problem.New(problem.CodeRateLimited, "%d exports are running; try again when one has ended", exports)
		busy.RetryAfter = 10
		return busy
	}
	return h.users.Personal(ctx, file, user)
}
