package draft

import (
	"slices"

	sdk "github.com/hostler/hostler/sdk/firewall"
)

// entry is one rule of two merged lists.
type entry struct {
	// was and is are the rule in the one list and in the other; nil where it is not there.
	was, is *sdk.Rule
	// done says that the entry is as in the other list.
	done bool
}

// present reports whether the rule is in the list at this moment.
func (e *entry) present() bool {
	if e.done {
		return e.is != nil
	}
	return e.was != nil
}

// neutral reports whether the change of the entry changes no verdict.
func (e *entry) neutral() bool {
	switch {
	case e.was == nil:
		return effectOf(*e.is) == nothing
	case e.is == nil:
		return effectOf(*e.was) == nothing
	}
	return sameEffect(*e.was, *e.is)
}

// comes reports whether the rule is present and enabled in the end.
func (e *entry) comes() bool { return e.is != nil && e.is.Enabled }

// effect returns the effect of the entry's change.
func (e *entry) effect() effect {
	switch {
	case e.neutral():
		return nothing
	case e.comes():
		return effectOf(*e.is)
	}
	return effectOf(*e.was).inverse()
}

// sameEffect reports whether two rules have the same effect. Comments and
// logging have none; two disabled rules are equal.
func sameEffect(a, b sdk.Rule) bool {
	if !a.Enabled && !b.Enabled {
		return true
	}
	a.Comment, a.Log, b.Comment, b.Log = "", "", "", ""
	return a == b
}

// merger is the merger of two lists.
type merger struct {
	entries []*entry
	// moving counts the entries whose change decides something, and groups
	// those of them that stand for a group.
	moving, groups int
}

// direction returns the direction that the entry concerns. A group counts for
// both directions and goes before.
func (e *entry) direction() string {
	if e.was != nil && (e.is == nil || e.was.Direction == sdk.DirectionGroup) {
		return e.was.Direction
	}
	return e.is.Direction
}

// merge merges two lists of rules. Rules that both have in the same order are
// one entry. A rule of which only the comment, the log or the switch changes
// keeps its place and is one entry as well: replacing it in place needs no
// moment without it.
func merge(from, to []sdk.Rule) *merger {
	from, to = plain(from), plain(to)
	m := &merger{}
	i, j := 0, 0
	for _, p := range append(align(from, to), pair{len(from), len(to)}) {
		m.gap(from[i:p.from], to[j:p.to])
		if p.from < len(from) {
			m.entries = append(m.entries, &entry{was: &from[p.from], is: &from[p.from], done: true})
		}
		i, j = p.from+1, p.to+1
	}
	m.count()
	return m
}

// count counts the entries that decide something, after all of them are known.
func (m *merger) count() {
	for _, e := range m.entries {
		if e.done || e.neutral() {
			continue
		}
		m.moving++
		if e.direction() == sdk.DirectionGroup {
			m.groups++
		}
	}
}

// gap adds the rules between two common ones. They are paired in place only if
// each pair has the same effect, or one of the two is disabled.
func (m *merger) gap(gone, made []sdk.Rule) {
	pairs := len(gone) == len(made)
	for k := range gone {
		if pairs && !sameEffect(gone[k], made[k]) && off(gone[k]) != off(made[k]) {
			pairs = false
		}
	}
	for k := range made {
		e := &entry{is: &made[k]}
		if pairs {
			e.was = &gone[k]
		}
		m.entries = append(m.entries, e)
	}
	for k := range gone {
		if !pairs {
			m.entries = append(m.entries, &entry{was: &gone[k]})
		}
	}
}

// moves reports whether anything changes a verdict.
func (m *merger) moves() bool { return m.moving > 0 }

// halves reports whether every change either only closes or only opens.
func (m *merger) halves() bool {
	return !slices.ContainsFunc(m.entries, func(e *entry) bool { return !e.done && e.effect() == mixed })
}

// rules adds the steps for the chosen entries of a scope, from the first to the
// last or backwards.
func (o *order) rules(i int, m *merger, chosen func(*entry) bool, backward bool) {
	for k := range m.entries {
		if backward {
			k = len(m.entries) - 1 - k
		}
		e := m.entries[k]
		if e.done || !chosen(e) {
			continue
		}
		at := 0
		for _, before := range m.entries[:k] {
			if before.present() {
				at++
			}
		}
		switch {
		case e.was == nil:
			o.add(insertion(i, at, *e.is))
		case e.is == nil:
			o.add(deletion(i, at))
		default:
			o.add(replacement(i, at, *e.is))
		}
		e.done = true
	}
}

// fuse joins the deletion and the insertion of one rule into one replacement,
// if nothing else changes a verdict. That goes from one state to the other in
// one moment, and needs no order.
func (o *order) fuse(merged []*merger, names map[string]effect) {
	if len(names) > 0 {
		return
	}
	var of *merger
	first, moving := -1, 0
	for i, m := range merged {
		if len(o.options(i)) > 0 {
			return
		}
		for k, e := range m.entries {
			if e.done || e.neutral() {
				continue
			}
			if moving++; moving == 1 {
				of, first = m, k
			}
		}
	}
	if moving != 2 || first+1 == len(of.entries) {
		return
	}
	made, gone := of.entries[first], of.entries[first+1]
	if gone.done || gone.neutral() || made.was != nil || gone.is != nil {
		return
	}
	made.was = gone.was
	of.entries = slices.Delete(of.entries, first+1, first+2)
}
