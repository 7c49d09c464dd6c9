package op

import (
	"context"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/scope"
)

// Things finds the things that paths name in the database.
type Things struct{ DB *db.DB }

var _ Resolver = Things{}

// Resolve is one query.
func (t Things) Resolve(ctx context.Context, on On, id int64) (Resource, error) {
	thing, err := scope.Resolve(ctx, t.DB, on.String(), id)
	return Resource(thing), err
}
