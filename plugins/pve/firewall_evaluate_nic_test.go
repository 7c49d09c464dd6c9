package pve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
)

// withNICs is a container with interfaces on bridges, in their order, each with an address that ends in the number n.
func (w *fixture) withNICs(t *testing.T, n int, bridges ...string) firewall.Guest {
	t.Helper()
	config := map[string]any{}
	for i, bridge := range bridges {
		config[fmt.Sprintf("net%d", i)] = fmt.Sprintf("name=eth%d,bridge=%s,hwaddr=BC:24:11:00:%02d:%02d,firewall=1,ip=10.0.%d.%d/24,type=veth",
			i, bridge, i, n, i, n)
	}
	return *guestScope(w.guest(t, pvesim.GuestSpec{Type: pvesim.LXC, Config: config})).Guest
}

// A change that opens something at the second interface of a guest only is told, by the interfaces that are on one bridge.
func TestCompareTellsEachInterface(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{Guests: -1})
	from, to, single := w.withNICs(t, 1, "vmbr0", "vmbr1"), w.withNICs(t, 2, "vmbr0", "vmbr1"), w.withNICs(t, 3, "vmbr1")
	many := w.withNICs(t, 4, "vmbr0", "vmbr0", "vmbr0", "vmbr0", "vmbr0")
	fw := w.firewall(t, endpoint.Monitoring)
	on := firewall.Options{Enable: new(true), PolicyIn: "DROP", PolicyOut: "ACCEPT"}
	states := func(guest *firewall.Guest, rules ...firewall.Rule) []firewall.State {
		return []firewall.State{{Scope: clusterScope, Options: on},
			{Scope: firewall.Scope{Kind: firewall.GuestScope, Guest: guest}, Options: on, Rules: rules}}
	}
	opened := func(nic string) firewall.Rule {
		return firewall.Rule{Direction: firewall.DirectionIn, Action: "ACCEPT", Enabled: true, Protocol: "tcp", DestinationPort: "443",
			Interface: nic}
	}
	compared := func(guest *firewall.Guest, rule firewall.Rule, among ...firewall.Guest) (told []string) {
		t.Helper()
		answer, err := fw.Compare(t.Context(), firewall.CompareQuery{Guests: among, Before: states(guest), After: states(guest, rule)})
		must(t, "comparing", err)
		end := func(e firewall.End) string {
			if e.Guest == nil {
				return string(e.Kind)
			}
			return strings.TrimSuffix(e.Guest.ID+" "+e.NIC, " ")
		}
		for _, p := range answer.Pairs {
			if text := end(p.From) + " > " + end(p.To); p.Unknown != "" {
				told = append(told, text+": "+p.Unknown)
			} else if len(p.Gained) == 1 && len(p.Lost) == 0 && p.Gained[0].First == 443 {
				told = append(told, text)
			} else {
				t.Errorf("%s gains %v and loses %v", text, p.Gained, p.Lost)
			}
		}
		slices.Sort(told)
		return told
	}
	want := func(name string, got []string, lines ...string) {
		t.Helper()
		slices.Sort(lines)
		if !slices.Equal(got, lines) {
			t.Errorf("%s:\nis   %q\nwant %q", name, got, lines)
		}
	}
	want("the second interface", compared(&to, opened("net1"), from, to, single),
		from.ID+" net1 > "+to.ID+" net1", single.ID+" > "+to.ID+" net1", "outside > "+to.ID+" net1")
	want("the first interface", compared(&to, opened("net0"), from, to, single), from.ID+" net0 > "+to.ID+" net0", "outside > "+to.ID+" net0")
	want("all", compared(&single, opened(""), from, single), from.ID+" net1 > "+single.ID, "outside > "+single.ID)
	want("more than are compared", compared(&many, opened("net4"), many),
		"outside > "+many.ID+": the guest has 5 network interfaces; only the first 4 are compared")
}
