package draft

import (
	"fmt"
	"math/rand/v2"
	"runtime"
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

// The memory that an order takes grows as the draft does, whatever the draft changes.
func TestOrderGrowsAsTheDraft(t *testing.T) {
	if testing.Short() {
		t.Skip("measures growth: make check runs it")
	}
	for name, draft := range drafts {
		from, to := draft(1000)
		small := allocated(t, from, to)
		from, to = draft(2000)
		large := allocated(t, from, to)
		t.Logf("%s: %d KiB for 1000, %d KiB for 2000", name, small>>10, large>>10)
		if large > small*5/2 {
			t.Errorf("%s: an order of 1000 changes takes %d bytes, and one of 2000 takes %d", name, small, large)
		}
	}
}

// allocated is how many bytes an order takes, in all. Nothing else may run meanwhile.
func allocated(t *testing.T, from, to []sdk.State) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	steps, _ := inOrder(from, to)
	runtime.ReadMemStats(&after)
	if len(steps) < len(from) {
		t.Fatal("nothing is to be done")
	}
	return after.TotalAlloc - before.TotalAlloc
}

// drafts are states of which something is changed n times, before and after.
var drafts = map[string]func(n int) (from, to []sdk.State){
	"new rules": func(n int) (from, to []sdk.State) {
		return single(func(from, to *sdk.State) {
			for i := range n {
				r := portRule("ACCEPT", i)
				from.Rules, to.Rules = append(from.Rules, r), append(to.Rules, portRule("DROP", i), r)
			}
		})
	},
	"replaced rules": func(n int) (from, to []sdk.State) {
		return single(func(from, to *sdk.State) {
			for i := range n {
				from.Rules, to.Rules = append(from.Rules, portRule("ACCEPT", i)), append(to.Rules, portRule("DROP", i))
			}
		})
	},
	"aliases": func(n int) (from, to []sdk.State) {
		return single(func(from, to *sdk.State) {
			for i := range n {
				from.Aliases = append(from.Aliases, sdk.Alias{Name: fmt.Sprint("old", i), CIDR: "192.0.2.1"})
				to.Aliases = append(to.Aliases, sdk.Alias{Name: fmt.Sprint("new", i), CIDR: "192.0.2.1"})
				from.Rules = append(from.Rules, sdk.Rule{Direction: "in", Action: "DROP", Enabled: true, Source: fmt.Sprint("old", i)})
			}
		})
	},
	"changed aliases": func(n int) (from, to []sdk.State) {
		return single(func(from, to *sdk.State) {
			for i := range n {
				from.Aliases = append(from.Aliases, sdk.Alias{Name: fmt.Sprint("some", i), CIDR: "192.0.2.1"})
				to.Aliases = append(to.Aliases, sdk.Alias{Name: fmt.Sprint("some", i), CIDR: "192.0.2.2"})
				from.Rules = append(from.Rules, sdk.Rule{Direction: "in", Action: "DROP", Enabled: true, Source: fmt.Sprint("some", i)})
			}
			to.Rules = from.Rules
		})
	},
	"sets": func(n int) (from, to []sdk.State) {
		return single(func(from, to *sdk.State) {
			for i := range n {
				from.IPSets = append(from.IPSets, sdk.IPSetState{IPSet: sdk.IPSet{Name: fmt.Sprint("old", i)}})
				to.IPSets = append(to.IPSets, sdk.IPSetState{IPSet: sdk.IPSet{Name: fmt.Sprint("new", i)}})
			}
		})
	},
	"members": func(n int) (from, to []sdk.State) {
		return single(func(from, to *sdk.State) {
			from.IPSets = []sdk.IPSetState{{IPSet: sdk.IPSet{Name: "some"}}}
			to.IPSets = []sdk.IPSetState{{IPSet: sdk.IPSet{Name: "some"}}}
			for i := range n {
				from.IPSets[0].Members = append(from.IPSets[0].Members, sdk.IPSetMember{CIDR: fmt.Sprintf("192.0.%d.%d", i/250, i%250)})
				to.IPSets[0].Members = append(to.IPSets[0].Members, sdk.IPSetMember{CIDR: fmt.Sprintf("198.51.%d.%d", i/250, i%250)})
			}
		})
	},
	"scopes": func(n int) (from, to []sdk.State) {
		for i := range n / 100 {
			a, b := single(func(from, to *sdk.State) {
				for k := range 50 {
					from.Rules, to.Rules = append(from.Rules, portRule("ACCEPT", k)), append(to.Rules, portRule("DROP", k))
				}
			})
			a[0].Scope.Guest = &sdk.Guest{Kind: "vm", Node: "n1", ID: fmt.Sprint(i)}
			b[0].Scope.Guest = a[0].Scope.Guest
			from, to = append(from, a...), append(to, b...)
		}
		return from, to
	},
}

// single is one guest, before and after.
func single(fill func(from, to *sdk.State)) (before, after []sdk.State) {
	from, to := sdk.State{Scope: worldScopes[first]}, sdk.State{Scope: worldScopes[first]}
	fill(&from, &to)
	number(from.Rules)
	to.Rules = number(slices.Clone(to.Rules))
	return []sdk.State{from}, []sdk.State{to}
}

func portRule(action string, port int) sdk.Rule {
	return sdk.Rule{Direction: "in", Action: action, Enabled: true, Protocol: "tcp", DestinationPort: fmt.Sprint(port)}
}

// An outcome has whole lines, and says how many have no room.
func TestLongOutcomeIsShortened(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 99) + "\n"
	long := shortened(strings.Repeat(line, 1000) + "the last")
	if want := strings.Repeat(line, maxOutcome/100) + fmt.Sprintf("… and %d more lines", 1001-maxOutcome/100); long != want {
		t.Errorf("%d bytes that end with %q", len(long), long[len(long)-50:])
	}
	if short := shortened(line); short != line {
		t.Errorf("a short one is %q", short)
	}
}

// What two lists have in common is what the whole table of their common lengths says, which align does not hold.
func TestAlignIsThatOfTheWholeTable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		from, to := make([]int, r.IntN(12)), make([]int, r.IntN(12))
		for _, list := range [][]int{from, to} {
			for i := range list {
				list[i] = r.IntN(4)
			}
		}
		if got, want := align(from, to), alignByTable(from, to); !slices.Equal(got, want) {
			t.Fatalf("seed %d: of %v and %v it pairs %v, want %v", seed, from, to, got, want)
		}
	}
}

func alignByTable(from, to []int) (pairs []pair) {
	common := make([][]int, len(from)+1)
	for i := range common {
		common[i] = make([]int, len(to)+1)
	}
	for i := len(from) - 1; i >= 0; i-- {
		for j := len(to) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if from[i] == to[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(from) && j < len(to); {
		switch {
		case from[i] == to[j]:
			pairs = append(pairs, pair{i, j})
			i, j = i+1, j+1
		case common[i][j+1] >= common[i+1][j]:
			j++
		default:
			i++
		}
	}
	return pairs
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
		now, way := world(ownedAll(from)), newRoute(from, to)
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
			was := owned(now[s.scope])
			if s.apply(&now[s.scope]); now[s.scope].Equal(was) {
				t.Fatalf("seed %d: step %d changes nothing", seed, n)
			}
			if err := now[s.scope].Check(); err != nil {
				t.Fatalf("seed %d: step %d: %v", seed, n, err)
			}
			if !way.passes(s.scope, now[s.scope]) {
				t.Fatalf("seed %d: what is after step %d is not on the way", seed, n)
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
