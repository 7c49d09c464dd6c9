package feed

import (
	"context"
	"fmt"
)

// objects are the results of a turn's reads: objects by kind and id, and
// figures of clusters.
type objects struct {
	byKey   map[key]*object
	figures map[int64]*figures
}

// hydrate reads the present state of all changed objects, in a few statements
// for each kind. It reads figures only if somebody wants them.
func (f *Feed) hydrate(ctx context.Context, all []changes, wantFigures bool) (objects, error) {
	wanted := map[Kind][]int64{}
	taken := map[key]bool{}
	for _, c := range all {
		for _, one := range c.all {
			if !one.gone && !taken[one.key] && (one.kind != Figures || wantFigures) {
				taken[one.key] = true
				wanted[one.kind] = append(wanted[one.kind], one.id)
			}
		}
	}
	o := objects{byKey: make(map[key]*object, len(taken))}
	for kind, ids := range wanted {
		if kind == Figures {
			var err error
			if o.figures, err = f.readFigures(ctx, ids); err != nil {
				return o, err
			}
			continue
		}
		source := f.sources[kind]
		if source == nil { // an instance of a later release writes it
			continue
		}
		found, err := source.read(ctx, ids)
		if err != nil {
			return o, err
		}
		for i := range found {
			o.byKey[key{kind, found[i].id}] = &found[i]
		}
	}
	return o, nil
}

// items returns the changes with the present objects. An object that is missing
// although its end is not in the changes has ended since; the next changes
// contain that.
func (f *Feed) items(c changes, o objects, version int64) ([]*item, error) {
	items := make([]*item, 0, len(c.all))
	for _, one := range c.all {
		i := &item{key: one.key, version: version, before: one.before}
		found := o.byKey[one.key]
		switch {
		case one.kind == Figures:
			if i.figures = o.figures[one.id]; i.figures == nil {
				continue
			}
		case one.gone:
			i.gone, i.cluster, i.name = true, one.cluster, one.name
		case found == nil && len(one.before) > 0 && one.kind != Node:
			i.gone = true
		case found == nil:
			continue
		default:
			source := f.sources[one.kind]
			var names []string
			if !one.whole {
				if names = source.shown(one.columns); len(names) == 0 {
					continue
				}
			}
			var err error
			if i.fields, err = source.fields.encode(found.value, names); err != nil {
				return nil, fmt.Errorf("telling a %s: %w", one.kind, err)
			}
			i.team, i.whole, i.cluster, i.name = found.team, one.whole, found.cluster, found.name
		}
		i.encode()
		items = append(items, i)
	}
	return items, nil
}
