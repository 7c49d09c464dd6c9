package pvefirewall

import (
	"math/rand/v2"
	"net/netip"
	"testing"
)

// The set says of each address what the longest network says that holds it.
func TestLongestNetworkDecides(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var list []network
		seen := map[netip.Prefix]bool{}
		for range 1 + random.IntN(30) {
			// Few bits that differ, so that networks contain each other, and both ends of the numbers.
			var p netip.Prefix
			if random.IntN(2) == 0 {
				b := [4]byte{edge(random), edge(random), 0, byte(random.IntN(4))}
				p, _ = netip.AddrFrom4(b).Prefix(1 + random.IntN(32))
			} else {
				b := [16]byte{0: edge(random), 7: edge(random), 8: edge(random), 15: byte(random.IntN(4))}
				p, _ = netip.AddrFrom16(b).Prefix(1 + random.IntN(128))
			}
			if !seen[p] {
				seen[p] = true
				list = append(list, network{p, []state{inside, excluded}[random.IntN(2)]})
			}
		}
		set := longest(append([]network(nil), list...))
		var ask []netip.Addr
		for _, n := range list {
			s := spanOf(n.prefix)
			ask = append(ask, s.first, s.last, s.first.Prev(), s.last.Next())
		}
		for _, a := range ask {
			if !a.IsValid() {
				continue
			}
			want, bits := outside, -1
			for _, n := range list {
				if n.prefix.Contains(a) && n.prefix.Bits() > bits {
					want, bits = n.at, n.prefix.Bits()
				}
			}
			if got := set.lookup(a); got != want {
				t.Fatalf("%s in %v: %d, want %d", a, list, got, want)
			}
		}
	}
}

func edge(r *rand.Rand) byte { return []byte{0, 1, 127, 128, 255}[r.IntN(5)] }

func TestUnion(t *testing.T) {
	t.Parallel()
	spans, family, err := parseAddresses("10.0.0.0/24,10.0.0.128/25,10.0.1.0,255.255.255.255")
	if err != nil || family != 4 {
		t.Fatal(family, err)
	}
	set := union(spans)
	for address, want := range map[string]state{"9.255.255.255": outside, "10.0.0.0": inside, "10.0.0.200": inside, "10.0.1.0": inside,
		"10.0.1.1": outside, "255.255.255.254": outside, "255.255.255.255": inside, "::a00:1": outside} {
		if got := set.lookup(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %d, want %d", address, got, want)
		}
	}
}

// The tables are whole: each macro becomes entries in one family at least, and none is refused.
func TestMacrosBuild(t *testing.T) {
	t.Parallel()
	if n := len(macros()); n != 86 {
		t.Errorf("%d macros", n)
	}
	env := &environment{scope: Scope{Kind: ScopeGuest}, cluster: newNames(), own: newNames()}
	for name := range macros() {
		r := &Rule{Type: "in", Action: "ACCEPT", Macro: name}
		family, errs := env.check(r)
		b := env.build(r, family)
		if len(errs.fields) > 0 || b.skipped != "" || len(b.refused) > 0 || len(b.entries) == 0 {
			t.Errorf("%s: %v, %q, %v, %d entries", name, errs, b.skipped, b.refused, len(b.entries))
		}
	}
}
