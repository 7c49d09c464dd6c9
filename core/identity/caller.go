package identity

import (
	"context"
	"slices"
)

// DefaultTeam is the id of the team "default", the instance team: a role in it holds on every host and for all that
// belongs to the instance. The first migration makes it; it cannot be deleted.
const DefaultTeam int64 = 1

// Caller is who makes a request: a user with a session or an API key, and that user's present roles.
type Caller struct {
	UserID      int64
	Email       string
	DisplayName string
	// SessionID is set when a session cookie brought the caller, KeyID when an API key did.
	SessionID int64
	KeyID     int64
	// KeyName is what the key's user calls it.
	KeyName string
	// Scopes narrow an API key; nil means all that the user may.
	Scopes []string
	// Teams maps team id to the user's role there. The entry of DefaultTeam holds everywhere.
	Teams map[int64]Role
}

// Instance is the caller's role for operations of the whole instance.
func (c *Caller) Instance() Role { return c.Teams[DefaultTeam] }

// On is the caller's role on things of the team: the higher of the instance role and the team's own.
func (c *Caller) On(team int64) Role { return max(c.Instance(), c.Teams[team]) }

// Highest is the highest role that the caller has anywhere.
func (c *Caller) Highest() Role {
	highest := NoRole
	for _, role := range c.Teams {
		highest = max(highest, role)
	}
	return highest
}

// Visible says whose things a list may show.
type Visible struct {
	// All is true for a caller whose role in the default team suffices; Teams is then of no meaning.
	All bool
	// Teams are the teams in which the caller's role suffices, sorted. Empty and not All means nothing.
	Teams []int64
}

// Includes reports whether things of a team may be seen.
func (v Visible) Includes(team int64) bool { return v.All || slices.Contains(v.Teams, team) }

// Visible is the team filter of every list and count. Lists hand it to SQL as (all OR team_id = ANY(teams)).
func (c *Caller) Visible() Visible { return c.VisibleAs(Viewer) }

// VisibleAs is Visible for lists that need more than a viewer, such as the audit trail: only teams in which the caller
// has at least the role count. The admin of one team who is a viewer of the instance must not read everyone's trail.
func (c *Caller) VisibleAs(role Role) Visible {
	least := max(role, Viewer)
	if c.Instance() >= least {
		return Visible{All: true, Teams: []int64{}}
	}
	teams := make([]int64, 0, len(c.Teams))
	for id, held := range c.Teams {
		if held >= least {
			teams = append(teams, id)
		}
	}
	slices.Sort(teams)
	return Visible{Teams: teams}
}

// callerKey is the key of the caller in a context.
type callerKey struct{}

// WithCaller puts the caller into the context of a request.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// FromContext is the caller of the request; nil for an anonymous one and outside requests.
func FromContext(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}
