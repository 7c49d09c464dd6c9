package draft

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	sdk "github.com/hostler/hostler/sdk/firewall"
)

// world is a small network that the test knows all about: two guests, a node with its cluster, and a group.
type world []sdk.State

const (
	first = iota
	second
	node
	cluster
	group
)

var worldScopes = []sdk.Scope{
	{Kind: sdk.GuestScope, Guest: &sdk.Guest{Kind: "vm", Node: "n1", ID: "1"}},
	{Kind: sdk.GuestScope, Guest: &sdk.Guest{Kind: "vm", Node: "n1", ID: "2"}},
	{Kind: sdk.NodeScope, Node: "n1"}, {Kind: sdk.ClusterScope}, {Kind: sdk.GroupScope, Group: "shared"},
}

type packet struct{ source, port string }

// accepts runs a packet through a chain of lists of rules: 1 accept, 0 drop, -1 nothing fits.
func (w world) accepts(p packet, direction string, rules []sdk.Rule) int {
	for _, r := range rules {
		switch {
		case !r.Enabled:
		case r.Direction == sdk.DirectionGroup:
			if v := w.accepts(p, direction, w[group].Rules); v >= 0 {
				return v
			}
		case r.Direction == direction && (r.DestinationPort == "" || r.DestinationPort == p.port) && w.from(r.Source, p.source):
			if r.Action == "ACCEPT" {
				return 1
			}
			return 0
		}
	}
	return -1
}

// from reports whether a source fits; a rule that names what is not there is left out.
func (w world) from(text, source string) bool {
	if set, is := strings.CutPrefix(text, "+"); is {
		match := false
		for _, m := range membersOf(w[cluster], set) {
			match = match || m.CIDR == source && !m.NoMatch
		}
		return match
	}
	if at := aliasNamed(w[cluster].Aliases, text); at >= 0 {
		text = w[cluster].Aliases[at].CIDR
	}
	return text == "" || text == source
}

func (w world) chain(p packet, direction string, owner int, lists ...[]sdk.Rule) bool {
	on := func(i int, standard bool) bool {
		if e := w[i].Options.Enable; e != nil {
			return *e
		}
		return standard
	}
	if !on(cluster, false) || owner != cluster && !on(owner, false) || owner == cluster && !on(node, true) {
		return true
	}
	if v := w.accepts(p, direction, slices.Concat(lists...)); v >= 0 {
		return v == 1
	}
	policy := w[owner].Options.PolicyIn
	if direction == sdk.DirectionOut {
		policy = w[owner].Options.PolicyOut
	}
	return policy == "ACCEPT"
}

// through are the packets that get through, by their way.
func (w world) through() map[string]bool {
	all := map[string]bool{}
	for _, source := range []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"} {
		for _, port := range []string{"1", "2", "3"} {
			p := packet{source, port}
			out, in := w.chain(p, "out", first, w[first].Rules), w.chain(p, "in", second, w[second].Rules)
			host := w.chain(p, "in", cluster, w[node].Rules, w[cluster].Rules)
			all[fmt.Sprint("guest to guest ", p)] = out && in
			all[fmt.Sprint("guest to host ", p)] = out && host
			all[fmt.Sprint("outside to host ", p)] = host
			all[fmt.Sprint("host to host ", p)] = w.chain(p, "out", cluster, w[node].Rules, w[cluster].Rules) && host
		}
	}
	return all
}

func randomRule(r *rand.Rand, scope int) sdk.Rule {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	if scope != group && r.IntN(10) == 0 {
		return sdk.Rule{Direction: sdk.DirectionGroup, Action: "shared", Enabled: r.IntN(4) > 0}
	}
	return sdk.Rule{Direction: pick("in", "out", "in"), Action: pick("ACCEPT", "DROP", "REJECT"), Enabled: r.IntN(5) > 0,
		Source: pick("", "", "192.0.2.1", "192.0.2.2", "+friends", "home"), Protocol: "tcp", DestinationPort: pick("", "1", "2", "3"),
		Comment: pick("", "", "x")}
}

func randomWorld(r *rand.Rand) world {
	w := make(world, len(worldScopes))
	for i, scope := range worldScopes {
		w[i].Scope = scope
		for range r.IntN(5) {
			w[i].Rules = append(w[i].Rules, randomRule(r, i))
		}
		number(w[i].Rules)
		if scope.Kind == sdk.GroupScope {
			continue
		}
		w[i].Options.Enable = new(r.IntN(6) > 0)
		w[i].Options.PolicyIn = []string{"ACCEPT", "DROP"}[r.IntN(2)]
		w[i].Options.PolicyOut = []string{"ACCEPT", "DROP"}[r.IntN(2)]
	}
	w[cluster].Aliases = []sdk.Alias{{Name: "home", CIDR: "192.0.2.3"}}
	w[cluster].IPSets = []sdk.IPSetState{{IPSet: sdk.IPSet{Name: "friends"}, Members: []sdk.IPSetMember{{CIDR: "192.0.2.1"},
		{CIDR: "192.0.2.2"}}}}
	return w
}

// edited changes a little of some scopes.
func (w world) edited(r *rand.Rand, scopes int) world {
	to := slices.Clone(w)
	for range scopes {
		i := r.IntN(len(to))
		rules := plain(to[i].Rules)
		for range 1 + r.IntN(3) {
			switch at := r.IntN(len(rules) + 1); {
			case r.IntN(3) == 0 || at == len(rules):
				rules = slices.Insert(rules, at, randomRule(r, i))
			case r.IntN(2) == 0:
				rules = slices.Delete(rules, at, at+1)
			case r.IntN(2) == 0:
				rules[at].Enabled = !rules[at].Enabled
			default:
				rules[at] = randomRule(r, i)
			}
		}
		to[i].Rules = number(rules)
		if to[i].Scope.Kind == sdk.GroupScope {
			continue
		}
		switch r.IntN(6) {
		case 0:
			to[i].Options.PolicyIn = []string{"ACCEPT", "DROP"}[r.IntN(2)]
		case 1:
			to[i].Options.PolicyOut = []string{"ACCEPT", "DROP"}[r.IntN(2)]
		case 2:
			to[i].Options.Enable = new(r.IntN(2) > 0)
		}
	}
	if r.IntN(8) == 0 {
		to[cluster].IPSets = []sdk.IPSetState{{IPSet: sdk.IPSet{Name: "friends"},
			Members: []sdk.IPSetMember{{CIDR: "192.0.2.2"}, {CIDR: "192.0.2.3"}}}}
	}
	if r.IntN(8) == 0 {
		to[cluster].Aliases = []sdk.Alias{{Name: "home", CIDR: "192.0.2.1"}, {Name: "new", CIDR: "192.0.2.2"}}
	}
	return to
}

func (w world) same(other world) bool {
	return slices.EqualFunc(w, other, sdk.State.Equal)
}

func (w world) String() string {
	var b strings.Builder
	for i := range w {
		fmt.Fprintf(&b, "%v\n\t%s\n", w[i].Scope.Kind, strings.Join(Text(w[i]), "\n\t"))
	}
	return b.String()
}

// After each single step what gets through got through before, or does so in the end; and where one list alone changes, each packet has
// the verdict of one of the two.
func TestNothingIsOpenInBetween(t *testing.T) {
	t.Parallel()
	rounds, promised, doubted := 1500, 0, 0
	if testing.Short() {
		rounds = 300
	}
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 7))
		from := randomWorld(r)
		scopes := 1 + r.IntN(3)
		to := from.edited(r, scopes)
		steps, doubts := inOrder(from, to)
		now := slices.Clone(from)
		before, after := from.through(), to.through()
		if len(doubts) > 0 {
			doubted++
		} else {
			promised++
		}
		changed := 0
		for i := range from {
			if !from[i].Equal(to[i]) {
				changed++
			}
		}
		straight := changed == 1 && from[group].Equal(to[group]) && sameNames(from, to)
		for n, s := range steps {
			if !now[s.scope].Equal(s.from) {
				t.Fatalf("seed %d: step %d does not begin where the one before has ended", seed, n)
			}
			now[s.scope] = s.to
			if err := s.to.Check(); err != nil {
				t.Fatalf("seed %d: step %d: %v", seed, n, err)
			}
			for p, open := range now.through() {
				if len(doubts) == 0 && open && !before[p] && !after[p] {
					t.Fatalf("seed %d: after step %d of %d %s gets through\nbefore\n%v\nnow\n%v\nafter\n%v", seed, n, len(steps), p, from, now, to)
				}
				if straight && !strings.HasPrefix(p, "host to host") && !open && before[p] && after[p] {
					t.Fatalf("seed %d: after step %d of %d %s is cut\nbefore\n%v\nnow\n%v\nafter\n%v", seed, n, len(steps), p, from, now, to)
				}
			}
		}
		if !now.same(to) {
			t.Fatalf("seed %d: the steps do not end where they should\n%v\nwant\n%v", seed, now, to)
		}
	}
	if promised < 3*doubted {
		t.Errorf("of %d drafts %d are doubted", promised+doubted, doubted)
	}
}

func sameNames(a, b world) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	for i := range a {
		a[i].Rules, b[i].Rules, a[i].Options, b[i].Options = nil, nil, sdk.Options{}, sdk.Options{}
	}
	return a.same(b)
}
