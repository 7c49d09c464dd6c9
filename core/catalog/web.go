package catalog

import (
	"context"

	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/problem"
)

var _ app.Catalog = (*Store)(nil)

// Web implements app.Catalog. An entry of a source that is off counts as one that is not there.
func (s *Store) Web(ctx context.Context, path string) (app.Web, bool, error) {
	f, err := s.find(ctx, path)
	switch {
	case problem.CodeOf(err) == problem.CodeNotFound:
		return app.Web{}, false, nil
	case err != nil:
		return app.Web{}, false, err
	case f.entry.Web == nil:
		return app.Web{}, false, nil
	}
	w := f.entry.Web
	return app.Web{Port: w.Port, Path: w.Path, Protocol: w.Protocol}, true, nil
}
