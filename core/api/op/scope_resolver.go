package op

import (
	"context"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/scope"
)

// ScopeResolver is the Resolver of the service. It looks up the things that
// paths name in the database, see package scope.
type ScopeResolver struct{ DB *db.DB }

var _ Resolver = ScopeResolver{}

// Resolve returns the thing with the ID, with its team and host. It takes one
// query.
func (t ScopeResolver) Resolve(ctx context.Context, on On, id int64) (Resource, error) {
	thing, err := scope.Resolve(ctx, t.DB, on.String(), id)
	return Resource{Kind: thing.Kind, ID: thing.ID, Name: thing.Name, TeamID: thing.TeamID, HostID: thing.HostID}, err
}
