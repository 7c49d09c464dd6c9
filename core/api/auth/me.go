package auth

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Me is the answer of get_me: the account, the roles and the session of the
// caller.
type Me struct {
	User User `json:"user"`
	// Role is the role in the default team.
	Role  *string      `json:"role" enum:"viewer,operator,admin,owner" example:"admin" doc:"Role in the team default, which applies to everything; null without one"`
	Roles []Membership `json:"roles" doc:"All roles, by team ID"`
	// RecoveryCodesLeft is null without a second factor.
	RecoveryCodesLeft *int     `json:"recovery_codes_left" example:"10" doc:"Number of unused recovery codes; null without a second factor"`
	Session           *Session `json:"session" doc:"Session of this request; null for an API key"`
}

// Membership is the role of the caller in a team.
type Membership struct {
	TeamID int64  `json:"team_id" example:"1"`
	Team   string `json:"team" example:"Default"`
	Role   string `json:"role" enum:"viewer,operator,admin,owner" example:"admin"`
}

func (h handlers) me(ctx context.Context, _ *struct{}) (*op.Body[Me], error) {
	caller := identity.FromContext(ctx)
	user, err := h.users.User(ctx, caller.UserID)
	if err != nil {
		return nil, gone(err)
	}
	members, err := h.users.Roles(ctx, caller.UserID)
	if err != nil {
		return nil, err
	}
	me := Me{User: userOf(user), Roles: make([]Membership, 0, len(members))}
	for _, m := range members {
		me.Roles = append(me.Roles, Membership{TeamID: m.TeamID, Team: m.Team, Role: m.Role.String()})
	}
	if role := caller.Instance(); role > identity.NoRole {
		name := role.String()
		me.Role = &name
	}
	if user.SecondFactor {
		left, err := h.users.RecoveryCodesLeft(ctx, user.ID)
		if err != nil {
			return nil, err
		}
		me.RecoveryCodesLeft = &left
	}
	if caller.SessionID != 0 {
		session, err := h.users.Session(ctx, caller.UserID, caller.SessionID)
		if err != nil {
			return nil, gone(err)
		}
		shown := sessionOf(session, caller)
		me.Session = &shown
	}
	return &op.Body[Me]{Body: me}, nil
}

// gone returns the error for a caller whose account or session ended after the
// request was admitted. It is a 401 in place of a 404.
func gone(err error) error {
	if problem.CodeOf(err) == problem.CodeNotFound {
		return problem.New(problem.CodeUnauthenticated, "log in, or send an API key")
	}
	return err
}
