package catalog

import (
	"context"

	"github.com/hostler/hostler/core/app"
	"github.com/hostler/hostler/core/problem"
)

var _ app.Catalog = (*Store)(nil)

// Web implements app.Catalog. An entry of a source that is off counts as
// missing.
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

// Webs implements app.Catalog.
func (s *Store) Webs(ctx context.Context, paths []string) (map[string]app.Web, error) {
	entries, err := s.Current(ctx, paths)
	if err != nil {
		return nil, err
	}
	webs := map[string]app.Web{}
	for path, current := range entries {
		if w := current.Entry.Web; w != nil {
			webs[path] = app.Web{Port: w.Port, Path: w.Path, Protocol: w.Protocol}
		}
	}
	return webs, nil
}
