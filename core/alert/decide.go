package alert

import (
	"cmp"
	"slices"
)

// changes are the decisions of a cycle, by alert, or by rule and object.
type changes struct {
	raised   []*observation
	resolved map[int64]string
	kept     map[key]*state
	dropped  []key
	// unsure are open alerts of whose things nothing is known now: nobody
	// begins to be told of them.
	unsure []int64
}

// verdict is what is known about a rule and an object.
type verdict int

// The verdicts about one subject of a rule.
const (
	// unknown changes nothing.
	unknown verdict = iota
	breach
	// undecided is between the two levels.
	undecided
	over
	// ended is what can be no breach any more, however long a rule wants that to last.
	ended
)

// slack is how much too short a duration may be, in seconds, because cycles are
// not exact.
const slack = 1

// These are the reasons for the end of an alert, for people.
const (
	isOver      = "The condition has cleared."
	isGone      = "The object no longer exists."
	isOff       = "The object is not running."
	isUncovered = "The rule no longer covers the object."
	isDisabled  = "The rule was disabled."
	isRemoved   = "The rule was removed."
)

// judge returns the verdict about a rule and an object, and the reason with
// which an alert about it would be resolved.
func (c *cycle) judge(k key, r *Rule) (verdict, string) {
	kind := kindOf(r.Kind)
	o, s := c.observed[k], c.states[k]
	switch {
	case o != nil && !o.covered:
		return ended, isUncovered
	case o != nil && (r.Threshold == nil || o.value == nil || kind.breach(*o.value, *r.Threshold)):
		return breach, ""
	case o != nil && !kind.clear(*o.value, *r.ClearLevel):
		return undecided, ""
	case o != nil:
		return over, isOver
	case isSampled(r.Kind):
		known, there := c.presence[k.subject]
		switch {
		case !there:
			return ended, isGone
		case known == off:
			return over, isOff
		}
		return unknown, ""
	case s != nil && s.cluster != nil && c.dark[*s.cluster] && r.Kind != HostUnreachable:
		return unknown, "" // nobody tells
	case c.unsure[k]:
		return unknown, ""
	}
	return over, isOver
}

// decide compares the findings with the stored states.
func (c *cycle) decide() {
	c.changes.resolved, c.changes.kept, c.changes.unsure = map[int64]string{}, map[key]*state{}, []int64{}
	for k, s := range c.states {
		if c.rules[k.rule] == nil {
			c.end(s, isDisabled)
		} else if c.observed[k] == nil {
			c.weigh(k)
		}
	}
	for k := range c.observed {
		c.weigh(k)
	}
	// Possible causes are raised first, so that the others can be folded under
	// them.
	slices.SortFunc(c.changes.raised, func(a, b *observation) int {
		return cmp.Or(cmp.Compare(c.rank(b), c.rank(a)), cmp.Compare(a.rule, b.rule), cmp.Compare(a.subject, b.subject))
	})
}

// weigh decides about one rule and object.
func (c *cycle) weigh(k key) {
	r, s := c.rules[k.rule], c.states[k]
	elapsed := c.elapsed
	if kindOf(r.Kind).seldom {
		if !c.seldom || r.Kind == UpdateAvailable && c.updateUnknown {
			return
		}
		elapsed = c.elapsedSeldom
	}
	found, why := c.judge(k, r)
	switch {
	case found == breach && s == nil:
		s = &state{key: k}
		c.states[k] = s
		c.grow(r, s, 0)
	case s == nil:
	case found == breach && s.alert == nil:
		c.grow(r, s, elapsed)
	case found == breach || found == undecided && s.alert != nil:
		if s.clear != nil {
			s.clear = nil
			c.changes.kept[k] = s
		}
	case s.alert == nil: // it did not last
		c.end(s, "")
	case found == unknown:
		if s.open {
			c.changes.unsure = append(c.changes.unsure, *s.alert)
		}
	case found == ended:
		c.end(s, why)
	default:
		if s.clear == nil {
			s.clear = new(float64)
		} else {
			*s.clear += elapsed
		}
		if *s.clear+slack >= float64(r.ClearForS) || r.ClearForS == 0 {
			c.end(s, why)
		} else {
			c.changes.kept[k] = s
		}
	}
}

// grow adds the time of this cycle to a breach, and raises it when it has
// lasted long enough.
func (c *cycle) grow(r *Rule, s *state, elapsed float64) {
	s.breach += elapsed
	c.changes.kept[s.key] = s
	if s.breach+slack >= float64(r.ForS) || r.ForS == 0 {
		c.changes.raised = append(c.changes.raised, c.observed[s.key])
	}
}

// end deletes a state and resolves its alert.
func (c *cycle) end(s *state, why string) {
	c.changes.dropped = append(c.changes.dropped, s.key)
	delete(c.changes.kept, s.key)
	if s.open {
		c.changes.resolved[*s.alert] = why
	}
}
