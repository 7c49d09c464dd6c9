// Package teams is the HTTP resource of teams and their members. Hosts and
// guests belong to teams, and the role of a user in a team applies to what
// belongs to it.
package teams

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
)

// Deps has what the operations of this package need.
type Deps struct{ Users *identity.Store }

type handlers struct{ users *identity.Store }

const tag = "Teams"

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Users}
	op.Get(a, "/api/v1/teams", h.list, op.Spec{
		ID: "list_teams", Summary: "List teams", Tag: tag, Role: identity.Admin,
		Description: "Lists all teams, the team `default` first, the others by name. A team owns hosts; a role in it " +
			"applies to these hosts and their guests. A role in `default` applies to every host and to the instance.",
	})
	op.Post(a, "/api/v1/teams", h.create, op.Spec{
		ID: "create_team", Summary: "Create a team", Tag: tag, Role: identity.Owner, Status: http.StatusCreated,
		Audit: op.Audit{Action: "team.create"}, Replay: h.created,
		Description: "Two teams may have the same name; the slug identifies them. Without `slug`, or with null, it " +
			"is generated from the name in lower-case ASCII letters, with a number appended if it is taken. A given " +
			"slug that is taken is 409 `conflict`. An instance has at most 10,000 teams; creating more is 409 " +
			"`conflict`. To move a host to the team, change the `team_id` of the host.",
	})
	op.Patch(a, "/api/v1/teams/:team_id", h.patch, op.Spec{
		ID: "patch_team", Summary: "Change a team", Tag: tag, Role: identity.Owner, Audit: op.Audit{Action: "team.update", Target: "team_id"},
		Description: "`description` null clears it; `name` cannot be cleared. The slug never changes. The default team " +
			"can be renamed, too.",
	})
	op.Delete(a, "/api/v1/teams/:team_id", h.remove, op.Spec{
		ID: "delete_team", Summary: "Delete a team", Tag: tag, Role: identity.Owner, Status: http.StatusOK, Plan: true,
		Audit: op.Audit{Action: "team.delete", Target: "team_id"},
		Description: "Deletes the team. Its hosts move to the team `default` with their guests, apps and jobs; `hosts` " +
			"is their number. Its members lose their role in it and keep their accounts. Audit entries keep the ID of " +
			"the deleted team: only admins of the instance can read them from then on. The default team cannot be " +
			"deleted (409 `invalid_state`).",
	})
	registerMembers(a, h)
}

// Team is a team in the form of the API.
type Team struct {
	ID          int64     `json:"id" example:"2"`
	Name        string    `json:"name" example:"Web shop"`
	Slug        string    `json:"slug" example:"web-shop" doc:"Unique; never changes"`
	Description *string   `json:"description" example:"Runs the shop"`
	CreatedAt   time.Time `json:"created_at"`
	Members     int       `json:"members" example:"4" doc:"Number of users with a role in it"`
	Hosts       int       `json:"hosts" example:"3" doc:"Number of hosts that it owns"`
}

func teamOf(t *identity.Team) Team {
	return Team{ID: t.ID, Name: t.Name, Slug: t.Slug, Description: t.Description, CreatedAt: t.CreatedAt.UTC(), Members: t.Members,
		Hosts: t.Hosts}
}

var shown = op.Show(teamOf)

func (h handlers) list(ctx context.Context, in *struct{ op.Page }) (*op.List[Team], error) {
	return op.ShowList(teamOf)(h.users.ListTeams(ctx, in.Offset(), in.Limit()))
}

type createInput struct {
	Body struct {
		Name        string  `json:"name" minLength:"1" maxLength:"100" example:"Web shop" doc:"Name of the team"`
		Description *string `json:"description,omitempty" nullable:"true" maxLength:"1000" example:"Runs the shop" doc:"Description of the team"`
		Slug        *string `json:"slug,omitempty" nullable:"true" pattern:"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$" patternDescription:"small letters, digits and hyphens, a letter or digit at both ends" example:"web-shop" doc:"Unique short name; generated from the name if absent"`
	}
}

var _ huma.Resolver = (*createInput)(nil)

func (in *createInput) team() identity.NewTeam {
	return identity.NewTeam{Name: in.Body.Name, Description: in.Body.Description, Slug: in.Body.Slug}
}

// Resolve implements huma.Resolver. It checks what the schema cannot express,
// so that one answer has these faults and those of the schema.
func (in *createInput) Resolve(huma.Context) []error {
	team := in.team()
	if err := team.Check(); err != nil {
		return []error{err}
	}
	return nil
}

func (h handlers) create(ctx context.Context, in *createInput) (*op.Body[Team], error) {
	return shown(h.users.CreateTeam(ctx, identity.FromContext(ctx), in.team()))
}

// TeamPath has the path parameter of a team.
type TeamPath struct {
	ID int64 `path:"team_id" doc:"ID of the team"`
}

type patchInput struct {
	TeamPath
	Body struct {
		Name        op.Optional[string] `json:"name,omitzero" nullable:"false" maxLength:"100" example:"Web shop" doc:"Name of the team"`
		Description op.Optional[string] `json:"description,omitzero" maxLength:"1000" example:"Runs the shop" doc:"null clears it"`
	}
}

func (h handlers) patch(ctx context.Context, in *patchInput) (*op.Body[Team], error) {
	return shown(h.users.PatchTeam(ctx, identity.FromContext(ctx), in.ID, identity.TeamChange{
		Name: in.Body.Name.Pointer(), Description: text(in.Body.Description),
	}))
}

// text returns the text, or "" for null, which clears the description.
func text(o op.Optional[string]) *string {
	if !o.Set {
		return nil
	}
	return &o.Value
}

// DeleteResult is the answer of remove.
type DeleteResult struct {
	Deleted bool  `json:"deleted" example:"true"`
	Hosts   int64 `json:"hosts" example:"3" doc:"Number of hosts that moved to the team default"`
}

type removeInput struct {
	TeamPath
	op.PlanParams
}

func (h handlers) remove(ctx context.Context, in *removeInput) (*op.Body[DeleteResult], error) {
	hosts, err := h.users.DeleteTeam(ctx, identity.FromContext(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &op.Body[DeleteResult]{Body: DeleteResult{Deleted: true, Hosts: hosts}}, nil
}

// created rebuilds the answer of create for a repeated Idempotency-Key.
func (h handlers) created(ctx context.Context, made idempotency.Result) (any, error) {
	t, err := h.users.Team(ctx, made.Target())
	if err != nil {
		return nil, err
	}
	return teamOf(t), nil
}
