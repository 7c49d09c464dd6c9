package draft

import (
	"iter"
	"maps"
	"slices"
	"strings"

	sdk "github.com/hostler/hostler/sdk/firewall"
)

// The order in which a draft is carried out.
//
// A packet passes one or more chains, such as what leaves one guest and then what enters another, and is accepted when each of them
// accepts it. The first rule of a chain that fits decides, or else its policy. What must never be is a packet that gets through although
// neither the state before nor the one after lets it. There are two ways for one chain to go from its rules L to its rules M, of which X
// are only in L, Y only in M and C in both:
//
// Straight: the Y are put in at their places, the first one first; then the options change; then the X are taken out, the last one first.
// At each moment every rule in the list has all rules before it that it has in L, or all that it has in M: while Y come all of L is there,
// and a Y has the Y and C before it; while X go all of M is there, and an X has the X and C before it. So the first rule that fits a
// packet is the first one in L or in M, and where none fits, all of L is there with L's policy, or all of M with M's: each packet gets
// the verdict of one of the two states, and what both let through, such as this service's own way, is never cut.
//
// By halves: first what only closes (the Y that drop, the X that accept, a policy that becomes stricter), and then what only opens (the X
// that drop, the Y that accept). While it closes, a packet can lose a rule that accepts it and gain one that drops it: what gets through
// got through before. Half way all drops of L and M are there, and of what accepts only C: what gets through there, C lets through, and no
// drop of M stands before it, so M lets it through as well. While it opens, the same from the other end: what gets through, M lets
// through.
//
// Two chains that go straight one after the other may open a way: one accepts by M already what the other still accepts by L. So one
// chain goes straight at most (the pivot), in the middle: those before it have closed and not opened, so that what all let through is let
// through by all of L, or of M, as the pivot decides. Rules of nodes and of the cluster are one chain at each node, nodes first.
//
// What rules name: new names come before all rules and old ones go after them. A set that rules name which only accept grows when it is
// opened and shrinks when it is closed, and the other way round where they only drop; while sets or aliases change that rules name, a rule
// of the one state must not be read with the names of the other, so that there is no pivot then. An alias changes in one moment, half way,
// where any change of meaning leads from what L lets through to what M does. Where more than one such thing has to happen half way the
// order cannot promise anything, and says so.
//
// The cluster's own switch turns everything off: it goes off first and on last, so that nothing in between is in force.
type order struct {
	now, goal []sdk.State
	steps     []step
	// doubts says why something may be open in between that is open neither before nor after.
	doubts []string
	// moving counts what is to change that decides something.
	moving int
}

// inOrder gives the steps from some states to others of the same scopes, and why the order cannot promise what it should.
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

// effect is what a rule, or a change, does to what is let through.
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

// effectOf is what it does that a rule is there: nothing while it is switched off.
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

// optionEffect is what a change of an option does.
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

// create makes what is new and named by nothing yet.
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

// namedEarly are the names that rules have of what is not there yet, as effects has them.
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

// doubtIfNamed notes that rules name what is not there yet.
func (o *order) doubtIfNamed(early map[string]effect, name string) {
	if early[strings.ToLower(name)] != nothing {
		o.doubts = append(o.doubts, "rules name "+name+" before it is there")
	}
}

// remove takes away what nothing names any more.
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

// clusterSwitch changes the cluster's own switch: off in the beginning, on in the end.
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

// options are those of a scope that are still to be changed, but for the cluster's switch.
func (o *order) options(i int) []string {
	names := changedOptions(o.now[i].Options, o.goal[i].Options)
	if o.now[i].Scope.Kind == sdk.ClusterScope {
		names = slices.DeleteFunc(names, func(n string) bool { return n == sdk.OptionEnable })
	}
	return names
}

// switched reports whether a scope is still to be switched, on or off.
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

// neutral does what changes no verdict.
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

// opening does all that is left.
func (o *order) opening(merged []*merger, names map[string]effect) {
	for i := range o.now {
		o.rules(i, merged[i], func(*entry) bool { return true }, false)
		o.changeOptions(i, o.options(i))
		o.members(i, names, opens)
	}
}

// middle carries the pivots over, and all that neither only closes nor only opens.
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
		o.doubts = append(o.doubts, "a group changes its place, which has rules for both directions")
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
		o.doubts = append(o.doubts, "more than one thing changes that neither only opens nor only closes")
	}
}

// halved says which directions of a scope go by halves. From one node to another a packet passes rules of the cluster twice, so that of
// a pivot that hosts have only what comes in goes straight, as this service does.
func (o *order) halved(i int, pivots []int) func(direction string) bool {
	pivot, host := slices.Contains(pivots, i), isHost(o.now[i].Scope)
	return func(direction string) bool {
		return !pivot || host && (direction == sdk.DirectionOut || direction == sdk.DirectionForward)
	}
}

// isHost reports whether a scope is the cluster or a node, whose rules protect
// nodes.
func isHost(s sdk.Scope) bool { return s.Kind == sdk.ClusterScope || s.Kind == sdk.NodeScope }

// optionDirection is the direction of a policy.
func optionDirection(name string) string {
	switch name {
	case sdk.OptionPolicyOut:
		return sdk.DirectionOut
	case sdk.OptionPolicyForward:
		return sdk.DirectionForward
	}
	return sdk.DirectionIn
}

// pivots are the scopes that go straight: none while names change their meaning that rules have.
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

// names are the aliases and sets that stay, change, and are named by rules, before or after: what it does when such a one grows, by its
// name as effects has it. Rules of other scopes are not known: what is kept at the cluster may have rules anywhere.
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

// effects writes into a map, whose keys are names in lower case, what it does that rules are there that name them: nothing where none does
// that is switched on.
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

// namedIn are the names that a rule has, and its addresses.
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

// members changes those members of sets that stay whose change has the effect.
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

// placesOf are the places of members in their list, by what names them.
func placesOf(members []sdk.IPSetMember) map[string]int {
	places := make(map[string]int, len(members))
	for i, m := range slices.Backward(members) {
		places[m.CIDR] = i
	}
	return places
}

// sameMembers reports whether two sets have the same addresses.
func sameMembers(a, b []sdk.IPSetMember) bool {
	places := placesOf(b)
	return len(a) == len(b) && !slices.ContainsFunc(a, func(m sdk.IPSetMember) bool {
		at, is := places[m.CIDR]
		return !is || b[at].NoMatch != m.NoMatch
	})
}
