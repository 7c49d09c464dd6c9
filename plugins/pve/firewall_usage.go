package pve

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

var _ firewall.UsageFinder = (*Firewall)(nil)

// These limit the cost of one search for the host.
const (
	// usageRequests are the most requests that one asking for a usage sends,
	// and usageAtOnce how many of them at the same time.
	usageRequests = 600
	usageAtOnce   = 4
)

// Usage implements firewall.UsageFinder. An object of a guest can be named only
// by the guest. An object of the cluster can be named anywhere: by the rules,
// sets and groups of the cluster, the rules of its nodes and virtual networks,
// and those of the guests that the token may see. That needs one request for
// each list of rules and each set, at most usageRequests.
func (f *Firewall) Usage(ctx context.Context, scope firewall.Scope, kind firewall.ObjectKind, name string) (firewall.Usage, error) {
	if _, err := objectsOf(scope); err != nil {
		return firewall.Usage{}, err
	}
	if !slices.Contains(firewall.ObjectKinds(), kind) || kind == firewall.GroupObject && scope.Kind != firewall.ClusterScope {
		return firewall.Usage{}, firewall.Invalid(firewall.FieldKind, "%.40q is not a kind of object at this scope", string(kind))
	}
	if err := firewall.CheckName(firewall.FieldName, name); err != nil {
		return firewall.Usage{}, err
	}
	s := &usageSearch{f: f, of: scope, kind: kind, name: name}
	s.left.Store(usageRequests)
	places, err := s.rules(ctx, scope)
	if err != nil {
		return firewall.Usage{}, err
	}
	places = append(places, s.builtIn()...)
	found, err := s.each(ctx, s.own(scope))
	if err != nil {
		return firewall.Usage{}, err
	}
	places = append(places, found...)
	if scope.Kind == firewall.ClusterScope {
		elsewhere, err := s.elsewhere(ctx)
		if err != nil {
			return firewall.Usage{}, err
		}
		if found, err = s.each(ctx, elsewhere); err != nil {
			return firewall.Usage{}, err
		}
		places = append(places, found...)
	}
	return firewall.Usage{Places: places, Incomplete: s.incomplete()}, nil
}

// usageSearch is one search for the places that name an object.
type usageSearch struct {
	f    *Firewall
	of   firewall.Scope
	kind firewall.ObjectKind
	name string
	left atomic.Int64

	mu sync.Mutex
	// missed are the reasons why something was not looked at.
	missed []string
}

// errUsageBound is the error when a search has sent as many requests as it may.
var errUsageBound = errors.New("the limit of requests is reached")

// spend takes one of the remaining requests.
func (s *usageSearch) spend() error {
	if s.left.Add(-1) < 0 {
		return errUsageBound
	}
	return nil
}

// miss records why the search is incomplete. It is called from several
// goroutines.
func (s *usageSearch) miss(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.missed, text) {
		s.missed = append(s.missed, text)
	}
}

// incomplete returns why there may be more places.
func (s *usageSearch) incomplete() string {
	const most = 3
	text := strings.Join(s.missed[:min(len(s.missed), most)], "; ")
	if more := len(s.missed) - most; more > 0 {
		text += fmt.Sprintf("; and %d more reasons", more)
	}
	return text
}

// look reads one list.
type look struct {
	what string
	into func(ctx context.Context) ([]firewall.Place, error)
}

// each reads lists, several at the same time, and returns the places in the
// order of the lists. A list that cannot be read is recorded as missed; the
// error is one after which no list can be read.
func (s *usageSearch) each(ctx context.Context, looks []look) ([]firewall.Place, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	found := make([][]firewall.Place, len(looks))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(usageAtOnce, len(looks)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(looks) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				places, err := looks[i].into(ctx)
				if err = s.bearable(ctx, looks[i].what, err); err != nil {
					cancel(err)
				}
				found[i] = places
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return slices.Concat(found...), nil
}

// bearable records what could not be read, and returns only errors after which
// nothing can be read.
func (s *usageSearch) bearable(ctx context.Context, what string, err error) error {
	switch kind := plugin.KindOf(err); {
	case err == nil, kind == plugin.NotFound: // it is gone meanwhile
		return nil
	case errors.Is(err, errUsageBound):
		s.miss("the search stopped at its limit of %d requests", usageRequests)
		return nil
	case ctx.Err() != nil, kind == plugin.TokenRejected, kind == plugin.Untrusted:
		return err
	}
	text := oneLine(err.Error())
	if e, ok := errors.AsType[*plugin.Error](err); ok {
		text += granting(e.Remedy)
	}
	s.miss("%s cannot be read: %s", what, text)
	return nil
}

// granting returns the sentence with the command that grants a missing right,
// if one is known.
func granting(command string) string {
	if command == "" {
		return ""
	}
	return "; grant it with: " + command
}

// own returns the lists besides the rules in which a scope may name the object:
// its sets, and the groups of the cluster.
func (s *usageSearch) own(scope firewall.Scope) (looks []look) {
	if s.kind == firewall.AliasObject {
		looks = append(looks, look{"the IP sets of " + titleOf(scope), func(ctx context.Context) ([]firewall.Place, error) {
			return s.sets(ctx, scope)
		}})
	}
	if s.kind != firewall.GroupObject && scope.Kind == firewall.ClusterScope { // a group names no group
		looks = append(looks, look{"the security groups", s.groups})
	}
	return looks
}

// elsewhere returns the lists of nodes and guests: the rules of all first, then
// their sets.
func (s *usageSearch) elsewhere(ctx context.Context) (looks []look, err error) {
	nodes, guests, err := s.members(ctx)
	if err = s.bearable(ctx, "the list of nodes and guests", err); err != nil {
		return nil, err
	}
	var sets []look
	rules := func(scope firewall.Scope) look {
		return look{"the rules of " + titleOf(scope), func(ctx context.Context) ([]firewall.Place, error) { return s.rules(ctx, scope) }}
	}
	for _, node := range nodes {
		looks = append(looks, rules(firewall.Scope{Kind: firewall.NodeScope, Node: node}))
	}
	for i := range guests {
		scope := firewall.Scope{Kind: firewall.GuestScope, Guest: &guests[i]}
		looks, sets = append(looks, rules(scope)), append(sets, s.own(scope)...)
	}
	looks = append(looks, look{"the rules of virtual networks", s.networks})
	return append(looks, sets...), nil
}

// titleOf names a scope for people.
func titleOf(scope firewall.Scope) string {
	switch scope.Kind {
	case firewall.NodeScope:
		return "node " + scope.Node
	case firewall.GuestScope:
		return "guest " + scope.Guest.ID
	case firewall.GroupScope:
		return "the security group " + scope.Group
	}
	return "the cluster"
}

// members returns the nodes that answer, and the guests of the cluster. The
// firewall of a guest is stored in the cluster's file system, so that a guest
// whose node does not answer is read through another.
func (s *usageSearch) members(ctx context.Context) (nodes []string, guests []firewall.Guest, err error) {
	if err := s.spend(); err != nil {
		return nil, nil, err
	}
	answer, err := s.f.host.api.Stream(ctx, "/cluster/resources", nil)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Close()
	var row resourceRow
	err = answer.Rows(&row, func() error {
		switch kind, node := string(row.typ.Bytes()), row.node.Text(); kind {
		case "node":
			if string(row.status.Bytes()) == hypervisor.NodeOffline {
				s.miss("node %s is offline", node)
				break
			}
			nodes = append(nodes, node)
		case "qemu", "lxc":
			guests = append(guests, firewall.Guest{
				Kind: map[string]string{"qemu": "vm", "lxc": "container"}[kind], Node: node, ID: strconv.FormatInt(row.guestID(), 10),
			})
		}
		return nil
	})
	for i := range guests {
		if len(nodes) > 0 && !slices.Contains(nodes, guests[i].Node) {
			guests[i].Node = nodes[0]
		}
	}
	if err == nil {
		err = s.shownAll(ctx)
	}
	slices.Sort(nodes)
	return nodes, guests, err
}

// shownAll records if the token does not see all guests. The list of guests
// itself does not tell that.
func (s *usageSearch) shownAll(ctx context.Context) error {
	if err := s.spend(); err != nil {
		return err
	}
	var have grants
	if _, err := s.f.host.api.Get(ctx, "/access/permissions", nil, &have); err != nil {
		return err
	}
	if !have.holds("VM.Audit", "/") {
		s.miss("the token lacks VM.Audit (on /), so guests that it cannot see were not searched%s",
			granting(s.f.host.api.RemedyOf(ctx, []string{"VM.Audit"}, "/")))
	}
	return nil
}

// rules returns the rules of a scope that name the object.
func (s *usageSearch) rules(ctx context.Context, scope firewall.Scope) (places []firewall.Place, err error) {
	if err := s.spend(); err != nil {
		return nil, err
	}
	rules, _, err := s.f.Rules(ctx, scope)
	if err != nil {
		return nil, err
	}
	for _, rule := range rules {
		text, err := s.namedBy(ctx, scope, rule)
		if err != nil {
			return places, err
		}
		if text != "" {
			places = append(places, firewall.Place{Scope: scope, Kind: firewall.RulePlace, Position: rule.Position, Text: oneLine(text)})
		}
	}
	return places, nil
}

// namedBy returns the field in which a rule names the object; empty if none
// does.
func (s *usageSearch) namedBy(ctx context.Context, scope firewall.Scope, rule firewall.Rule) (string, error) {
	if s.kind == firewall.GroupObject {
		if rule.Direction == firewall.DirectionGroup && rule.Action == s.name {
			return rule.Action, nil
		}
		return "", nil
	}
	for _, text := range []string{rule.Source, rule.Destination} {
		if named, err := s.names(ctx, scope, text); named || err != nil {
			return text, err
		}
	}
	return "", nil
}

// networks returns the rules of virtual networks that name the object of the
// cluster. A network is no scope, and older releases have no rules for
// networks.
func (s *usageSearch) networks(ctx context.Context) (places []firewall.Place, err error) {
	if err := s.spend(); err != nil {
		return nil, err
	}
	var rows []struct {
		Name pveapi.Text `json:"vnet"`
	}
	_, err = s.f.host.api.Get(ctx, "/cluster/sdn/vnets", nil, &rows)
	for _, row := range rows {
		if err := s.spend(); err != nil {
			return places, err
		}
		path, err := pveapi.Path("cluster", "sdn", "vnets", string(row.Name), "firewall", "rules")
		if err != nil {
			continue // of a network without a name
		}
		rules, err := s.f.ruleRows(ctx, place{path: path})
		if plugin.KindOf(err) == plugin.Unsupported {
			return places, nil
		}
		if err = s.bearable(ctx, "the rules of the virtual network "+string(row.Name), err); err != nil {
			return places, err
		}
		for i, found := range rules {
			text, err := s.namedBy(ctx, s.of, found.rule(i))
			if err != nil {
				return places, err
			}
			if text != "" {
				text = fmt.Sprintf("rule %d of the virtual network %s: %s", i, row.Name, text)
				places = append(places, firewall.Place{Scope: s.of, Kind: firewall.OtherPlace, Text: oneLine(text)})
			}
		}
	}
	if plugin.KindOf(err) == plugin.Unsupported {
		err = nil
	}
	return places, err
}

// groups returns the rules of groups that name the object.
func (s *usageSearch) groups(ctx context.Context) (places []firewall.Place, err error) {
	if err := s.spend(); err != nil {
		return nil, err
	}
	groups, _, err := s.f.Groups(ctx)
	if err != nil {
		return nil, err
	}
	for _, group := range groups {
		scope := firewall.Scope{Kind: firewall.GroupScope, Group: group.Name}
		found, err := s.rules(ctx, scope)
		places = append(places, found...)
		if err = s.bearable(ctx, "the rules of "+titleOf(scope), err); err != nil {
			return nil, err
		}
	}
	return places, nil
}

// sets returns the members of a scope's sets that name the alias.
func (s *usageSearch) sets(ctx context.Context, scope firewall.Scope) (places []firewall.Place, err error) {
	if err := s.spend(); err != nil {
		return nil, err
	}
	sets, _, err := s.f.IPSets(ctx, scope)
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
		if err := s.spend(); err != nil {
			return places, err
		}
		members, _, err := s.f.IPSetMembers(ctx, scope, set.Name)
		if err = s.bearable(ctx, "the IP set "+set.Name+" of "+titleOf(scope), err); err != nil {
			return places, err
		}
		for _, member := range members {
			named, err := s.names(ctx, scope, member.CIDR)
			if err != nil {
				return places, err
			}
			if named {
				places = append(places, firewall.Place{Scope: scope, Kind: firewall.MemberPlace, IPSet: set.Name, Text: oneLine(member.CIDR)})
			}
		}
	}
	return places, nil
}

// names reports whether a text in a rule or set of a scope names the object. A
// bare name in a guest's rule means the guest's own object, if there is one.
func (s *usageSearch) names(ctx context.Context, scope firewall.Scope, text string) (bool, error) {
	if s.kind == firewall.IPSetObject {
		var isSet bool
		if text, isSet = strings.CutPrefix(text, "+"); !isSet {
			return false, nil
		}
	}
	prefix, name, prefixed := strings.Cut(text, "/")
	if !prefixed {
		name = text
	}
	if s.kind == firewall.IPSetObject && name != s.name || !strings.EqualFold(name, s.name) {
		return false, nil
	}
	switch {
	case prefixed:
		return prefix == map[firewall.ScopeKind]string{firewall.ClusterScope: "dc", firewall.GuestScope: "guest"}[s.of.Kind], nil
	case s.of.Kind == firewall.ClusterScope && scope.Kind == firewall.GuestScope:
		hidden, err := s.hides(ctx, scope)
		return !hidden, err
	}
	return true, nil
}

// hides reports whether a guest has its own object of that kind and name.
func (s *usageSearch) hides(ctx context.Context, scope firewall.Scope) (bool, error) {
	if err := s.spend(); err != nil {
		return false, err
	}
	if s.kind == firewall.IPSetObject {
		sets, _, err := s.f.IPSets(ctx, scope)
		return slices.ContainsFunc(sets, func(set firewall.IPSet) bool { return set.Name == s.name }), err
	}
	aliases, _, err := s.f.Aliases(ctx, scope)
	return slices.ContainsFunc(aliases, func(a firewall.Alias) bool { return strings.EqualFold(a.Name, s.name) }), err
}

// filterSet is the form of the name of a set that filters what leaves a NIC of
// a guest.
var filterSet = regexp.MustCompile(`^ipfilter-(net[0-9]+)$`)

// builtIn returns the use that the firewall itself makes of objects with
// certain names.
func (s *usageSearch) builtIn() []firewall.Place {
	other := func(text string) []firewall.Place {
		return []firewall.Place{{Scope: s.of, Kind: firewall.OtherPlace, Text: text}}
	}
	cluster := s.of.Kind == firewall.ClusterScope
	switch {
	case cluster && s.kind == firewall.IPSetObject && s.name == "management":
		return other("the addresses that may reach the API, the consoles and SSH of the nodes")
	case cluster && s.kind == firewall.IPSetObject && s.name == "blacklist":
		return other("the sources that are dropped before any rule")
	case cluster && s.kind == firewall.AliasObject && strings.EqualFold(s.name, "local_network"):
		return other("the network of the nodes, on which all traffic that the cluster needs is accepted")
	case !cluster && s.kind == firewall.IPSetObject && filterSet.MatchString(s.name):
		return other("the addresses that may leave " + filterSet.FindStringSubmatch(s.name)[1])
	}
	return nil
}
