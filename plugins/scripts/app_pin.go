package scripts

import (
	"context"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// apps returns the pins of the apps at a state, by slug. The pin of an app is
// the one at which its own files last changed; an app that is missing has the
// pin of the state.
//
// The pins are decided when a state is synced for the first time as the newest
// one, which keep reports. They are stored in the cache and never change
// afterwards, so a later sync of the same state gives the same pins.
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

// before returns the state that precedes s, and the pins of its apps. The
// cursor names them; without a valid cursor, the state that was last synced is
// used. The result is an empty state if there is none, or if the origin no
// longer has it because its history was rewritten or another repository was
// configured. All apps are then pinned anew. Other errors, such as an origin
// that cannot be reached, fail the sync, because new pins would look like
// updates of all apps.
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

// sameOwn reports whether the own files of a script are equal in both states. A
// file that is missing in both is equal.
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

// parsePins parses the pins that an earlier run stored. A pin that cannot be
// parsed is left out, and the app is then pinned anew.
func parsePins(kept map[string]string) map[string]catalog.Pin {
	pins := make(map[string]catalog.Pin, len(kept))
	for slug, text := range kept {
		if pin, ok := catalog.ParsePin(text); ok {
			pins[slug] = pin
		}
	}
	return pins
}
