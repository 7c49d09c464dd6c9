package identity

import (
	"context"
	"slices"
)

// DefaultTeam is the id of the team "default", the instance team: a role in it
// holds on every host and for all that belongs to the instance. The first
// migration makes it; it cannot be deleted.
const DefaultTeam int64 = 1

// Caller is the user of a request with the roles at that moment, and the
// session or the API key that the request came with.
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

// Instance returns the caller's role for operations on the whole instance.
func (c *Caller) Instance() Role { return c.Teams[DefaultTeam] }

// On returns the caller's role for objects of a team: the higher of the
// instance role and the role in the team.
func (c *Caller) On(team int64) Role { return max(c.Instance(), c.Teams[team]) }

// Highest returns the caller's highest role in any team.
func (c *Caller) Highest() Role {
	highest := NoRole
	for _, role := range c.Teams {
		highest = max(highest, role)
	}
	return highest
}

// VisibleTeams is the set of teams whose objects a list may show.
type VisibleTeams struct {
	// All is true for a caller whose role in the default team suffices; Teams
	// is then of no meaning.
	All bool
	// Teams are the teams in which the caller's role suffices, sorted. Empty
	// and not All means nothing.
	Teams []int64
}

// Includes reports whether objects of a team may be shown.
func (v VisibleTeams) Includes(team int64) bool { return v.All || slices.Contains(v.Teams, team) }

// Visible returns the filter that every list and every count applies. SQL uses
// it as (all OR team_id = ANY(teams)).
func (c *Caller) Visible() VisibleTeams { return c.VisibleAs(Viewer) }

// VisibleAs is Visible for lists that need a higher role than Viewer, such as
// the audit log: it contains only teams in which the caller has at least that
// role. Otherwise the admin of one team who is a viewer of the instance would
// read the audit log of all teams.
func (c *Caller) VisibleAs(role Role) VisibleTeams {
	least := max(role, Viewer)
	if c.Instance() >= least {
		return VisibleTeams{All: true, Teams: []int64{}}
	}
	teams := make([]int64, 0, len(c.Teams))
	for id, held := range c.Teams {
		if held >= least {
			teams = append(teams, id)
		}
	}
	slices.Sort(teams)
	return VisibleTeams{Teams: teams}
}

// callerKey is the key of the caller in a context.
type callerKey struct{}

// WithCaller returns a context with the caller.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// FromContext returns the caller of the request, nil for an anonymous request
// and outside of requests.
func FromContext(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}
