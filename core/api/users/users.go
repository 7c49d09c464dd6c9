// Package users is the HTTP resource of accounts: what admins see of them and do with them.
package users

import (
	"context"
	"net/http"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
)

// Deps is what the operations work with.
type Deps struct{ Users *identity.Store }

type handlers struct{ users *identity.Store }

const tag = "Users"

// outranks is said of every operation on one user.
const outranks = "A user who has a higher role in any team than the caller has in the team `default` is 403 `forbidden`: whoever may " +
	"set that user's password would have that role."

// Register declares the operations.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Users}
	op.Get(a, "/api/v1/users", h.list, op.Spec{
		ID: "list_users", Summary: "List users", Tag: tag, Role: identity.Admin,
		Description: "All accounts, by e-mail address. `role` is the role in the team `default`, which holds on everything; `teams` has all " +
			"roles, that one too.",
	})
	op.Post(a, "/api/v1/users", h.create, op.Spec{
		ID: "create_user", Summary: "Create a user", Tag: tag, Role: identity.Admin, Status: http.StatusCreated,
		Audit: op.Audit{Action: "user.create"}, Recall: h.created,
		Description: "Nobody gives a role above their own: only an owner makes an owner (403 `forbidden`, told before faults of the other " +
			"fields once the body has the right form). An address that has an account is 409 `conflict`, in whatever case, Unicode form or " +
			"look-alike letters it is written; so is the 100,001st user. The password needs 12 characters, and must be neither a " +
			"common one nor the e-mail address.",
	})
	op.Patch(a, "/api/v1/users/:user_id", h.patch, op.Spec{
		ID: "patch_user", Summary: "Rename, deactivate or reactivate a user", Tag: tag, Role: identity.Admin,
		Audit: op.Audit{Action: "user.update", Target: "user_id"},
		Description: "`display_name` null clears the name. `is_active` false ends all sessions of the user at once, and the user's API keys " +
			"stop working; true " +
			"lets the user in again. Nobody deactivates their own account (409 `self_deactivate`), nor the last active owner of the team " +
			"`default` (409 " +
			"`last_owner`). " + outranks + " A role is changed as a member of a team.",
	})
	op.Delete(a, "/api/v1/users/:user_id", h.remove, op.Spec{
		ID: "delete_user", Summary: "Delete a user", Tag: tag, Role: identity.Admin, Status: http.StatusOK, Plan: true,
		Audit: op.Audit{Action: "user.delete", Target: "user_id"},
		Description: "Removes the account with its sessions, API keys and roles. The audit trail and jobs keep the e-mail address, but no " +
			"account stands behind it " +
			"any more; deactivating is the better way. Nobody deletes their own account (409 `self_delete`), nor the last active owner of the " +
			"team `default` " +
			"(409 `last_owner`). " + outranks,
	})
	op.Post(a, "/api/v1/users/:user_id/password", h.resetPassword, op.Spec{
		ID: "reset_password", Summary: "Reset a user's password", Tag: tag, Role: identity.Admin,
		Audit: op.Audit{Action: "user.password_reset", Target: "user_id"},
		Description: "Needs no old password. Ends all sessions of the user at once, also one's own. The second factor stays enrolled, and " +
			"the user may log in at " +
			"once even after too many wrong tries. The user's API keys stay good, and the answer says how many, unless `revoke_keys` is true. " +
			"Passkeys and identities at providers stay valid in any case. The response counts them. " +
			outranks + " The rules for passwords are those of creating a user.",
	})
	op.Delete(a, "/api/v1/users/:user_id/totp", h.resetTOTP, op.Spec{
		ID: "reset_totp", Summary: "Reset a user's second factor", Tag: tag, Role: identity.Admin,
		Status: http.StatusNoContent, Audit: op.Audit{Action: "user.totp_reset", Target: "user_id"},
		Description: "For somebody who has lost it: the authenticator app, passkeys and recovery codes are void, and log-in asks for the " +
			"password alone from then on. The password stays, and sessions go on. No second factor is 409 `invalid_state`, and so is one's own, " +
			"which is switched off with the password at `/api/v1/auth/totp` and `/api/v1/auth/passkeys`. " + outranks,
	})
}

// Account is a user as admins see one.
type Account struct {
	ID          int64      `json:"id" example:"7"`
	Email       string     `json:"email" example:"anna@example.com"`
	DisplayName *string    `json:"display_name" example:"Anna Lee"`
	IsActive    bool       `json:"is_active" example:"true" doc:"An inactive user cannot log in, and has no session"`
	TOTPEnabled bool       `json:"totp_enabled" doc:"Logging in takes an authenticator app as second factor"`
	Passkeys    int        `json:"passkeys" example:"1" doc:"How many passkeys there are; each is a second factor and a way to log in"`
	HasPassword bool       `json:"has_password" example:"true" doc:"False for an account of an identity provider that has been given no password"`
	Providers   []string   `json:"providers" example:"[\"Company\"]" doc:"Names of the identity providers by which the user has come in"`
	CreatedAt   time.Time  `json:"created_at"`
	LastLoginAt *time.Time `json:"last_login_at" doc:"Null for one who never logged in"`
	Role        *string    `json:"role" enum:"viewer,operator,admin,owner" example:"operator" doc:"Role in the team default; null without one"`
	Teams       []TeamRole `json:"teams" doc:"All roles, the default team's first"`
}

// TeamRole is the role of a user in a team.
type TeamRole struct {
	ID   int64  `json:"id" example:"1" doc:"The team's id"`
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

// One names a user in the path.
type One struct {
	ID int64 `path:"user_id" doc:"The user's id"`
}

// Deleted is the answer of a deletion.
type Deleted struct {
	Deleted bool `json:"deleted" example:"true"`
}

type removeInput struct {
	One
	op.Planned
}

func (h handlers) remove(ctx context.Context, in *removeInput) (*op.Body[Deleted], error) {
	if err := h.users.DeleteUser(ctx, identity.FromContext(ctx), in.ID); err != nil {
		return nil, err
	}
	return &op.Body[Deleted]{Body: Deleted{Deleted: true}}, nil
}

// created makes the answer of creating a user again.
func (h handlers) created(ctx context.Context, made idempotency.Made) (any, error) {
	p, err := h.users.Profile(ctx, made.Target())
	if err != nil {
		return nil, err
	}
	return accountOf(p), nil
}
