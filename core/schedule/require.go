package schedule

import (
	"context"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/scope"
)

// Require finds the thing that a kind's parameters name and checks the context's caller as an operation on it does: it is
// problem not_found when it is not there or not the caller's to see, forbidden when the role on it is too low. The
// service itself may always.
func Require(ctx context.Context, d *db.DB, kind string, id int64, role identity.Role) (scope.Thing, error) {
	thing, err := scope.Resolve(ctx, d, kind, id)
	caller := identity.FromContext(ctx)
	if err != nil || caller == nil {
		return thing, err
	}
	held := caller.On(thing.TeamID)
	switch {
	case held == identity.NoRole:
		return thing, problem.New(problem.CodeNotFound, "%s not found", kind)
	case held < role:
		return thing, problem.New(problem.CodeForbidden, "this requires the role %s", role).With("role", role.String())
	}
	return thing, nil
}
