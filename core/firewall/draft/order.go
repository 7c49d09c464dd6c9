package draft

import (
	"iter"
	"maps"
	"slices"
	"strings"

	sdk "github.com/hostler/hostler/sdk/firewall"
)

// order finds the order in which a draft is carried out.
//
// A packet passes one or more chains, for example the rules of the guest that
// sends it and then those of the guest that receives it. It is accepted if each
// of them accepts it. In a chain the first matching rule decides, or else the
// policy. The goal: at no moment a packet gets through that neither the state
// before nor the state after lets through.
//
// A chain can go from its rules L to its rules M in two ways. X are the rules
// only in L, Y those only in M, and C those in both.
//
// Straight: insert the Y at their places, the first one first; then change the
// options; then delete the X, the last one first. At each moment every rule in
// the list has all those rules before it that it has in L, or all that it has
// in M. While the Y are inserted, all of L is there, and a Y has all Y and C of
// M before it. While the X are deleted, all of M is there, and an X has all X
// and C of L before it. So the first matching rule is the first one in L or in
// M; and if none matches, all of L is there with the policy of L, or all of M
// with that of M. Each packet gets the verdict of one of the two states, and a
// connection that both let through, such as the service's own, is never cut.
//
// By halves: first everything that only closes (the Y that drop, the X that
// accept, a stricter policy), then everything that only opens (the X that drop,
// the Y that accept). While it closes, a packet can only lose an accepting rule
// or gain a dropping one: what gets through got through before. At the middle
// all dropping rules of L and M are there, and of the accepting ones only C.
// What gets through is accepted by a rule of C with no dropping rule of M
// before it, so that M accepts it too. The second half is the same from the
// other end.
//
// Two chains that go straight one after the other can open a path: one already
// accepts by M while the other still accepts by L. So only one chain goes
// straight (the pivot), in the middle. The others have closed by then and not
// yet opened: what they all let through, all of L lets through, and all of M,
// and the pivot decides by one of the two. The rules of the cluster and of its
// nodes are one chain on each node, the node's first.
//
// Names in rules: new names are made before all rules, and old ones deleted
// after them. A set that only accepting rules name grows while it opens and
// shrinks while it closes, and the other way round for dropping rules. While a
// set or an alias changes that rules name, a rule of one state must not be read
// with the names of the other; then there is no pivot. An alias changes in one
// moment, in the middle, where every change of its meaning leads from something
// that L lets through to something that M does. If more than one such change
// falls into the middle, no order is safe, and doubts says so.
//
// The cluster's own switch turns everything off. It goes off first and on last,
// so that no state in between is in force.
type order struct {
	now, goal []sdk.State
	steps     []step
	// doubts says why something may be open in between that is open neither before nor after.
	doubts []string
	// moving counts what is to change that decides something.
	moving int
}

// inOrder returns the steps from one list of states to another of the same
// scopes, and the reasons why the order cannot promise what it should.
func inOrder(from, to []sdk.State) (steps []step, doubts []string) {
	o := &order{now: ownedAll(from), goal: to}
	merged := make([]*merger, len(from))
	for i := range from {
		merged[i] = merge(from[i].Rules, to[i].Rules)
		o.moving += merged[i].moving + len(changedOptions(from[i].Options, to[i].Options))
	}
	names := o.names()
	o.fuse(merged, names)
	pivots := o.pivots(merged, names)
	o.clusterSwitch(false)
	o.create()
	o.neutral(merged)
	o.closing(merged, names, pivots)
	o.middle(merged, names, pivots)
	o.opening(merged, names)
	o.remove()
	o.clusterSwitch(true)
	return o.steps, o.doubts
}

// add appends a step and applies it to the present state, by which the
// following steps are chosen.
func (o *order) add(s step) {
	o.steps = append(o.steps, s)
	s.apply(&o.now[s.scope])
}

// effect is the effect of a rule, or of a change, on what is let through.
type effect int

// The effects. The zero value changes nothing; mixed may close and open.
const (
	nothing effect = iota
	closes
	opens
	mixed
)

// inverse returns the effect of undoing a change with effect e.
func (e effect) inverse() effect {
	switch e {
	case closes:
		return opens
	case opens:
		return closes
	}
	return e
}

// effectOf returns the effect of a rule that is present; nothing for a disabled
// one. A group may contain rules of both kinds.
func effectOf(r sdk.Rule) effect {
	switch {
	case !r.Enabled:
		return nothing
	case r.Direction == sdk.DirectionGroup:
		return mixed
	case r.Action == "ACCEPT":
		return opens
	case r.Action == "DROP", r.Action == "REJECT":
		return closes
	}
	return mixed
}

// optionEffect returns the effect of a change of an option. It knows only
// options whose meaning all drivers share; every other one is mixed, which is
// the safe answer.
func optionEffect(name string, from, to sdk.Options) effect {
	switch name {
	case sdk.OptionLogLevelIn, sdk.OptionLogLevelOut, sdk.OptionLogLevelForward:
		return nothing
	case sdk.OptionEnable, sdk.OptionMACFilter, sdk.OptionIPFilter:
		return flagEffect(*from.Flag(name), *to.Flag(name), closes)
	case sdk.OptionDHCP, sdk.OptionNDP, sdk.OptionRADV:
		return flagEffect(*from.Flag(name), *to.Flag(name), opens)
	case sdk.OptionPolicyIn, sdk.OptionPolicyOut, sdk.OptionPolicyForward:
		was, is := *from.Text(name), *to.Text(name)
		switch {
		case was != "" && was != "ACCEPT" && is == "ACCEPT":
			return opens
		case was == "ACCEPT" && is != "" && is != "ACCEPT":
			return closes
		}
		return mixed // DROP and REJECT are not the same to everything, and what no value means is the backend's to say
	}
	return mixed
}

// flagEffect returns the effect of switching a flag, given the effect of
// switching it on.
func flagEffect(was, is *bool, on effect) effect {
	switch {
	case was != nil && is != nil && *is, was == nil && is != nil && *is:
		return on
	case is != nil && !*is:
		return on.inverse()
	}
	return mixed
}

// create makes new objects, which nothing names yet.
func (o *order) create() {
	early := o.namedEarly()
	for i := range o.now {
		if o.now[i].Absent && !o.goal[i].Absent {
			o.add(groupCreation(i, o.goal[i].Comment))
		} else if !o.now[i].Absent && !o.goal[i].Absent && o.now[i].Comment != o.goal[i].Comment {
			o.add(groupChange(i, o.goal[i].Comment))
		}
		for _, a := range o.goal[i].Aliases {
			if aliasNamed(o.now[i].Aliases, a.Name) < 0 {
				o.doubtIfNamed(early, a.Name)
				o.add(aliasCreation(i, a))
			}
		}
		for _, s := range o.goal[i].IPSets {
			if setNamed(o.now[i].IPSets, s.Name) >= 0 {
				continue
			}
			o.doubtIfNamed(early, s.Name)
			o.add(setCreation(i, s.IPSet))
			for _, m := range s.Members {
				o.add(memberAddition(i, s.Name, m))
			}
		}
	}
}

// namedEarly returns names that rules have although the object does not exist
// yet, with their effect.
func (o *order) namedEarly() map[string]effect {
	found := map[string]effect{}
	lists := make([][]sdk.Rule, len(o.now))
	for i := range o.now {
		for _, a := range o.goal[i].Aliases {
			if aliasNamed(o.now[i].Aliases, a.Name) < 0 {
				found[strings.ToLower(a.Name)] = nothing
			}
		}
		for _, s := range o.goal[i].IPSets {
			if setNamed(o.now[i].IPSets, s.Name) < 0 {
				found[strings.ToLower(s.Name)] = nothing
			}
		}
		lists[i] = o.now[i].Rules
	}
	effects(found, lists...)
	return found
}

// doubtIfNamed notes that rules name an object that does not exist yet:
// creating it changes the meaning of these rules at once.
func (o *order) doubtIfNamed(early map[string]effect, name string) {
	if early[strings.ToLower(name)] != nothing {
		o.doubts = append(o.doubts, "rules use "+name+" before it exists")
	}
}

// remove deletes objects that nothing names any more.
func (o *order) remove() {
	for i := range o.now {
		for _, s := range slices.Clone(o.now[i].IPSets) {
			if setNamed(o.goal[i].IPSets, s.Name) >= 0 {
				continue
			}
			for _, m := range slices.Clone(s.Members) {
				o.add(memberRemoval(i, s.Name, m.CIDR))
			}
			o.add(setDeletion(i, o.now[i].Scope, s.Name))
		}
		for _, a := range slices.Clone(o.now[i].Aliases) {
			if aliasNamed(o.goal[i].Aliases, a.Name) < 0 {
				o.add(aliasDeletion(i, o.now[i].Scope, a.Name))
			}
		}
		if o.goal[i].Absent && !o.now[i].Absent {
			o.add(groupDeletion(i, o.now[i].Scope.Group))
		}
	}
}

// clusterSwitch changes the cluster's own switch: off at the beginning, on at
// the end.
func (o *order) clusterSwitch(on bool) {
	for i := range o.now {
		if o.now[i].Scope.Kind != sdk.ClusterScope {
			continue
		}
		was, is := o.now[i].Options.Enable, o.goal[i].Options.Enable
		isOn := is != nil && *is
		if (was != nil && *was) == isOn && (was == nil) == (is == nil) || isOn != on {
			continue
		}
		o.add(optionsChange(i, o.goal[i].Options, []string{sdk.OptionEnable}))
	}
}

// options returns the names of a scope's options that still have to change,
// without the cluster's switch.
func (o *order) options(i int) []string {
	names := changedOptions(o.now[i].Options, o.goal[i].Options)
	if o.now[i].Scope.Kind == sdk.ClusterScope {
		names = slices.DeleteFunc(names, func(n string) bool { return n == sdk.OptionEnable })
	}
	return names
}

// switched reports whether a scope still has to be switched on, or off.
func (o *order) switched(i int, on bool) bool {
	goal := o.goal[i].Options.Enable
	return slices.Contains(o.options(i), sdk.OptionEnable) && goal != nil && *goal == on
}

// optionsOf returns the names of the remaining options of scope i whose change
// has one of the effects.
func (o *order) optionsOf(i int, want ...effect) []string {
	return slices.DeleteFunc(o.options(i), func(n string) bool {
		return !slices.Contains(want, optionEffect(n, o.now[i].Options, o.goal[i].Options))
	})
}

// changeOptions adds the step that changes these options of scope i, if there
// are any.
func (o *order) changeOptions(i int, names []string) {
	if len(names) > 0 {
		o.add(optionsChange(i, o.goal[i].Options, names))
	}
}

// neutral adds the steps that change no verdict.
func (o *order) neutral(merged []*merger) {
	for i := range o.now {
		o.rules(i, merged[i], func(e *entry) bool { return e.neutral() }, false)
		o.changeOptions(i, o.optionsOf(i, nothing))
	}
}

// closing adds the steps that only close.
func (o *order) closing(merged []*merger, names map[string]effect, pivots []int) {
	for i := range o.now {
		o.members(i, names, closes)
		halved := o.halved(i, pivots)
		o.rules(i, merged[i], func(e *entry) bool { return halved(e.direction()) && e.effect() == closes }, false)
		o.changeOptions(i, slices.DeleteFunc(o.optionsOf(i, closes), func(n string) bool { return !halved(optionDirection(n)) }))
	}
}

// opening adds all remaining steps.
func (o *order) opening(merged []*merger, names map[string]effect) {
	for i := range o.now {
		o.rules(i, merged[i], func(*entry) bool { return true }, false)
		o.changeOptions(i, o.options(i))
		o.members(i, names, opens)
	}
}

// middle carries the pivots over, and everything that is neither only closing
// nor only opening.
func (o *order) middle(merged []*merger, names map[string]effect, pivots []int) {
	for _, i := range pivots {
		if o.switched(i, false) { // what is off lets all through, as it shall
			o.changeOptions(i, []string{sdk.OptionEnable})
		}
		halved := o.halved(i, pivots)
		o.rules(i, merged[i], func(e *entry) bool { return !halved(e.direction()) && e.comes() }, false)
	}
	for _, i := range pivots {
		on, halved := o.switched(i, true), o.halved(i, pivots) // what is off still lets all through, as before
		o.changeOptions(i, slices.DeleteFunc(o.options(i), func(n string) bool {
			return on && n == sdk.OptionEnable || halved(optionDirection(n)) && optionEffect(n, o.now[i].Options, o.goal[i].Options) == opens
		}))
	}
	for _, i := range slices.Backward(pivots) {
		halved := o.halved(i, pivots)
		o.rules(i, merged[i], func(e *entry) bool { return !halved(e.direction()) && !e.comes() }, true)
		if o.switched(i, true) {
			o.changeOptions(i, []string{sdk.OptionEnable})
		}
	}
	if o.moving > 1 && slices.ContainsFunc(pivots, func(i int) bool { return isHost(o.now[i].Scope) && merged[i].groups > 0 }) {
		o.doubts = append(o.doubts, "a group with rules for both directions changes its position")
	}
	decisive := 0
	for i := range o.now {
		for _, a := range o.goal[i].Aliases {
			at := aliasNamed(o.now[i].Aliases, a.Name)
			if at < 0 || o.now[i].Aliases[at] == a {
				continue
			}
			// What a guest has only its own rules can name, and these are known.
			_, named := names[strings.ToLower(a.Name)]
			if o.now[i].Aliases[at].CIDR != a.CIDR && (named || o.now[i].Scope.Kind != sdk.GuestScope) {
				decisive++
			}
			o.add(aliasChange(i, a))
		}
		before := len(o.steps)
		o.members(i, names, mixed)
		if !slices.Contains(pivots, i) {
			o.rules(i, merged[i], func(e *entry) bool { return e.effect() == mixed }, false)
			o.changeOptions(i, o.optionsOf(i, mixed))
		}
		decisive += len(o.steps) - before
	}
	if decisive > 1 || decisive == 1 && len(pivots) > 0 {
		o.doubts = append(o.doubts, "more than one change is made that neither only allows nor only blocks traffic")
	}
}

// halved returns a function that reports which directions of a scope go by
// halves. A packet from one node to another passes the cluster's rules twice,
// at both ends. So of a pivot whose rules protect nodes only the incoming
// direction goes straight, which is the service's own.
func (o *order) halved(i int, pivots []int) func(direction string) bool {
	pivot, host := slices.Contains(pivots, i), isHost(o.now[i].Scope)
	return func(direction string) bool {
		return !pivot || host && (direction == sdk.DirectionOut || direction == sdk.DirectionForward)
	}
}

// isHost reports whether a scope is the cluster or a node, whose rules protect
// nodes.
func isHost(s sdk.Scope) bool { return s.Kind == sdk.ClusterScope || s.Kind == sdk.NodeScope }

// optionDirection returns the direction of a policy; In for every other option.
func optionDirection(name string) string {
	switch name {
	case sdk.OptionPolicyOut:
		return sdk.DirectionOut
	case sdk.OptionPolicyForward:
		return sdk.DirectionForward
	}
	return sdk.DirectionIn
}

// pivots returns the scopes that go straight. There is none while names change
// that rules use.
func (o *order) pivots(merged []*merger, names map[string]effect) (pivots []int) {
	if len(names) > 0 {
		return nil
	}
	moves := func(i int) bool { return merged[i].moves() || len(o.options(i)) > 0 }
	halved := func(i int) bool { return merged[i].halves() && len(o.optionsOf(i, mixed)) == 0 }
	for _, kind := range []sdk.ScopeKind{sdk.NodeScope, sdk.ClusterScope} {
		for i := range o.now {
			if o.now[i].Scope.Kind == kind && moves(i) {
				pivots = append(pivots, i)
			}
		}
	}
	var best = -1
	for i := range o.now {
		// A group is in more than one chain.
		if moves(i) && o.now[i].Scope.Kind != sdk.GroupScope && !slices.Contains(pivots, i) && (best < 0 || halved(best) && !halved(i)) {
			best = i
		}
	}
	if len(pivots) == 0 && best >= 0 || best >= 0 && !halved(best) && all(pivots, halved) {
		pivots = []int{best}
	}
	return pivots
}

// all reports whether ok holds for the whole list.
func all(list []int, ok func(int) bool) bool {
	return !slices.ContainsFunc(list, func(i int) bool { return !ok(i) })
}

// names returns the aliases and sets that exist before and after, change, and
// are named by rules, with the effect of growing. Rules in scopes outside of
// the draft are unknown: those of the cluster can be named anywhere.
func (o *order) names() map[string]effect {
	found := map[string]effect{}
	var lists [][]sdk.Rule
	for i := range o.now {
		for _, a := range o.goal[i].Aliases {
			if at := aliasNamed(o.now[i].Aliases, a.Name); at >= 0 && o.now[i].Aliases[at].CIDR != a.CIDR {
				found[strings.ToLower(a.Name)] = nothing
			}
		}
		for _, s := range o.goal[i].IPSets {
			if at := setNamed(o.now[i].IPSets, s.Name); at >= 0 && !sameMembers(o.now[i].IPSets[at].Members, s.Members) {
				found[strings.ToLower(s.Name)] = nothing
			}
		}
		lists = append(lists, o.now[i].Rules, o.goal[i].Rules)
	}
	effects(found, lists...)
	maps.DeleteFunc(found, func(_ string, e effect) bool { return e == nothing })
	return found
}

// effects adds to a map, whose keys are names in lower case, the effect of the
// enabled rules that name them.
func effects(found map[string]effect, lists ...[]sdk.Rule) {
	if len(found) == 0 {
		return
	}
	for _, rules := range lists {
		for i := range rules {
			e := effectOf(rules[i])
			if e == nothing {
				continue
			}
			for name := range namedIn(rules[i]) {
				name = strings.ToLower(name)
				if seen, is := found[name]; is && seen == nothing {
					found[name] = e
				} else if is && seen != e {
					found[name] = mixed
				}
			}
		}
	}
}

// namedIn yields the names in a rule's addresses, and the addresses themselves.
func namedIn(r sdk.Rule) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, text := range []string{r.Source, r.Destination} {
			for part := range strings.SplitSeq(text, ",") {
				part = strings.TrimLeft(strings.TrimSpace(part), "!+")
				if _, last, is := strings.Cut(part, "/"); is {
					part = last
				}
				if !yield(part) {
					return
				}
			}
		}
	}
}

// mentions reports whether a rule names an alias or a set.
func mentions(r sdk.Rule, name string) bool {
	for one := range namedIn(r) {
		if strings.EqualFold(one, name) {
			return true
		}
	}
	return false
}

// members adds the steps for the members of existing sets whose change has the
// wanted effect. A member with NoMatch is an exception: adding it shrinks the
// set.
func (o *order) members(i int, names map[string]effect, want effect) {
	for _, goal := range o.goal[i].IPSets {
		if setNamed(o.now[i].IPSets, goal.Name) < 0 {
			continue
		}
		grows := opens // of one that no rule names, the hypervisor alone knows what it is for
		if e, named := names[strings.ToLower(goal.Name)]; named {
			grows = e
		}
		now := slices.Clone(membersOf(o.now[i], goal.Name))
		has, wanted := placesOf(now), placesOf(goal.Members)
		for _, m := range now {
			at, stays := wanted[m.CIDR]
			if stays && goal.Members[at].NoMatch == m.NoMatch {
				if goal.Members[at] != m && want == closes { // a comment
					o.add(memberChange(i, goal.Name, goal.Members[at]))
				}
				continue
			}
			e := grows.inverse()
			if m.NoMatch {
				e = grows
			}
			switch {
			case e != want:
			case !stays:
				o.add(memberRemoval(i, goal.Name, m.CIDR))
			default:
				o.add(memberChange(i, goal.Name, goal.Members[at]))
			}
		}
		for _, m := range goal.Members {
			e := grows
			if m.NoMatch {
				e = grows.inverse()
			}
			if _, is := has[m.CIDR]; e == want && !is {
				o.add(memberAddition(i, goal.Name, m))
			}
		}
	}
}

// placesOf maps the members of a list to their indexes.
func placesOf(members []sdk.IPSetMember) map[string]int {
	places := make(map[string]int, len(members))
	for i, m := range slices.Backward(members) {
		places[m.CIDR] = i
	}
	return places
}

// sameMembers reports whether two sets have the same addresses; comments do not
// count.
func sameMembers(a, b []sdk.IPSetMember) bool {
	places := placesOf(b)
	return len(a) == len(b) && !slices.ContainsFunc(a, func(m sdk.IPSetMember) bool {
		at, is := places[m.CIDR]
		return !is || b[at].NoMatch != m.NoMatch
	})
}
