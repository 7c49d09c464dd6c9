package firewall

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/plugin"
)

// State is the complete firewall configuration of one scope. Parts for which the
// scope has no ability are empty.
type State struct {
	Scope Scope
	// Absent is true if the scope is a group that does not exist. Everything else
	// is empty then.
	Absent bool
	// Comment is the comment of a group.
	Comment string
	Rules   []Rule
	Aliases []Alias
	IPSets  []IPSetState
	Options Options
	// Digests are the digests of what was read. A change may name them so that it
	// is refused if something has changed since.
	Digests Digests
}

// Digests are the digests of the lists of a State, empty if the backend has none.
// The digest of the options is in Options.
type Digests struct{ Rules, Aliases, IPSets string }

// IPSetState is a set with its members.
type IPSetState struct {
	IPSet
	Members []IPSetMember
	// Digest is the digest of the members.
	Digest string
}

// MaxState is the largest state that ReadState reads, in bytes as State.Size counts
// them.
const MaxState = 16 << 20

// ReadState reads the state of a scope through the abilities that the scope has. It
// sends one request for each ability and one for the members of each set, one after
// the other. A change by another user in between may be visible in one list and not
// in another. A set that disappears in between is left out. A group that does not
// exist is Absent, not an error. A state larger than MaxState is Refused.
func ReadState(ctx context.Context, fw Firewall, scope Scope) (State, error) {
	if !ValidScope(scope) {
		return State{}, Invalid(FieldScope, "the fields of the scope %.40q are incomplete or do not belong to it", string(scope.Kind))
	}
	s := State{Scope: scope}
	if scope.Kind == GroupScope {
		known, err := s.readGroup(ctx, fw)
		if err != nil || known && s.Absent {
			return s, err
		}
	}
	var err error
	if lister, ok := AsAt[RuleLister](fw, scope.Kind); ok {
		s.Rules, s.Digests.Rules, err = lister.Rules(ctx, scope)
		switch {
		case err == nil:
		case scope.Kind == GroupScope && isNotFound(err):
			return State{Scope: scope, Absent: true}, nil
		default:
			return State{}, err
		}
	}
	if optioner, ok := AsAt[OptionsManager](fw, scope.Kind); ok {
		if s.Options, err = optioner.Options(ctx, scope); err != nil {
			return State{}, err
		}
	}
	if aliaser, ok := AsAt[AliasManager](fw, scope.Kind); ok {
		if s.Aliases, s.Digests.Aliases, err = aliaser.Aliases(ctx, scope); err != nil {
			return State{}, err
		}
	}
	if s.Size() > MaxState {
		return State{}, tooLarge()
	}
	return s, s.readIPSets(ctx, fw)
}

// entrySize is the approximate size in memory of an alias, set, member or option
// without its texts, and ruleSize that of a rule.
const entrySize, ruleSize = 64, 256

// Size returns the approximate size of the state in memory, in bytes.
func (s State) Size() int {
	size := entrySize + len(s.Comment)
	for _, name := range OptionTexts() {
		size += len(*s.Options.Text(name))
	}
	for name, value := range s.Options.Other {
		size += entrySize + len(name) + len(value)
	}
	for _, r := range s.Rules {
		size += ruleSize
		for _, text := range []string{r.Direction, r.Action, r.Macro, r.Protocol, r.Source, r.Destination, r.SourcePort, r.DestinationPort,
			r.Interface, r.Log, r.ICMPType, r.Comment} {
			size += len(text)
		}
	}
	for _, a := range s.Aliases {
		size += entrySize + len(a.Name) + len(a.CIDR) + len(a.Comment)
	}
	for _, set := range s.IPSets {
		size += set.size()
	}
	return size
}

// size is the part of a set in State.Size.
func (s IPSetState) size() int {
	size := entrySize + len(s.Name) + len(s.Comment)
	for _, m := range s.Members {
		size += entrySize + len(m.CIDR) + len(m.Comment)
	}
	return size
}

// tooLarge returns the error of a state larger than MaxState.
func tooLarge() error {
	return plugin.Errorf(plugin.Refused, "the rules, aliases and IP sets of one firewall exceed the limit of %d MiB", MaxState>>20)
}

// readGroup looks for the group in the cluster's list. It returns false if there is
// no such list; the rules of the group then show whether it exists.
func (s *State) readGroup(ctx context.Context, fw Firewall) (known bool, err error) {
	grouper, ok := AsAt[GroupManager](fw, ClusterScope)
	if !ok {
		return false, nil
	}
	groups, _, err := grouper.Groups(ctx)
	if err != nil {
		return true, err
	}
	at := slices.IndexFunc(groups, func(g Group) bool { return g.Name == s.Scope.Group })
	if s.Absent = at < 0; !s.Absent {
		s.Comment = groups[at].Comment
	}
	return true, nil
}

// readIPSets reads the sets and their members. It stops as soon as the state
// becomes too large.
func (s *State) readIPSets(ctx context.Context, fw Firewall) error {
	setter, ok := AsAt[IPSetManager](fw, s.Scope.Kind)
	if !ok {
		return nil
	}
	sets, digest, err := setter.IPSets(ctx, s.Scope)
	if err != nil {
		return err
	}
	s.Digests.IPSets = digest
	size := s.Size()
	editor, has := AsAt[IPSetMemberEditor](fw, s.Scope.Kind)
	for _, set := range sets {
		one := IPSetState{IPSet: set}
		if has {
			one.Members, one.Digest, err = editor.IPSetMembers(ctx, s.Scope, set.Name)
			if isNotFound(err) {
				continue
			} else if err != nil {
				return err
			}
		}
		if size += one.size(); size > MaxState {
			return tooLarge()
		}
		s.IPSets = append(s.IPSets, one)
	}
	return nil
}

func isNotFound(err error) bool {
	var e *plugin.Error
	return errors.As(err, &e) && e.Kind == plugin.NotFound
}

// Check returns Invalid, with the field, for a state that cannot exist: a malformed
// scope, a rule or name that CheckRule or CheckName rejects, two objects of one
// name, or an absent group with contents. The position of each rule must be its
// index.
func (s State) Check() error {
	if !ValidScope(s.Scope) {
		return Invalid(FieldScope, "the fields of the scope %.40q are incomplete or do not belong to it", string(s.Scope.Kind))
	}
	if s.Absent && (s.Scope.Kind != GroupScope || !s.Equal(State{Scope: s.Scope, Absent: true})) {
		return Invalid(FieldScope, "only a group can be absent, and it must have no contents")
	}
	if err := CheckText(FieldComment, s.Comment, MaxComment); err != nil {
		return err
	}
	for i, rule := range s.Rules {
		if rule.Position != i {
			return Invalid(FieldPosition, "the rule with position %d is at position %d of the list", rule.Position, i)
		}
		if err := CheckRule(rule); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for _, alias := range s.Aliases {
		if err := checkNamed(seen, alias.Name, alias.Comment); err != nil {
			return err
		}
		if err := checkCIDR(alias.CIDR); err != nil {
			return err
		}
	}
	clear(seen)
	for _, set := range s.IPSets {
		if err := checkNamed(seen, set.Name, set.Comment); err != nil {
			return err
		}
		if err := set.checkMembers(); err != nil {
			return err
		}
	}
	return s.Options.check()
}

// checkNamed validates the name and comment of an object. The map contains the
// names that were seen before.
func checkNamed(seen map[string]bool, name, comment string) error {
	if err := CheckName(FieldName, name); err != nil {
		return err
	}
	if seen[name] {
		return Invalid(FieldName, "the name %s occurs twice", name)
	}
	seen[name] = true
	return CheckText(FieldComment, comment, MaxComment)
}

// checkCIDR validates the length and the characters of an address. Only the backend
// knows its notation.
func checkCIDR(text string) error {
	if text == "" {
		return Invalid(FieldCIDR, "it is required")
	}
	return CheckText(FieldCIDR, text, MaxText)
}

func (s IPSetState) checkMembers() error {
	seen := map[string]bool{}
	for _, member := range s.Members {
		if err := checkCIDR(member.CIDR); err != nil {
			return err
		}
		if seen[member.CIDR] {
			return Invalid(FieldCIDR, "the set %s has the member %.60q twice", s.Name, member.CIDR)
		}
		seen[member.CIDR] = true
		if err := CheckText(FieldComment, member.Comment, MaxComment); err != nil {
			return err
		}
	}
	return nil
}

func (o Options) check() error {
	for _, name := range OptionTexts() {
		if err := CheckText(name, *o.Text(name), MaxText); err != nil {
			return err
		}
	}
	for name, policy := range map[string]string{
		OptionPolicyIn: o.PolicyIn, OptionPolicyOut: o.PolicyOut, OptionPolicyForward: o.PolicyForward,
	} {
		if policy != "" && !slices.Contains(Policies(), policy) {
			return Invalid(name, "it must be one of %s", strings.Join(Policies(), ", "))
		}
	}
	for name, value := range o.Other {
		if err := CheckName(FieldName, name); err != nil {
			return err
		}
		if o.Text(name) != nil || o.Flag(name) != nil {
			return Invalid(name, "it is a standard option and cannot be among the other options")
		}
		if err := CheckText(name, value, MaxText); err != nil {
			return err
		}
	}
	return nil
}

// Equal reports whether two states are the same except for their digests. The order
// of rules matters, the order of everything else does not.
func (s State) Equal(other State) bool {
	return s.Scope.Same(other.Scope) && s.Absent == other.Absent && s.Comment == other.Comment &&
		slices.EqualFunc(s.Rules, other.Rules, sameRule) &&
		slices.Equal(sorted(s.Aliases, Alias.key), sorted(other.Aliases, Alias.key)) &&
		slices.EqualFunc(sorted(s.IPSets, IPSetState.key), sorted(other.IPSets, IPSetState.key), IPSetState.same) &&
		s.Options.Equal(other.Options)
}

// Same reports whether two scopes are the same. The node of a guest does not
// matter, because the guest may have moved.
func (s Scope) Same(other Scope) bool {
	if s.Kind != other.Kind || s.Node != other.Node || s.Group != other.Group || (s.Guest == nil) != (other.Guest == nil) {
		return false
	}
	return s.Guest == nil || s.Guest.Kind == other.Guest.Kind && s.Guest.ID == other.Guest.ID && s.Guest.UID == other.Guest.UID
}

// sameRule compares rules without their positions, which follow from the list.
func sameRule(a, b Rule) bool {
	a.Position, b.Position = 0, 0
	return a == b
}

func (a Alias) key() string       { return a.Name }
func (s IPSetState) key() string  { return s.Name }
func (m IPSetMember) key() string { return m.CIDR }

func (s IPSetState) same(other IPSetState) bool {
	return s.IPSet == other.IPSet && slices.Equal(sorted(s.Members, IPSetMember.key), sorted(other.Members, IPSetMember.key))
}

// sorted returns a sorted copy of the list.
func sorted[T any](list []T, key func(T) string) []T {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	return list
}

// Equal reports whether two sets of options are the same except for their digests.
func (o Options) Equal(other Options) bool {
	for _, name := range OptionFlags() {
		a, b := *o.Flag(name), *other.Flag(name)
		if (a == nil) != (b == nil) || a != nil && *a != *b {
			return false
		}
	}
	for _, name := range OptionTexts() {
		if *o.Text(name) != *other.Text(name) {
			return false
		}
	}
	return maps.Equal(o.Other, other.Other)
}
