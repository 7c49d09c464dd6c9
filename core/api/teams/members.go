package teams

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

func registerMembers(a *op.API, h handlers) {
	op.Get(a, "/api/v1/teams/:team_id/members", h.members, op.Spec{
		ID: "list_team_members", Summary: "List the members of a team", Tag: tag, Role: identity.Admin,
		Description: "Lists the users who have a role in the team, by email address. Users whose role comes from the " +
			"team `default` are not included.",
	})
	op.Put(a, "/api/v1/teams/:team_id/members/:user_id", h.setMember, op.Spec{
		ID: "set_team_member", Summary: "Set the role of a user in a team", Tag: tag, Role: identity.Owner,
		Audit: op.Audit{Action: "team.member_set", Target: "team_id"},
		Description: "Adds the user to the team, or changes the user's role in it, with effect from the user's next " +
			"request. The body is required, so that an empty request does not make a user a viewer; `{}` means " +
			"viewer. The deprecated keys `cidr`, `comment` and `nomatch` are accepted and ignored. The last active " +
			"owner of the team `default` keeps that role (409 `last_owner`).",
	})
	op.Delete(a, "/api/v1/teams/:team_id/members/:user_id", h.removeMember, op.Spec{
		ID: "remove_team_member", Summary: "Remove a user from a team", Tag: tag, Role: identity.Owner, Status: 200,
		Audit: op.Audit{Action: "team.member_remove", Target: "team_id"},
		Description: "Takes effect with the user's next request. A user who is not a member is 404; the last active " +
			"owner of the team `default` is 409 `last_owner`.",
	})
}

// TeamMember is a user with a role in a team.
type TeamMember struct {
	UserID      int64     `json:"user_id" example:"7"`
	Email       string    `json:"email" example:"anna@example.com"`
	DisplayName *string   `json:"display_name" example:"Anna Lee"`
	IsActive    bool      `json:"is_active" example:"true"`
	Role        string    `json:"role" enum:"viewer,operator,admin,owner" example:"operator"`
	AddedAt     time.Time `json:"added_at"`
}

func memberOf(m *identity.TeamMember) TeamMember {
	return TeamMember{UserID: m.UserID, Email: m.Email, DisplayName: m.DisplayName, IsActive: m.IsActive, Role: m.Role.String(),
		AddedAt: m.AddedAt.UTC()}
}

type membersInput struct {
	TeamPath
	op.Page
}

func (h handlers) members(ctx context.Context, in *membersInput) (*op.List[TeamMember], error) {
	return op.ShowList(memberOf)(h.users.Members(ctx, in.ID, in.Offset(), in.Limit()))
}

// MemberPath has the path parameters of a team and a user.
type MemberPath struct {
	TeamPath
	UserID int64 `path:"user_id" doc:"ID of the user"`
}

type memberInput struct {
	MemberPath
	Body struct {
		Role op.Optional[string] `json:"role,omitzero" nullable:"false" enum:"viewer,operator,admin,owner" example:"operator" doc:"Role; viewer if absent"`
		// Another body of the same name has these; clients that were made from it send them.
		CIDR    op.IgnoredValue `json:"cidr,omitzero" deprecated:"true" doc:"Ignored"`
		Comment op.IgnoredValue `json:"comment,omitzero" deprecated:"true" doc:"Ignored"`
		NoMatch op.IgnoredValue `json:"nomatch,omitzero" deprecated:"true" doc:"Ignored"`
	}
}

func (h handlers) setMember(ctx context.Context, in *memberInput) (*op.Body[TeamMember], error) {
	role := identity.Viewer
	if in.Body.Role.Set {
		var err error
		if role, err = identity.ParseRole(in.Body.Role.Value); err != nil {
			return nil, problem.InvalidField("must be viewer, operator, admin or owner", "enum", "body", "role")
		}
	}
	return op.Show(memberOf)(h.users.SetMember(ctx, identity.FromContext(ctx), in.ID, in.UserID, role))
}

// RemoveMemberResult is the answer of removeMember.
type RemoveMemberResult struct {
	Removed bool `json:"removed" example:"true"`
}

func (h handlers) removeMember(ctx context.Context, in *MemberPath) (*op.Body[RemoveMemberResult], error) {
	if err := h.users.RemoveMember(ctx, identity.FromContext(ctx), in.ID, in.UserID); err != nil {
		return nil, err
	}
	return &op.Body[RemoveMemberResult]{Body: RemoveMemberResult{Removed: true}}, nil
}
