package api

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/scope"
)

// Resolver finds the things that paths name in the database.
type Resolver struct{ DB *db.DB }

var _ op.Resolver = Resolver{}

// Resolve is one query.
func (r Resolver) Resolve(ctx context.Context, on op.On, id int64) (op.Resource, error) {
	thing, err := scope.Resolve(ctx, r.DB, on.String(), id)
	return op.Resource(thing), err
}
