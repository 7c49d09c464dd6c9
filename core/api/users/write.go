package users

import (
	"context"
	"errors"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

type createInput struct {
	Body struct {
		Email       string              `json:"email" minLength:"3" maxLength:"254" example:"anna@example.com" doc:"Email address"`
		Password    string              `json:"password" minLength:"12" maxLength:"1024" example:"nine-blue-giraffes" doc:"Password of at least 12 characters"`
		DisplayName *string             `json:"display_name,omitempty" nullable:"true" maxLength:"200" example:"Anna Lee" doc:"Name to show instead of the email address"`
		Role        op.Optional[string] `json:"role,omitzero" enum:"viewer,operator,admin,owner" example:"viewer" doc:"Role in the team default; viewer if absent, none if null"`
	}
}

var _ huma.Resolver = (*createInput)(nil)

// Resolve implements huma.Resolver. It checks what the schema cannot express,
// so that one answer has these faults and those of the schema. A role that the
// caller may not assign is refused before any fault.
func (in *createInput) Resolve(ctx huma.Context) []error {
	role, err := identity.ParseRole(in.Body.Role.Value)
	if caller := identity.FromContext(ctx.Context()); err == nil && caller != nil && role > caller.Instance() {
		return nil
	}
	err = identity.NewUser{Email: in.Body.Email, Password: in.Body.Password, DisplayName: in.Body.DisplayName}.Check()
	// A field that is absent or could not be read is the schema's to tell.
	unread := map[any]bool{"email": in.Body.Email == "", "password": in.Body.Password == ""}
	faults := slices.DeleteFunc(faultsOf(err), func(f problem.Fault) bool { return unread[f.Loc[1]] })
	if len(faults) == 0 {
		return nil
	}
	return []error{problem.Invalid(faults...)}
}

// faultsOf returns the faults in the error of a check, or nil.
func faultsOf(err error) []problem.Fault {
	found, ok := errors.AsType[*problem.Error](err)
	if !ok {
		return nil
	}
	return found.Faults
}

func (h handlers) create(ctx context.Context, in *createInput) (*op.Body[Account], error) {
	roles, err := defaultRole(in.Body.Role)
	if err != nil {
		return nil, err
	}
	return shown(h.users.AddUser(ctx, identity.FromContext(ctx), identity.NewUser{
		Email: in.Body.Email, Password: in.Body.Password, DisplayName: in.Body.DisplayName, Roles: roles,
	}))
}

// defaultRole returns the role of a new user in the default team.
func defaultRole(given op.Optional[string]) (map[int64]identity.Role, error) {
	switch {
	case given.Null:
		return nil, nil
	case !given.Set:
		return map[int64]identity.Role{identity.DefaultTeam: identity.Viewer}, nil
	}
	role, err := identity.ParseRole(given.Value)
	if err != nil {
		return nil, problem.InvalidField("must be viewer, operator, admin or owner", "enum", "body", "role")
	}
	return map[int64]identity.Role{identity.DefaultTeam: role}, nil
}

type patchInput struct {
	UserPath
	Body struct {
		DisplayName op.Optional[string] `json:"display_name,omitzero" maxLength:"200" example:"Anna Lee" doc:"null clears it"`
		IsActive    op.Optional[bool]   `json:"is_active,omitzero" nullable:"false" doc:"false deactivates the user, true reactivates the user"`
	}
}

var _ huma.Resolver = (*patchInput)(nil)

func (in *patchInput) change() identity.UserChange {
	change := identity.UserChange{Active: in.Body.IsActive.Pointer()}
	if in.Body.DisplayName.Set {
		change.DisplayName = &in.Body.DisplayName.Value // empty for null
	}
	return change
}

// Resolve implements huma.Resolver. A bad name is reported together with a null
// that is refused. If it is the only fault, it is reported after the 403 of a
// user whom the caller may not manage.
func (in *patchInput) Resolve(huma.Context) []error {
	if err := in.change().Check(); err != nil && in.Body.IsActive.Null {
		return []error{err}
	}
	return nil
}

func (h handlers) patch(ctx context.Context, in *patchInput) (*op.Body[Account], error) {
	return shown(h.users.PatchUser(ctx, identity.FromContext(ctx), in.ID, in.change()))
}

type resetInput struct {
	UserPath
	Body struct {
		Password   string `json:"password" minLength:"12" maxLength:"1024" example:"nine-blue-giraffes" doc:"New password"`
		RevokeKeys bool   `json:"revoke_keys,omitempty" default:"false" doc:"Also revoke all API keys of the user"`
	}
}

// PasswordResetResult is the answer of resetPassword.
type PasswordResetResult struct {
	SessionsRevoked int64 `json:"sessions_revoked" example:"2" doc:"Number of sessions that ended"`
	KeysRevoked     int64 `json:"keys_revoked" example:"0" doc:"Number of revoked API keys"`
	KeysValid       int64 `json:"keys_valid" example:"3" doc:"Number of API keys of the user that stay valid and do not depend on the password"`
	PasskeysValid   int64 `json:"passkeys_valid" example:"1" doc:"Number of passkeys of the user that stay valid; revoke_keys does not revoke them"`
	IdentitiesValid int64 `json:"identities_valid" example:"0" doc:"Number of identities at providers that can still log in to the account"`
}

func (h handlers) resetPassword(ctx context.Context, in *resetInput) (*op.Body[PasswordResetResult], error) {
	ended, err := h.users.ResetPassword(ctx, identity.FromContext(ctx), in.ID,
		identity.NewPassword{Password: in.Body.Password, RevokeKeys: in.Body.RevokeKeys})
	if err != nil {
		return nil, err
	}
	return &op.Body[PasswordResetResult]{Body: PasswordResetResult{SessionsRevoked: ended.Sessions, KeysRevoked: ended.Keys,
		KeysValid:     ended.ValidKeys,
		PasskeysValid: ended.Passkeys, IdentitiesValid: ended.Identities}}, nil
}

func (h handlers) resetTOTP(ctx context.Context, in *UserPath) (*op.Empty, error) {
	return &op.Empty{}, h.users.ResetTOTP(ctx, identity.FromContext(ctx), in.ID)
}
