package scripts

import (
	"context"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// apps gives the pins of apps at a state, by slug: for each app the pin at
// which its own files were last seen to be others. They are decided at the
// first sync of a state as the newest, and kept then: keep says that this is
// it. An app that is not among them has the pin of the state.
func (c *Catalog) apps(ctx context.Context, s state, cursor string, keep bool) (map[string]catalog.Pin, error) {
	name := c.note("apps", s.pin.String())
	kept := map[string]string{}
	if c.readNote(name, &kept) {
		return parsePins(kept), nil
	}
	before, pins, err := c.before(ctx, s, cursor)
	if err != nil {
		return nil, err
	}
	apps := map[string]catalog.Pin{}
	for _, f := range s.scripts() {
		pin := s.pin
		if earlier, ok := pins[f.slug]; ok && before.main != nil && sameOwn(before, s, f) {
			pin = earlier
		}
		apps[f.slug] = pin
		kept[f.slug] = pin.String()
	}
	if keep {
		c.writeNote(name, kept)
		c.writeNote(c.note("apps", "latest"), s.pin.String())
	}
	return apps, nil
}

// before gives the state that this one follows, with the pins of its apps: that
// of the cursor, or the one that was synced last. What cannot be had any more
// is an empty state.
func (c *Catalog) before(ctx context.Context, s state, cursor string) (state, map[string]catalog.Pin, error) {
	pins := map[string]catalog.Pin{}
	var pin catalog.Pin
	if earlier, ok := catalog.ParseCursor(cursor); ok && earlier.Pin.Valid() {
		pin = earlier.Pin
		for slug, e := range earlier.Entries {
			if e.App.Valid() {
				pins[slug] = e.App
			}
		}
	} else {
		var latest string
		kept := map[string]string{}
		if !c.readNote(c.note("apps", "latest"), &latest) || !c.readNote(c.note("apps", latest), &kept) {
			return state{}, nil, nil
		}
		pin, _ = catalog.ParsePin(latest)
		pins = parsePins(kept)
	}
	if pin.Equal(s.pin) {
		return s, pins, nil
	}
	before, err := c.at(ctx, pin)
	switch plugin.KindOf(err) {
	case plugin.NotFound, plugin.Protocol, plugin.Refused:
		if err != nil { // history was rewritten, or another repository is followed now
			return state{}, nil, nil
		}
	}
	if err != nil {
		return state{}, nil, err
	}
	return before, pins, nil
}

// sameOwn reports whether a script's own files are the same in both states.
func sameOwn(a, b state, f script) bool {
	for _, p := range f.own() {
		x, inA := a.main.Find(p)
		y, inB := b.main.Find(p)
		if inA != inB || x.Sum != y.Sum {
			return false
		}
	}
	return true
}

// parsePins reads the pins that were kept by a former run; one that cannot be
// read is left out, and the app is pinned anew.
func parsePins(kept map[string]string) map[string]catalog.Pin {
	pins := make(map[string]catalog.Pin, len(kept))
	for slug, text := range kept {
		if pin, ok := catalog.ParsePin(text); ok {
			pins[slug] = pin
		}
	}
	return pins
}
