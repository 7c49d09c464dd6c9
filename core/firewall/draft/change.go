package draft

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// ScopeRef names the scope of a change.
type ScopeRef struct {
	Kind  string `json:"kind" enum:"cluster,node,vm,app,group" example:"vm"`
	ID    int64  `json:"id,omitempty" minimum:"1" example:"12" doc:"ID of the VM or the app"`
	Node  string `json:"node,omitempty" maxLength:"253" example:"pve1" doc:"Name of the node"`
	Group string `json:"group,omitempty" maxLength:"64" example:"webserver" doc:"Name of the security group"`
}

// Rule is a new rule, or the fields of a rule that change; nil leaves a field
// unchanged.
type Rule struct {
	Type     *string `json:"type,omitempty" enum:"in,out,forward,group" example:"in" doc:"group: the rules of the security group that action names"`
	Action   *string `json:"action,omitempty" minLength:"1" maxLength:"64" example:"ACCEPT"`
	Enable   *int    `json:"enable,omitempty" minimum:"0" maximum:"1" example:"1" doc:"1 enables the rule; a new rule is disabled if absent"`
	Macro    *string `json:"macro,omitempty" maxLength:"512"`
	Iface    *string `json:"iface,omitempty" maxLength:"512" example:"net0"`
	Source   *string `json:"source,omitempty" maxLength:"512" example:"192.0.2.0/24"`
	Dest     *string `json:"dest,omitempty" maxLength:"512"`
	SPort    *string `json:"sport,omitempty" maxLength:"512"`
	DPort    *string `json:"dport,omitempty" maxLength:"512" example:"22"`
	Proto    *string `json:"proto,omitempty" maxLength:"512" example:"tcp"`
	Log      *string `json:"log,omitempty" maxLength:"64"`
	ICMPType *string `json:"icmp_type,omitempty" maxLength:"64"`
	Comment  *string `json:"comment,omitempty" maxLength:"1024" example:"administrators"`
}

// Member is a member of an IP set.
type Member struct {
	CIDR    string `json:"cidr" minLength:"1" maxLength:"512" example:"192.0.2.0/24" doc:"An address, a network, or another value that the hypervisor accepts. It identifies the member"`
	NoMatch bool   `json:"nomatch,omitempty" doc:"true excludes these addresses from a larger member of the set"`
	Comment string `json:"comment,omitempty" maxLength:"1024"`
}

// Change is one change of a draft. Its action decides which fields it needs.
type Change struct {
	On      ScopeRef          `json:"scope"`
	Action  string            `json:"action" enum:"create_rule,change_rule,delete_rule,move_rule,create_alias,change_alias,delete_alias,create_ipset,delete_ipset,add_member,change_member,remove_member,change_options,create_group,change_group,delete_group" example:"create_rule"`
	Pos     *int              `json:"pos,omitempty" minimum:"0" maximum:"100000" example:"0" doc:"Position of the rule in the list after the preceding changes; for a new rule, where to insert it, 0 if absent"`
	To      *int              `json:"to,omitempty" minimum:"0" maximum:"100000" doc:"New position of the rule"`
	Rule    *Rule             `json:"rule,omitempty" doc:"A new rule, or the fields to change; an empty text removes a field"`
	Name    string            `json:"name,omitempty" maxLength:"64" example:"office" doc:"Name of an alias or a set"`
	CIDR    string            `json:"cidr,omitempty" maxLength:"512" example:"192.0.2.0/24" doc:"Address or network of the alias"`
	Comment *string           `json:"comment,omitempty" maxLength:"1024" doc:"Comment of the alias, the new set or the group"`
	Members []Member          `json:"members,omitempty" maxItems:"1000" doc:"Members of a new set, or members to add, change or remove"`
	Options map[string]string `json:"options,omitempty" doc:"New values of options by name: 1 and 0 for on and off, an empty text to unset the option"`
}

// These are the actions, and the limits of a change.
const (
	createRule, changeRule, deleteRule, moveRule   = "create_rule", "change_rule", "delete_rule", "move_rule"
	createAlias, changeAlias, deleteAlias          = "create_alias", "change_alias", "delete_alias"
	createIPSet, deleteIPSet                       = "create_ipset", "delete_ipset"
	addMember, changeMember, removeMember          = "add_member", "change_member", "remove_member"
	changeOptions                                  = "change_options"
	createGroup, changeGroup, deleteGroup          = "create_group", "change_group", "delete_group"
	maxRules, maxMembers, maxOptions, maxOptionKey = 2000, 5000, 100, 64
)

// maxListed limits the rules of a scope in a draft. align compares all rules
// before with all after, which takes time in the product.
const maxListed = 10_000

// where is the path of a value in the request's body, for faults.
type where []any

// change returns the path of the change at index n.
func change(n int) where { return where{"body", "changes", n} }

// at returns a fault at a path.
func at(in where, msg string, loc ...any) error {
	return problem.InvalidField(msg, "value_error", slices.Concat(in, loc)...)
}

// inBody turns an error of the sdk's checks into a fault at a path of the
// request. Other errors stay.
func inBody(in where, err error, part ...any) error {
	var e *plugin.Error
	if errors.As(err, &e) {
		if e.Field != "" && e.Field != sdk.FieldScope {
			part = append(part, e.Field)
		}
		return at(in, e.Message, part...)
	}
	return err
}

// apply makes the change in a state and modifies its lists; the caller has made
// the state its own with owned. After an error the state is unusable.
func (c *Change) apply(in where, s *sdk.State) error {
	if s.Absent && c.Action != createGroup {
		return at(in, "group not found", "scope", "group")
	}
	switch c.Action {
	case createRule, changeRule, deleteRule, moveRule:
		return c.applyRule(in, s)
	case createAlias, changeAlias, deleteAlias:
		return c.applyAlias(in, s)
	case createIPSet, deleteIPSet, addMember, changeMember, removeMember:
		return c.applySet(in, s)
	case changeOptions:
		return c.applyOptions(in, s)
	}
	switch {
	case s.Scope.Kind != sdk.GroupScope:
		return at(in, "this action is for a security group: set scope to a group", "scope", "kind")
	case c.Action == createGroup && !s.Absent:
		return at(in, "this name already exists", "scope", "group")
	case c.Action == createGroup:
		if err := sdk.CheckName("group", s.Scope.Group); err != nil {
			return inBody(in, err, "scope")
		}
		s.Absent = false
	case c.Action == deleteGroup:
		*s = sdk.State{Scope: s.Scope, Absent: true}
		return nil
	}
	if c.Comment != nil {
		s.Comment = comment(*c.Comment)
	}
	return inBody(in, sdk.CheckText(sdk.FieldComment, s.Comment, sdk.MaxComment))
}

// fields returns the fields of a rule in the sdk's form.
func (r *Rule) fields() sdk.RuleFields {
	f := sdk.RuleFields{Direction: r.Type, Action: r.Action, Macro: r.Macro, Protocol: r.Proto, Source: r.Source, Destination: r.Dest,
		SourcePort: r.SPort, DestinationPort: r.DPort, Interface: r.Iface, Log: r.Log, ICMPType: r.ICMPType}
	if r.Comment != nil {
		f.Comment = new(comment(*r.Comment))
	}
	if r.Enable != nil {
		f.Enabled = new(*r.Enable == 1)
	}
	return f
}

// applyRule applies a change of a rule to a state, or returns its fault.
func (c *Change) applyRule(in where, s *sdk.State) error {
	rules := s.Rules
	place := 0
	if c.Pos != nil {
		place = *c.Pos
	}
	switch {
	case c.Action != createRule && c.Pos == nil:
		return at(in, "is required", "pos")
	case c.Action == createRule && place > len(rules), c.Action != createRule && place >= len(rules):
		return at(in, fmt.Sprintf("there are only %d rules at this point", len(rules)), "pos")
	case c.Rule == nil && (c.Action == createRule || c.Action == changeRule):
		return at(in, "is required", "rule")
	}
	switch c.Action {
	case createRule:
		if len(rules) >= maxRules {
			return at(in, fmt.Sprintf("a scope of a draft can have at most %d rules", maxRules), "action")
		}
		made, err := sdk.RuleChange{Set: c.Rule.fields()}.Apply(sdk.Rule{})
		if err != nil {
			return inBody(in, err, "rule")
		}
		rules = insertRule(rules, place, made)
	case changeRule:
		made, err := sdk.RuleChange{Set: c.Rule.fields()}.Apply(rules[place])
		if err != nil {
			return inBody(in, err, "rule")
		}
		rules[place] = made
	case deleteRule:
		rules = takeRule(rules, place)
	case moveRule:
		if c.To == nil || *c.To >= len(rules) {
			return at(in, fmt.Sprintf("must be a position from 0 to %d", len(rules)-1), "to")
		}
		moved := rules[place]
		rules = insertRule(takeRule(rules, place), *c.To, moved)
	}
	if s.Scope.Kind == sdk.GroupScope && slices.ContainsFunc(rules, func(r sdk.Rule) bool { return r.Direction == sdk.DirectionGroup }) {
		return at(in, "a group cannot contain another group", "rule", sdk.FieldDirection)
	}
	s.Rules = rules
	return nil
}

// applyAlias applies a change of an alias. Names that differ in case only are
// one name at some hypervisors, so a new one must not.
func (c *Change) applyAlias(in where, s *sdk.State) error {
	place := aliasNamed(s.Aliases, c.Name)
	switch {
	case c.Action == createAlias && slices.ContainsFunc(s.Aliases, func(a sdk.Alias) bool { return strings.EqualFold(a.Name, c.Name) }):
		return at(in, "this name already exists", "name")
	case c.Action != createAlias && place < 0:
		return at(in, "this name does not exist", "name")
	}
	if c.Action == deleteAlias {
		s.Aliases = slices.Delete(s.Aliases, place, place+1)
		return nil
	}
	if c.Action == createAlias {
		place = len(s.Aliases)
		s.Aliases = append(s.Aliases, sdk.Alias{Name: c.Name})
	}
	a := &s.Aliases[place]
	if c.CIDR != "" {
		var is bool
		if a.CIDR, is = address(c.CIDR); !is {
			return at(in, "must be an address or a network", "cidr")
		}
	}
	if c.Comment != nil {
		a.Comment = comment(*c.Comment)
	}
	return inBody(in, sdk.State{Scope: s.Scope, Aliases: []sdk.Alias{*a}}.Check())
}

// applySet applies a change of a set and of its members.
func (c *Change) applySet(in where, s *sdk.State) error {
	place := setNamed(s.IPSets, c.Name)
	switch {
	case c.Action == createIPSet && place >= 0:
		return at(in, "this name already exists", "name")
	case c.Action != createIPSet && place < 0:
		return at(in, "this name does not exist", "name")
	}
	switch c.Action {
	case deleteIPSet:
		s.IPSets = slices.Delete(s.IPSets, place, place+1)
		return nil
	case createIPSet:
		set := sdk.IPSet{Name: c.Name}
		if c.Comment != nil {
			set.Comment = comment(*c.Comment)
		}
		place = len(s.IPSets)
		s.IPSets = append(s.IPSets, sdk.IPSetState{IPSet: set})
	}
	set := &s.IPSets[place]
	for i, m := range formed(c.Members) {
		was := memberNamed(set.Members, m.CIDR)
		switch {
		case (c.Action == createIPSet || c.Action == addMember) && was >= 0:
			return at(in, "the set already has this member", "members", i, "cidr")
		case (c.Action == changeMember || c.Action == removeMember) && was < 0:
			return at(in, "the set does not have this member", "members", i, "cidr")
		case c.Action == removeMember:
			set.Members = slices.Delete(set.Members, was, was+1)
		case c.Action == changeMember:
			set.Members[was] = sdk.IPSetMember(m)
		default:
			set.Members = append(set.Members, sdk.IPSetMember(m))
		}
		if c.Action == removeMember {
			continue
		}
		if err := ofSet(s.Scope, set.Name, []sdk.IPSetMember{sdk.IPSetMember(m)}).Check(); err != nil {
			return inBody(in, err, "members", i)
		}
	}
	if len(set.Members) > maxMembers {
		return at(in, fmt.Sprintf("a set of a draft can have at most %d members", maxMembers), "members")
	}
	return inBody(in, sdk.State{Scope: s.Scope, IPSets: []sdk.IPSetState{{IPSet: set.IPSet}}}.Check())
}

// applyOptions applies a change of options.
func (c *Change) applyOptions(in where, s *sdk.State) error {
	if len(c.Options) == 0 || len(c.Options) > maxOptions {
		return at(in, fmt.Sprintf("must have 1 to %d options", maxOptions), "options")
	}
	var want sdk.Options
	var names []string
	for name, value := range c.Options {
		if len(name) > maxOptionKey || sdk.CheckName(sdk.FieldName, name) != nil {
			return at(in, "an option name is not valid", "options")
		}
		names = append(names, name)
		if flag := want.Flag(name); flag != nil {
			switch value {
			case "0", "1":
				*flag = new(value == "1")
			case "":
			default:
				return at(in, "must be 1, 0 or empty", "options", name)
			}
			continue
		}
		if text := want.Text(name); text != nil {
			*text = value
			continue
		}
		if value != "" {
			if want.Other == nil {
				want.Other = map[string]string{}
			}
			want.Other[name] = value
		}
	}
	setOptions(&s.Options, want, names)
	return inBody(in, sdk.State{Scope: s.Scope, Options: want}.Check(), "options")
}
