// Package users is the HTTP resource of user accounts for admins: to list,
// create, change and delete users, and to reset their passwords and second
// factors. The operations of a user on the own account are in package
// core/api/auth.
package users

import (
	"context"
	"net/http"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
)

// Deps has what the operations of this package need.
type Deps struct{ Users *identity.Store }

type handlers struct{ users *identity.Store }

const tag = "Users"

// outranks is the part of the description that all operations on one user
// share.
const outranks = "A user with a role in any team that is higher than your role in the team `default` is 403 " +
	"`forbidden`: otherwise you could set that user's password and use that role."

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Users}
	op.Get(a, "/api/v1/users", h.list, op.Spec{
		ID: "list_users", Summary: "List users", Tag: tag, Role: identity.Admin,
		Description: "Lists all accounts, by email address. `role` is the role in the team `default`, which applies to " +
			"everything; `teams` lists all roles, including that one.",
	})
	op.Post(a, "/api/v1/users", h.create, op.Spec{
		ID: "create_user", Summary: "Create a user", Tag: tag, Role: identity.Admin, Status: http.StatusCreated,
		Audit: op.Audit{Action: "user.create"}, Replay: h.created,
		Description: "You cannot grant a role above your own: only an owner can create an owner (403 `forbidden`, " +
			"returned before faults of the other fields if the body is well-formed). An address that has an account " +
			"is 409 `conflict`, regardless of case, Unicode form or look-alike letters. An instance has at most " +
			"100,000 users; creating more is 409 `conflict`. The password must have at least 12 characters and must " +
			"not be a common password or the email address.",
	})
	op.Patch(a, "/api/v1/users/:user_id", h.patch, op.Spec{
		ID: "patch_user", Summary: "Rename, deactivate or reactivate a user", Tag: tag, Role: identity.Admin,
		Audit: op.Audit{Action: "user.update", Target: "user_id"},
		Description: "`display_name` null clears the name. `is_active` false ends all sessions of the user at once and " +
			"disables the user's API keys; true reactivates the user. You cannot deactivate your own account (409 " +
			"`self_deactivate`) or the last active owner of the team `default` (409 `last_owner`). " +
			outranks +
			" To change a role, change the membership in a team.",
	})
	op.Delete(a, "/api/v1/users/:user_id", h.remove, op.Spec{
		ID: "delete_user", Summary: "Delete a user", Tag: tag, Role: identity.Admin, Status: http.StatusOK, Plan: true,
		Audit: op.Audit{Action: "user.delete", Target: "user_id"},
		Description: "Deletes the account with its sessions, API keys and roles. The audit log and jobs keep the " +
			"email address, but no longer refer to an account; deactivate the user instead to keep that reference. You " +
			"cannot delete your own account (409 `self_delete`) or the last active owner of the team `default` (409 " +
			"`last_owner`). " +
			outranks,
	})
	op.Post(a, "/api/v1/users/:user_id/password", h.resetPassword, op.Spec{
		ID: "reset_password", Summary: "Reset a user's password", Tag: tag, Role: identity.Admin,
		Audit: op.Audit{Action: "user.password_reset", Target: "user_id"},
		Description: "Requires no old password. Ends all sessions of the user at once, even your own. The second " +
			"factor stays enrolled, and the user can log in at once even after too many failed attempts. The user's " +
			"API keys stay valid, and the response returns their number, unless `revoke_keys` is true. Passkeys and " +
			"identities at providers stay valid in any case, and the response returns their numbers. " +
			outranks +
			" The rules for passwords are those for new users.",
	})
	op.Delete(a, "/api/v1/users/:user_id/totp", h.resetTOTP, op.Spec{
		ID: "reset_totp", Summary: "Reset a user's second factor", Tag: tag, Role: identity.Admin,
		Status: http.StatusNoContent, Audit: op.Audit{Action: "user.totp_reset", Target: "user_id"},
		Description: "Removes the authenticator app, passkeys and recovery codes of a user who lost the second " +
			"factor, so that log-ins require only the password. The password and sessions are kept. 409 " +
			"`invalid_state` if the user has no second factor, or if you are the user: disable your own second " +
			"factor with your password at `/api/v1/auth/totp` and `/api/v1/auth/passkeys`. " +
			outranks,
	})
}

// Account is a user in the form that admins see.
type Account struct {
	ID          int64      `json:"id" example:"7"`
	Email       string     `json:"email" example:"anna@example.com"`
	DisplayName *string    `json:"display_name" example:"Anna Lee"`
	IsActive    bool       `json:"is_active" example:"true" doc:"false for a deactivated user, who cannot log in and has no sessions"`
	TOTPEnabled bool       `json:"totp_enabled" doc:"true if log-ins require an authenticator app as second factor"`
	Passkeys    int        `json:"passkeys" example:"1" doc:"Number of passkeys; each is a second factor and a way to log in"`
	HasPassword bool       `json:"has_password" example:"true" doc:"false for an account of an identity provider without a password"`
	Providers   []string   `json:"providers" example:"[\"Company\"]" doc:"Names of the identity providers with which the user has logged in"`
	CreatedAt   time.Time  `json:"created_at"`
	LastLoginAt *time.Time `json:"last_login_at" doc:"Last log-in; null if never"`
	Role        *string    `json:"role" enum:"viewer,operator,admin,owner" example:"operator" doc:"Role in the team default; null without one"`
	Teams       []TeamRole `json:"teams" doc:"All roles, that in the default team first"`
}

// TeamRole is the role of a user in a team.
type TeamRole struct {
	ID   int64  `json:"id" example:"1" doc:"ID of the team"`
	Name string `json:"name" example:"Default"`
	Slug string `json:"slug" example:"default"`
	Role string `json:"role" enum:"viewer,operator,admin,owner" example:"operator"`
}

func accountOf(p *identity.Profile) Account {
	a := Account{
		ID: p.ID, Email: p.Email, DisplayName: p.DisplayName, IsActive: p.IsActive, TOTPEnabled: p.TOTPEnabled, Passkeys: p.Passkeys,
		HasPassword: p.HasPassword,
		Providers:   p.Providers, CreatedAt: p.CreatedAt.UTC(),
		Teams: make([]TeamRole, 0, len(p.Roles)),
	}
	if p.LastLoginAt != nil {
		a.LastLoginAt = new(p.LastLoginAt.UTC())
	}
	if p.Role > identity.NoRole {
		a.Role = new(p.Role.String())
	}
	for _, m := range p.Roles {
		a.Teams = append(a.Teams, TeamRole{ID: m.TeamID, Name: m.Team, Slug: m.Slug, Role: m.Role.String()})
	}
	return a
}

var shown = op.Show(accountOf)

func (h handlers) list(ctx context.Context, in *struct{ op.Page }) (*op.List[Account], error) {
	return op.ShowList(accountOf)(h.users.Users(ctx, in.Offset(), in.Limit()))
}

// UserPath has the path parameter of a user.
type UserPath struct {
	ID int64 `path:"user_id" doc:"ID of the user"`
}

// DeleteResult is the answer of remove.
type DeleteResult struct {
	Deleted bool `json:"deleted" example:"true"`
}

type removeInput struct {
	UserPath
	op.PlanParams
}

func (h handlers) remove(ctx context.Context, in *removeInput) (*op.Body[DeleteResult], error) {
	if err := h.users.DeleteUser(ctx, identity.FromContext(ctx), in.ID); err != nil {
		return nil, err
	}
	return &op.Body[DeleteResult]{Body: DeleteResult{Deleted: true}}, nil
}

// created rebuilds the answer of create for a repeated Idempotency-Key.
func (h handlers) created(ctx context.Context, made idempotency.Result) (any, error) {
	p, err := h.users.Profile(ctx, made.Target())
	if err != nil {
		return nil, err
	}
	return accountOf(p), nil
}
