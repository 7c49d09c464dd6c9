package draft

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// Alias is an alias of a content.
type Alias struct {
	Name    string `json:"name" minLength:"1" maxLength:"64" example:"office"`
	CIDR    string `json:"cidr" minLength:"1" maxLength:"512" example:"192.0.2.0/24" doc:"Address or network of the alias"`
	Comment string `json:"comment,omitempty" maxLength:"1024"`
}

// Set is an IP set of a content.
type Set struct {
	Name    string   `json:"name" minLength:"1" maxLength:"64" example:"monitoring"`
	Comment string   `json:"comment,omitempty" maxLength:"1024"`
	Members []Member `json:"members,omitempty" maxItems:"1000"`
}

// Content is a set of rules, aliases, sets and options with which a scope can
// be filled.
type Content struct {
	Rules   []Rule            `json:"rules" minItems:"1" maxItems:"200" example:"[{\"type\":\"in\",\"action\":\"ACCEPT\",\"enable\":1,\"proto\":\"tcp\",\"dport\":\"80,443\",\"comment\":\"web\"},{\"type\":\"in\",\"action\":\"ACCEPT\",\"enable\":1,\"macro\":\"SSH\",\"source\":\"office\"}]" doc:"Rules in order"`
	Aliases []Alias           `json:"aliases,omitempty" maxItems:"100" example:"[{\"name\":\"office\",\"cidr\":\"192.0.2.0/24\"}]" doc:"Aliases that the rules can use. Nodes and groups have none"`
	IPSets  []Set             `json:"ipsets,omitempty" maxItems:"50" doc:"IP sets that the rules can use. Nodes and groups have none"`
	Options map[string]string `json:"options,omitempty" example:"{\"policy_in\":\"DROP\"}" doc:"Options by name, as in the draft change change_options"`
}

// Check refuses a content that no scope can have, as the problem invalid with
// the path in the request's body.
func (c Content) Check() error {
	body := where{"body"}
	state := sdk.State{Scope: sdk.Scope{Kind: sdk.ClusterScope}} // it has all that any scope has
	for i := range c.Aliases {
		if err := c.alias(i).apply(append(body, "aliases", i), &state); err != nil {
			return err
		}
	}
	members := 0
	for i := range c.IPSets {
		if members += len(c.IPSets[i].Members); members > maxMembers {
			return at(body, fmt.Sprintf("the sets can have at most %d members in total", maxMembers), "ipsets")
		}
		if err := c.set(i).apply(append(body, "ipsets", i), &state); err != nil {
			return err
		}
	}
	for i := range c.Rules {
		if _, err := c.made(i); err != nil {
			return inBody(append(body, "rules", i), err)
		}
	}
	if len(c.Options) == 0 {
		return nil
	}
	return (&Change{Action: changeOptions, Options: c.Options}).apply(body, &state)
}

// alias returns the change that creates the alias at index i.
func (c Content) alias(i int) *Change {
	a := c.Aliases[i]
	return &Change{Action: createAlias, Name: a.Name, CIDR: a.CIDR, Comment: &a.Comment}
}

// set returns the change that creates the set at index i.
func (c Content) set(i int) *Change {
	set := c.IPSets[i]
	return &Change{Action: createIPSet, Name: set.Name, Comment: &set.Comment, Members: set.Members}
}

// made returns the rule at index i, or its fault.
func (c Content) made(i int) (sdk.Rule, error) {
	return sdk.RuleChange{Set: c.Rules[i].fields()}.Apply(sdk.Rule{})
}

// Filling puts a content into scopes.
type Filling struct {
	Content Content
	Scopes  []ScopeRef
	// Replace changes aliases and members that are there otherwise, and takes
	// away what the content does not have: other rules, and other members of
	// its sets. Without it, what is missing is added, rules at the place Pos or
	// at the end where there are fewer, and what is there otherwise is a fault.
	// Options are set in any case.
	Replace bool
	Pos     int
}

// maxChanges limits the changes of a draft.
const maxChanges = 1000

// fill makes the changes for all scopes and applies them. place maps a scope to
// its index.
func (f *Filling) fill(scopes []stored, place map[ScopeRef]int) ([]Change, error) {
	all := []Change{}
	filled := map[int]bool{}
	for i, on := range f.Scopes {
		in, scope := where{"body", "scopes", i}, &scopes[place[on]]
		if filled[place[on]] {
			continue
		}
		filled[place[on]] = true
		if scope.After.Absent {
			return nil, at(in, "group not found", "group")
		}
		changes, err := f.changes(scope.Before)
		if err != nil {
			return nil, whole(in, scope, err)
		}
		for _, c := range changes {
			c.On = on
			if err := c.apply(in, &scope.After); err != nil {
				return nil, whole(in, scope, err)
			}
			all = append(all, c)
		}
	}
	switch {
	case len(all) == 0:
		return nil, problem.New(problem.CodeInvalidState, "nothing would change: everything already exists")
	case len(all) > maxChanges:
		return nil, at(where{"body"}, fmt.Sprintf("this would take %d changes, and a draft can have at most %d",
			len(all), maxChanges), "scopes")
	}
	return all, nil
}

// whole turns a fault of a change that fill made into one of the scope: the
// user has sent no such change.
func whole(in where, scope *stored, err error) error {
	p := problem.From(err)
	if len(p.Faults) == 0 {
		return err
	}
	return at(in, fmt.Sprintf("cannot be applied to %s: %s", scope.title(), p.Faults[0].Msg))
}

// otherwise returns the fault of an object that the scope has with another
// value, where Replace is not set.
func otherwise(format string, args ...any) error {
	return problem.InvalidField(fmt.Sprintf(format, args...)+"; set replace to change it", "value_error", "body")
}

// changes returns the changes that a scope needs, aliases and sets before the
// rules that may name them.
func (f *Filling) changes(now sdk.State) (all []Change, err error) {
	for i := range f.Content.Aliases {
		c := f.Content.alias(i)
		want := sdk.Alias{Name: c.Name, Comment: comment(*c.Comment)}
		want.CIDR, _ = address(c.CIDR)
		at := slices.IndexFunc(now.Aliases, func(a sdk.Alias) bool { return strings.EqualFold(a.Name, c.Name) })
		if at >= 0 {
			has := now.Aliases[at]
			want.Name, c.Name, c.Action = has.Name, has.Name, changeAlias
			switch {
			case has == want:
				continue
			case has.CIDR != want.CIDR && !f.Replace:
				return nil, otherwise("its alias %s already has the value %s", has.Name, has.CIDR)
			case !f.Replace: // only the comment differs
				continue
			}
		}
		all = append(all, *c)
	}
	for i := range f.Content.IPSets {
		changes, err := f.members(i, now)
		if err != nil {
			return nil, err
		}
		all = append(all, changes...)
	}
	all = append(all, f.rules(now.Rules)...)
	want := map[string]string{}
	for name, value := range f.Content.Options {
		if optionText(now.Options, name) != value {
			want[name] = value
		}
	}
	if len(want) > 0 {
		all = append(all, Change{Action: changeOptions, Options: want})
	}
	return all, nil
}

// most is the largest number of members in one change.
const most = 1000

// members returns the changes of the set at index i. Removals come first, so
// that a set at its limit can be refilled.
func (f *Filling) members(i int, now sdk.State) (all []Change, err error) {
	set := f.Content.IPSets[i]
	at := setNamed(now.IPSets, set.Name)
	if at < 0 {
		return []Change{*f.Content.set(i)}, nil
	}
	has := now.IPSets[at].Members
	var added, changed, removed []Member
	wanted := map[string]bool{}
	for _, m := range formed(set.Members) {
		wanted[m.CIDR] = true
		switch was := memberNamed(has, m.CIDR); {
		case was < 0:
			added = append(added, m)
		case has[was].NoMatch != m.NoMatch && !f.Replace:
			return nil, otherwise("its set %s has %s with the opposite nomatch", set.Name, m.CIDR)
		case has[was] != sdk.IPSetMember(m) && f.Replace:
			changed = append(changed, m)
		}
	}
	for _, m := range has {
		if f.Replace && !wanted[m.CIDR] {
			removed = append(removed, Member(m))
		}
	}
	for _, part := range []struct {
		action  string
		members []Member
	}{{removeMember, removed}, {changeMember, changed}, {addMember, added}} {
		for some := range slices.Chunk(part.members, most) {
			all = append(all, Change{Action: part.action, Name: set.Name, Members: some})
		}
	}
	return all, nil
}

// rules returns the changes of the list of rules. A rule that differs only in
// its comment counts as present. With Replace, equal rules at both ends stay,
// and everything between them is made anew.
func (f *Filling) rules(now []sdk.Rule) (all []Change) {
	now = plain(now)
	bare := func(r sdk.Rule) sdk.Rule { r.Comment, r.Macro = "", strings.ToLower(r.Macro); return r }
	var want []sdk.Rule
	for i := range f.Content.Rules {
		made, _ := f.Content.made(i) // apply tells what is wrong with it
		want = append(want, made)
	}
	pos, first := min(f.Pos, len(now)), 0
	if f.Replace {
		same := func(a, b sdk.Rule) bool { return bare(a) == bare(b) && a.Comment == b.Comment }
		for len(now) > 0 && first < len(want) && same(now[0], want[first]) {
			now, first = now[1:], first+1
		}
		for len(now) > 0 && len(want) > first && same(now[len(now)-1], want[len(want)-1]) {
			now, want = now[:len(now)-1], want[:len(want)-1]
		}
		for i := len(now) - 1; i >= 0; i-- {
			all = append(all, Change{Action: deleteRule, Pos: new(first + i)})
		}
		pos, now = first, nil
	}
	for i := first; i < len(want); i++ {
		if slices.ContainsFunc(now, func(r sdk.Rule) bool { return bare(r) == bare(want[i]) }) {
			continue
		}
		all = append(all, Change{Action: createRule, Pos: new(pos), Rule: &f.Content.Rules[i]})
		pos++
	}
	return all
}
